#include "plugins/assimilate/filters/inflation.hpp"

#include <algorithm>

namespace cambium::assimilate {

void AdaptiveInflation::update(const ObservedEnsemble& seen, const Network& network, double prior_deviation) {
  const auto p = network.size();
  double squares = 0.0, spread = 0.0;  // in units of the observation errors
  for (std::size_t i = 0; i < p; ++i) {
    const double precision = 1.0 / (network.list[i].deviation * network.list[i].deviation);
    squares += seen.innovations[i] * seen.innovations[i] * precision;
    for (std::size_t m = 0; m < seen.members; ++m)
      spread +=
          seen.anomalies[m * p + i] * seen.anomalies[m * p + i] * precision / static_cast<double>(seen.members - 1);
  }
  if (!(spread > 0.0)) return;
  const auto count = static_cast<double>(p);
  const double estimate = (squares - count) / spread;
  const double scatter = (value_ * spread + count) / spread;
  const double of_estimate = 2.0 / count * scatter * scatter, prior = prior_deviation * prior_deviation;
  value_ += prior / (prior + of_estimate) * (estimate - value_);
  value_ = std::clamp(value_, 0.9, 100.0);
}

}  // namespace cambium::assimilate
