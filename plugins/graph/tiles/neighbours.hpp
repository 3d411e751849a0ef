#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::sparse {

/// The pattern of a square matrix as an undirected graph: the neighbours of node i, ascending, except i itself.
struct Neighbours {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> node;

  std::int64_t nodes() const { return static_cast<std::int64_t>(start.size()) - 1; }
  std::span<const std::int32_t> of(std::int64_t i) const {
    const auto from = static_cast<std::size_t>(start[i]);
    return {node.data() + from, static_cast<std::size_t>(start[static_cast<std::size_t>(i) + 1]) - from};
  }
  std::int64_t degree(std::int64_t i) const { return static_cast<std::int64_t>(of(i).size()); }
};

/// i and j are neighbours if A has (i, j) or (j, i). InternalError if A is not square.
template <class T>
Neighbours neighbours_of(const Csr<T>& a);

}  // namespace cambium::sparse
