#pragma once
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Weights of the neighbours in an aggregation.
enum class Weighing {
  symmetric,  ///< D^-1/2 (A + I) D^-1/2, D the row sums of A + I (Kipf and Welling 2017)
  mean,       ///< D^-1 A, D the row sums of A; rows of nodes without neighbours are empty
  none,       ///< the node itself only, for a network without neighbours
  pattern,    ///< 1 for each neighbour and the node itself
};

/// Row sums of the weights A.
std::vector<double> row_sums(const sparse::Csr<double>& a);
/// For the rows of A + I of the local nodes.
std::vector<double> looped_row_sums(const Graph& graph);

/// The aggregation matrix: rows of the local nodes, columns of all. For a partitioned graph the values are bitwise
/// identical to those of the full matrix.
sparse::Csr<double> weighed(const Graph& graph, Weighing weighing);

/// Rows [first, last) of a matrix, with all its columns.
template <class T>
sparse::Csr<T> rows_of(const sparse::Csr<T>& a, std::int64_t first, std::int64_t last);

/// Properties of features.
struct FeaturesSeen {
  bool counts = true;    ///< all are non-negative integers
  double largest = 0.0;  ///< largest absolute value
};
FeaturesSeen features_seen(const sparse::Csr<float>& rows);

/// Each row divided by its sum; rows that sum to zero are unchanged.
sparse::Csr<float> divided_by_row_sums(const sparse::Csr<float>& a);

}  // namespace cambium::graph
