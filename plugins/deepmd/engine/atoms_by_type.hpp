#pragma once
#include <vector>

#include "plugins/deepmd/engine/engine.hpp"

namespace cambium::deepmd {

/// Rows of the owned atoms sorted by model type; begin[t] is the first of type t.
struct AtomsByType {
  View<int*> rows;
  std::vector<int> begin;

  void sort(const EngineInput& input, int ntypes) {
    const int n = input.particles.nlocal;
    if (rows.extent(0) < static_cast<std::size_t>(n)) rows = View<int*>("deep_potential: rows", n + n / 8 + 1);
    begin.assign(static_cast<std::size_t>(ntypes) + 1, 0);
    for (int t = 0; t < ntypes; ++t) begin[static_cast<std::size_t>(t) + 1] = append(input, t, begin[t]);
  }

  int append(const EngineInput& input, int type, int first) const {
    const View<double* [4]> x = input.particles.x;
    const View<int*> model_type = input.model_type, out = rows;
    int found = 0;
    Kokkos::parallel_scan(
        "deep_potential: sort", Range(0, input.particles.nlocal),
        KOKKOS_LAMBDA(const int i, int& next, const bool final) {
          if (model_type(static_cast<int>(x(i, 3))) != type) return;
          if (final) out(first + next) = i;
          ++next;
        },
        found);
    return first + found;
  }
};

}  // namespace cambium::deepmd
