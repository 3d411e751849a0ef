#include "plugins/md/writers/vacf.hpp"

#include "core/parallel/agree.hpp"
#include "plugins/md/writers/correlation_file.hpp"

namespace cambium::md {

void Vacf::observe(const State& state, std::int64_t step, double time) {
  if (step < params_.from) return;
  const io::Frame frame = io::gather_frame(state, context_.comm, {.velocity = true});
  if (!context_.comm.root()) return;
  correlation_.add(time, velocities(frame, params_.remove_drift), frame.type, static_cast<int>(frame.species.size()));
}

std::vector<double> running_integral(const std::vector<double>& time, const std::vector<double>& value) {
  std::vector<double> integral(time.size(), 0.0);
  for (std::size_t k = 1; k < time.size(); ++k)
    integral[k] = integral[k - 1] + 0.5 * (value[k] + value[k - 1]) * (time[k] - time[k - 1]);
  return integral;
}

void Vacf::finish(const State& state) {
  io::on_root(context_.comm, [&] {
    const auto result = correlation_.result();
    if (result.time.empty()) return;
    CurveSet vacf{"vacf", "angstrom^2/ps^2", "velocity autocorrelation", result.value};
    CurveSet running{"running_diffusion", "angstrom^2/ps", "a third of the integral up to each lag", {}};
    std::vector<double> diffusion;
    for (const auto& curve : result.value) {
      running.curve.push_back(running_integral(result.time, curve));
      for (double& d : running.curve.back()) d /= 3.0;
      diffusion.push_back(running.curve.back().back());
    }
    write_correlation("vacf", context_, state.particles.species, result, {vacf, running}, diffusion,
                      "a third of the integral over all lags (Green-Kubo) [species]");
  });
}

}  // namespace cambium::md
