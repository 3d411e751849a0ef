#include "plugins/graph/meshes/triangles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"
#include "plugins/graph/meshes/near_order.hpp"

namespace cambium::graph {

void MeshKeys::Rectangle::describe(deck::Describe<Rectangle>& d) {
  d("cells", &Rectangle::cells, "number of cells along x and y; each is divided into two triangles")
      .at_least(1)
      .example("[64, 32]");
  d("size", &Rectangle::size, "along x and y").positive().def({1.0, 1.0});
  d("origin", &Rectangle::origin, "lower left corner").def({0.0, 0.0});
  d("shake", &Rectangle::shake, "inner nodes are moved at random by up to this part of a cell")
      .range(0.0, 0.3)
      .def(0.0);
}

void MeshKeys::Disc::describe(deck::Describe<Disc>& d) {
  d("rings", &Disc::rings, "number of rings of triangles between the centre, or the hole, and the rim")
      .at_least(1)
      .example("32");
  d("radius", &Disc::radius, "radius of the rim").positive().def(1.0);
  d("hole", &Disc::hole, "radius of a hole in the middle; 0: none").non_negative().def(0.0);
  d("center", &Disc::centre, "middle").formerly("centre").def({0.0, 0.0});
  d.check([](const Disc& p) { return p.hole < p.radius ? "" : "'hole' must be smaller than 'radius'"; });
}

void MeshKeys::Refine::describe(deck::Describe<Refine>& d) {
  d("where", &Refine::where, "region to refine: triangles whose centroid satisfies this formula of x and y")
      .variables({{"x", ""}, {"y", ""}})
      .example("y < 0.1");
  d("times", &Refine::times, "number of bisections of their edges").range(1, 12).def(1);
}

void MeshKeys::describe(deck::Describe<MeshKeys>& d) {
  d("rectangle", &MeshKeys::rectangle, "synthetic rectangle with boundaries left, right, bottom and top");
  d("disc", &MeshKeys::disc, "synthetic disc of rings of nodes with boundaries rim and hole");
  d("file", &MeshKeys::file, "or read: Gmsh (.msh, ASCII, 4.1 or 2.2) or VTK (.vtu)").def("").example("channel.msh");
  d("refine", &MeshKeys::refine,
    "local mesh refinements, in sequence; neighbours are divided so that no hanging node remains")
      .def({})
      .example("[{where: y < 0.1, times: 3}]");
  d.check([](const MeshKeys& p) {
    return p.rectangle.has_value() + p.disc.has_value() + !p.file.empty() == 1
               ? ""
               : "the mesh needs exactly one of 'rectangle', 'disc' and 'file'";
  });
}

static RawMesh raw_mesh(const MeshKeys& keys, std::uint64_t seed, const std::string& name) {
  if (keys.rectangle) return rectangle_of(*keys.rectangle, seed);
  if (keys.disc) return disc_of(*keys.disc);
  if (std::filesystem::is_directory(keys.file))
    throw InputError(fmt::format("{} is a folder; name a mesh file in it", name));
  if (keys.file.ends_with(".msh")) return read_gmsh(keys.file);
  if (keys.file.ends_with(".vtu")) return read_vtu(keys.file);
  throw InputError(fmt::format(
      "{} is neither a Gmsh file (.msh) nor a VTK one (.vtu); convert the mesh, for example with meshio", name));
}

Triangles make_mesh(const MeshKeys& keys, std::uint64_t seed, Log& log) {
  const std::string name = keys.rectangle ? "rectangle" : keys.disc ? "disc" : "'" + keys.file + "'";
  Triangles out = checked_mesh(raw_mesh(keys, seed, name), name, log, keys.file.empty());
  for (std::size_t k = 0; k < keys.refine.size(); ++k)
    deck::about_key("", deck::child_path("refine", k), [&] { refine(out, keys.refine[k], name); });
  if (!keys.file.empty() || !keys.refine.empty()) renumber_nodes(out);
  return out;
}

namespace {

using LongCorner = std::array<std::int64_t, 3>;
using Edge = std::pair<std::int64_t, std::int64_t>;

/// Twice the area, positive if counter-clockwise.
double doubled_area(const RawMesh& raw, const LongCorner& c) {
  const auto &a = raw.point[c[0]], &b = raw.point[c[1]], &d = raw.point[c[2]];
  return (b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]);
}

double longest_side(const RawMesh& raw, const LongCorner& c) {
  double most = 0.0;
  for (int k = 0; k < 3; ++k) {
    const auto &a = raw.point[c[k]], &b = raw.point[c[(k + 1) % 3]];
    most = std::max(most, std::hypot(b[0] - a[0], b[1] - a[1]));
  }
  return most;
}

void require_plane(const RawMesh& raw, const std::string& name) {
  if (raw.corner.empty()) throw InputError(fmt::format("mesh {} holds no triangle", name));
  double size = 0.0;
  for (const auto& p : raw.point) {
    if (!std::isfinite(p[0] + p[1] + p[2]))
      throw InputError(fmt::format("mesh {}: the coordinates of node {} are not finite", name,
                                   raw.point_number[&p - raw.point.data()]));
    size = std::max({size, std::abs(p[0] - raw.point[0][0]), std::abs(p[1] - raw.point[0][1])});
  }
  for (std::size_t i = 0; i < raw.point.size(); ++i)
    if (std::abs(raw.point[i][2] - raw.point[0][2]) > 1e-9 * size)
      throw InputError(
          fmt::format("mesh {}: node {} lies at z = {:g}, others at z = {:g}; this physics needs a plane z = constant",
                      name, raw.point_number[i], raw.point[i][2], raw.point[0][2]));
}

/// Makes all triangles counter-clockwise: mesh generators and triangulations do not always agree on the order of
/// corners, which means nothing in a plane. require_unfolded() finds those that a fault of the mesh turned.
void orient(RawMesh& raw, const std::string& name, Log& log) {
  std::int64_t turned = 0, first = 0;
  for (std::size_t t = 0; t < raw.corner.size(); ++t) {
    auto& c = raw.corner[t];
    const double area = doubled_area(raw, c), side = longest_side(raw, c);
    if (std::abs(area) <= 1e-12 * side * side)
      throw InputError(fmt::format("mesh {}: triangle {} has no area; mesh the domain again, or remove it", name,
                                   raw.triangle_number[t]));
    if (area > 0.0) continue;
    if (turned++ == 0) first = raw.triangle_number[t];
    std::swap(c[1], c[2]);
  }
  if (turned == std::ssize(raw.corner))
    log.info(fmt::format("mesh {}: all triangles go round clockwise and are turned", name));
  else if (turned > 0)
    log.info(fmt::format("mesh {}: {} of {} triangles (the first is {}) go round clockwise and are turned", name,
                         turned, raw.corner.size(), first));
}

/// InputError if two triangles with a common edge overlap: both are counter-clockwise, so they pass it in the same
/// direction if they lie on the same side of it.
void require_unfolded(const RawMesh& raw, const std::string& name) {
  std::map<Edge, std::size_t> passed;
  for (std::size_t t = 0; t < raw.corner.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const auto a = raw.corner[t][k], b = raw.corner[t][(k + 1) % 3];
      const auto [at, fresh] = passed.emplace(Edge{a, b}, t);
      if (!fresh)
        throw InputError(fmt::format(
            "mesh {}: triangles {} and {} lie on the same side of their common edge between nodes {} and {}, so the "
            "mesh is folded there; move its nodes, or mesh the domain again",
            name, raw.triangle_number[at->second], raw.triangle_number[t], raw.point_number[a], raw.point_number[b]));
    }
}

void require_single(const RawMesh& raw, const std::string& name) {
  std::map<LongCorner, std::int64_t> seen;
  for (std::size_t t = 0; t < raw.corner.size(); ++t) {
    LongCorner sorted = raw.corner[t];
    std::sort(sorted.begin(), sorted.end());
    const auto [at, fresh] = seen.emplace(sorted, raw.triangle_number[t]);
    if (!fresh)
      throw InputError(fmt::format("mesh {}: triangle {} has the same nodes as triangle {}; remove one of them", name,
                                   raw.triangle_number[t], at->second));
  }
}

/// Removes points without a triangle.
void drop_unused(RawMesh& raw, const std::string& name, Log& log) {
  std::vector<std::int64_t> fresh(raw.point.size(), -1);
  for (const auto& c : raw.corner)
    for (const auto i : c) fresh[i] = 0;
  std::int64_t used = 0, unused = 0, first = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (fresh[i] < 0) {
      if (unused++ == 0) first = raw.point_number[i];
      continue;
    }
    raw.point[used] = raw.point[i];
    raw.point_number[used] = raw.point_number[i];
    fresh[i] = used++;
  }
  if (unused == 0) return;
  raw.point.resize(used);
  raw.point_number.resize(used);
  for (auto& c : raw.corner)
    for (auto& i : c) i = fresh[i];
  std::erase_if(raw.sides, [&](auto& s) { return s.a = fresh[s.a], s.b = fresh[s.b], s.a < 0 || s.b < 0; });
  log.info(
      fmt::format("mesh {}: {} nodes belong to no triangle (the first is {}) and are left out", name, unused, first));
}

/// Boundary parts of each side, in the order of the file, each once.
class SideTags {
 public:
  void add(const Edge& edge, std::int32_t tag) {
    auto& list = tags_[edge];
    if (std::find(list.begin(), list.end(), tag) == list.end()) list.push_back(tag);
  }
  /// Sets the parts of a side.
  void give(const Edge& edge, Triangles::Side& side, std::vector<std::vector<std::int32_t>>& more) {
    const auto found = tags_.find(edge);
    if (found == tags_.end()) return;
    side.tag = found->second.front();
    if (found->second.size() == 1) return;
    const std::vector<std::int32_t> others(found->second.begin() + 1, found->second.end());
    const auto [at, fresh] = places_.emplace(others, static_cast<std::int32_t>(more.size()));
    if (fresh) more.push_back(others);
    side.more = at->second;
  }

 private:
  std::map<Edge, std::vector<std::int32_t>> tags_;
  std::map<std::vector<std::int32_t>, std::int32_t> places_;
};

/// Edges of one triangle, in the order of the triangles; InputError if three meet. Adds the further parts of sides in
/// several parts to `more`.
std::vector<Triangles::Side> boundary_of(const RawMesh& raw, const std::string& name,
                                         std::vector<std::vector<std::int32_t>>& more) {
  std::map<Edge, int> count;
  const auto key = [](std::int64_t a, std::int64_t b) { return Edge{std::min(a, b), std::max(a, b)}; };
  for (std::size_t t = 0; t < raw.corner.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const auto a = raw.corner[t][k], b = raw.corner[t][(k + 1) % 3];
      if (++count[key(a, b)] > 2)
        throw InputError(
            fmt::format("mesh {}: triangle {} is the third one at the edge between nodes {} and {}; "
                        "triangles may not overlap",
                        name, raw.triangle_number[t], raw.point_number[a], raw.point_number[b]));
    }
  SideTags tags;
  for (const auto& s : raw.sides) tags.add(key(s.a, s.b), s.tag);
  std::vector<Triangles::Side> out;
  for (const auto& c : raw.corner)
    for (int k = 0; k < 3; ++k) {
      const auto a = c[k], b = c[(k + 1) % 3];
      if (count[key(a, b)] != 1) continue;
      out.push_back({{static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)}, -1, -1});
      tags.give(key(a, b), out.back(), more);
    }
  return out;
}

/// Hanging nodes, in the middle of a neighbour's edge: the two halves are boundary edges, too.
void say_hanging(const RawMesh& raw, const std::vector<Triangles::Side>& boundary, const std::string& name, Log& log) {
  std::map<std::int32_t, std::vector<std::int32_t>> beside;
  for (const auto& s : boundary) {
    beside[s.node[0]].push_back(s.node[1]);
    beside[s.node[1]].push_back(s.node[0]);
  }
  std::int64_t hanging = 0, first = 0;
  for (const auto& s : boundary)
    for (const auto i : beside[s.node[0]]) {
      const auto &a = raw.point[s.node[0]], &b = raw.point[s.node[1]], &p = raw.point[i];
      const double dx = b[0] - a[0], dy = b[1] - a[1], px = p[0] - a[0], py = p[1] - a[1];
      const double length = dx * dx + dy * dy, along = (px * dx + py * dy) / length;
      if (std::abs(dx * py - dy * px) > 1e-9 * length || along < 1e-9 || along > 1.0 - 1e-9) continue;
      if (hanging++ == 0) first = raw.point_number[i];
    }
  if (hanging)
    log.warn(
        fmt::format("mesh {}: {} nodes hang on the edge of a triangle that does not have them (the first is {}): "
                    "nothing passes there, as through a wall; mesh the domain again",
                    name, hanging, first));
}

/// Uniform grid of squares over a mesh, and the square of a point.
struct Squares {
  double low[2] = {0.0, 0.0}, width = 1.0;
  std::array<std::int64_t, 2> at(double x, double y) const {
    return {static_cast<std::int64_t>(std::floor((x - low[0]) / width)),
            static_cast<std::int64_t>(std::floor((y - low[1]) / width))};
  }
};

/// Squares, `count` of them along the longer side of the mesh.
Squares squares_of(const RawMesh& raw, double count) {
  const auto& first = raw.point.front();
  double low[2] = {first[0], first[1]}, high[2] = {first[0], first[1]};
  for (const auto& p : raw.point)
    for (int d = 0; d < 2; ++d) low[d] = std::min(low[d], p[d]), high[d] = std::max(high[d], p[d]);
  return {{low[0], low[1]}, std::max(high[0] - low[0], high[1] - low[1]) / count};
}

[[noreturn]] void refuse_overlap(const std::string& name, const std::string& what) {
  throw InputError(
      fmt::format("mesh {}: {}; triangles may not overlap, which would count their overlap twice: unite the surfaces "
                  "(in Gmsh BooleanFragments or BooleanDifference) and mesh the domain again",
                  name, what));
}

/// Pairs of points closer than `distance`. Sorts the points along a direction in which few of a mesh coincide.
std::vector<std::pair<std::size_t, std::size_t>> points_within(const RawMesh& raw, double distance) {
  std::vector<std::pair<double, std::size_t>> along;
  for (std::size_t i = 0; i < raw.point.size(); ++i)
    along.emplace_back(raw.point[i][0] * std::cos(1.0) + raw.point[i][1] * std::sin(1.0), i);
  std::sort(along.begin(), along.end());
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t k = 0; k < along.size(); ++k)
    for (std::size_t j = k + 1; j < along.size() && along[j].first - along[k].first < distance; ++j) {
      const auto &p = raw.point[along[k].second], &q = raw.point[along[j].second];
      if (std::hypot(p[0] - q[0], p[1] - q[1]) < distance) out.push_back(std::minmax(along[k].second, along[j].second));
    }
  std::sort(out.begin(), out.end());
  return out;
}

/// Coincident nodes: an error inside of other triangles, a warning on both sides of a line with duplicated nodes.
void say_twice(const RawMesh& raw, const std::vector<Triangles::Side>& boundary, const std::string& name, Log& log) {
  std::vector<bool> outer(raw.point.size(), false);
  for (const auto& s : boundary) outer[s.node[0]] = outer[s.node[1]] = true;
  const auto twice = points_within(raw, squares_of(raw, 2e8).width);
  for (const auto& [i, j] : twice)
    if (!outer[i] || !outer[j])
      refuse_overlap(name, fmt::format("nodes {} and {} have the same position, inside of triangles",
                                       raw.point_number[i], raw.point_number[j]));
  if (twice.empty()) return;
  log.warn(
      fmt::format("mesh {}: {} nodes of the boundary coincide with others (the first are {} and {}): nothing passes "
                  "between their triangles, as through a wall; where there is none, unite the surfaces (in Gmsh "
                  "Coherence or BooleanFragments) and mesh the domain again",
                  name, twice.size(), raw.point_number[twice.front().first], raw.point_number[twice.front().second]));
}

/// InputError if the midpoint of a boundary edge is inside a triangle.
void require_apart(const RawMesh& raw, const std::vector<Triangles::Side>& boundary, const std::string& name) {
  const auto squares = squares_of(raw, std::max(1.0, std::sqrt(static_cast<double>(raw.corner.size()))));
  std::map<std::array<std::int64_t, 2>, std::vector<std::size_t>> sides;
  const auto middle = [&](std::size_t s) -> Point {
    const auto &a = raw.point[boundary[s].node[0]], &b = raw.point[boundary[s].node[1]];
    return {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
  };
  for (std::size_t s = 0; s < boundary.size(); ++s) sides[squares.at(middle(s)[0], middle(s)[1])].push_back(s);
  for (std::size_t t = 0; t < raw.corner.size(); ++t) {
    const auto &a = raw.point[raw.corner[t][0]], &b = raw.point[raw.corner[t][1]], &c = raw.point[raw.corner[t][2]];
    const auto from = squares.at(std::min({a[0], b[0], c[0]}), std::min({a[1], b[1], c[1]})),
               to = squares.at(std::max({a[0], b[0], c[0]}), std::max({a[1], b[1], c[1]}));
    const auto left_of = [](const auto& p, const auto& q, const Point& m) {
      const double side = std::hypot(q[0] - p[0], q[1] - p[1]);
      return ((q[0] - p[0]) * (m[1] - p[1]) - (q[1] - p[1]) * (m[0] - p[0])) / side > 1e-6 * side;
    };
    for (auto x = from[0]; x <= to[0]; ++x)
      for (auto at = sides.lower_bound({x, from[1]}); at != sides.end() && at->first <= std::array{x, to[1]}; ++at)
        for (const auto s : at->second) {
          const Point m = middle(s);
          if (left_of(a, b, m) && left_of(b, c, m) && left_of(c, a, m))
            refuse_overlap(name,
                           fmt::format("the edge of the boundary between nodes {} and {} lies inside of triangle {}",
                                       raw.point_number[boundary[s].node[0]], raw.point_number[boundary[s].node[1]],
                                       raw.triangle_number[t]));
        }
  }
}

}  // namespace

void renumber_nodes(Triangles& mesh) {
  std::vector<sparse::Entry> entries;
  for (const auto& c : mesh.corner)
    for (int k = 0; k < 3; ++k) {
      entries.push_back({c[k], c[(k + 1) % 3], 1.0});
      entries.push_back({c[(k + 1) % 3], c[k], 1.0});
    }
  const auto order = near_order(sparse::csr_from_entries(mesh.nodes(), mesh.nodes(), entries).matrix);
  std::vector<std::int32_t> fresh(order.size());
  std::vector<Point> point;
  std::vector<std::int32_t> number;
  for (std::size_t k = 0; k < order.size(); ++k) {
    fresh[order[k]] = static_cast<std::int32_t>(k);
    point.push_back(mesh.point[order[k]]);
    number.push_back(mesh.number[order[k]]);
  }
  mesh.point = std::move(point);
  mesh.number = std::move(number);
  for (auto& c : mesh.corner)
    for (auto& i : c) i = fresh[i];
  for (auto& s : mesh.boundary)
    for (auto& i : s.node) i = fresh[i];
}

Triangles checked_mesh(RawMesh raw, const std::string& name, Log& log, bool made) {
  require_plane(raw, name);
  drop_unused(raw, name, log);
  require_single(raw, name);
  orient(raw, name, log);
  Triangles out;
  out.boundary = boundary_of(raw, name, out.more_tags);
  if (!made) require_unfolded(raw, name);
  say_hanging(raw, out.boundary, name, log);
  if (!made) {
    require_apart(raw, out.boundary, name);
    say_twice(raw, out.boundary, name, log);
  }
  out.tags = raw.tags;
  for (const auto& p : raw.point) out.point.push_back({p[0], p[1]});
  for (std::size_t i = 0; i < raw.point.size(); ++i) out.number.push_back(static_cast<std::int32_t>(i));
  for (const auto& c : raw.corner)
    out.corner.push_back(
        {static_cast<std::int32_t>(c[0]), static_cast<std::int32_t>(c[1]), static_cast<std::int32_t>(c[2])});
  return out;
}

}  // namespace cambium::graph
