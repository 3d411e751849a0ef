#pragma once
#include <vector>

#include "apps/lammps/potential_bridge.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::lammps {

/// The host's atoms as Particles. Types without a species (hybrid pair styles) are left out, so rows differ from the
/// host's; `row` of a Particles row is the host's row.
class HostAtoms : public GhostExchange {
 public:
  Particles particles;

  /// species_of[t] is the species of the host's type t, -1 for none.
  std::vector<int> species_of;

  /// Takes over another set of rows.
  void renew(const HostArrays& arrays);
  /// Copies positions and species of the rows taken over before.
  void refresh(const HostArrays& arrays);
  /// Takes the pairs that the host leaves out from the list of these rows.
  void leave_out(const std::function<bool(int, int)>& left_out, NeighborList& list) const;
  /// The host's array as a view, if a potential can write to it directly: row k is the host's row k, and there is
  /// memory for the sentinel's row. Otherwise a view without rows.
  View<double* [3]> in_place(double* forces, int room) const;
  /// Adds columns of a view's rows, owned and ghost, to the host's array.
  void add_forces(View<double* [3]> forces, int rows, double* to) const;
  int host_row(int row) const { return host_row_[row]; }
  int host_rows() const { return host_rows_; }

  void use(const HostExchange* exchange) { exchange_ = exchange; }
  void forward(View<double*> per_atom) override;
  void reverse_add(View<double* [3]> per_atom) override;
  void reverse_add(View<double* [9]> per_atom) override;

 private:
  template <int W>
  void reverse(View<double* [W]> per_atom);

  std::vector<int> host_row_;
  int host_rows_ = 0;
  bool same_rows_ = false;  ///< every type has a species: row k is the host's row k
  std::vector<double> scratch_;
  const HostExchange* exchange_ = nullptr;
};

}  // namespace cambium::lammps
