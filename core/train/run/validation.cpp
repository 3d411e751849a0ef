#include "core/train/run/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace cambium::train {

double reported(const TermInfo& info, const TermSum& sum) {
  if (sum.count == 0.0) return std::numeric_limits<double>::quiet_NaN();
  const double mean = sum.sum / sum.count;
  return info.report == TermInfo::Report::root_mean ? std::sqrt(mean) : mean;
}

std::span<double> numbers_of(std::span<TermSum> table) {
  static_assert(sizeof(TermSum) == 2 * sizeof(double));
  return {reinterpret_cast<double*>(table.data()), 2 * table.size()};
}

std::vector<TermSum> add_rows(std::span<const TermSum> table, std::size_t terms) {
  std::vector<TermSum> out(terms);
  for (std::size_t k = 0; k < table.size(); ++k) {
    out[k % terms].sum += table[k].sum;
    out[k % terms].count += table[k].count;
  }
  return out;
}

double weighted_loss(std::span<const double> weights, std::span<const TermSum> sums) {
  double loss = 0.0;
  for (std::size_t k = 0; k < sums.size(); ++k)
    if (sums[k].count > 0.0) loss += weights[k] * sums[k].sum / sums[k].count;
  return loss;
}

std::vector<SamplePtr> Validation::block(std::int64_t k) {
  constexpr std::int64_t limit = 1'000'000'000;
  auto& kept = kept_[static_cast<std::size_t>(k)];
  if (!kept.empty()) return kept;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(std::min(batch_, data_.size() - k * batch_)));
  std::iota(ids.begin(), ids.end(), k * batch_);
  auto samples = data_.read(ids);
  for (const auto& sample : samples) kept_bytes_ += sample->bytes;
  if (kept_bytes_ <= limit) kept = samples;
  return samples;
}

std::vector<TermSum> Validation::evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm) {
  const std::size_t terms = network.metrics().size();
  const std::int64_t blocks = (data_.size() + batch_ - 1) / batch_;
  kept_.resize(static_cast<std::size_t>(blocks));
  std::vector<TermSum> table(static_cast<std::size_t>(blocks) * terms);
  for (std::int64_t k = comm.rank(); k < blocks; k += comm.size())
    network.evaluate(block(k), weights, std::span(table).subspan(static_cast<std::size_t>(k) * terms, terms));
  comm.sum(numbers_of(table));
  return add_rows(table, terms);
}

}  // namespace cambium::train
