#include "plugins/kinetic/edges/returned.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"
#include "plugins/kinetic/deck/velocity_grid.hpp"

namespace cambium::kinetic {

Returned::Returned(const WallEmissionParams& params, const Species& species, const PhaseGrid& grid, int d,
                   const std::vector<std::string>& all)
    : name_(species.name()), wall_(params.wall), yield_(all.size(), 0.0) {
  const auto number = [&](const std::string& key, const std::string& text) {
    return deck::about_key("kinetic.formula", key, [&] { return constant(text, species.values()); });
  };
  const std::string who = fmt::format("species '{}', {} wall", name_, wall_);
  reflection_ = number("reflection", params.reflection);
  if (!(reflection_ >= 0.0 && reflection_ <= 1.0))
    throw KeyError("kinetic.walls.reflection", "reflection",
                   fmt::format("{}: the reflected fraction is {:g} and must be between 0 and 1", who, reflection_));
  const Axis& v = grid.velocity(d);
  if (reflection_ > 0.0) require_symmetric(v, name_, d, "reflection");
  if (reflection_ > 0.0 && v.ranks > 1)
    throw KeyError("kinetic.ranks.wall", "reflection",
                   fmt::format("species '{}': velocity dimension {} meets a reflecting wall and cannot be partitioned "
                               "among ranks; give 'ranks' with 1 there",
                               name_, d + 1));
  for (const auto& [name, text] : params.yield) {
    const auto at = std::find(all.begin(), all.end(), name);
    const std::string key = "yield." + name;
    if (at == all.end())
      throw KeyError("kinetic.walls.yield", key,
                     fmt::format("{}: there is no species '{}'; the species are {}", who, name, fmt::join(all, ", ")));
    double& value = yield_[at - all.begin()];
    value = number(key, text);
    if (!(value >= 0.0))
      throw KeyError("kinetic.walls.yield", key,
                     fmt::format("{}: the yield per arriving '{}' is {:g}; it cannot be negative", who, name, value));
  }
  const double temperature = number("temperature", params.temperature);
  if (!(temperature > 0.0))
    throw KeyError(
        "kinetic.walls.temperature", "temperature",
        fmt::format("{}: the temperature of emitted particles is {:g} and must be positive", who, temperature));
  speed_ = std::sqrt(temperature / species.mass());
  if (!params.flux.empty())
    deck::about_key("kinetic.formula", "flux", [&] { flux_ = Formula(params.flux, {"t"}, species.values()); });
}

double Returned::flux(double time) const {
  if (flux_.empty()) return 0.0;
  const double found = flux_(std::array{time});
  if (!(found >= 0.0) || !std::isfinite(found))
    throw NumericalError(
        fmt::format("species '{}', {} wall: the emitted flux is {:g} at time {:g}; it cannot be negative; fix the "
                    "formula of 'flux', for example by max(0, ...)",
                    name_, wall_, found, time));
  return found;
}

}  // namespace cambium::kinetic
