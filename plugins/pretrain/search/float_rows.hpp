#pragma once
#include <cstdint>
#include <vector>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Rows of one length in single precision, each at a multiple of the widest register; what lies between is 0.
struct FloatRows {
  std::int64_t rows = 0, columns = 0, stride = 0;
  std::vector<float> values;
  FloatRows() = default;
  FloatRows(std::int64_t r, std::int64_t c);
  /// Rows of length 1 of these; rows of zeros stay.
  static FloatRows unit(const Matrix& of);
  float* row(std::int64_t k) { return values.data() + k * stride; }
  const float* row(std::int64_t k) const { return values.data() + k * stride; }
  void make_unit(std::int64_t k);
};

/// Every (rows / count)-th of these, at most all.
FloatRows spread_rows(const FloatRows& rows, std::int64_t count);

/// For two rows of one stride.
float row_product(const float* a, const float* b, std::int64_t stride);

/// Rows that were found for each of several queries, the most similar first, equal ones in the order of their numbers.
struct Entries {
  std::int64_t queries = 0, count = 0;
  std::vector<std::int64_t> number;  ///< (queries, count); -1 where there are not that many rows
  std::vector<float> similarity;     ///< the same places; 0 where there are none
  std::int64_t compared = 0;         ///< rows that queries were compared with, summed over queries
  Entries() = default;
  Entries(std::int64_t q, std::int64_t n);
};

/// The `room` most similar of what is put in.
class MostSimilar {
 public:
  explicit MostSimilar(std::int64_t room) : room_(static_cast<std::size_t>(room)) { found_.reserve(room_); }
  bool full() const { return found_.size() == room_; }
  /// Entries less similar than this do not enter; -2 until there are `room`.
  float least() const { return full() ? -found_.front().first : -2.0f; }
  void put(float similarity, std::int64_t number);
  /// (minus similarity, number), the most similar first; nothing is left.
  std::vector<std::pair<float, std::int64_t>> taken();
  /// Writes them as the answers of one query, as taken().
  void take_into(Entries& out, std::int64_t query);

 private:
  std::size_t room_;
  std::vector<std::pair<float, std::int64_t>> found_;  ///< a heap with the least similar on top
};

}  // namespace cambium::pretrain
