#include "core/train/step/training_step.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/base/recorder.hpp"
#include "core/deck/resolve.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/running_statistics.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/step/make_weights.hpp"
#include "core/train/tables/fetch_rows.hpp"
#include "core/train/weights/by_module.hpp"

namespace cambium::train {

TrainingStep::TrainingStep(const StepKeys& keys, std::uint64_t seed, Context& context)
    : context_(context), keys_(keys), seed_(seed) {
  const auto& registry = *context.registry;
  network_ = registry.make<Network>(keys_.network, context);
  optimizer_ = registry.make<Optimizer>(keys_.optimizer, context);
  rate_ = registry.make<LearningRate>(keys_.learning_rate, context);
  require_ranks(keys_, context);
}

double TrainingStep::rate(std::int64_t step, std::int64_t total) const {
  return keys_.warm_up ? keys_.warm_up->at(*rate_, step, total) : rate_->at(step, total);
}

/// Checks for settings that are incompatible with a network's tables.
static void require_tables_fit(const StepKeys& keys, const std::string& network, bool has_tables) {
  if (!has_tables && !keys.tables) return;
  if (!has_tables)
    throw KeyError(
        "train.tables.none", "tables",
        fmt::format("tables specifies how embedding tables are sharded and trained, but {} has none; remove tables",
                    network));
  if (keys.average)
    throw KeyError(
        "train.average.tables", "ema",
        fmt::format("ema keeps means of weights, but not of the rows of tables, which {} learns; remove ema", network));
  if (keys.reduce.mode == ReduceParams::Mode::ordered && keys.tables && keys.tables->deduplicate.value_or(false))
    throw KeyError(
        "train.tables.deduplicate", "tables.deduplicate",
        "tables.deduplicate adds a row's gradients on each rank before they are sent, so that the sum depends on the "
        "number of ranks, which reduce.mode ordered guarantees it does not; remove one of them");
}

void TrainingStep::prepare(std::int64_t total, std::int64_t slice) {
  total_ = total;
  terms_ = network_->terms().size();
  weights_ = make_weights(keys_, seed_, *network_, *optimizer_, slice, context_);
  if (weights_->on_device())
    device_ = std::make_unique<DeviceSteps>(*network_, *weights_, context_.comm, context_.timing);
  const UsesTables* user = network_->traits().tables;
  require_tables_fit(keys_, keys_.network.type, user != nullptr);
  if (!user) return;
  auto table_keys = keys_.tables.value_or(TableKeys{});
  if (!table_keys.deduplicate)  // sums of bags are fewer than their rows
    table_keys.deduplicate =
        table_keys.divide == TableKeys::Divide::rows && keys_.reduce.mode != ReduceParams::Mode::ordered;
  tables_ = make_tables(user->tables(), table_keys, network_->dtype(), context_);
}

void TrainingStep::start() {
  if (ByModule* parts = weights_->by_module())
    parts->start([&](std::span<const TensorRef> views) { network_->initialise(views, seed_); });
  else
    weights_->start([&](FlatBuffer& whole) { network_->initialise(whole.views(), seed_); });
  if (tables_) tables_->start(seed_);
}

std::vector<double> TrainingStep::term_weights(std::int64_t step) const {
  const double first = start_rate();
  return network_->term_weights(step, first > 0.0 ? rate(step) / first : 1.0);
}

/// Before the gradients of a step: sets the random address and starts to fetch rows of tables.
void TrainingStep::fetch(const Share& share, std::int64_t step) {
  network_->begin_step(seed_, step);
  const auto timer = context_.timing.scope("tables");
  fetch_rows(*network_, tables_.get(), share.slices, share.numbers, context_.comm);
}

// Shown in docs/architecture.md:
Loss TrainingStep::gradient(const Share& share, std::int64_t step, std::string* problem) {
  const auto weights_of_terms = term_weights(step);
  std::vector<TermSum> table(share.slices.size() * context_.comm.size() * terms_);  // of the slices of all ranks
  fetch(share, step);
  const auto timer = context_.timing.scope("reduce");
  weights_->communication().begin_step(seed_, step);
  weights_->begin(std::ssize(share.slices));
  for (std::size_t slice = 0; slice < share.slices.size(); ++slice) {
    const auto terms = std::span(table).subspan(share.numbers[slice] * terms_, terms_);
    add_slice(share, slice, weights_of_terms, terms, problem);
  }
  weights_->finish();
  if (tables_) tables_->send_back();
  weights_->communication().sum_small(numbers_of(table), context_.comm);
  auto sums = add_rows(table, terms_);
  return {weighted_loss(weights_of_terms, sums), std::move(sums)};
}

void TrainingStep::add_slice(const Share& share, std::size_t slice, std::span<const double> term_weights,
                             std::span<TermSum> terms, std::string* problem) {
  const auto samples = share.slices[slice];
  if (samples.empty()) return weights_->skip();
  const Pass pass = weights_->pass();
  const auto timer = context_.timing.scope("gradient");
  if (tables_) network_->traits().tables->use_rows(&tables_->rows(static_cast<int>(slice)));
  try {
    network_->gradient(samples, pass.weights, term_weights, pass.gradients, terms, pass.ready);
  } catch (const InputError& error) {
    if (!problem) throw;
    *problem = error.what();
  }
}

void TrainingStep::update(std::int64_t samples, std::int64_t step) {
  const auto timer = context_.timing.scope("optimizer");
  const Region region("step of the weights", WorkKind::elementwise);
  weights_->update({1.0 / static_cast<double>(samples), keys_.clip, rate(step), step + 1});
  if (HasRunningStatistics* statistics = network_->traits().statistics) statistics->end_step();
  if (tables_) tables_->step(1.0 / static_cast<double>(samples), rate(step));
}

// End of what docs/architecture.md shows.

void TrainingStep::start_gradient(const DeviceShare& share, std::int64_t step) {
  network_->begin_step(seed_, step);
  const auto timer = context_.timing.scope("reduce");
  weights_->communication().begin_step(seed_, step);
  device_->start(share, term_weights(step), step);
}

/// Validations during warm-up do not affect the schedule after it.
bool TrainingStep::judge(std::int64_t step, double measure) {
  const std::int64_t rising = keys_.warm_up ? keys_.warm_up->steps : 0;
  if (step < rising) return false;
  const double before = rate(step);
  rate_->judge(step - rising, measure);
  return rate(step) != before;
}

KeptNumbers TrainingStep::kept() const { return {{"learning_rate", rate_->kept()}, {"optimizer", optimizer_->kept()}}; }

void TrainingStep::take(const KeptNumbers& kept) {
  if (const auto found = kept.find("learning_rate"); found != kept.end()) rate_->take(found->second);
  if (const auto found = kept.find("optimizer"); found != kept.end()) optimizer_->take(found->second);
}

CheckpointKey TrainingStep::key(std::int64_t batch) const {
  const bool ordered = keys_.reduce.mode == ReduceParams::Mode::ordered;
  return {keys_.network.type,
          keys_.optimizer.type,
          weights_->states(),
          ordered ? "ordered" : "fast",
          ordered ? keys_.reduce.slices : 1,
          batch,
          seed_};
}

ArtifactInfo TrainingStep::model_info() const {
  ArtifactInfo info;
  info.type = keys_.network.type;
  const auto* entry = context_.registry->find(Network::kind, keys_.network.type);
  info.config = deck::resolved(keys_.network.node, entry->schema, *context_.registry);
  info.state = network_->state();
  if (weights_) info.grids = weights_->grids();
  return info;
}

std::vector<Citation> TrainingStep::citations() const {
  std::vector<Citation> out = network_->citations();
  for (const auto& work : optimizer_->citations()) out.push_back(work);
  for (const auto& work : rate_->citations()) out.push_back(work);
  if (tables_)
    for (const auto& work : tables_->citations()) out.push_back(work);
  return out;
}

}  // namespace cambium::train
