#include "plugins/kinetic/vlasov/step_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/vlasov/end_time.hpp"

namespace cambium::kinetic {

double StepSize::next(double time) const {
  double dt = common_.timestep ? *common_.timestep : common_.cfl / frequency_;
  if (common_.max_timestep) dt = std::min(dt, *common_.max_timestep);
  return EndTime{common_.end_time}.step(time, dt);
}

void StepSize::require_stable(double dt, double frequency, double time) const {
  if (common_.timestep && dt * frequency > 1.0 + 1e-9)
    throw InputError(
        fmt::format("timestep = {:g} is above the stability limit {:.4g} at time {:.6g}; give a smaller 'timestep', or "
                    "leave it out and the step is chosen",
                    *common_.timestep, 1.0 / frequency, time));
}

static void require_finite(double frequency, double time, std::int64_t step) {
  if (!std::isfinite(frequency))
    throw NumericalError(
        fmt::format("the distribution function is not finite any more at step {}, time {:.6g}", step, time));
}

bool StepSize::too_long(double frequency, double time, StepInfo& info) {
  const double limit = std::max(1.0, common_.cfl) * 1.01;
  require_finite(frequency, time, info.step);
  require_stable(info.dt, frequency, time);
  if (info.dt * frequency <= limit || common_.timestep) return false;
  info.dt = common_.cfl / frequency;
  ++repeated_;
  return true;
}

void StepSize::set_frequency(double frequency, double time, std::int64_t step) {
  frequency_ = frequency;
  require_finite(frequency, time, step);
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
