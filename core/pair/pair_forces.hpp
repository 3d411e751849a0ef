#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/pair/pair_model.hpp"
#include "core/pair/tabulated_model.hpp"

namespace cambium {

/// Energies and forces of a pair model (PairTerms) between all types of atoms, by the shared vectorised kernel;
/// `tabulated` ones may be looked up in a PairTable.
template <template <class> class Model, bool tabulated = false>
class PairForces {
 public:
  static_assert(std::is_aggregate_v<Model<double>> && sizeof(Model<double>) % sizeof(double) == 0,
                "a pair model is an aggregate of values of its type P");

  /// `terms(a, b)` returns PairTerms<Model>; it is called for every ordered pair of types. InputError for an impossible
  /// table.
  template <class Terms>
  void bind(int types, Truncation truncation, const Terms& terms, const std::optional<PairTableParams>& table = {}) {
    types_ = types;
    truncation_ = truncation;
    table_ = View<double**>("pair_table", first_coefficient + pair_coefficients<Model>, types * types);
    const auto host = Kokkos::create_mirror_view(table_);
    std::vector<PairTable::Formula> formulas;
    double cutoff = 0.0;
    for (int a = 0; a < types; ++a)
      for (int b = 0; b < types; ++b) {
        const PairTerms<Model> pair = terms(a, b);
        Numbers numbers;
        std::memcpy(numbers.data(), &pair.coefficients, sizeof numbers);
        const double rc = pair.cutoff;
        const int k = a * types + b;
        host(cut_squared, k) = rc * rc;
        host(lift, k) = truncation == Truncation::shift ? value(numbers, rc * rc).energy : 0.0;
        if (truncation == Truncation::smooth) {
          const SwitchFunction smooth(pair.switch_start, rc);
          host(switch_start, k) = smooth.start_squared;
          host(switch_inverse, k) = smooth.inverse_width;
        }
        for (int c = 0; c < pair_coefficients<Model>; ++c) host(first_coefficient + c, k) = numbers[c];
        formulas.push_back([numbers](double r2) { return value(numbers, r2); });
        cutoff = std::max(cutoff, rc);
      }
    Kokkos::deep_copy(table_, host);
    lookup_ = table ? PairTable(formulas, cutoff, *table) : PairTable();
  }

  /// Adds the requested outputs to `out`. After bind().
  void compute(const char* label, const Particles& particles, const NeighborList& list, const ForceRequest& request,
               ForceOutput& out) const {
    const double* table = table_.data();
    const bool smooth = truncation_ == Truncation::smooth;
    const auto run = [&]<bool one_species, bool smooth>(const TruncatedModel<Model, one_species, smooth>& model) {
      if constexpr (tabulated)
        if (lookup_.intervals() > 0) {
          compute_pairs(label, TabulatedModel<Model, one_species, smooth>(model, lookup_), particles, list, request,
                        out);
          return;
        }
      compute_pairs(label, model, particles, list, request, out);
    };
    if (types_ == 1 && smooth) run(TruncatedModel<Model, true, true>{table, types_});
    if (types_ == 1 && !smooth) run(TruncatedModel<Model, true, false>{table, types_});
    if (types_ > 1 && smooth) run(TruncatedModel<Model, false, true>{table, types_});
    if (types_ > 1 && !smooth) run(TruncatedModel<Model, false, false>{table, types_});
  }

  /// Table of forces; without intervals if they are computed.
  const PairTable& lookup() const { return lookup_; }

 private:
  using Numbers = std::array<double, pair_coefficients<Model>>;

  /// The model's energy (eV) and force over distance (eV/Å^2) with these coefficients, by the arithmetic of the kernel.
  static PairTable::Value value(const Numbers& numbers, double r2) {
    using One = Pack<double, 1>;
    const auto model = [&]<int... k>(std::integer_sequence<int, k...>) { return Model<One>{One(numbers[k])...}; };
    const auto found = model(std::make_integer_sequence<int, pair_coefficients<Model>>())(One(r2));
    return {found.energy.v, found.force_over_r.v};
  }

  int types_ = 0;
  Truncation truncation_ = Truncation::plain;
  View<double**> table_;  ///< (column, pair of types)
  PairTable lookup_;
};

}  // namespace cambium
