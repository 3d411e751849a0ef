#include "core/train/run/trainer.hpp"

namespace cambium::train {

void Trainer::make_direct() {
  direct_ = std::make_unique<DirectWeights>(*params_.direct, *network_, *optimizer_, *layout_, seed_);
  std::int64_t states = 0;
  for (const auto& state : progress_.states) states += state.bytes();
  direct_counts_.emplace_back(direct_->memory(), Held::gradients, gradients_.bytes());
  direct_counts_.emplace_back(direct_->memory(), Held::states, states);
}

/// Of all direct weights. Collective.
double Trainer::share_changed(double count) const {
  return sharded_ ? sharded_->over_parts(count) / static_cast<double>(sharded_->linear_numbers())
                  : count / static_cast<double>(direct_->linear_numbers());
}

/// A whole model in float32, counted while the result lives.
Counted Trainer::counted_copy(FlatBuffer& buffer) {
  buffer = FlatBuffer(*layout_, DType::f32);
  return {direct_->memory(), Held::copies, buffer.bytes()};
}

/// Files hold weights in float32, which lie on the grids, and the grids' steps.
void Trainer::fill_direct() {
  direct_counts_.push_back(counted_copy(progress_.weights));
  direct_->copy_to(progress_.weights);
  if (progress_.best_step >= 0) {
    direct_counts_.push_back(counted_copy(progress_.best));
    direct_->copy_best_to(progress_.best);
  }
  progress_.grids = direct_->steps();
}

void Trainer::read_direct(const std::string& path, std::int64_t& ranks) {
  direct_counts_.push_back(counted_copy(progress_.weights));
  direct_counts_.push_back(counted_copy(progress_.best));
  progress_.grids = direct_->steps();
  ranks = read_train_checkpoint(path, progress_, checkpoint_key());
  direct_->take(progress_.weights, progress_.grids);
  if (progress_.best_step >= 0) direct_->take_best(progress_.best);
  drop_copies();
}

void Trainer::drop_copies() {
  progress_.weights = {}, progress_.best = {}, progress_.grids.clear();
  while (direct_counts_.size() > 2) direct_counts_.pop_back();
}

}  // namespace cambium::train
