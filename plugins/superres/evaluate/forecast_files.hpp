#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/evaluate/forecasters.hpp"

namespace cambium::superres {

/// Forecasts that another stage or another program made, as files in a layout that FieldFile knows. A frame of
/// `one_step` is the forecast of the truth at its time, from what is known one frame before. The frames of `rollout`
/// are one long forecast. Each list is empty or has a file for each run that is forecast.
struct ForecastFiles {
  std::vector<std::string> one_step, rollout;
  static void describe(deck::Describe<ForecastFiles>& d);
};

/// Frames from such a file, on the grid of `truth`, whatever is seen. Frames may be not finite. `b_shift`: b of the
/// truth over that of rayleigh_benard. KeyError naming `forecasts` where the file is of another domain, or has no frame
/// of a time that is asked for.
std::unique_ptr<Forecaster> file_forecaster(const std::string& path, const FieldData& truth, double b_shift);

}  // namespace cambium::superres
