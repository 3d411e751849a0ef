#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/train/kinds/has_conditions.hpp"

namespace cambium::superres {

/// Properties of the training data used by networks of convection: sizes, and mean and deviation of each field.
struct FlowScaling {
  std::vector<std::int64_t> grid;       ///< t, x, z of the coarse samples
  std::int64_t points = 1;              ///< of a sample in training; 1 if the model does not know
  bool wraps = false;                   ///< around a periodic x
  bool forecasts = false;               ///< samples are snapshots with the frames that follow (data set `snapshots`)
  std::vector<double> mean, deviation;  ///< of p, b, u, w
  std::vector<double> change;           ///< root mean square from one frame to the next, in deviations; for forecasts
  std::vector<train::Condition> conditions;  ///< of the flows: Rayleigh and Prandtl number, plates

  /// From the last 256 samples or fewer, evenly spread. InputError for samples that are no windows of a flow.
  void fit(train::Dataset& training);
  std::string text() const;
  void restore(const std::string& text);
  /// InputError if a sample's coarse samples differ from those that the model was built for.
  void require_coarse(const std::array<std::int64_t, 3>& found) const;

 private:
  void fit_change(const std::vector<train::SamplePtr>& samples);
};

}  // namespace cambium::superres
