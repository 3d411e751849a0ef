#include "plugins/deepmd/training/loss.hpp"

#include <algorithm>
#include <array>

namespace cambium::deepmd {

void LossParams::describe(deck::Describe<LossParams>& d) {
  d("start_pref_e", &LossParams::start_energy, "weight of the energy at the start")
      .formerly("start_energy")
      .non_negative()
      .def(0.02);
  d("limit_pref_e", &LossParams::limit_energy, "weight of the energy loss at the end of the learning rate schedule")
      .formerly("limit_energy")
      .non_negative()
      .def(1.0);
  d("start_pref_f", &LossParams::start_force, "weight of the forces at the start")
      .formerly("start_force")
      .non_negative()
      .def(1000.0);
  d("limit_pref_f", &LossParams::limit_force, "weight of the forces at the end")
      .formerly("limit_force")
      .non_negative()
      .def(1.0);
  d("start_pref_v", &LossParams::start_virial, "weight of the virial at the start")
      .formerly("start_virial")
      .non_negative()
      .def(0.0);
  d("limit_pref_v", &LossParams::limit_virial, "weight of the virial at the end")
      .formerly("limit_virial")
      .non_negative()
      .def(0.0);
  d("intensive", &LossParams::intensive, "errors of energy and virial per atom: squares over N^2, not N").def(false);
  d("use_huber", &LossParams::use_huber,
    "Huber loss instead of squares: errors above huber_delta count linearly, which lowers the mean absolute error")
      .def(false);
  d("huber_delta", &LossParams::huber_delta,
    "error at which the Huber loss turns from quadratic to linear, eV/angstrom of a force component, eV of energy and "
    "virial per atom")
      .positive()
      .def(0.01);
}

LossForm LossParams::form() const {
  LossForm out{intensive, {}};
  out.huber = use_huber ? huber_delta : std::numeric_limits<double>::infinity();
  return out;
}

std::array<double, 3> LossParams::weights(double rate) const {
  const auto at = [rate](double start, double limit) { return limit * (1.0 - rate) + start * rate; };
  return {at(start_energy, limit_energy), at(start_force, limit_force), at(start_virial, limit_virial)};
}

namespace {
double norm(int atoms, bool intensive) { return intensive ? 1.0 / (static_cast<double>(atoms) * atoms) : 1.0 / atoms; }
double limited(double error, double delta) { return std::clamp(error, -delta, delta); }  // the slope of huber()
}  // namespace

double huber(double error, double delta) {
  const double size = std::abs(error);
  return size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta);
}

template <class T>
FrameErrors errors_of(const Batch& batch, int f, const ModelPass<T>& pass, const LossForm& form) {
  const TrainingFrame& frame = batch.frame(f);
  FrameErrors out;
  if (frame.has_energy) out.energy = pass.energy(f) - frame.energy;
  const bool turned = frame.axes.turned();
  for (std::size_t i = 0; 3 * i < frame.force.size(); ++i) {
    const auto found = pass.force(batch.place(f, static_cast<int>(i)));
    std::array<double, 3> e{};
    for (std::size_t k = 0; k < 3; ++k) {
      e[k] = found[k] - frame.force[3 * i + k];
      out.force_squares += e[k] * e[k];
      if (form.is_huber()) out.force_huber += huber(e[k], form.huber);
    }
    if (turned) e = frame.axes.vector(e.data());
    for (const double component : e) out.force_absolute += std::abs(component);
  }
  for (std::size_t k = 0; k < frame.virial.size(); ++k) {
    const double e = pass.virial(f)[k] - frame.virial[k];
    out.virial_squares += e * e;
    if (form.is_huber()) out.virial_huber += huber(e / frame.atoms(), form.huber);
  }
  return out;
}

LossTerms loss_terms(const TrainingFrame& frame, const FrameErrors& errors, const LossForm& form) {
  LossTerms out;
  out.labelled = {frame.has_energy, !frame.force.empty(), !frame.virial.empty()};
  if (form.is_huber()) {
    out.value[0] = huber(errors.energy / frame.atoms(), form.huber);
    if (out.labelled[1]) out.value[1] = errors.force_huber / static_cast<double>(frame.force.size());
    out.value[2] = errors.virial_huber / 9.0;
    return out;
  }
  const double n = norm(frame.atoms(), form.intensive);
  out.value[0] = errors.energy * errors.energy * n;
  if (out.labelled[1]) out.value[1] = errors.force_squares / static_cast<double>(frame.force.size());
  out.value[2] = errors.virial_squares / 9.0 * n;
  return out;
}

template <class T>
void loss_adjoint(const Batch& batch, int f, const ModelPass<T>& pass, std::span<const double> weights,
                  const LossForm& form, typename ModelPass<T>::Adjoint& adjoint) {
  const TrainingFrame& frame = batch.frame(f);
  // For squares the derivative is twice the error; for huber() it is the clamped error itself, that of the energy or
  // virial per atom where divided by N.
  const bool is_huber = form.is_huber();
  const double twice = is_huber ? 1.0 : 2.0, part = is_huber ? 1.0 / frame.atoms() : 1.0;
  const double n = is_huber ? part : norm(frame.atoms(), form.intensive);
  if (frame.has_energy)
    adjoint.energy[f] = twice * weights[0] * n * limited(part * (pass.energy(f) - frame.energy), form.huber);
  const double per_component = twice * weights[1] / static_cast<double>(std::max<std::size_t>(1, frame.force.size()));
  for (std::size_t k = 0; k < frame.force.size(); ++k) {
    const int place = batch.place(f, static_cast<int>(k / 3));
    adjoint.force[3 * static_cast<std::size_t>(place) + k % 3] =
        per_component * limited(pass.force(place)[k % 3] - frame.force[k], form.huber);
  }
  for (std::size_t k = 0; k < frame.virial.size() && weights.size() > 2; ++k)
    adjoint.virial[f][k] =
        twice / 9.0 * weights[2] * n * limited(part * (pass.virial(f)[k] - frame.virial[k]), form.huber);
}

#define CAMBIUM_LOSS(T)                                                                                        \
  template FrameErrors errors_of(const Batch&, int, const ModelPass<T>&, const LossForm&);                     \
  template void loss_adjoint(const Batch&, int, const ModelPass<T>&, std::span<const double>, const LossForm&, \
                             ModelPass<T>::Adjoint&);
CAMBIUM_LOSS(double)
CAMBIUM_LOSS(float)

}  // namespace cambium::deepmd
