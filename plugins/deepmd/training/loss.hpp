#pragma once
#include <cmath>
#include <limits>

#include "core/deck/describe.hpp"
#include "plugins/deepmd/training/model_pass.hpp"

namespace cambium::deepmd {

/// Form of the loss: the squared error, for N atoms over N (`intensive`: N^2) in energies and virials; or, with a
/// finite `huber`, that function of the error of a force component, and of energy and virial per atom.
struct LossForm {
  bool intensive = false;
  double huber = std::numeric_limits<double>::infinity();
  bool is_huber() const { return std::isfinite(huber); }
};

/// Half the square of an error up to `delta`, beyond it the tangent there (P. J. Huber, Ann. Math. Statist. 35, 73
/// (1964)).
double huber(double error, double delta);

/// Weights of the errors of energies, forces and virials: L = pe dE^2 / N + pf <dF^2> + pv <dW^2> / N for N atoms,
/// means over components. A prefactor p changes from start to limit with the learning rate:
/// p = limit (1 - rate) + start rate (Wang et al., Comput. Phys. Commun. 228 (2018) 178).
struct LossParams {
  double start_energy = 0.02, limit_energy = 1.0;
  double start_force = 1000.0, limit_force = 1.0;
  double start_virial = 0.0, limit_virial = 0.0;
  bool intensive = false;  ///< 1/N^2 instead of 1/N
  bool use_huber = false;
  double huber_delta = 0.01;  ///< eV and eV/Å
  static void describe(deck::Describe<LossParams>& d);

  std::array<double, 3> weights(double rate) const;
  LossForm form() const;
  bool uses_virial() const { return start_virial > 0.0 || limit_virial > 0.0; }  ///< otherwise there are two terms
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
  double force_huber = 0.0;     ///< sum over components of huber(), where the form has it
  double virial_huber = 0.0;    ///< the same of virials per atom
};

template <class T>
FrameErrors errors_of(const Batch& batch, int frame, const ModelPass<T>& pass, const LossForm& form = {});
LossTerms loss_terms(const TrainingFrame& frame, const FrameErrors& errors, const LossForm& form);

/// Writes the derivatives of the weighted loss of one frame into `adjoint` (reset for this batch before).
template <class T>
void loss_adjoint(const Batch& batch, int frame, const ModelPass<T>& pass, std::span<const double> weights,
                  const LossForm& form, typename ModelPass<T>::Adjoint& adjoint);

}  // namespace cambium::deepmd
