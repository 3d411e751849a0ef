#include "plugins/kinetic/physics/step_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/physics/end_time.hpp"

namespace cambium::kinetic {

double StepSize::next(double time) const {
  double dt = common_.timestep ? *common_.timestep : common_.cfl / frequency_;
  if (common_.max_timestep) dt = std::min(dt, *common_.max_timestep);
  return EndTime{common_.end_time}.step(time, dt);
}

void StepSize::require_stable(double dt, double frequency, double time) const {
  if (common_.timestep && dt * frequency > 1.0 + 1e-9)
    throw KeyError(
        "kinetic.timestep.stable", "timestep",
        fmt::format("timestep = {:g} is above the stability limit {:.4g} at time {:.6g}; give a smaller 'timestep', or "
                    "leave it out and the step is chosen",
                    *common_.timestep, 1.0 / frequency, time));
}

bool StepSize::too_long(double frequency, double time, StepInfo& info) {
  const double limit = std::max(1.0, common_.cfl) * 1.01;
  require_stable(info.dt, frequency, time);
  if (info.dt * frequency <= limit || common_.timestep) return false;
  info.dt = common_.cfl / frequency;
  ++repeated_;
  return true;
}

void StepSize::save(io::Group& group) const {
  group.write("frequency", frequency_);
  group.write("repeated", repeated_);
}

void StepSize::load(const io::Group& group) {
  frequency_ = group.read<double>("frequency");
  repeated_ = group.read<std::int64_t>("repeated");
}

}  // namespace cambium::kinetic
