#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/evaluate/forecasters.hpp"

namespace cambium::superres {

/// Forecasts by another stage or another program, as files in a layout supported by FieldFile. A frame of `one_step` is
/// the forecast of the truth at its time, from the data one frame before. The frames of `rollout` are one long
/// forecast. Each list is empty or has a file for each run that is forecast.
struct ForecastFiles {
  std::vector<std::string> one_step, rollout;
  static void describe(deck::Describe<ForecastFiles>& d);
};

/// Returns frames from such a file, on the grid of `truth`, independent of the input frames. Frames may be non-finite.
/// `b_shift`: b of the truth minus that of rayleigh_benard. KeyError naming `forecasts` if the file is of another
/// domain, or has no frame at a requested time.
std::unique_ptr<Forecaster> file_forecaster(const std::string& path, const FieldData& truth, double b_shift);

}  // namespace cambium::superres
