#include "core/train/kinds/quality.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"

namespace cambium::train {

std::vector<bool> higher_is_better(Network& network) {
  auto out = network.traits().higher_is_better;
  out.resize(network.metrics().size(), false);
  return out;
}

Quality quality_of(Network& network, const std::string& type, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& metric : network.metrics()) names.push_back(metric.name);
  const auto found = name.empty() ? names.begin() : std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw KeyError("train.validate.quality", "validate.target_metric",
                   fmt::format("validate.target_metric is '{}', but {} is evaluated by {}; name one of them", name,
                               type, join(names, ", ")));
  const auto number = static_cast<std::size_t>(found - names.begin());
  return {number, *found, higher_is_better(network)[number]};
}

}  // namespace cambium::train
