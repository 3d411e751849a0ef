#include "plugins/md/writers/msd.hpp"

#include "core/parallel/agree.hpp"
#include "plugins/md/writers/correlation_file.hpp"

namespace cambium::md {

void Msd::observe(const State& state, std::int64_t step, double time) {
  if (step < params_.from) return;
  const io::Frame frame = io::gather_frame(state, context_.comm);
  if (!context_.comm.root()) return;
  correlation_.add(time, unwrapped_positions(frame, params_.remove_drift), frame.type,
                   static_cast<int>(frame.species.size()), cell_of(frame, params_.remove_drift));
}

double late_slope(const std::vector<double>& time, const std::vector<double>& value) {
  const std::size_t first = time.size() / 2;
  const double n = static_cast<double>(time.size() - first);
  double t = 0.0, v = 0.0, tt = 0.0, tv = 0.0;
  for (std::size_t k = first; k < time.size(); ++k) {
    t += time[k] / n;
    v += value[k] / n;
  }
  for (std::size_t k = first; k < time.size(); ++k) {
    tt += (time[k] - t) * (time[k] - t);
    tv += (time[k] - t) * (value[k] - v);
  }
  return tt > 0.0 ? tv / tt : 0.0;
}

void Msd::finish(const State& state) {
  io::on_root(context_.comm, [&] {
    const auto result = correlation_.result();
    if (result.time.empty()) return;
    std::vector<double> diffusion;
    for (const auto& curve : result.value) diffusion.push_back(late_slope(result.time, curve) / 6.0);
    write_correlation("msd", context_, state.particles.species, result,
                      {{"msd", "angstrom^2", "mean square displacement", result.value}}, diffusion,
                      "slope / 6 of a straight line through the second half of the lags [species]");
  });
}

}  // namespace cambium::md
