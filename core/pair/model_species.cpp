#include "core/pair/model_species.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/key_error.hpp"

namespace cambium {

std::vector<int> model_species(std::string_view id, std::string_view key, const std::string& model,
                               std::span<const Species> species, const std::vector<std::string>& symbols) {
  std::vector<int> numbers;
  for (const auto& one : species) {
    const auto found = std::find(symbols.begin(), symbols.end(), one.symbol);
    if (found == symbols.end())
      throw KeyError(
          std::string(id), std::string(key),
          fmt::format("species '{}' is unknown to {}; its species: {}", one.symbol, model, fmt::join(symbols, ", ")));
    numbers.push_back(static_cast<int>(found - symbols.begin()));
  }
  return numbers;
}

}  // namespace cambium
