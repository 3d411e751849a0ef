#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace cambium::train {

/// Sums of gradients by row, in order of first use: a hash table with open addressing that reuses its memory from step
/// to step.
template <class T>
class TouchedRows {
 public:
  explicit TouchedRows(std::int64_t width) : width_(width), keys_(64, -1), slots_(64) {}

  /// The sum of a row, initially zero; valid until the next call.
  T* sum(std::int64_t row) {
    if (4 * (rows_.size() + 1) > 3 * keys_.size()) grow();
    const std::size_t at = find(row);
    if (keys_[at] < 0) {
      keys_[at] = row;
      slots_[at] = rows_.size();
      rows_.push_back(row);
      sums_.resize(rows_.size() * static_cast<std::size_t>(width_), T(0));
    }
    return sums_.data() + slots_[at] * static_cast<std::size_t>(width_);
  }
  std::size_t size() const { return rows_.size(); }
  std::int64_t row(std::size_t k) const { return rows_[k]; }
  T* values(std::size_t k) { return sums_.data() + k * static_cast<std::size_t>(width_); }
  void clear() {
    std::fill(keys_.begin(), keys_.end(), -1);
    rows_.clear();
    sums_.clear();
  }

 private:
  std::size_t find(std::int64_t row) const {
    const std::size_t mask = keys_.size() - 1;
    std::size_t at = static_cast<std::size_t>(static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (keys_[at] != -1 && keys_[at] != row) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    keys_.assign(2 * keys_.size(), -1);
    slots_.resize(keys_.size());
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const std::size_t at = find(rows_[k]);
      keys_[at] = rows_[k];
      slots_[at] = k;
    }
  }

  std::int64_t width_;
  std::vector<std::int64_t> keys_;  ///< a power-of-two number of slots; -1 if free
  std::vector<std::size_t> slots_;
  std::vector<std::int64_t> rows_;
  std::vector<T> sums_;
};

}  // namespace cambium::train
