#pragma once
#include <array>
#include <functional>
#include <vector>

#include "plugins/graph/meshes/triangles.hpp"
#include "plugins/graph/transport/node_range.hpp"

namespace cambium::graph {

/// Pairs of nodes connected by an edge, in both directions, with ones on the diagonal.
sparse::Csr<double> pattern_of(const Triangles& mesh);

/// The triangles of a mesh around the nodes of one rank. The cell of a node is bounded by the lines from the midpoints
/// of its edges to the centroids of its triangles (median dual; Barth and Jespersen 1989).
struct DualCells {
  struct Edge {
    std::int64_t a = 0, b = 0;    ///< local rows, a < b
    std::array<double, 2> way{};  ///< vector from a to b
    Point middle{};
    bool own_a = false, own_b = false;
  };
  /// A face between two cells: from the midpoint of an edge to the centroid of a triangle.
  struct Face {
    std::int64_t edge = 0, triangle = 0;  ///< in `edges` and `centroid`
    double sign = 1.0;  ///< converts the flow through it, from left to right of its direction, to that from a to b
  };
  /// Half of a boundary edge.
  struct HalfSide {
    std::int64_t node = 0, other = 0;  ///< local rows; the cell it bounds, and the edge's other end
    std::int64_t side = 0;             ///< in Triangles::boundary
    Point from, to;                    ///< the inside is on the left
  };
  std::vector<double> area;         ///< of own nodes' cells
  std::vector<Point> place;         ///< of own nodes
  sparse::Csr<double> stiffness;    ///< own rows: of linear elements, with kappa at each triangle's centroid
  sparse::Csr<double> gradient[2];  ///< own rows: area-weighted mean gradient of the triangles around a node; exact for
                                    ///< linear functions
  std::vector<Edge> edges;          ///< all with an own node, in the order of the node indices
  std::vector<Point> centroid;      ///< of every triangle with an own node
  std::vector<Face> faces;
  std::vector<HalfSide> sides;  ///< of own nodes
  std::int64_t bytes() const;
};

DualCells dual_cells(const Triangles& mesh, const NodeRange& range, const std::function<double(Point)>& kappa);

}  // namespace cambium::graph
