#include "plugins/superres/evaluate/scores.hpp"

#include <cmath>
#include <numeric>

namespace cambium::superres {

Score score_of(const std::vector<double>& truth, const std::vector<double>& prediction) {
  const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / static_cast<double>(truth.size());
  double error = 0.0, size = 0.0, squares = 0.0, spread = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    error += std::fabs(prediction[k] - truth[k]);
    size += std::fabs(truth[k]);
    squares += std::pow(prediction[k] - truth[k], 2);
    spread += std::pow(truth[k] - mean, 2);
  }
  return {error / size, 1.0 - squares / spread};
}

Scores scores_of(const FieldData& truth, const FieldData& prediction, double viscosity, double peclet,
                 const std::array<int, 3>& fields) {
  Scores out;
  for (std::size_t f = 0; f < truth.values.size(); ++f) {
    double error = 0.0, size = 0.0;
    for (std::size_t k = 0; k < truth.values[f].size(); ++k) {
      if (!truth.hidden.empty() && truth.hidden[k]) continue;
      error += std::pow(prediction.values[f][k] - truth.values[f][k], 2);
      size += std::pow(truth.values[f][k], 2);
    }
    out.relative_l2.push_back(std::sqrt(error / size));
  }
  const auto a = flow_statistics(truth, viscosity, fields), b = flow_statistics(prediction, viscosity, fields);
  const auto frames = static_cast<double>(a.size());
  out.heat = heat_path(truth, fields[0]);
  const auto nusselt = [&](const FlowStatistics& s) {
    return 1.0 + peclet * (out.heat.along_x ? out.heat.sign * s.flux_x : s.flux);
  };
  std::vector<double> true_spectrum(a[0].spectrum.size(), 0.0), spectrum = true_spectrum;
  for (std::size_t t = 0; t < a.size(); ++t) {
    out.true_nusselt += nusselt(a[t]) / frames;
    out.nusselt += nusselt(b[t]) / frames;
    out.true_divergence += a[t].divergence / frames;
    out.divergence += b[t].divergence / frames;
    for (std::size_t k = 0; k < spectrum.size(); ++k) {
      true_spectrum[k] += a[t].spectrum[k];
      spectrum[k] += b[t].spectrum[k];
    }
  }
  for (std::size_t k = 0; k < spectrum.size(); ++k)
    out.spectrum += std::pow(std::log10((spectrum[k] + 1e-30) / (true_spectrum[k] + 1e-30)), 2);
  out.spectrum = std::sqrt(out.spectrum / static_cast<double>(spectrum.size()));
  for (std::size_t n = 0; n < 9; ++n) {
    std::vector<double> x, y;
    for (std::size_t t = 0; t < a.size(); ++t) {
      x.push_back(a[t].values[n]);
      y.push_back(b[t].values[n]);
    }
    out.statistics[n] = score_of(x, y);
    out.mean_r2 += out.statistics[n].r2 / 9.0;
  }
  return out;
}

}  // namespace cambium::superres
