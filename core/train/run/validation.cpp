#include "core/train/run/validation.hpp"

#include <algorithm>
#include <numeric>

#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/judges_shares.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/tables/fetch_rows.hpp"

namespace cambium::train {

std::vector<SamplePtr> Validation::block(std::int64_t k) {
  constexpr std::int64_t limit = 1'000'000'000;
  auto& kept = kept_[k];
  if (!kept.empty()) return kept;
  std::vector<std::int64_t> ids(std::min(batch_, data_.size() - k * batch_));
  std::iota(ids.begin(), ids.end(), k * batch_);
  auto samples = data_.read(ids);
  for (const auto& sample : samples) kept_bytes_ += sample->bytes;
  if (kept_bytes_ <= limit) kept = samples;
  return samples;
}

/// `judge` is called for each block of this rank and then without samples, the same number of times on every rank.
std::vector<TermSum> Validation::sums(const Network& network, bool loss, const Comm& comm, std::vector<TermSum>* terms,
                                      const Judge& judge) {
  const std::size_t metrics = network.metrics().size(), parts = loss ? network.terms().size() : 0;
  const std::int64_t blocks = (data_.size() + batch_ - 1) / batch_;
  kept_.resize(blocks);
  std::vector<TermSum> table(static_cast<std::size_t>(blocks) * metrics);
  std::vector<TermSum> losses(static_cast<std::size_t>(blocks) * parts);
  for (std::int64_t turn = 0; turn < blocks; turn += comm.size()) {
    const std::int64_t k = turn + comm.rank();
    const auto samples = k < blocks ? block(k) : std::vector<SamplePtr>{};
    const auto row = static_cast<std::size_t>(k < blocks ? k : 0);
    judge(samples, std::span(table).subspan(row * metrics, metrics), std::span(losses).subspan(row * parts, parts));
  }
  comm.sum(numbers_of(table));
  if (loss) {
    comm.sum(numbers_of(losses));
    *terms = add_rows(losses, parts);
  }
  return add_rows(table, metrics);
}

std::vector<TermSum> Validation::evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm,
                                          Tables* tables, std::vector<TermSum>* terms) {
  std::vector<TermSum> all(network.metrics().size());
  GivesLoss* const loss = terms ? network.traits().loss : nullptr;
  if (JudgesShares* judges = network.traits().shares)
    if (judges->evaluate_all(data_, weights, all)) return all;
  network.begin_evaluation(data_, weights);
  return sums(network, loss != nullptr, comm, terms, [&](auto samples, auto metrics, auto losses) {
    look_up_rows(network, tables, samples, comm);
    if (samples.empty()) return;
    network.evaluate(samples, weights, metrics);
    if (loss) loss->add_loss(samples, weights, losses);
  });
}

std::vector<TermSum> Validation::evaluate_by_module(Network& network, const Pass& pass, const Comm& comm,
                                                    std::vector<TermSum>* terms) {
  WorksByModule& modules = *network.traits().modules;
  const bool loss = terms && network.traits().loss;
  network.begin_evaluation(data_, pass.weights);
  std::int64_t first = 0;  // first sample of the round
  return sums(network, loss, comm, terms, [&](auto samples, auto metrics, auto losses) {
    // Rank 0 has the largest block of a round; other ranks make the same number of passes over the modules.
    std::int64_t left = modules.passes(std::min(batch_, data_.size() - first));
    first += batch_ * comm.size();
    if (!samples.empty()) {
      modules.evaluate_by_module(samples, pass.weights, pass.ready, metrics, losses);
      left -= modules.passes(std::ssize(samples));
    }
    for (; left > 0; --left)
      for (int m = 0; m < std::ssize(network.modules()); ++m) {
        pass.ready.forward(m);
        pass.ready.release(m);
      }
  });
}

}  // namespace cambium::train
