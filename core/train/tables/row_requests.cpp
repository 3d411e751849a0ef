#include "core/train/tables/row_requests.hpp"

#include <algorithm>
#include <unordered_map>

namespace cambium::train {

std::vector<int> starts_of(const std::vector<int>& counts) {
  std::vector<int> out(counts.size(), 0);
  for (std::size_t k = 1; k < counts.size(); ++k) out[k] = out[k - 1] + counts[k - 1];
  return out;
}

void RowRequests::make(std::vector<std::vector<Bags>> slices, std::vector<std::int64_t> numbers, int ranks) {
  bags_ = std::move(slices);
  numbers_ = std::move(numbers);
  where_.assign(bags_.size(), std::vector<std::vector<std::int64_t>>(tables_.size()));
  ask_.assign(ranks, {});
  count_.assign(ranks, 0);
  of_others_ = {};
  const bool alone = direct_ && ranks == 1;
  if (kind_ == Kind::different && !alone) {
    ask_for_different();
  } else {
    for (std::size_t s = 0; s < bags_.size(); ++s) {
      for (std::size_t q = 0; q < ask_.size(); ++q)
        if (is_asked(q)) ask_[q].push_back(numbers_[s]);
      for (std::size_t t = 0; t < tables_.size(); ++t) summed_there(t) ? ask_for_sums(s, t) : ask_for_rows(s, t);
    }
  }
  start_of_answers();
}

void RowRequests::ask_for_sums(std::size_t s, std::size_t t) {
  const Bags& bags = bags_[s][t];
  const auto holder = static_cast<std::size_t>(owner(t, 0));
  if (static_cast<int>(holder) != rank_) {
    of_others_.rows += bags.size() + std::ssize(bags.ids);
    of_others_.numbers += bags.size() * tables_[t].width;
  }
  for (std::size_t q = 0; q < ask_.size(); ++q)
    if (is_asked(q)) ask_[q].push_back(q == holder ? bags.size() : 0);
  auto& to = ask_[holder];
  for (std::size_t b = 0; b + 1 < bags.first.size(); ++b) {
    to.push_back(bags.first[b + 1] - bags.first[b]);
    where_[s][t].push_back(count_[holder]);
    count_[holder] += static_cast<int>(tables_[t].width);
  }
  to.insert(to.end(), bags.ids.begin(), bags.ids.end());
}

void RowRequests::ask_for_rows(std::size_t s, std::size_t t) {
  const Bags& bags = bags_[s][t];
  std::vector<std::size_t> asked(ask_.size());  // position of the row count
  for (std::size_t q = 0; q < ask_.size(); ++q)
    if (is_asked(q)) asked[q] = ask_[q].size(), ask_[q].push_back(0);
  auto& where = where_[s][t];
  where.reserve(bags.ids.size());
  if (direct_ && ask_.size() == 1) {  // all rows are local: avoids divisions
    for (const auto row : bags.ids) where.push_back(~row);
    return;
  }
  for (const auto row : bags.ids) {
    const auto q = static_cast<std::size_t>(owner(t, row));
    if (!is_asked(q)) {
      where.push_back(~places_.index(row));
      continue;
    }
    count_other(t, q);
    ++ask_[q][asked[q]];
    ask_[q].push_back(places_.index(row));
    where.push_back(count_[q]);
    count_[q] += static_cast<int>(tables_[t].width);
  }
}

/// Requests each distinct row once, as a single slice.
void RowRequests::ask_for_different() {
  if (bags_.empty()) return;
  for (std::size_t q = 0; q < ask_.size(); ++q)
    if (is_asked(q)) ask_[q].push_back(numbers_[0]);
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    std::unordered_map<std::int64_t, std::int64_t> known;
    std::vector<std::vector<std::int64_t>> rows(ask_.size());
    for (std::size_t s = 0; s < bags_.size(); ++s) {
      for (const auto row : bags_[s][t].ids) {
        const auto q = static_cast<std::size_t>(owner(t, row));
        if (!is_asked(q)) {
          where_[s][t].push_back(~places_.index(row));
          continue;
        }
        count_other(t, q);
        const auto [found, fresh] = known.try_emplace(row, count_[q]);
        if (fresh) {
          rows[q].push_back(places_.index(row));
          count_[q] += static_cast<int>(tables_[t].width);
        }
        where_[s][t].push_back(found->second);
      }
    }
    for (std::size_t q = 0; q < ask_.size(); ++q) {
      if (!is_asked(q)) continue;
      ask_[q].push_back(std::ssize(rows[q]));
      ask_[q].insert(ask_[q].end(), rows[q].begin(), rows[q].end());
    }
  }
}

/// Converts positions within each rank's response to positions in the concatenated responses.
void RowRequests::start_of_answers() {
  start_ = starts_of(count_);
  if (std::all_of(start_.begin(), start_.end(), [](int start) { return start == 0; })) return;
  for (std::size_t s = 0; s < bags_.size(); ++s)
    for (std::size_t t = 0; t < tables_.size(); ++t)
      for (std::size_t k = 0; k < where_[s][t].size(); ++k)
        if (where_[s][t][k] >= 0)
          where_[s][t][k] += start_[static_cast<std::size_t>(owner(t, summed_there(t) ? 0 : bags_[s][t].ids[k]))];
}

}  // namespace cambium::train
