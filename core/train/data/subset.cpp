#include "core/train/data/subset.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"

namespace cambium::train {

std::vector<SamplePtr> Subset::read(std::span<const std::int64_t> numbers) {
  std::vector<std::int64_t> ids;
  for (auto number : numbers) ids.push_back(ids_[number]);
  return whole_.read(ids);
}

std::pair<std::int64_t, std::int64_t> Subset::chunk_of(std::int64_t number) const {
  const auto [first, last] = whole_.chunk_of(ids_[number]);
  return {std::lower_bound(ids_.begin(), ids_.end(), first) - ids_.begin(),
          std::lower_bound(ids_.begin(), ids_.end(), last) - ids_.begin()};
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> hold_out(std::uint64_t seed, std::int64_t samples,
                                                                         double share) {
  // The samples with the smallest random keys: a sample mostly keeps its side when others are added.
  std::vector<std::pair<double, std::int64_t>> keys;
  for (std::int64_t id = 0; id < samples; ++id)
    keys.emplace_back(Random4(seed, Stream::hold_out, static_cast<std::uint64_t>(id), 0).uniform(0), id);
  std::sort(keys.begin(), keys.end());
  const auto held = static_cast<std::int64_t>(std::llround(share * static_cast<double>(samples)));
  std::vector<std::int64_t> out, rest;
  for (std::int64_t k = 0; k < samples; ++k) (k < held ? out : rest).push_back(keys[k].second);
  std::sort(out.begin(), out.end());
  std::sort(rest.begin(), rest.end());
  return {out, rest};
}

}  // namespace cambium::train
