#include "plugins/mace/engine/readout.hpp"

#include <cmath>

namespace cambium::mace {

double read_out(const Readout& readout, double activation, const double* features, double scale, double* gradient) {
  double energy = 0.0;
  if (!readout.has_activation) {
    readout.first.apply(features, &energy);
    readout.first.apply_transposed(&scale, gradient);
    return energy;
  }
  const std::size_t n = static_cast<std::size_t>(readout.first.outputs);
  std::vector<double> hidden(n, 0.0), active(n), back(n, 0.0);
  readout.first.apply(features, hidden.data());
  for (std::size_t k = 0; k < n; ++k) active[k] = activation * hidden[k] / (1.0 + std::exp(-hidden[k]));
  readout.second.apply(active.data(), &energy);
  readout.second.apply_transposed(&scale, back.data());
  for (std::size_t k = 0; k < n; ++k) {
    const double gate = 1.0 / (1.0 + std::exp(-hidden[k]));
    back[k] *= activation * gate * (1.0 + hidden[k] * (1.0 - gate));
  }
  readout.first.apply_transposed(back.data(), gradient);
  return energy;
}

}  // namespace cambium::mace
