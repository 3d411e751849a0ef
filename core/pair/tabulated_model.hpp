#pragma once
#include "core/pair/pair_model.hpp"
#include "core/pair/pair_table.hpp"
#include "core/pair/table_rows.hpp"

namespace cambium {

/// A model with its truncation, looked up in a PairTable; below the table's range the formula is used.
template <template <class> class Model, bool one_species, bool smooth>
struct TabulatedModel {
  using Formula = TruncatedModel<Model, one_species, smooth>;
  Formula formula;
  const double *energies, *forces;  ///< rows of four
  OctaveGrid grid;
  double begin, end;  ///< Å^2
  int intervals;

  TabulatedModel(const Formula& model, const PairTable& table)
      : formula(model), energies(table.energies().data()), forces(table.forces().data()), grid(table.grid()),
        begin(table.from() * table.from()), end(table.to() * table.to()), intervals(table.intervals()) {}

  struct Row {
    typename Formula::Row of;
    double first;  ///< row of (type i, type 0)
  };

  CAMBIUM_FN Row row(int i, int type) const {
    return {formula.row(i, type), one_species ? 0.0 : static_cast<double>(type) * formula.types * intervals};
  }

  template <bool wants_energy, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int* j, P type, P& f_over_r, P& energy) const {
    P first = row.first;
    if constexpr (!one_species) first = fma(type, P(static_cast<double>(intervals)), first);
    const TableRows<P> rows(bounded(P(begin), r2, P(end)), grid, first);
    PairValue<P> value{P(0.0), rows.cubic(forces)};
    if constexpr (smooth || wants_energy) value.energy = rows.cubic(energies);
    formula.template truncate<wants_energy>(row.of, r2, type, value, f_over_r, energy);
    const auto close = r2 < P(begin);
    if (some(close)) {
      P s, e;
      formula.template pair<wants_energy>(row.of, r2, j, type, s, e);
      f_over_r = select(close, s, f_over_r);
      if constexpr (wants_energy) energy = select(close, e, energy);
    }
  }
};

}  // namespace cambium
