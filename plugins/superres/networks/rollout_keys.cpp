#include "plugins/superres/networks/rollout_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::superres {
namespace {

constexpr Stream noise_stream = stream("superres.forecast_noise"), length_stream = stream("superres.push_forward");

}  // namespace

void require_forecasts(const RolloutKeys& keys, const FlowScaling& scaling, train::Dataset& training) {
  if (!scaling.forecasts && (keys.push_forward > 0 || keys.noise > 0.0))
    throw InputError(
        "'noise' and 'push_forward' are for forecasts: give a data set of the type 'snapshots', or leave them out");
  for (const auto& field : training.fields())
    if (field.name == "future" && field.shape[1] <= keys.push_forward)
      throw InputError(fmt::format(
          "'push_forward: {}' needs {} frames after each window, and the data set gives {}: set 'ahead: {}' there",
          keys.push_forward, keys.push_forward + 1, field.shape[1], keys.push_forward + 1));
}

void add_noise(const Moment& moment, std::int64_t sample, double noise, std::span<double> frames) {
  if (noise == 0.0) return;
  const std::uint64_t first = static_cast<std::uint64_t>(sample) * frames.size();
  for (std::size_t k = 0; k < frames.size(); ++k)
    frames[k] +=
        noise * Random4(moment.seed, noise_stream, first + k, static_cast<std::uint64_t>(moment.step)).normal(0);
}

int forecasts_before(const Moment& moment, std::int64_t sample, int most) {
  if (most == 0) return 0;
  const Random4 random(moment.seed, length_stream, static_cast<std::uint64_t>(sample),
                       static_cast<std::uint64_t>(moment.step));
  return std::min(most, static_cast<int>(random.uniform(0) * (most + 1)));
}

}  // namespace cambium::superres
