#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/particles/particles.hpp"

namespace cambium {

/// Index of each species of a deck among the model's `symbols`. KeyError `id` of the deck's key `key` for one that the
/// model lacks; `model` is its name in the message: "the model water.h5".
std::vector<int> model_species(std::string_view id, std::string_view key, const std::string& model,
                               std::span<const Species> species, const std::vector<std::string>& symbols);

}  // namespace cambium
