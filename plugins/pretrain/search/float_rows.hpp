#pragma once
#include <cstdint>
#include <vector>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Rows of equal length in single precision, aligned to the widest register; the padding is 0.
struct FloatRows {
  std::int64_t rows = 0, columns = 0, stride = 0;
  std::vector<float> values;
  FloatRows() = default;
  FloatRows(std::int64_t r, std::int64_t c);
  /// Rows normalised to length 1; zero rows stay.
  static FloatRows unit(const Matrix& of);
  float* row(std::int64_t k) { return values.data() + k * stride; }
  const float* row(std::int64_t k) const { return values.data() + k * stride; }
  void make_unit(std::int64_t k);
};

/// Every (rows / count)-th row, at most all.
FloatRows spread_rows(const FloatRows& rows, std::int64_t count);

/// Dot product of two rows with the same stride.
float row_product(const float* a, const float* b, std::int64_t stride);

/// Results of several queries, the most similar first, ties by ascending index.
struct Entries {
  std::int64_t queries = 0, count = 0;
  std::vector<std::int64_t> number;  ///< (queries, count); -1 if there are fewer rows
  std::vector<float> similarity;     ///< in the same order; 0 if there are fewer
  std::int64_t compared = 0;         ///< comparisons of queries with rows, in total
  Entries() = default;
  Entries(std::int64_t q, std::int64_t n);
};

/// The `room` most similar entries.
class MostSimilar {
 public:
  explicit MostSimilar(std::int64_t room) : room_(static_cast<std::size_t>(room)) { found_.reserve(room_); }
  bool full() const { return found_.size() == room_; }
  /// Threshold for new entries; -2 until there are `room`.
  float least() const { return full() ? -found_.front().first : -2.0f; }
  void put(float similarity, std::int64_t number);
  /// (minus similarity, index), the most similar first; empties it.
  std::vector<std::pair<float, std::int64_t>> taken();
  /// Writes them as the results of one query, like taken().
  void take_into(Entries& out, std::int64_t query);

 private:
  std::size_t room_;
  std::vector<std::pair<float, std::int64_t>> found_;  ///< a heap with the least similar on top
};

}  // namespace cambium::pretrain
