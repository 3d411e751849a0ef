#pragma once
#include <utility>

#include "core/pair/pair_kernel.hpp"
#include "core/pair/switch_function.hpp"

namespace cambium {

/// Parameters of a model for two atoms: their energy E (eV), and -(dE/dr)/r (eV/Å^2).
template <class P>
struct PairValue {
  P energy, force_over_r;
};

/// Truncation of a pair energy at the cut-off: plain cut-off, shifted to end at 0 (shift), or multiplied by the C2
/// SwitchFunction (smooth).
enum class Truncation { plain, shift, smooth };

/// Two species: the coefficients of the model between them, and their cut-off.
///
/// `Model<P>` is an aggregate of members of type P, the coefficients, with
///   CAMBIUM_FN PairValue<P> operator()(P r2) const;
/// where P is a pack of doubles and r2 the squared distance, up to 1e30 Å^2. It does not apply the cut-off.
template <template <class> class Model>
struct PairTerms {
  Model<double> coefficients;
  double cutoff = 0.0;        ///< Å
  double switch_start = 0.0;  ///< Å, start of a smooth truncation
};

/// The columns of a table of pairs: these, then the coefficients of the model.
enum PairColumn { cut_squared, lift, switch_start, switch_inverse, first_coefficient };

template <template <class> class Model>
constexpr int pair_coefficients = sizeof(Model<double>) / sizeof(double);

/// A model with its truncation, for PairKernel. With one species all coefficients stay in registers; with several they
/// are looked up in `table` (column, type i, type j).
template <template <class> class Model, bool one_species, bool smooth>
struct TruncatedModel {
  static constexpr int columns = first_coefficient + pair_coefficients<Model>;
  const double* table;
  int types;

  struct Row {
    const double* first;  ///< column 0 of (type i, type 0)
    double one[columns];
  };

  CAMBIUM_FN Row row(int, int type) const {
    Row r;
    r.first = table + type * types;
    if constexpr (one_species)
      for (int k = 0; k < columns; ++k) r.one[k] = table[k];
    return r;
  }

  template <bool energies, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int*, P type, P& f_over_r, P& energy) const {
    const auto value = model(row, type, std::make_integer_sequence<int, pair_coefficients<Model>>())(r2);
    truncate<energies>(row, r2, type, value, f_over_r, energy);
  }

  /// Applies the truncation to the value of the model for pair().
  template <bool energies, class P>
  CAMBIUM_FN void truncate(const Row& row, P r2, P type, const PairValue<P>& value, P& f_over_r, P& energy) const {
    const auto near = r2 < number(row, cut_squared, type);
    P s = value.force_over_r, e = value.energy;
    if constexpr (smooth) {
      P weight, slope;
      SwitchFunction::apply(r2, number(row, switch_start, type), number(row, switch_inverse, type), weight, slope);
      s = weight * s - slope * e;
      e = weight * e;
    } else if constexpr (energies) {
      e -= number(row, lift, type);
    }
    f_over_r = keep(near, s);
    if constexpr (energies) energy = keep(near, e);
  }

 private:
  template <class P>
  CAMBIUM_FN P number(const Row& row, int column, P type) const {
    if constexpr (one_species) return row.one[column];
    return P::lookup(row.first + column * types * types, type);
  }

  template <class P, int... k>
  CAMBIUM_FN Model<P> model(const Row& row, P type, std::integer_sequence<int, k...>) const {
    return {number(row, first_coefficient + k, type)...};
  }
};

}  // namespace cambium
