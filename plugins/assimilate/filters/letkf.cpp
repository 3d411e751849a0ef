#include "plugins/assimilate/filters/letkf.hpp"

#include <cmath>

#include "core/base/recorder.hpp"
#include "plugins/assimilate/filters/ensemble_transform.hpp"
#include "plugins/assimilate/filters/gaspari_cohn.hpp"

namespace cambium::assimilate {

ObservedEnsemble ObservedEnsemble::of(std::vector<double> seen, std::span<const double> observed) {
  ObservedEnsemble out;
  const auto p = observed.size();
  out.members = seen.size() / p;
  out.mean.assign(p, 0.0);
  for (std::size_t m = 0; m < out.members; ++m)
    for (std::size_t i = 0; i < p; ++i) out.mean[i] += seen[m * p + i] / static_cast<double>(out.members);
  for (std::size_t m = 0; m < out.members; ++m)
    for (std::size_t i = 0; i < p; ++i) seen[m * p + i] -= out.mean[i];
  out.anomalies = std::move(seen);
  for (std::size_t i = 0; i < p; ++i) out.innovations.push_back(observed[i] - out.mean[i]);
  return out;
}

namespace {

/// Observations used at a grid point, scaled for EnsembleTransform.
class LocalView {
 public:
  LocalView(const ObservedEnsemble& seen, const Network& network, const StateSpace& space, double half_width)
      : seen_(seen), network_(network), space_(space), half_width_(half_width) {}

  /// False when there are none.
  bool gather(double x, double z) {
    which_.clear();
    scale_.clear();
    for (std::size_t i = 0; i < network_.size(); ++i) {
      const auto& one = network_.list[i];
      const double weight = half_width_ > 0.0 ? gaspari_cohn(distance(space_, x, z, one.x, one.z), half_width_) : 1.0;
      if (weight <= 1e-12) continue;
      which_.push_back(i);
      scale_.push_back(std::sqrt(weight) / one.deviation);
    }
    const auto p = which_.size();
    anomalies.resize(seen_.members * p);
    innovations.resize(p);
    for (std::size_t j = 0; j < p; ++j) innovations[j] = seen_.innovations[which_[j]] * scale_[j];
    for (std::size_t m = 0; m < seen_.members; ++m)
      for (std::size_t j = 0; j < p; ++j)
        anomalies[m * p + j] = seen_.anomalies[m * network_.size() + which_[j]] * scale_[j];
    return p > 0;
  }
  std::vector<double> anomalies, innovations;

 private:
  const ObservedEnsemble& seen_;
  const Network& network_;
  const StateSpace& space_;
  double half_width_;
  std::vector<std::size_t> which_;
  std::vector<double> scale_;
};

/// Members of one element from the mean and the anomalies, combined by `weights`.
void combine(EnsembleSlice& slice, std::size_t field, std::size_t place, std::span<const double> weights,
             double relaxation, std::vector<double>& anomaly) {
  const auto n = slice.members;
  double mean = 0.0, analysed = 0.0, before = 0.0, after = 0.0;
  for (std::size_t m = 0; m < n; ++m) mean += slice.at(m, field, place) / static_cast<double>(n);
  for (std::size_t m = 0; m < n; ++m) anomaly[m] = slice.at(m, field, place) - mean;
  for (std::size_t m = 0; m < n; ++m) {
    double sum = mean;
    for (std::size_t k = 0; k < n; ++k) sum += weights[m * n + k] * anomaly[k];
    slice.at(m, field, place) = sum;
    analysed += sum / static_cast<double>(n);
  }
  if (relaxation == 0.0) return;
  for (std::size_t m = 0; m < n; ++m) {
    before += anomaly[m] * anomaly[m];
    after += (slice.at(m, field, place) - analysed) * (slice.at(m, field, place) - analysed);
  }
  if (!(after > 0.0)) return;
  const double factor = 1.0 + relaxation * (std::sqrt(before / after) - 1.0);
  for (std::size_t m = 0; m < n; ++m)
    slice.at(m, field, place) = analysed + factor * (slice.at(m, field, place) - analysed);
}

std::vector<double> only_inflated(std::size_t members, double inflation) {
  std::vector<double> out(members * members, 0.0);
  for (std::size_t m = 0; m < members; ++m) out[m * members + m] = std::sqrt(inflation);
  return out;
}

}  // namespace

void analyse(EnsembleSlice& slice, const ObservedEnsemble& seen, const Network& network, const StateSpace& space,
             double half_width, double inflation, double relaxation) {
  const Region region("ensemble transforms", WorkKind::matrix);
  EnsembleTransform transform(static_cast<int>(seen.members));
  LocalView view(seen, network, space, half_width);
  const auto alone = only_inflated(seen.members, inflation);
  std::vector<double> weights(seen.members * seen.members), anomaly(seen.members);
  bool global = false;
  for (std::size_t place = slice.first; place < slice.last; ++place) {
    if (!global) {
      const double x = space.x[place / space.nz()], z = space.z[place % space.nz()];
      if (view.gather(x, z))
        transform.compute(view.anomalies, view.innovations, inflation, weights);
      else
        weights = alone;
      global = half_width <= 0.0;
    }
    for (std::size_t f = 0; f < slice.fields; ++f) combine(slice, f, place, weights, relaxation, anomaly);
  }
}

}  // namespace cambium::assimilate
