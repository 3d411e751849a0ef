#include <fmt/format.h>

#include "core/train/run/trainer.hpp"

namespace cambium::train {

Communication& Trainer::communication() {
  if (sharded_) return *sharded_;
  return *reducer_;
}

void Trainer::make_sharded() {
  const auto partition = partition_of(*params_.parallel, context_.comm.size(), params_.reduce.codec);
  mesh_ = std::make_unique<Mesh>(context_.comm, partition.levels);
  ShardedModel::Settings settings;
  settings.ordered = params_.reduce.mode == ReduceParams::Mode::ordered;
  settings.overlap = params_.reduce.overlap;
  settings.direct = params_.direct;
  settings.group_elements =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(params_.reduce.group) / size_of(network_->dtype()));
  sharded_ = std::make_unique<ShardedModel>(partition, *mesh_, *network_, *optimizer_, settings);
  const auto ranks = [&](int depth) { return parts_of(*mesh_, depth); };
  context_.log.info(fmt::format("divided: weights by {}, gradients by {}, states by {} of {} ranks",
                                ranks(partition.weights), ranks(partition.gradients), ranks(partition.states),
                                context_.comm.size()));
}

/// The first weights, and what the optimizer makes of them.
void Trainer::start_weights(const std::function<void(FlatBuffer&)>& fill) {
  if (sharded_) {
    auto whole = sharded_->make_copy(network_->dtype());
    fill(whole.numbers);
    sharded_->start(whole.numbers, *optimizer_);
  } else if (direct_) {
    FlatBuffer whole;
    const auto counted = counted_copy(whole);
    fill(whole);
    direct_->start(whole);
  } else {
    fill(progress_.weights);
    optimizer_->start(progress_.weights, progress_.states);
  }
}

void Trainer::with_trained(const std::function<void(FlatBuffer&)>& use) {
  if (direct_) {
    FlatBuffer whole;
    const auto counted = counted_copy(whole);
    direct_->copy_to(whole);
    return use(whole);
  }
  if (!sharded_) return use(params_.average ? progress_.average : progress_.weights);
  auto whole = sharded_->whole_weights();
  use(whole.numbers);
}

void Trainer::with_best(const std::function<void(FlatBuffer&)>& use) {
  if (direct_) {
    FlatBuffer whole;
    const auto counted = counted_copy(whole);
    direct_->copy_best_to(whole);
    return use(whole);
  }
  if (!sharded_) return use(progress_.best);
  auto whole = sharded_->whole_best();
  use(whole.numbers);
}

void Trainer::keep_best() {
  if (sharded_) return sharded_->keep_best();
  if (direct_) return direct_->keep_best();
  if (progress_.best.bytes() == 0) progress_.best = FlatBuffer(*layout_, network_->dtype());
  with_trained([&](FlatBuffer& weights) { progress_.best.copy_from(weights); });
}

/// What a checkpoint holds, whole on every rank: files do not know how a model was divided.
void Trainer::fill_whole(Progress& whole, std::vector<Counted>& counted) {
  const auto take = [&](WholeCopy copy) {
    counted.push_back(std::move(copy.counted));
    return std::move(copy.numbers);
  };
  whole.grids = sharded_->grid_steps();
  whole.weights = take(sharded_->whole_weights());
  whole.states.clear();
  for (std::size_t k = 0; k < sharded_->states().size(); ++k) whole.states.push_back(take(sharded_->whole_state(k)));
  if (whole.best_step >= 0) whole.best = take(sharded_->whole_best());
}

void Trainer::read_sharded(const std::string& path, std::int64_t& ranks) {
  std::vector<Counted> counted;
  const auto make = [&](DType dtype) {
    auto copy = sharded_->make_copy(dtype);
    counted.push_back(std::move(copy.counted));
    return std::move(copy.numbers);
  };
  progress_.weights = make(network_->dtype());
  progress_.best = make(network_->dtype());
  progress_.states.clear();
  for (const auto& info : sharded_->states()) progress_.states.push_back(make(info.dtype));
  progress_.grids = sharded_->grid_steps();
  ranks = read_train_checkpoint(path, progress_, checkpoint_key());
  if (params_.direct) sharded_->set_grid_steps(progress_.grids);
  sharded_->take_weights(progress_.weights);
  for (std::size_t k = 0; k < progress_.states.size(); ++k) sharded_->take_state(k, progress_.states[k]);
  if (progress_.best_step >= 0) sharded_->take_best(progress_.best);
  progress_.weights = {}, progress_.best = {}, progress_.states.clear(), progress_.grids.clear();
}

}  // namespace cambium::train
