#include "core/train/step/training_step.hpp"

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/step/make_weights.hpp"

namespace cambium::train {

TrainingStep::TrainingStep(const deck::Choice<Network>& model, const StepKeys& keys, std::uint64_t seed,
                           Context& context)
    : context_(context), model_(model), keys_(keys), seed_(seed) {
  const auto& registry = *context.registry;
  network_ = registry.make<Network>(model_, context);
  optimizer_ = registry.make<Optimizer>(keys_.optimizer, context);
  rate_ = registry.make<LearningRate>(keys_.learning_rate, context);
  require_ranks(keys_, context);
}

double TrainingStep::rate(std::int64_t step, std::int64_t total) const {
  return keys_.warm_up ? keys_.warm_up->at(*rate_, step, total) : rate_->at(step, total);
}

void TrainingStep::prepare(std::int64_t total) {
  total_ = total;
  terms_ = network_->terms().size();
  weights_ = make_weights(keys_, seed_, *network_, *optimizer_, context_);
}

void TrainingStep::start() {
  weights_->start([&](FlatBuffer& whole) { network_->initialise(whole.views(), seed_); });
}

std::vector<double> TrainingStep::term_weights(std::int64_t step) const {
  const double first = start_rate();
  return network_->term_weights(step, first > 0.0 ? rate(step) / first : 1.0);
}

Loss TrainingStep::gradient(const Share& share, std::int64_t step, std::string* problem) {
  const auto weights_of_terms = term_weights(step);
  network_->begin_step(seed_, step);
  std::vector<TermSum> table(share.slices.size() * static_cast<std::size_t>(context_.comm.size()) * terms_);
  const auto compute = [&](int slice, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                           const ReadyCallback& ready) {
    const auto timer = context_.timing.scope("gradient");
    const auto samples = share.slices[static_cast<std::size_t>(slice)];
    if (samples.empty()) return false;
    const auto row = static_cast<std::size_t>(share.numbers[static_cast<std::size_t>(slice)]);
    const auto terms = std::span(table).subspan(row * terms_, terms_);
    try {
      network_->gradient(samples, weights, weights_of_terms, gradients, terms, ready);
    } catch (const InputError& error) {
      if (!problem) throw;
      *problem = error.what();
    }
    return true;
  };
  const auto timer = context_.timing.scope("reduce");
  weights_->communication().begin_step(seed_, step);
  weights_->sum(static_cast<int>(share.slices.size()), compute);
  weights_->communication().sum_small(numbers_of(table), context_.comm);
  auto sums = add_rows(table, terms_);
  return {weighted_loss(weights_of_terms, sums), std::move(sums)};
}

void TrainingStep::update(std::int64_t samples, std::int64_t step) {
  const auto timer = context_.timing.scope("optimizer");
  weights_->step({1.0 / static_cast<double>(samples), keys_.clip, rate(step), step + 1});
}

CheckpointKey TrainingStep::key(std::int64_t batch) const {
  const bool ordered = keys_.reduce.mode == ReduceParams::Mode::ordered;
  return {model_.type,
          keys_.optimizer.type,
          weights_->states(),
          ordered ? "ordered" : "fast",
          ordered ? keys_.reduce.slices : 1,
          batch,
          seed_};
}

ArtifactInfo TrainingStep::model_info() const {
  ArtifactInfo info;
  info.type = model_.type;
  const auto* entry = context_.registry->find(Network::kind, model_.type);
  info.config = deck::resolved(model_.node, entry->schema, *context_.registry);
  info.state = network_->state();
  return info;
}

std::vector<Citation> TrainingStep::citations() const {
  std::vector<Citation> out = network_->citations();
  for (const auto& work : optimizer_->citations()) out.push_back(work);
  for (const auto& work : rate_->citations()) out.push_back(work);
  return out;
}

}  // namespace cambium::train
