#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plugins/superres/decoder/jet_basis.hpp"
#include "plugins/superres/decoder/spline.hpp"

namespace cambium::superres {

/// Blending of the decodings of a cell's eight corners along each axis: linearly (the gradient jumps at faces), or by
/// polynomials of degree 5 or 7 whose first two or three derivatives vanish at faces. `spline`: latent vectors are
/// blended by cubic B-splines, and decoded once.
enum class Blend { trilinear, c2, c3, spline };

/// Nodes of a latent grid with their physical coordinates, of any spacing.
struct LatentCells {
  std::array<std::vector<double>, 3> axis;  ///< t, x, z; increasing, two nodes at least
  bool wraps =
      false;  ///< the last node along x is the first one, one period further, and has no latent vector of its own

  int nodes(int a) const { return static_cast<int>(axis[a].size()) - (wraps && a == 1 ? 1 : 0); }
  /// Number of latent vectors, indexed by (t, x, z) with z fastest.
  std::int64_t size() const { return std::int64_t{1} * nodes(0) * nodes(1) * nodes(2); }
  /// Half the distance between a node's neighbours along an axis: the unit of coordinates relative to it, equal on both
  /// sides of the node, so that blended decodings stay smooth on stretched grids.
  double spacing(int a, int node) const;
};

/// Splines for the axes of a grid, one for every latent vector.
std::array<SplineAxis, 3> splines_of(const LatentCells& cells);

/// Location of points in the cells: for every point 8 corners (or 64 splines), their latent vectors, and all quantities
/// that do not depend on weights. A row is one input of the decoder: a corner of a point, or, with blended latent
/// vectors, the point. T: float or double.
template <class T>
struct DecoderQuery {
  std::int64_t points = 0;
  bool decodes_once = false;       ///< latent vectors are blended, not their decodings
  std::vector<std::int64_t> node;  ///< (points, near()): latent vectors
  std::vector<T> offset;           ///< (rows, 3): (position - node) / spacing; with blended latent vectors only of z
  std::vector<T> inverse_spacing;  ///< (rows, 3)
  std::vector<T> weight;           ///< (streams, points, near()): derivatives of the blending weight

  int near() const { return decodes_once ? 64 : 8; }
  std::int64_t rows() const { return decodes_once ? points : 8 * points; }
};

/// Locates points (count, 3) by (t, x, z) in a grid whose latent vectors begin at `first_node`. Outside the nodes the
/// outermost cell's decoding is extrapolated.
template <class T>
DecoderQuery<T> locate(const LatentCells& cells, const double* points, std::int64_t count, Blend blend,
                       const JetBasis& basis, std::int64_t first_node = 0);

/// Concatenates the points of several grids.
template <class T>
DecoderQuery<T> joined(const std::vector<DecoderQuery<T>>& parts, int streams);

}  // namespace cambium::superres
