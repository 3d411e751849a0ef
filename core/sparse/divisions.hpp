#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/entries.hpp"
#include "core/sparse/layout.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// rows and rows_1_5d: P / copies ranges of rows. Rank (i, j) is number i copies + j; it holds range i and multiplies
/// with the ranges of its stages.
struct Ranges {
  int copies, count, range, copy;
  std::vector<std::int64_t> first;

  Ranges(std::span<const std::int64_t> of_ranks, int copies_, int rank)
      : copies(copies_), count(static_cast<int>(of_ranks.size() - 1) / copies_), range(rank / copies_),
        copy(rank % copies_) {
    for (int i = 0; i <= count; ++i) first.push_back(of_ranks[i * copies]);
  }
  Range of(int i) const { return {first[i], first[static_cast<std::size_t>(i) + 1]}; }
  int stages_begin(int j) const { return count * j / copies; }
  /// Copy whose stage range i is.
  int copy_of(int i) const {
    int j = 0;
    while (stages_begin(j + 1) <= i) ++j;
    return j;
  }
};

/// grid_2d and grid_3d: `layers` layers (1 for 2D) of side x side ranks. Rank (i, j, k) is number (i layers + k) side +
/// j. Row block i is split into `layers` pieces; (i, j, k) holds part j of the columns of piece (i, k) of dense
/// matrices, and of the sparse one row block i, columns of piece (j, k).
struct Grid {
  int side, layers, i, j, k;
  std::vector<std::int64_t> first;  ///< of the pieces

  Grid(std::span<const std::int64_t> of_ranks, Scheme scheme, int rank) {
    const auto ranks = static_cast<double>(of_ranks.size() - 1);
    side = static_cast<int>(std::lround(scheme == Scheme::grid_2d ? std::sqrt(ranks) : std::cbrt(ranks)));
    layers = scheme == Scheme::grid_2d ? 1 : side;
    j = rank % side;
    k = rank / side % layers;
    i = rank / side / layers;
    for (int p = 0; p <= side * layers; ++p) first.push_back(of_ranks[p * side]);
  }
  Range piece(int block, int layer) const {
    const auto p = static_cast<std::size_t>(block * layers + layer);
    return {first[p], first[p + 1]};
  }
  Range block(int b) const { return {piece(b, 0).begin, piece(b, layers - 1).end}; }
  int owner(std::int64_t row, std::int64_t column) const {
    const int of_row = range_of(first, row) / layers, piece = range_of(first, column);
    return (of_row * layers + piece % layers) * side + piece / layers;
  }
};

}  // namespace cambium::sparse
