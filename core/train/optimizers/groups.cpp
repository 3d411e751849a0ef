#include "core/train/optimizers/groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>

#include "core/base/key_error.hpp"

namespace cambium::train {

std::string detail::betas_problem(const std::array<double, 2>& betas) {
  for (const double beta : betas)
    if (!(beta >= 0.0 && beta < 1.0))
      return fmt::format("betas: {:g} is no decay rate; give numbers from 0 to below 1", beta);
  return {};
}

static bool fits(const ParameterGroup& group, const ParameterInfo& parameter) {
  return fnmatch(group.match.c_str(), parameter.name.c_str(), 0) == 0;
}

TensorKeys keys_of(const ParameterInfo& parameter, std::span<const ParameterGroup> groups, double weight_decay) {
  TensorKeys out{1.0, parameter.decay ? weight_decay : 0.0};
  for (const auto& group : groups) {
    if (!fits(group, parameter)) continue;
    out.rate = group.rate;
    out.freeze = group.freeze;
    if (group.weight_decay) out.weight_decay = *group.weight_decay;
    break;
  }
  return out;
}

void require_matches(std::span<const ParameterGroup> groups, std::span<const ParameterInfo> parameters) {
  constexpr std::size_t shown = 8;
  for (const auto& group : groups) {
    if (std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return fits(group, p); })) continue;
    std::vector<std::string> names;
    for (const auto& parameter : parameters.first(std::min(shown, parameters.size()))) names.push_back(parameter.name);
    throw KeyError("optimizer.groups.match", "optimizer.groups",
                   fmt::format("no parameter of the network is named like '{}'; it has: {}{}", group.match,
                               fmt::join(names, ", "), parameters.size() > shown ? ", ..." : ""));
  }
}

}  // namespace cambium::train
