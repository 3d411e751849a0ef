#pragma once
#include <string>

#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// A network trained on the data set `corrections`: the error of a coarse solver after each training interval.
class NetworkCorrection {
 public:
  /// InputError if the model was trained on other data.
  NetworkCorrection(const std::string& file, Context& context);
  /// Free-fall times from one correction to the next.
  double interval() const { return interval_; }
  /// InputError if the model is for another grid than one of nx x nz cells.
  void require_cells(std::size_t nx, std::size_t nz) const;
  /// Increments of b, u and w for a frame of p, b, u, w at the centres of the cells; those of p are 0.
  FieldData increments(const FieldData& frame);
  const train::ArtifactInfo& info() const { return model_.info; }
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  std::string file_;
  train::LoadedModel model_;
  double interval_ = 0.0;
  std::int64_t nx_ = 0, nz_ = 0;
};

}  // namespace cambium::superres
