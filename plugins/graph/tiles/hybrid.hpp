#pragma once
#include <cstdint>
#include <string>

#include "core/sparse/products.hpp"
#include "plugins/graph/tiles/split.hpp"

namespace cambium::sparse {

/// Form of a product.
enum class TileUse {
  automatic,  ///< tiles where they were faster when both forms were timed on this matrix
  rows,       ///< never tiles: sums in ascending order of the column
  tiles,      ///< tiles wherever the cost model favours them
};

/// A matrix stored for many products of one width (a network's adjacency). T: double, float. Sums start with the
/// remaining rows, then bitmap tiles, then dense tiles: results differ from multiply()'s in rounding, and an infinity
/// or NaN in h spreads to rows that are only padding of its tile. For results that do not depend on timings, use
/// TileUse::rows.
template <class T>
class HybridMatrix {
 public:
  /// Timing (always for the traversal of plain rows, for tiles with TileUse::automatic) takes some tens of products.
  /// `width` > 0.
  HybridMatrix(Csr<T> a, std::int64_t width, TileUse use = TileUse::automatic);
  /// Uses given costs, without timing.
  HybridMatrix(Csr<T> a, const TileCosts& costs);

  /// out = A h, or out += A h if `add`, for any width. InternalError for shapes that do not match.
  void multiply(Rows<const T> h, Rows<T> out, bool add = false) const;

  bool uses_tiles() const { return tiled_; }
  const Csr<T>& rows() const { return a_; }         ///< the full matrix
  const Split<T>& split() const { return split_; }  ///< without tiles if none are used
  const TileCount& count() const { return split_.count; }
  Walk walk() const { return walk_; }  ///< of plain rows
  /// Choice and its reason, for the log: "dense tiles 61 %, bitmap tiles 0 %, rows 39 % of 62742 entries; 9120 zeros
  /// filled in; 1.32 times as fast as rows".
  std::string text() const;

 private:
  void choose(std::int64_t width, bool tiles);

  Csr<T> a_;
  Split<T> split_;
  bool tiled_ = false;
  Walk walk_;
  double gain_ = 0.0;  ///< of tiles over rows when both were timed; 0: not timed
};

}  // namespace cambium::sparse
