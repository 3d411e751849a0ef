#pragma once
#include <cmath>
#include <map>
#include <string>

#include "plugins/graph/meshes/triangles.hpp"

namespace cambium::graph::test {

/// What a mesh has, whatever its nodes are called: counts, its area, and the length of each part of its boundary; "" is
/// what belongs to no part.
struct MeshContent {
  std::int64_t nodes = 0, triangles = 0;
  double area = 0.0;
  std::map<std::string, double> boundary;

  bool near(const MeshContent& other) const {
    if (nodes != other.nodes || triangles != other.triangles || std::abs(area - other.area) > 1e-9) return false;
    if (boundary.size() != other.boundary.size()) return false;
    for (const auto& [name, length] : boundary)
      if (!other.boundary.count(name) || std::abs(other.boundary.at(name) - length) > 1e-9) return false;
    return true;
  }
};

inline MeshContent mesh_content(const std::string& path) {
  Log log;
  MeshKeys keys;
  keys.file = path;
  const auto mesh = make_mesh(keys, 1, log);
  MeshContent out{mesh.nodes(), mesh.triangles(), 0.0, {}};
  for (const auto& c : mesh.corner) {
    const Point &a = mesh.point[c[0]], &b = mesh.point[c[1]], &d = mesh.point[c[2]];
    out.area += 0.5 * ((b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]));
  }
  for (const auto& side : mesh.boundary) {
    const Point &a = mesh.point[side.node[0]], &b = mesh.point[side.node[1]];
    const double length = std::hypot(a[0] - b[0], a[1] - b[1]);
    if (side.tag < 0) out.boundary[""] += length;
    mesh.for_tags(side, [&](std::int32_t tag) { out.boundary[mesh.tags[tag]] += length; });
  }
  return out;
}

}  // namespace cambium::graph::test
