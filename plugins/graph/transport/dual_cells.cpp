#include "plugins/graph/transport/dual_cells.hpp"

#include <algorithm>
#include <map>

namespace cambium::graph {
namespace {

using NodePair = std::pair<std::int32_t, std::int32_t>;

Point between(Point a, Point b) { return {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}; }

/// Area and centroid of a triangle, and the gradients of its linear basis functions.
struct TriangleShape {
  double area;
  Point centroid;
  std::array<Point, 3> gradient;
};

TriangleShape shape_of(const Triangles& mesh, const std::array<std::int32_t, 3>& corner) {
  const Point &a = mesh.point[corner[0]], &b = mesh.point[corner[1]], &c = mesh.point[corner[2]];
  TriangleShape out;
  out.area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]));
  out.centroid = {(a[0] + b[0] + c[0]) / 3.0, (a[1] + b[1] + c[1]) / 3.0};
  const Point* corners[3] = {&a, &b, &c};
  for (int k = 0; k < 3; ++k) {
    const Point &next = *corners[(k + 1) % 3], &last = *corners[(k + 2) % 3];
    out.gradient[k] = {(next[1] - last[1]) / (2.0 * out.area), (last[0] - next[0]) / (2.0 * out.area)};
  }
  return out;
}

/// Assembles the entries of own matrix rows.
struct Builder {
  const Triangles& mesh;
  const NodeRange& range;
  std::vector<sparse::Entry> stiffness, gradient[2];
  std::map<NodePair, std::int64_t> number;  ///< of an edge among the local ones

  void add_triangle(DualCells& out, const std::array<std::int32_t, 3>& corner, double kappa,
                    const TriangleShape& shape) {
    for (int k = 0; k < 3; ++k) {
      const auto i = corner[k];
      if (!range.owns(i)) continue;
      out.area[range.row_of(i)] += shape.area / 3.0;
      for (int m = 0; m < 3; ++m) {
        const auto &gi = shape.gradient[k], &gm = shape.gradient[m];
        stiffness.push_back({i, corner[m], kappa * shape.area * (gi[0] * gm[0] + gi[1] * gm[1])});
        for (int d = 0; d < 2; ++d) gradient[d].push_back({i, corner[m], shape.area / 3.0 * gm[d]});
      }
    }
  }

  void add_faces(DualCells& out, const std::array<std::int32_t, 3>& corner) const {
    for (int k = 0; k < 3; ++k) {
      const auto i = corner[k], j = corner[(k + 1) % 3];
      const auto found = number.find({std::min(i, j), std::max(i, j)});
      if (found == number.end()) continue;
      out.faces.push_back({found->second, std::ssize(out.centroid), i < j ? 1.0 : -1.0});
    }
  }

  /// Edges with an own node, sorted by the indices of their ends.
  void find_edges(DualCells& out) {
    for (const auto& corner : mesh.corner)
      for (int k = 0; k < 3; ++k) {
        const auto i = std::min(corner[k], corner[(k + 1) % 3]), j = std::max(corner[k], corner[(k + 1) % 3]);
        if (range.owns(i) || range.owns(j)) number.emplace(NodePair{i, j}, 0);
      }
    for (auto& [edge, at] : number) {
      at = std::ssize(out.edges);
      const Point &a = mesh.point[edge.first], &b = mesh.point[edge.second];
      out.edges.push_back({range.row_of(edge.first),
                           range.row_of(edge.second),
                           {b[0] - a[0], b[1] - a[1]},
                           between(a, b),
                           range.owns(edge.first),
                           range.owns(edge.second)});
    }
  }

  void add_sides(DualCells& out) const {
    for (std::size_t s = 0; s < mesh.boundary.size(); ++s) {
      const auto [a, b] = mesh.boundary[s].node;
      const Point &from = mesh.point[a], &to = mesh.point[b], middle = between(from, to);
      const auto side = static_cast<std::int64_t>(s);
      if (range.owns(a)) out.sides.push_back({range.row_of(a), range.row_of(b), side, from, middle});
      if (range.owns(b)) out.sides.push_back({range.row_of(b), range.row_of(a), side, middle, to});
    }
  }

  sparse::Csr<double> rows_of(const std::vector<sparse::Entry>& entries) const {
    return range.own_rows(sparse::csr_from_entries(mesh.nodes(), mesh.nodes(), entries).matrix);
  }
};

}  // namespace

std::int64_t DualCells::bytes() const {
  return bytes_in(area, place, edges, centroid, faces, sides) + bytes_of(stiffness) + bytes_of(gradient[0]) +
         bytes_of(gradient[1]);
}

sparse::Csr<double> pattern_of(const Triangles& mesh) {
  std::vector<sparse::Entry> entries;
  for (const auto& corner : mesh.corner)
    for (int k = 0; k < 3; ++k)
      for (int m = 0; m < 3; ++m) entries.push_back({corner[k], corner[m], 1.0});
  return sparse::csr_from_entries(mesh.nodes(), mesh.nodes(), entries).matrix;
}

DualCells dual_cells(const Triangles& mesh, const NodeRange& range, const std::function<double(Point)>& kappa) {
  DualCells out;
  out.area.assign(range.owned(), 0.0);
  Builder build{mesh, range, {}, {}, {}};
  build.find_edges(out);
  for (const auto& corner : mesh.corner) {
    if (!range.owns(corner[0]) && !range.owns(corner[1]) && !range.owns(corner[2])) continue;
    const TriangleShape shape = shape_of(mesh, corner);
    build.add_triangle(out, corner, kappa(shape.centroid), shape);
    build.add_faces(out, corner);
    out.centroid.push_back(shape.centroid);
  }
  build.add_sides(out);
  out.stiffness = build.rows_of(build.stiffness);
  for (int d = 0; d < 2; ++d) {
    out.gradient[d] = build.rows_of(build.gradient[d]);
    for (std::int64_t i = 0; i < range.owned(); ++i)
      for (auto e = out.gradient[d].start[i]; e < out.gradient[d].start[i + 1]; ++e)
        out.gradient[d].value[e] /= out.area[i];
  }
  for (const auto i : range.own()) out.place.push_back(mesh.point[i]);
  return out;
}

}  // namespace cambium::graph
