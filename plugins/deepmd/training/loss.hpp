#pragma once
#include "core/deck/describe.hpp"
#include "plugins/deepmd/training/model_pass.hpp"

namespace cambium::deepmd {

/// How the error of energies, forces and virials is weighted: L = pe dE^2 / N + pf <dF^2> + pv <dW^2> / N for N atoms,
/// means over components. A prefactor p goes from start to limit with the learning rate:
/// p = limit (1 - rate) + start rate (Wang et al., Comput. Phys. Commun. 228 (2018) 178).
struct LossParams {
  double start_energy = 0.02, limit_energy = 1.0;
  double start_force = 1000.0, limit_force = 1.0;
  double start_virial = 0.0, limit_virial = 0.0;
  bool intensive = false;  ///< 1/N^2 in place of 1/N
  static void describe(deck::Describe<LossParams>& d);

  std::array<double, 3> weights(double rate) const;
  bool uses_virial() const { return start_virial > 0.0 || limit_virial > 0.0; }  ///< else there are two terms
};

/// The three terms of one frame (unweighted): energy, force, virial; zero where the frame has no label.
struct LossTerms {
  std::array<double, 3> value{};
  std::array<bool, 3> labelled{};
};

/// Differences of the results of `pass` from a frame's labels, for one term.
struct FrameErrors {
  double energy = 0.0;          ///< eV
  double force_squares = 0.0;   ///< sum over components, (eV/Å)^2
  double force_absolute = 0.0;  ///< sum of their absolute values, eV/Å
  double virial_squares = 0.0;  ///< sum over components, eV^2
};

template <class T>
FrameErrors errors_of(const Batch& batch, int frame, const ModelPass<T>& pass);
LossTerms loss_terms(const TrainingFrame& frame, const FrameErrors& errors, bool intensive);

/// Writes the derivatives of the weighted loss of one frame into `adjoint` (reset for this batch before).
template <class T>
void loss_adjoint(const Batch& batch, int frame, const ModelPass<T>& pass, std::span<const double> weights,
                  bool intensive, typename ModelPass<T>::Adjoint& adjoint);

}  // namespace cambium::deepmd
