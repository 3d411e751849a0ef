#pragma once
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// How neighbours are weighed when they are added up.
enum class Weighing {
  symmetric,  ///< D^-1/2 (A + I) D^-1/2, D the row sums of A + I (Kipf and Welling 2017)
  mean,       ///< D^-1 A, D the row sums of A; rows of nodes without neighbours are empty
  none,       ///< the node itself alone: what a network does that sees no neighbours
  pattern,    ///< 1 for each neighbour and the node itself
};

/// Sums of the rows of the weights A.
std::vector<double> row_sums(const sparse::Csr<double>& a);
/// For the rows of A + I of the nodes that are here.
std::vector<double> looped_row_sums(const Graph& graph);

/// The matrix by which a node hears its neighbours: rows of the nodes that are here, columns of all. Numbers of a
/// divided graph are those of the whole matrix, bit for bit.
sparse::Csr<double> weighed(const Graph& graph, Weighing weighing);

/// Rows [first, last) of a matrix, with all its columns.
template <class T>
sparse::Csr<T> rows_of(const sparse::Csr<T>& a, std::int64_t first, std::int64_t last);

/// Kind of features.
struct FeaturesSeen {
  bool counts = true;    ///< all are whole numbers of 0 or more
  double largest = 0.0;  ///< size
};
FeaturesSeen features_seen(const sparse::Csr<float>& rows);

/// Every row divided by its sum; rows that sum to zero stay.
sparse::Csr<float> divided_by_row_sums(const sparse::Csr<float>& a);

}  // namespace cambium::graph
