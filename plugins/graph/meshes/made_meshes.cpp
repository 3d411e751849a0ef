// Rectangles and discs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/base/constants.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/meshes/triangles.hpp"

namespace cambium::graph {
namespace {

/// Numbers points and triangles from 0 in the order of their creation.
void number(RawMesh& mesh) {
  for (std::size_t k = 0; k < mesh.point.size(); ++k) mesh.point_number.push_back(static_cast<std::int64_t>(k));
  for (std::size_t k = 0; k < mesh.corner.size(); ++k) mesh.triangle_number.push_back(static_cast<std::int64_t>(k));
}

}  // namespace

/// Diagonals of neighbouring cells alternate, to avoid a preferred direction.
RawMesh rectangle_of(const MeshKeys::Rectangle& keys, std::uint64_t seed) {
  const std::int64_t nx = keys.cells[0], ny = keys.cells[1];
  const double dx = keys.size[0] / static_cast<double>(nx), dy = keys.size[1] / static_cast<double>(ny);
  RawMesh out;
  const auto at = [&](std::int64_t i, std::int64_t j) { return j * (nx + 1) + i; };
  for (std::int64_t j = 0; j <= ny; ++j)
    for (std::int64_t i = 0; i <= nx; ++i) {
      const Random4 r(seed, Stream::made_samples, static_cast<std::uint64_t>(at(i, j)), 1);
      const bool inner = i > 0 && i < nx && j > 0 && j < ny;
      const double sx = inner ? keys.shake * (2.0 * r.uniform(0) - 1.0) : 0.0,
                   sy = inner ? keys.shake * (2.0 * r.uniform(1) - 1.0) : 0.0;
      out.point.push_back({keys.origin[0] + dx * (static_cast<double>(i) + sx),
                           keys.origin[1] + dy * (static_cast<double>(j) + sy), 0.0});
    }
  for (std::int64_t j = 0; j < ny; ++j)
    for (std::int64_t i = 0; i < nx; ++i) {
      const auto a = at(i, j), b = at(i + 1, j), c = at(i + 1, j + 1), d = at(i, j + 1);
      if ((i + j) % 2 == 0) {
        out.corner.push_back({a, b, c});
        out.corner.push_back({a, c, d});
      } else {
        out.corner.push_back({a, b, d});
        out.corner.push_back({b, c, d});
      }
    }
  out.tags = {"left", "right", "bottom", "top"};
  for (std::int64_t j = 0; j < ny; ++j) {
    out.sides.push_back({at(0, j), at(0, j + 1), 0});
    out.sides.push_back({at(nx, j), at(nx, j + 1), 1});
  }
  for (std::int64_t i = 0; i < nx; ++i) {
    out.sides.push_back({at(i, 0), at(i + 1, 0), 2});
    out.sides.push_back({at(i, ny), at(i + 1, ny), 3});
  }
  number(out);
  return out;
}

namespace {

/// Nodes on a circle, the first of them rotated by `turned` half steps from the x axis.
struct Ring {
  std::int64_t first = 0, count = 0;
  int turned = 0;
  /// Angle of node k in half steps, times the number of nodes of the other ring.
  std::int64_t angle(std::int64_t k, std::int64_t other) const { return (2 * k + turned) * other; }
};

/// Triangles between two rings: advances on the ring with the next node in angular order.
void connect(RawMesh& out, const Ring& in, const Ring& rim) {
  std::int64_t i = 0, o = 0;
  while (i < in.count || o < rim.count) {
    const auto a = in.first + i % in.count, b = rim.first + o % rim.count;
    if (o < rim.count && (i == in.count || rim.angle(o + 1, in.count) <= in.angle(i + 1, rim.count)))
      out.corner.push_back({a, b, rim.first + ++o % rim.count});
    else
      out.corner.push_back({a, b, in.first + ++i % in.count});
  }
}

void close_side(RawMesh& out, std::int64_t first, std::int64_t count, std::int32_t tag) {
  for (std::int64_t k = 0; k < count; ++k) out.sides.push_back({first + k, first + (k + 1) % count, tag});
}

}  // namespace

/// Ring k of a disc has 6 k nodes; with a hole, all rings have the number that makes the triangles at half the radius
/// nearly equilateral.
RawMesh disc_of(const MeshKeys::Disc& keys) {
  RawMesh out;
  const bool holed = keys.hole > 0.0;
  const double width = (keys.radius - keys.hole) / keys.rings;
  const auto even = static_cast<std::int64_t>(std::lround(constants::pi * (keys.radius + keys.hole) / width));
  const auto count = [&](std::int64_t k) { return holed ? std::max<std::int64_t>(even, 6) : k == 0 ? 1 : 6 * k; };
  Ring before;
  for (std::int64_t k = 0; k <= keys.rings; ++k) {
    const Ring ring{std::ssize(out.point), count(k), holed ? static_cast<int>(k % 2) : 0};
    for (std::int64_t i = 0; i < ring.count; ++i) {
      const double angle = constants::pi * static_cast<double>(ring.angle(i, 1)) / static_cast<double>(ring.count);
      const double r = keys.hole + width * static_cast<double>(k);
      out.point.push_back({keys.centre[0] + r * std::cos(angle), keys.centre[1] + r * std::sin(angle), 0.0});
    }
    if (k == 1 && !holed)
      for (std::int64_t i = 0; i < 6; ++i) out.corner.push_back({0, 1 + i, 1 + (i + 1) % 6});
    else if (k > 0)
      connect(out, before, ring);
    before = ring;
  }
  out.tags = {"rim"};
  close_side(out, before.first, before.count, 0);
  if (holed) {
    out.tags.push_back("hole");
    close_side(out, 0, count(0), 1);
  }
  number(out);
  return out;
}

}  // namespace cambium::graph
