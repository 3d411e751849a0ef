#include "core/train/kinds/factor_layers.hpp"

#include <fmt/format.h>

namespace cambium::train {

std::string ranks_problem(std::span<const std::int64_t> ranks, std::optional<std::size_t> layers) {
  for (const auto rank : ranks)
    if (rank < 0)
      return fmt::format("factor_ranks: a rank of {} is invalid; give 0 for a full layer, or 1 and more", rank);
  if (layers && !ranks.empty() && ranks.size() != *layers)
    return fmt::format("factor_ranks: {} values for {} layers; give one for each, 0 for a full one", ranks.size(),
                       *layers);
  return {};
}

}  // namespace cambium::train
