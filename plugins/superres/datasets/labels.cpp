#include "plugins/superres/datasets/labels.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::superres {
namespace {

std::size_t number_of(const FieldData& data, const char* name) {
  const auto found = std::find(data.names.begin(), data.names.end(), name);
  if (found == data.names.end()) throw InternalError("plumes need the fields b and w");
  return static_cast<std::size_t>(found - data.names.begin());
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

}  // namespace

void PlumeRule::describe(deck::Describe<PlumeRule>& d) {
  d("temperature", &PlumeRule::temperature,
    "multiple of its root mean square that the temperature is off the mean of its height")
      .non_negative()
      .def(1.0);
  d("flux", &PlumeRule::flux, "multiple of its root mean square that w times that temperature exceeds")
      .non_negative()
      .def(1.0);
}

std::vector<double> anomaly(const FieldData& data, std::size_t field) {
  const std::size_t nt = data.axis[0].size(), nx = data.nx(), nz = data.nz();
  std::vector<double> out = data.values[field], mean(nz, 0.0), seen(nz, 0.0);
  const auto hidden = [&](std::size_t k) { return !data.hidden.empty() && data.hidden[k] != 0; };
  for (std::size_t k = 0; k < nt * nx * nz; ++k)
    if (!hidden(k)) mean[k % nz] += out[k], seen[k % nz] += 1.0;
  for (std::size_t k = 0; k < nt * nx * nz; ++k) out[k] = hidden(k) ? 0.0 : out[k] - mean[k % nz] / seen[k % nz];
  return out;
}

std::vector<std::uint8_t> plumes_of(const FieldData& data, const PlumeRule& rule) {
  const auto temperature = anomaly(data, number_of(data, "b"));
  const auto& w = data.values[number_of(data, "w")];
  std::vector<double> flux(temperature.size());
  for (std::size_t k = 0; k < flux.size(); ++k) flux[k] = temperature[k] == 0.0 ? 0.0 : w[k] * temperature[k];
  const double least_temperature = rule.temperature * root_mean_square(temperature),
               least_flux = rule.flux * root_mean_square(flux);
  std::vector<std::uint8_t> out(flux.size(), 0);
  for (std::size_t k = 0; k < flux.size(); ++k)
    if (flux[k] > least_flux && std::abs(temperature[k]) > least_temperature) out[k] = temperature[k] > 0.0 ? 1 : 2;
  return out;
}

}  // namespace cambium::superres
