#include "plugins/assimilate/filters/climatology.hpp"

#include <cmath>

namespace cambium::assimilate {

Climatology Climatology::of(std::vector<double> states, std::size_t elements) {
  Climatology out;
  out.elements = elements;
  out.samples = states.size() / elements;
  out.mean.assign(elements, 0.0);
  for (std::size_t s = 0; s < out.samples; ++s)
    for (std::size_t e = 0; e < elements; ++e)
      out.mean[e] += states[s * elements + e] / static_cast<double>(out.samples);
  for (std::size_t s = 0; s < out.samples; ++s)
    for (std::size_t e = 0; e < elements; ++e) states[s * elements + e] -= out.mean[e];
  out.anomalies = std::move(states);
  return out;
}

std::vector<double> Climatology::scales(std::size_t fields) const {
  std::vector<double> out;
  const auto part = elements / fields;
  for (std::size_t f = 0; f < fields; ++f) {
    double centre = 0.0, squares = 0.0;
    for (std::size_t e = f * part; e < (f + 1) * part; ++e) centre += mean[e] / static_cast<double>(part);
    for (std::size_t s = 0; s < samples; ++s)
      for (std::size_t e = f * part; e < (f + 1) * part; ++e)
        squares += std::pow(mean[e] + anomalies[s * elements + e] - centre, 2);
    out.push_back(std::sqrt(squares / static_cast<double>(part * samples)));
  }
  return out;
}

}  // namespace cambium::assimilate
