#include "plugins/superres/evaluate/vrmse.hpp"

#include <cmath>

namespace cambium::superres {

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

double vrmse(std::span<const double> forecast, std::span<const double> truth) {
  constexpr double least = 1e-7;  // of the variance, as in the data set's own metric
  const double mean = mean_of(truth), n = static_cast<double>(truth.size());
  double errors = 0.0, squares = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    errors += (forecast[k] - truth[k]) * (forecast[k] - truth[k]);
    squares += (truth[k] - mean) * (truth[k] - mean);
  }
  return std::sqrt(errors / n / (squares / (n - 1.0) + least));
}

std::array<double, 4> vrmse_of(const FieldData& forecast, const FieldData& truth, std::size_t frame) {
  std::array<double, 4> out{};
  const std::size_t nodes = truth.nx() * truth.nz();
  for (std::size_t f = 0; f < out.size(); ++f)
    out[f] = vrmse(forecast.values[f], std::span(truth.values[f]).subspan(frame * nodes, nodes));
  return out;
}

}  // namespace cambium::superres
