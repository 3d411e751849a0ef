// Local refinement of triangle meshes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "core/base/key_error.hpp"
#include "plugins/graph/meshes/triangles.hpp"

namespace cambium::graph {
namespace {

using Corner = std::array<std::int32_t, 3>;
using Chosen = std::vector<bool>;

Point between(const Point& a, const Point& b) { return {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}; }

/// Sides to split, each with its midpoint node: -1 until it exists.
class Cuts {
 public:
  explicit Cuts(const Triangles& mesh) : mesh_(mesh) {}

  /// True if it is new.
  bool add(std::int32_t a, std::int32_t b) { return node_.emplace(key(a, b), -1).second; }
  bool has(std::int32_t a, std::int32_t b) const { return node_.count(key(a, b)) > 0; }
  std::int32_t& node(std::int32_t a, std::int32_t b) { return node_.at(key(a, b)); }

  /// The triangle rotated so that its longest side comes first. For sides of equal length the choice is the same in all
  /// triangles.
  Corner longest_first(const Corner& c) const {
    int best = 0;
    for (int k = 1; k < 3; ++k)
      if (longer(c[k], c[(k + 1) % 3], c[best], c[(best + 1) % 3])) best = k;
    return {c[best], c[(best + 1) % 3], c[(best + 2) % 3]};
  }

 private:
  static std::uint64_t key(std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint64_t>(std::max(a, b));
  }
  double squared(std::int32_t a, std::int32_t b) const {
    const Point &p = mesh_.point[std::min(a, b)], &q = mesh_.point[std::max(a, b)];
    return (q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]);
  }
  bool longer(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d) const {
    const double ab = squared(a, b), cd = squared(c, d);
    return ab > cd || (ab == cd && key(a, b) < key(c, d));
  }

  const Triangles& mesh_;
  std::unordered_map<std::uint64_t, std::int32_t> node_;
};

Chosen chosen_triangles(const Triangles& mesh, const deck::Expression& where, const std::string& name) {
  Chosen out;
  Point low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-low[0]);
  for (const auto& c : mesh.corner) {
    Point middle{};
    for (int d = 0; d < 2; ++d) {
      middle[d] = (mesh.point[c[0]][d] + mesh.point[c[1]][d] + mesh.point[c[2]][d]) / 3.0;
      low[d] = std::min(low[d], middle[d]);
      high[d] = std::max(high[d], middle[d]);
    }
    out.push_back(where(std::span<const double>(middle)) != 0.0);
  }
  if (std::find(out.begin(), out.end(), true) == out.end())
    throw KeyError(
        "mesh.refine.none", "where",
        fmt::format("mesh {}: refine: '{}' holds for no triangle (their middles reach from x = {:.4g} to {:.4g} and "
                    "from y = {:.4g} "
                    "to {:.4g}); correct it, make it wider, or leave it out",
                    name, where.text(), low[0], high[0], low[1], high[1]));
  return out;
}

/// The sides of the selected triangles, and the longest side of each triangle with a split side.
Cuts cuts_of(const Triangles& mesh, const Chosen& chosen) {
  Cuts cuts(mesh);
  for (std::size_t t = 0; t < mesh.corner.size(); ++t)
    if (const auto& c = mesh.corner[t]; chosen[t])
      for (int k = 0; k < 3; ++k) cuts.add(c[k], c[(k + 1) % 3]);
  for (bool more = true; more;) {
    more = false;
    for (const auto& c : mesh.corner)
      if (cuts.has(c[0], c[1]) || cuts.has(c[1], c[2]) || cuts.has(c[2], c[0])) {
        const auto turned = cuts.longest_first(c);
        more = cuts.add(turned[0], turned[1]) || more;
      }
  }
  return cuts;
}

/// Adds a node in the middle of every split side, in the order of the triangles.
void add_nodes(Triangles& mesh, Cuts& cuts) {
  for (const auto& c : mesh.corner)
    for (int k = 0; k < 3; ++k) {
      const auto a = c[k], b = c[(k + 1) % 3];
      if (!cuts.has(a, b) || cuts.node(a, b) >= 0) continue;
      cuts.node(a, b) = static_cast<std::int32_t>(mesh.nodes());
      mesh.number.push_back(static_cast<std::int32_t>(mesh.nodes()));
      mesh.point.push_back(between(mesh.point[a], mesh.point[b]));
    }
}

/// Adds the half (a, b, c) of a triangle that was split at a, itself split across its side bc if needed.
void add_half(std::vector<Corner>& out, std::int32_t a, std::int32_t b, std::int32_t c, Cuts& cuts) {
  if (!cuts.has(b, c)) return out.push_back({a, b, c});
  const auto middle = cuts.node(b, c);
  out.push_back({a, b, middle});
  out.push_back({a, middle, c});
}

void cut_triangles(Triangles& mesh, Cuts& cuts) {
  std::vector<Corner> out;
  for (const auto& corner : mesh.corner) {
    const auto [a, b, c] = cuts.longest_first(corner);
    if (!cuts.has(a, b)) {
      out.push_back(corner);
      continue;
    }
    const auto middle = cuts.node(a, b);
    if (cuts.has(b, c) && cuts.has(c, a)) {
      const auto right = cuts.node(b, c), left = cuts.node(c, a);
      out.insert(out.end(), {{a, middle, left}, {middle, b, right}, {left, right, c}, {middle, right, left}});
    } else {
      add_half(out, middle, b, c, cuts);
      add_half(out, middle, c, a, cuts);
    }
  }
  std::vector<Triangles::Side> boundary;
  for (const auto& side : mesh.boundary) {
    const auto [a, b] = side.node;
    if (!cuts.has(a, b)) {
      boundary.push_back(side);
      continue;
    }
    boundary.push_back({{a, cuts.node(a, b)}, side.tag, side.more});
    boundary.push_back({{cuts.node(a, b), b}, side.tag, side.more});
  }
  mesh.corner = std::move(out);
  mesh.boundary = std::move(boundary);
}

}  // namespace

void refine(Triangles& mesh, const MeshKeys::Refine& keys, const std::string& name) {
  for (int time = 0; time < keys.times; ++time) {
    Cuts cuts = cuts_of(mesh, chosen_triangles(mesh, keys.where, name));
    add_nodes(mesh, cuts);
    cut_triangles(mesh, cuts);
  }
}

}  // namespace cambium::graph
