#include "core/train/tune/policy.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace cambium::tune {

void PolicyOptions::describe(deck::Describe<PolicyOptions>& d) {
  d("batch", &PolicyOptions::batch, "finished trials between two updates of the policy").at_least(2).def(10);
  d("epochs", &PolicyOptions::epochs, "gradient steps of an update").at_least(1).def(10);
  d("learning_rate", &PolicyOptions::rate, "step size of the logits").positive().def(5.0);
  d("clip", &PolicyOptions::clip, "relative change of a choice's probability beyond which an update gains nothing")
      .positive()
      .def(0.2);
  d("entropy", &PolicyOptions::entropy, "weight of the policy's entropy in the objective").non_negative().def(0.01);
}

namespace {

std::vector<double> softmax(const std::vector<double>& logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> out;
  double sum = 0.0;
  for (const double x : logits) sum += out.emplace_back(std::exp(x - most));
  for (double& p : out) p /= sum;
  return out;
}

Policy policy_of(const Policy& logits) {
  Policy out;
  for (const auto& one : logits) out.push_back(softmax(one));
  return out;
}

/// Rewards minus their mean, in units of their standard deviation; zeros if all are equal.
std::vector<double> advantages(std::span<const Trial> batch) {
  double lowest = 0.0;
  bool any = false;
  for (const auto& t : batch)
    if (!t.failed) {
      lowest = any ? std::min(lowest, t.reward) : t.reward;
      any = true;
    }
  std::vector<double> out;
  double mean = 0.0, square = 0.0;
  const auto n = static_cast<double>(batch.size());
  for (const auto& t : batch) mean += out.emplace_back(t.failed ? lowest : t.reward) / n;
  for (double& a : out) square += (a - mean) * (a - mean) / n;
  for (double& a : out) a = square > 0.0 ? (a - mean) / std::sqrt(square) : 0.0;
  return out;
}

/// Adds the derivatives by the logits of one decision.
void add_gradient(const std::vector<double>& p, int choice, double before, double advantage, double clip,
                  std::vector<double>& gradient) {
  const double q = p[static_cast<std::size_t>(choice)] / before;
  if (advantage > 0.0 ? q > 1.0 + clip : q < 1.0 - clip) return;  // clipped: the objective is constant
  for (std::size_t j = 0; j < p.size(); ++j)
    gradient[j] += q * advantage * ((static_cast<int>(j) == choice ? 1.0 : 0.0) - p[j]);
}

void add_entropy_gradient(const std::vector<double>& p, double weight, std::vector<double>& gradient) {
  double entropy = 0.0;
  for (const double x : p)
    if (x > 0.0) entropy -= x * std::log(x);
  for (std::size_t j = 0; j < p.size(); ++j)
    if (p[j] > 0.0) gradient[j] -= weight * p[j] * (std::log(p[j]) + entropy);
}

void update(const PolicyOptions& o, std::span<const Trial> batch, const std::vector<Policy>& policies, Policy& logits) {
  const auto advantage = advantages(batch);
  const double share = 1.0 / static_cast<double>(batch.size() * logits.size());
  for (std::int64_t step = 0; step < o.epochs; ++step) {
    for (std::size_t d = 0; d < logits.size(); ++d) {
      const auto p = softmax(logits[d]);
      std::vector<double> gradient(p.size(), 0.0);
      for (std::size_t k = 0; k < batch.size(); ++k) {
        const auto proposer =
            std::min<std::size_t>(static_cast<std::size_t>(batch[k].known / o.batch), policies.size() - 1);
        const int choice = batch[k].genome[d];
        add_gradient(p, choice, policies[proposer][d][static_cast<std::size_t>(choice)], advantage[k], o.clip,
                     gradient);
      }
      add_entropy_gradient(p, o.entropy * static_cast<double>(batch.size()), gradient);
      for (std::size_t j = 0; j < p.size(); ++j) logits[d][j] += o.rate * share * gradient[j];
    }
  }
}

}  // namespace

Policy taught_policy(const SearchSpace& space, const PolicyOptions& o, const std::vector<Trial>& finished) {
  Policy logits;
  for (const int n : space.choices) logits.emplace_back(static_cast<std::size_t>(n), 0.0);
  std::vector<Policy> policies{policy_of(logits)};
  const auto size = static_cast<std::size_t>(o.batch);
  for (std::size_t first = 0; first + size <= finished.size(); first += size) {
    update(o, std::span(finished).subspan(first, size), policies, logits);
    policies.push_back(policy_of(logits));
  }
  return policies.back();
}

}  // namespace cambium::tune
