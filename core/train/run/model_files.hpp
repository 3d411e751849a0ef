#pragma once
#include <string>
#include <vector>

#include "core/train/run/training_data.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Files of the model that a training writes: best.h5 under way, model.h5 and the network's own formats at its end.
class ModelFiles {
 public:
  /// All of these outlive this. The model's card says the errors of the best validation, from `progress`.
  ModelFiles(const Train::Params& params, TrainingStep& step, TrainingData& data, const Progress& progress,
             Context& context)
      : params_(params), step_(step), data_(data), progress_(progress), context_(context) {}

  /// Collective: the best weights, of this step, as `name`.
  void write_best(const std::string& name, std::int64_t step);
  /// Collective: the best model of `step`, or the last one. Returns the files' names.
  std::vector<std::string> write_final(bool best, std::int64_t step);

 private:
  ArtifactInfo info_of(std::int64_t step);
  std::string path_of(const std::string& name) const;
  void write(const std::string& name, const FlatBuffer& weights, std::int64_t step, bool best);
  bool write_in_parts(const std::string& name, std::int64_t step, bool best);

  const Train::Params& params_;
  TrainingStep& step_;
  TrainingData& data_;
  const Progress& progress_;
  Context& context_;
  std::vector<FieldRange> ranges_;  ///< rank 0, once
};

}  // namespace cambium::train
