#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::superres {

/// What networks of convection know of their training data: sizes, and mean and deviation of each field.
struct FlowScaling {
  std::vector<std::int64_t> grid;       ///< t, x, z of the coarse samples
  std::int64_t points = 1;              ///< of a sample in training; 1 where the model does not know
  bool wraps = false;                   ///< around a periodic x
  bool forecasts = false;               ///< samples are snapshots with the frames that follow (data set `snapshots`)
  std::vector<double> mean, deviation;  ///< of p, b, u, w
  std::vector<double> change;           ///< root mean square from one frame to the next, in deviations; of forecasts

  /// From the last 256 samples or fewer, spread evenly. InputError for samples that are no windows of a flow.
  void fit(train::Dataset& training);
  std::string text() const;
  void restore(const std::string& text);
  /// InputError where a sample's coarse samples are others than the model was made for.
  void require_coarse(const std::array<std::int64_t, 3>& found) const;

 private:
  void fit_change(const std::vector<train::SamplePtr>& samples);
};

}  // namespace cambium::superres
