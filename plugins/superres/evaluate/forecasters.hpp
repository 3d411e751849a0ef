#pragma once
#include <memory>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/evaluate/frame_solver.hpp"
#include "plugins/superres/samples/network_correction.hpp"

namespace cambium::superres {

/// Predicts the next frames of a flow from given ones.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  /// Sets the given frames; forecasts begin after the last.
  virtual void start(const FieldData& seen) = 0;
  /// The next frame, at `time`, on the grid of the given ones.
  virtual FieldData next(double time) = 0;
};

/// Repeats the last frame.
std::unique_ptr<Forecaster> persistence_forecaster();
/// Mean of each field of the last frame, everywhere.
std::unique_ptr<Forecaster> mean_forecaster();

/// Mapping of a file's fields to the solver: those of The Well have b = 1 below and 0 above.
struct SolvedLayer {
  Convected flow;
  double b_shift = 0.0;  ///< b of the file minus that of rayleigh_benard
  int ratio = 1;         ///< points of the data per cell of the solver, along x and z
  int finer = 1;         ///< cells of the solver per point of the data, whose fields are then means over these cells
};
/// The solver of rayleigh_benard or cavity, started from the last frame. InputError naming `coarse` if `ratio` does not
/// divide the grid.
std::unique_ptr<Forecaster> solver_forecaster(const SolvedLayer& layer, std::string name);

/// The solver on the grid of the data with a network's increments after each frame. InputError if the network was
/// trained for another grid or interval.
std::unique_ptr<Forecaster> corrected_forecaster(const SolvedLayer& layer, std::string name,
                                                 NetworkCorrection& correction, const FieldData& truth);

/// A trained network in autoregressive rollout. `history`: of the stage. InputError if the model does not forecast, or
/// takes another number of frames or another grid.
std::unique_ptr<Forecaster> network_forecaster(train::LoadedModel& model, const std::string& file,
                                               const FieldData& truth, int history);

}  // namespace cambium::superres
