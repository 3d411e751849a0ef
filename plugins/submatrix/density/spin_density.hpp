#pragma once
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// Density matrices of two spin channels. The quantities of a channel are those of one spin: N = Tr(D S), E = Tr(D H).
struct SpinDensity {
  std::array<DensityResult, 2>
      channel;           ///< up, down; columns, errors, bytes and flops of one run for both are in the first
  bool together = true;  ///< one mu for both
  double energy() const { return channel[0].energy + channel[1].energy; }
  double electrons() const { return channel[0].electrons + channel[1].electrons; }
  double entropy_term() const { return channel[0].entropy_term + channel[1].entropy_term; }
  double magnetisation() const { return channel[0].electrons - channel[1].electrons; }
};

/// Collective: both channels of a system with `hamiltonian_down`. `options.electrons` is the number of both spins
/// together. Without `magnetisation` (N up - N down) one mu is found for both, or given: one step on the block-diagonal
/// system of both channels. With it each channel has its number of electrons and a mu of its own. InputError when it is
/// not smaller than the number of electrons.
SpinDensity spin_density(const MatrixSystem& system, const DensityOptions& options, std::optional<double> magnetisation,
                         Context& context);

}  // namespace cambium::submatrix
