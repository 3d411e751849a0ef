#include "core/train/tables/places.hpp"

#include <algorithm>
#include <numeric>

namespace cambium::train {

TablePlaces::TablePlaces(std::span<const TableInfo> tables, TableKeys::Divide divide, int ranks)
    : whole_(divide == TableKeys::Divide::whole), ranks_(ranks) {
  std::int64_t before = 0;
  for (const auto& table : tables) {
    tables_.push_back({table.rows, 0, static_cast<int>(before % ranks)});
    before += table.rows;
  }
  if (!whole_) return;
  std::vector<std::size_t> order(tables.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::size_t k) { return tables[k].rows * tables[k].width; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<std::int64_t> load(ranks, 0);
  for (const auto k : order) {
    const auto least = std::min_element(load.begin(), load.end());
    tables_[k].owner = static_cast<int>(least - load.begin());
    *least += size(k);
  }
}

std::int64_t TablePlaces::held_below(int table, int rank, std::int64_t end) const {
  if (whole_) return tables_[table].owner == rank ? end : 0;
  const std::int64_t begin = first(table, rank);
  return begin >= end ? 0 : (end - begin + ranks_ - 1) / ranks_;
}

}  // namespace cambium::train
