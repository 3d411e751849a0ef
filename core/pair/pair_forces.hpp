#pragma once
#include <cstring>
#include <type_traits>

#include "core/pair/pair_model.hpp"

namespace cambium {

/// Energies and forces of a pair model (PairTerms) between all types of atoms, by the shared vectorised kernel.
template <template <class> class Model>
class PairForces {
 public:
  static_assert(std::is_aggregate_v<Model<double>> && sizeof(Model<double>) % sizeof(double) == 0,
                "a pair model is an aggregate of numbers of its type P");

  /// `terms(a, b)` gives PairTerms<Model>; it is asked for every ordered pair of types.
  template <class Terms>
  void bind(int types, Truncation truncation, const Terms& terms) {
    types_ = types, truncation_ = truncation;
    table_ = View<double**>("pair_table", first_coefficient + pair_coefficients<Model>, types * types);
    const auto host = Kokkos::create_mirror_view(table_);
    for (int a = 0; a < types; ++a)
      for (int b = 0; b < types; ++b) {
        const PairTerms<Model> pair = terms(a, b);
        double numbers[pair_coefficients<Model>];
        std::memcpy(numbers, &pair.coefficients, sizeof numbers);
        const double rc = pair.cutoff;
        const int k = a * types + b;
        host(cut_squared, k) = rc * rc;
        host(lift, k) = truncation == Truncation::shift ? energy(numbers, rc * rc) : 0.0;
        if (truncation == Truncation::smooth) {
          const SwitchFunction smooth(pair.switch_start, rc);
          host(switch_start, k) = smooth.start_squared;
          host(switch_inverse, k) = smooth.inverse_width;
        }
        for (int c = 0; c < pair_coefficients<Model>; ++c) host(first_coefficient + c, k) = numbers[c];
      }
    Kokkos::deep_copy(table_, host);
  }

  /// Adds to `out` what the request asks for. After bind().
  void compute(const char* label, const Particles& particles, const NeighborList& list, const ForceRequest& request,
               ForceOutput& out) const {
    const double* table = table_.data();
    const bool smooth = truncation_ == Truncation::smooth;
    const auto run = [&](auto model) { compute_pairs(label, model, particles, list, request, out); };
    if (types_ == 1 && smooth) run(TruncatedModel<Model, true, true>{table, types_});
    if (types_ == 1 && !smooth) run(TruncatedModel<Model, true, false>{table, types_});
    if (types_ > 1 && smooth) run(TruncatedModel<Model, false, true>{table, types_});
    if (types_ > 1 && !smooth) run(TruncatedModel<Model, false, false>{table, types_});
  }

 private:
  /// The model's energy (eV) with these coefficients, by the arithmetic of the kernel.
  static double energy(const double* numbers, double r2) {
    using One = Pack<double, 1>;
    const auto model = [&]<int... k>(std::integer_sequence<int, k...>) { return Model<One>{One(numbers[k])...}; };
    return model(std::make_integer_sequence<int, pair_coefficients<Model>>())(One(r2)).energy.v;
  }

  int types_ = 0;
  Truncation truncation_ = Truncation::plain;
  View<double**> table_;  ///< (column, pair of types)
};

}  // namespace cambium
