#pragma once
#include <memory>

#include "core/train/run/train.hpp"

namespace cambium::train {

/// Data of a training: training samples, held-out samples, and the loader.
class TrainingData {
 public:
  /// Creates the objects named in the deck without opening data. `seed` selects the held-out samples. Parameters and
  /// context must outlive this.
  TrainingData(const Train::Params& params, std::uint64_t seed, Context& context);

  /// Before all else: selects the network of a committee that is trained, from 0.
  void take_member(int member);
  /// Collective. Checks the data's size as far as the keys determine it, for `cambium check`; same errors as open().
  void check() const;
  /// Collective. InputError for data that cannot be trained on.
  void open();
  /// InputError if validation has an input of the network with its values along other axes than training has.
  void require_same_axes(const ReadsFields* network) const;
  Dataset& training() { return *training_; }
  /// Samples for validation only; null if there are none.
  Dataset* held_out() { return held_out_ && held_out_->size() > 0 ? held_out_.get() : nullptr; }
  /// Steps of the entire training; valid once the data are open.
  std::int64_t steps() const { return steps_; }
  std::int64_t batch() const { return plan_.batch; }

  /// Opens the loader: `seed` orders the samples, `turns` as Weights::turns().
  void start(std::uint64_t seed, int turns);
  const BatchPlan& plan() const { return plan_; }
  double epochs(std::int64_t steps) const {
    return static_cast<double>(steps) / static_cast<double>(plan_.steps_per_epoch());
  }
  Loader& loader() { return *loader_; }
  /// This rank's samples of a step, transformed as the deck requests.
  Batch batch_of(std::int64_t step);
  /// False if the samples of a step differ from those of the data set.
  bool as_stored() const { return augment_.empty(); }
  /// Publications of the opened data sets.
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
  Augment augment_;
  std::int64_t steps_ = 0;
  BatchPlan plan_;
};

}  // namespace cambium::train
