#include "plugins/relate/datasets/categories.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/utf8.hpp"
#include "plugins/relate/datasets/record_set.hpp"

namespace cambium::relate {

void CategoryReader::add(const std::string& value) {
  const std::size_t column = of_.size() % values_.size();
  auto& known = known_[column];
  auto found = known.find(value);
  if (found == known.end()) {
    found = known.emplace(value, static_cast<std::int32_t>(values_[column].size())).first;
    values_[column].push_back(io::utf8(value));
  }
  of_.push_back(found->second);
}

Categories CategoryReader::take() {
  Categories out;
  std::vector<std::vector<std::int32_t>> place(values_.size());
  for (std::size_t c = 0; c < values_.size(); ++c) {
    auto& values = values_[c];
    auto ascending = values;
    std::sort(ascending.begin(), ascending.end());
    ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());  // Latin-1 beside UTF-8
    for (const auto& value : values)
      place[c].push_back(
          static_cast<std::int32_t>(std::lower_bound(ascending.begin(), ascending.end(), value) - ascending.begin()));
    out.values.push_back(std::move(ascending));
  }
  for (std::size_t k = 0; k < of_.size(); ++k) of_[k] = place[k % place.size()][of_[k]];
  out.of = std::move(of_);
  return out;
}

Categories categories_of(std::span<const std::int64_t> values, std::size_t columns) {
  Categories out;
  out.of.resize(values.size());
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<std::int64_t> different;
    for (std::size_t k = c; k < values.size(); k += columns) different.push_back(values[k]);
    std::sort(different.begin(), different.end());
    different.erase(std::unique(different.begin(), different.end()), different.end());
    for (std::size_t k = c; k < values.size(); k += columns)
      out.of[k] = static_cast<std::int32_t>(std::lower_bound(different.begin(), different.end(), values[k]) -
                                            different.begin());
    out.values.emplace_back();
    for (const auto value : different) out.values.back().push_back(std::to_string(value));
  }
  return out;
}

std::vector<std::vector<std::int64_t>> counts_of(const Categories& categories) {
  std::vector<std::vector<std::int64_t>> out;
  for (const auto& values : categories.values) out.emplace_back(values.size(), 0);
  for (std::size_t k = 0; k < categories.of.size(); ++k) ++out[k % out.size()][categories.of[k]];
  return out;
}

VocabularyPtr frequent(const std::vector<std::string>& values, std::span<const std::int64_t> counts,
                       std::int64_t least) {
  auto out = std::make_shared<Vocabulary>();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (counts[k] >= least) out->push_back(values[k]);
  return out;
}

std::vector<std::int32_t> rows_of(const std::vector<std::string>& values, const Vocabulary& vocabulary) {
  std::unordered_map<std::string_view, std::int32_t> row;
  for (const auto& value : vocabulary) row.emplace(value, static_cast<std::int32_t>(row.size() + 1));
  std::vector<std::int32_t> out;
  for (const auto& value : values) {
    const auto found = row.find(value);
    out.push_back(found == row.end() ? 0 : found->second);
  }
  return out;
}

/// Of integers, as of earlier versions, their texts alone.
std::uint64_t meaning_of(const Vocabulary& vocabulary) {
  const bool integers = std::all_of(vocabulary.begin(), vocabulary.end(), [](const std::string& value) {
    return !value.empty() && value.find_first_not_of("-0123456789") == std::string::npos;
  });
  std::string text;
  for (const auto& value : vocabulary) text += (integers ? "" : std::to_string(value.size()) + ":") + value + " ";
  return meaning_of(text);
}

}  // namespace cambium::relate
