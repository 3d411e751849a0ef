#pragma once
#include <array>
#include <memory>
#include <vector>

#include "core/particles/given_axes.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Energies and forces of atoms moved by another program, on all ranks of a communicator.
class DrivenForces {
 public:
  /// `atoms`: distributed over the ranks, with species and ids. Collective.
  DrivenForces(const Particles& atoms, Potential& potential, Context& context);

  std::int64_t atoms() const { return static_cast<std::int64_t>(type_.size()); }

  /// cell: rows a, b, c (Å); positions (Å) in the order of ids; the same on every rank. Collective. InputError for a
  /// left-handed or flat cell.
  struct Answer {
    double energy = 0.0;             ///< eV
    std::array<double, 9> virial{};  ///< eV, W_ab = -sum dE/dr_a r_b
    std::vector<double> forces;      ///< eV/Å, three for each atom
  };
  Answer evaluate(const std::array<double, 9>& cell, const std::vector<double>& positions);

 private:
  void place(const std::vector<double>& positions, const GivenAxes& axes);

  Potential& potential_;
  Context& context_;
  Particles particles_;
  NeighborList list_;
  std::vector<double> type_;  ///< of every atom, in the order of ids
};

}  // namespace cambium::md
