#pragma once
#include <memory>

#include "core/train/run/train.hpp"

namespace cambium::train {

/// The samples of a training: those to train on, those held out, and the loader that brings them.
class TrainingData {
 public:
  /// Makes what the deck names; opens nothing. `seed` draws what is held out. Parameters and context outlive this.
  TrainingData(const Train::Params& params, std::uint64_t seed, Context& context);

  /// Before all else: which network of a committee learns from them, from 0.
  void take_member(int member);
  /// Collective. What the keys alone tell of the data's size, for `cambium check`; as open() refuses it.
  void check() const;
  /// Collective. InputError for data that cannot be trained on.
  void open();
  Dataset& training() { return *training_; }
  /// What is only looked at; null where there is none.
  Dataset* held_out() { return held_out_ && held_out_->size() > 0 ? held_out_.get() : nullptr; }
  /// For the whole training, known once the data are open.
  std::int64_t steps() const { return steps_; }
  std::int64_t batch() const { return plan_.batch; }

  /// Opens the loader: `seed` orders the samples, `turns` as Weights::turns().
  void start(std::uint64_t seed, int turns);
  const BatchPlan& plan() const { return plan_; }
  double epochs(std::int64_t steps) const {
    return static_cast<double>(steps) / static_cast<double>(plan_.steps_per_epoch());
  }
  Loader& loader() { return *loader_; }
  /// For the sets that were opened.
  std::vector<Citation> citations() const;

 private:
  void hold_some_out();
  void require_room(std::int64_t samples) const;
  std::int64_t steps_over(std::int64_t samples) const;

  const Train::Params& params_;
  std::uint64_t seed_;
  Context& context_;
  std::unique_ptr<Dataset> whole_, training_, held_out_;  ///< training_ and held_out_ may be parts of whole_
  std::unique_ptr<Loader> loader_;
  std::int64_t steps_ = 0;
  BatchPlan plan_;
};

}  // namespace cambium::train
