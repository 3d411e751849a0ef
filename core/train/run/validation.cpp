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

std::vector<TermSum> Validation::evaluate(Network& network, std::span<const TensorRef> weights, const Comm& comm,
                                          Tables* tables, std::vector<TermSum>* terms) {
  const std::size_t metrics = network.metrics().size(), parts = network.terms().size();
  std::vector<TermSum> all(metrics);
  GivesLoss* const loss = terms ? dynamic_cast<GivesLoss*>(&network) : nullptr;
  if (JudgesShares* judges = network.traits().shares)
    if (judges->evaluate_all(data_, weights, all)) return all;
  network.begin_evaluation(data_, weights);
  const std::int64_t blocks = (data_.size() + batch_ - 1) / batch_;
  kept_.resize(blocks);
  std::vector<TermSum> table(static_cast<std::size_t>(blocks) * metrics);
  std::vector<TermSum> losses(loss ? static_cast<std::size_t>(blocks) * parts : 0);
  for (std::int64_t turn = 0; turn < blocks; turn += comm.size()) {
    const std::int64_t k = turn + comm.rank();
    const auto samples = k < blocks ? block(k) : std::vector<SamplePtr>{};
    look_up_rows(network, tables, samples, comm);
    if (samples.empty()) continue;
    network.evaluate(samples, weights, std::span(table).subspan(static_cast<std::size_t>(k) * metrics, metrics));
    if (loss) loss->add_loss(samples, weights, std::span(losses).subspan(static_cast<std::size_t>(k) * parts, parts));
  }
  comm.sum(numbers_of(table));
  if (loss) {
    comm.sum(numbers_of(losses));
    *terms = add_rows(losses, parts);
  }
  return add_rows(table, metrics);
}

}  // namespace cambium::train
