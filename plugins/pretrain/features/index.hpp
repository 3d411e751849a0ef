#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

struct IndexKeys {
  double recall = 0.99;
  std::int64_t lists = 0;  ///< 0: twice the square root of the number of rows
  static void describe(deck::Describe<IndexKeys>& d);
};

/// Rows of one length in single precision, each at a multiple of the widest register.
struct FloatRows {
  std::int64_t rows = 0, columns = 0, stride = 0;
  std::vector<float> values;
  FloatRows(std::int64_t r, std::int64_t c);
  /// Rows of length 1 of these.
  static FloatRows unit(const Matrix& of);
  float* row(std::int64_t k) { return values.data() + k * stride; }
  const float* row(std::int64_t k) const { return values.data() + k * stride; }
};

/// An approximate search by cosine: rows lie in lists around centres (k-means on the sphere), and a query looks only at
/// the lists whose centres are nearest to it (an inverted file: Jégou, Douze, Schmid 2011, without their codes).
/// Looking at all lists is the exact search.
class InvertedLists {
 public:
  /// `rows`: of length 1, at least one.
  InvertedLists(const FloatRows& rows, std::int64_t lists);
  std::int64_t lists() const { return centres_.rows; }
  /// Numbers of the `count` most similar rows of those in `probes` lists, the most similar first. `query`: one row of a
  /// FloatRows of the same columns.
  std::vector<std::int64_t> nearest(const float* query, std::int64_t count, std::int64_t probes) const;
  /// Rows in the `probes` lists nearest to the query: what is compared.
  std::int64_t compared(const float* query, std::int64_t probes) const;

 private:
  std::vector<std::int64_t> nearest_lists(const float* query, std::int64_t probes) const;
  FloatRows centres_, rows_;           ///< rows list by list
  std::vector<std::int64_t> numbers_;  ///< of the rows, in the order of rows_
  std::vector<std::int64_t> start_;    ///< of each list, and the end
};

/// How many lists are looked at, and what that gives on queries by which it was not chosen.
struct StatedRecall {
  std::int64_t probes = 1;
  double recall = 0.0;    ///< share of the `count` exactly nearest rows that are found
  double compared = 0.0;  ///< rows that a query is compared with, on average
  std::int64_t queries = 0;
};

/// The fewest lists that reach the recall on half of at most 400 of the queries, judged by the other half.
StatedRecall stated_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count, double recall);

}  // namespace cambium::pretrain
