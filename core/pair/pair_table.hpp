#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/pair/table_rows.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Keys of a table in a deck.
struct PairTableParams {
  double error = 1e-9;         ///< of a force, relative to it or to 1 eV/Å, whichever is larger; of an energy likewise
  std::optional<double> from;  ///< Å, a third of the cut-off when absent
  static void describe(deck::Describe<PairTableParams>& d);
};

/// Energies (eV) and -(dE/dr)/r (eV/Å^2) of pairs of species as piecewise cubics of the squared distance (Hermite
/// interpolation on an OctaveGrid), for formulas that cost more than a look-up. They are compared with the formula at
/// three points of every interval, and the number of intervals is chosen by the requested error.
class PairTable {
 public:
  struct Value {
    double energy, force_over_r;
  };
  using Formula = std::function<Value(double r2)>;

  PairTable() = default;
  /// For every pair of species from `params.from` to `cutoff` (Å). InputError when the first is not below the second,
  /// or when most_intervals are too few for the error.
  PairTable(std::span<const Formula> pairs, double cutoff, const PairTableParams& params);

  static constexpr int most_bits = 12;  ///< 128 KiB an octave: beyond caches a look-up costs more than a formula
  int intervals() const { return intervals_; }      ///< of each pair; 0 without a table
  double from() const { return from_; }             ///< Å
  double error() const { return error_; }           ///< the largest that was found
  double to() const { return to_; }                 ///< Å, the cut-off
  const OctaveGrid& grid() const { return grid_; }  ///< of r^2
  /// Coefficients of 1, t, t^2, t^3 with t of TableRows: four values per interval, pairs one after the other.
  const View<double*>& energies() const { return energies_; }
  const View<double*>& forces() const { return forces_; }
  std::string summary() const;

 private:
  /// Fills `rows` (energies, then forces) of one pair; returns the largest error.
  double fill(const Formula& formula, double* energies, double* forces) const;

  int intervals_ = 0;
  OctaveGrid grid_;
  double from_ = 0.0, to_ = 0.0, error_ = 0.0;
  View<double*> energies_, forces_;
};

}  // namespace cambium
