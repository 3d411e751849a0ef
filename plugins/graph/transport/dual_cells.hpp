#pragma once
#include <array>
#include <functional>
#include <vector>

#include "plugins/graph/meshes/triangles.hpp"
#include "plugins/graph/transport/node_range.hpp"

namespace cambium::graph {

/// Pairs of nodes that share an edge, both ways, with ones on the diagonal.
sparse::Csr<double> pattern_of(const Triangles& mesh);

/// The triangles of a mesh from the view of the nodes of one rank. The cell of a node is bounded by the lines from the
/// middles of its edges to the middles of its triangles (median dual; Barth and Jespersen 1989).
struct DualCells {
  struct Edge {
    std::int64_t a = 0, b = 0;    ///< local rows, a < b
    std::array<double, 2> way{};  ///< from a to b
    Point middle{};
    bool own_a = false, own_b = false;
  };
  /// A line between two cells: from the middle of an edge to that of a triangle.
  struct Face {
    std::int64_t edge = 0, triangle = 0;  ///< in `edges` and `centroid`
    double sign = 1.0;  ///< of the flow through it, from left to right of its way, in that from a to b
  };
  /// Half of an edge of the boundary.
  struct HalfSide {
    std::int64_t node = 0, other = 0;  ///< local rows; the cell it bounds, and the edge's other end
    std::int64_t side = 0;             ///< in Triangles::boundary
    Point from, to;                    ///< the inside lies to the left
  };
  std::vector<double> area;       ///< of own nodes' cells
  std::vector<Point> place;       ///< of own nodes
  sparse::Csr<double> stiffness;  ///< own rows: of linear elements, with kappa of each triangle's middle
  sparse::Csr<double>
      gradient[2];              ///< own rows: mean gradient of the triangles around a node, by area; exact where linear
  std::vector<Edge> edges;      ///< all with an own node, in the order of the nodes' numbers
  std::vector<Point> centroid;  ///< of every triangle with an own node
  std::vector<Face> faces;
  std::vector<HalfSide> sides;  ///< of own nodes
  std::int64_t bytes() const;
};

DualCells dual_cells(const Triangles& mesh, const NodeRange& range, const std::function<double(Point)>& kappa);

}  // namespace cambium::graph
