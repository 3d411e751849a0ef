#pragma once
#include <string>
#include <vector>

#include "core/train/networks/artifact/artifact.hpp"
#include "core/train/run/training_data.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// Files of the model that a training writes: best.h5 under way, model.h5 and the network's own formats at its end.
class ModelFiles {
 public:
  /// All of these outlive this.
  ModelFiles(const Train::Params& params, TrainingStep& step, TrainingData& data, Context& context)
      : params_(params), step_(step), data_(data), context_(context) {}

  /// Errors of the best validation, one per metric: what the model's card says.
  void set_errors(const std::vector<double>& errors) { errors_ = errors; }
  /// Collective. `step`: of these weights; `best`: rows of tables are those of the best step, too.
  void write(const std::string& name, const FlatBuffer& weights, std::int64_t step, bool best);
  /// Collective: the best model of `step`, or the last one. Returns the files' names.
  std::vector<std::string> write_final(bool best, std::int64_t step);

 private:
  const Train::Params& params_;
  TrainingStep& step_;
  TrainingData& data_;
  Context& context_;
  std::vector<FieldRange> ranges_;  ///< rank 0, once
  std::vector<double> errors_;
};

}  // namespace cambium::train
