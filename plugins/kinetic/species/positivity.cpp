#include "plugins/kinetic/species/positivity.hpp"

#include <cmath>

#include "core/parallel/sums.hpp"
#include "plugins/kinetic/collisions/packs.hpp"

namespace cambium::kinetic {

struct Positivity::Points {
  View<double*> basis;  ///< [point][mode]
  int count;
};

/// One pack; counts cells that were changed, and those whose mean is negative.
template <class T>
struct Limiter {
  static constexpr int W = Packs<T>::width;
  Packs<T> cells;
  View<double*> basis;
  int points;

  CAMBIUM_FN void operator()(std::int64_t pack, Sums<2>& counts) const {
    const int block = static_cast<int>(pack / cells.layout.velocity_cells), modes = cells.layout.modes;
    T* f = cells.pack(block, static_cast<int>(pack % cells.layout.velocity_cells));
    double mean[W], lowest[W];
    for (int l = 0; l < W; ++l)
      mean[l] = lowest[l] = static_cast<double>(f[l]) * basis(0);  // the first mode is constant
    for (int p = 0; p < points; ++p) {
      double value[W] = {};
      for (int k = 0; k < modes; ++k) {
        const double here = basis(p * modes + k);
        for (int l = 0; l < W; ++l) value[l] += static_cast<double>(f[k * W + l]) * here;
      }
      for (int l = 0; l < W; ++l) lowest[l] = value[l] < lowest[l] ? value[l] : lowest[l];
    }
    for (int l = 0; l < cells.lanes(block); ++l) {
      if (lowest[l] >= -1e-14 * std::abs(mean[l])) continue;
      if (mean[l] <= 0.0) {
        counts.v[1] += 1.0;
        continue;
      }
      const double theta = mean[l] / (mean[l] - lowest[l]);
      for (int k = 1; k < modes; ++k) f[k * W + l] = static_cast<T>(static_cast<double>(f[k * W + l]) * theta);
      counts.v[0] += 1.0;
    }
  }
};

Positivity::Positivity(const Solver& solver) {
  const auto& exponents = solver.basis().exponents;
  const int dims = solver.grid().dimensions(), modes = solver.basis().modes;
  const Projection rule(exponents, solver.basis().order + 1);
  std::vector<double> basis;
  for (int q = 0; q < rule.nodes(); ++q)
    for (int k = 0; k < modes; ++k) basis.push_back(rule.basis(q, k));
  for (int corner = 0; corner < 1 << dims; ++corner)
    for (int k = 0; k < modes; ++k) {
      double value = 1.0;
      for (int d = 0; d < dims; ++d) value *= legendre(exponents[k][d], corner >> d & 1 ? 1.0 : -1.0);
      basis.push_back(value);
    }
  points_ = std::make_shared<Points>(Points{on_device("kinetic: points of cells", basis), rule.nodes() + (1 << dims)});
}

std::int64_t Positivity::act(Solver& solver) {
  Sums<2> counts;
  in_precision(solver, [&](auto number) {
    const auto cells = packs_of<decltype(number)>(solver, 0);
    const std::int64_t packs = std::int64_t{cells.layout.blocks()} * cells.layout.velocity_cells;
    Kokkos::parallel_reduce("kinetic: limiter", PackRange(0, packs),
                            Limiter<decltype(number)>{cells, points_->basis, points_->count},
                            Kokkos::Sum<Sums<2>>(counts));
  });
  changed_ += static_cast<std::int64_t>(counts.v[0]);
  negative_ += static_cast<std::int64_t>(counts.v[1]);
  return static_cast<std::int64_t>(counts.v[0]);
}

}  // namespace cambium::kinetic
