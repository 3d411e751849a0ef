#include "core/train/run/held_out_loss.hpp"

#include <algorithm>

#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/term_sums.hpp"

namespace cambium::train {

/// Root means without a unit may refer to differently scaled values.
static bool is_same(const TermInfo& a, const TermInfo& b) {
  return a.name == b.name && a.unit == b.unit && a.report == b.report &&
         (a.report == TermInfo::Report::mean || !a.unit.empty());
}

HeldOutLoss::HeldOutLoss(Network& network) : asks_(network.traits().loss != nullptr) {
  if (asks_ || network.traits().joins_ranks) return;
  const auto metrics = network.metrics();
  for (const auto& term : network.terms()) {
    const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& m) { return is_same(m, term); });
    if (found == metrics.end()) {
      metrics_.clear();
      return;
    }
    metrics_.push_back(static_cast<std::size_t>(found - metrics.begin()));
  }
}

double HeldOutLoss::of(std::span<const double> term_weights, std::span<const TermSum> metrics,
                       std::span<const TermSum> terms) const {
  if (asks_) return weighted_loss(term_weights, terms);
  std::vector<TermSum> found;
  for (const auto k : metrics_) found.push_back(metrics[k]);
  return weighted_loss(term_weights, found);
}

}  // namespace cambium::train
