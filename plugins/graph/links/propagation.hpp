#pragma once
#include "core/sparse/products.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// D^-1/2 R D^-1/2 for the links R of users and items and their degrees D: users x items.
template <class T>
sparse::Csr<T> scaled_links(const sparse::Csr<float>& links);

/// D^-1/2 A D^-1/2 over users and items, with A composed of R and its transpose; for a plain graph A = R. Nodes x
/// nodes, symmetric.
template <class T>
sparse::Csr<T> scaled_links_of_all(const LinkGraph& graph);

/// (I + A + A^2 + ... + A^layers) / (layers + 1) times dense rows, A = scaled_links_of_all() (He et al. 2020). As A is
/// symmetric, so is this: the gradient by its argument is the same operator.
template <class T>
class Propagation {
 public:
  Propagation(const LinkGraph& graph, std::int64_t layers) : matrix_(scaled_links_of_all<T>(graph)), layers_(layers) {}
  std::int64_t nodes() const { return matrix_.rows; }
  /// `in` and `out` are nodes x width, contiguous, and distinct.
  void apply(const T* in, T* out, std::int64_t width);

 private:
  sparse::Csr<T> matrix_;
  std::int64_t layers_;
  std::vector<T> now_, next_;
};

}  // namespace cambium::graph
