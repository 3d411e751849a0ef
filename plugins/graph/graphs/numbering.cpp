#include "plugins/graph/graphs/numbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cambium::graph {

Numbering Numbering::of_named(std::vector<std::int64_t> numbers) {
  Numbering out;
  if (numbers.empty()) return out;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const std::int64_t base = *low;
  // If few IDs are missing, a table of flags is much faster than sorting.
  const auto width = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(base);
  if (width < 8 * numbers.size()) {
    std::vector<char> named(width + 1, 0);
    for (const auto number : numbers) named[number - base] = 1;
    numbers.clear();
    for (std::size_t k = 0; k < named.size(); ++k)
      if (named[k]) numbers.push_back(base + static_cast<std::int64_t>(k));
  } else {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  out.count_ = std::ssize(numbers);
  out.base_ = base;
  if (numbers.back() - base != out.count_ - 1) out.numbers_ = std::move(numbers);
  return out;
}

std::optional<std::int32_t> Numbering::node(std::int64_t number) const {
  if (numbers_.empty()) {
    if (number < base_ || number - base_ >= count_) return {};
    return static_cast<std::int32_t>(number - base_);
  }
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), number);
  if (found == numbers_.end() || *found != number) return {};
  return static_cast<std::int32_t>(found - numbers_.begin());
}

std::vector<std::int64_t> Numbering::all() const {
  if (!numbers_.empty()) return numbers_;
  std::vector<std::int64_t> out(count_);
  std::iota(out.begin(), out.end(), base_);
  return out;
}

std::string Numbering::range() const {
  if (numbers_.empty()) return fmt::format("numbered {} to {}", base_, base_ + count_ - 1);
  return fmt::format("numbered {} to {} with gaps", numbers_.front(), numbers_.back());
}

}  // namespace cambium::graph
