#include "plugins/pretrain/contrastive/own_temperatures.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::train {

AnchorState AnchorState::read(ContrastiveScheme scheme, std::span<const double> row, int view) {
  AnchorState out;
  if (scheme != ContrastiveScheme::v2) {
    out.u = row[view];
    return out;
  }
  const auto from = row.subspan(5 * view, 5);
  return {from[0], from[1], from[2], from[3], from[4]};
}

void AnchorState::write(ContrastiveScheme scheme, std::span<double> row, int view) const {
  if (scheme != ContrastiveScheme::v2) {
    row[view] = u;
    return;
  }
  const double values[] = {u, bound, temperature, moment, square};
  std::copy(std::begin(values), std::end(values), row.begin() + 5 * view);
}

void update_estimate(const ContrastiveKeys& keys, double inner, double batch_bound, double batch_mean,
                     AnchorState& state) {
  constexpr double nothing = 1e-35;
  double g = batch_mean * std::exp(batch_bound);
  if (keys.scheme == ContrastiveScheme::v2) {
    const double bound = std::max(state.bound, batch_bound);
    state.u *= std::exp(state.bound - bound);
    g = batch_mean * std::exp(batch_bound - bound);
    state.bound = bound;
  }
  const bool known = std::isfinite(state.u) && state.u >= nothing;
  state.u = known || inner >= 1.0 ? (1.0 - inner) * (known ? state.u : 0.0) + inner * g : g;
}

void step_temperature(const ContrastiveKeys& keys, double d_mean, std::int64_t epoch, AnchorState& state) {
  constexpr double most_gradient = 5.0, tiny = 1e-8;
  const double first = epoch == 0 ? 0.0 : 0.9, second = epoch == 0 ? 0.0 : 0.999;
  const double gradient = std::clamp(std::log(state.u + keys.epsilon) + state.bound + keys.rho_or_default() - d_mean,
                                     -most_gradient, most_gradient);
  state.moment = first * state.moment + (1.0 - first) * gradient;
  state.square = second * state.square + (1.0 - second) * gradient * gradient;
  const auto count = static_cast<double>(epoch + 1);
  const double m = state.moment / (1.0 - std::pow(first, count)), v = state.square / (1.0 - std::pow(second, count));
  state.temperature = std::clamp(state.temperature - keys.temperature_rate() * m / (std::sqrt(v) + tiny),
                                 keys.temperature.least, keys.temperature.most);
}

}  // namespace cambium::train
