#pragma once
#include <cstdint>

namespace cambium::sparse {

/// Half-open range [begin, end) of rows or columns.
struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool holds(std::int64_t k) const { return begin <= k && k < end; }
};

/// Rows that one rank holds of every dense matrix with a row per node. Ranks with the same rows and other columns are
/// parts of one matrix; ranks with the same rows and columns hold copies.
struct Share {
  Range rows;               ///< of the n rows, in the order of the sparse matrix
  int part = 0, parts = 1;  ///< which of how many parts of the columns
  int copy = 0, copies = 1;

  /// For a matrix of this width: may be empty if the width is less than `parts`.
  Range columns(std::int64_t width) const { return {width * part / parts, width * (part + 1) / parts}; }
  /// Those of the rows that this copy counts in sums over nodes, so that the copies count each row once.
  Range counted() const {
    return {rows.begin + rows.size() * copy / copies, rows.begin + rows.size() * (copy + 1) / copies};
  }
};

/// Data that a rank has received so far, message by message. Data that stay on the rank are no message.
struct Words {
  std::int64_t dense = 0;     ///< values of dense matrices, and of sums of them
  std::int64_t entries = 0;   ///< entries of the sparse matrix (a column and a value)
  std::int64_t bytes = 0;     ///< of all messages as sent: after coding, with columns and lengths of rows
  std::int64_t messages = 0;  ///< not counting empty ones
  double waited = 0.0;        ///< s with nothing left to compute

  Words& operator+=(const Words& other) {
    dense += other.dense;
    entries += other.entries;
    bytes += other.bytes;
    messages += other.messages;
    waited += other.waited;
    return *this;
  }
};

}  // namespace cambium::sparse
