#pragma once
#include <string>
#include <vector>

#include "core/train/run/training_data.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// Model files written by a training: best.h5 during training, model.h5 and the network's own formats at the end.
class ModelFiles {
 public:
  /// All arguments must outlive this. The model card contains the errors of the best validation, from `progress`.
  ModelFiles(const Train::Params& params, TrainingStep& step, TrainingData& data, const Progress& progress,
             Context& context)
      : params_(params), step_(step), data_(data), progress_(progress), context_(context) {}

  /// Collective: writes the best weights, of this step, as `name`.
  void write_best(const std::string& name, std::int64_t step);
  /// Collective: writes the best model, of `step`, or the last one. Returns the files' names.
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
  std::vector<FieldRange> ranges_;  ///< on rank 0, computed once
};

}  // namespace cambium::train
