#include "plugins/graph/transport/boundaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"

namespace cambium::graph {

void BoundaryKeys::describe(deck::Describe<BoundaryKeys>& d) {
  d("value", &BoundaryKeys::value, "c there, a formula of x, y, t").example("sin(t)");
  d("flux", &BoundaryKeys::flux, "inward flux per length and time, a formula of x, y, t").example("1");
  d("outflow", &BoundaryKeys::outflow, "the flow carries c out, nothing diffuses through").def(false);
  d("where", &BoundaryKeys::where,
    "position of this boundary: condition of x and y at the midpoint of an edge; it defines a new boundary of this "
    "name")
      .example("x < 0.001");
  d.check([](const BoundaryKeys& p) {
    return p.value.has_value() + p.flux.has_value() + p.outflow <= 1
               ? ""
               : "a boundary has one of 'value', 'flux' and 'outflow'; give one, or none for a closed wall";
  });
}

namespace {

void require_names(const std::map<std::string, BoundaryKeys>& keys, const Triangles& mesh) {
  for (const auto& [name, key] : keys) {
    if (key.where || std::find(mesh.tags.begin(), mesh.tags.end(), name) != mesh.tags.end()) continue;
    if (mesh.tags.empty())
      throw KeyError("boundaries.unnamed", deck::child_path("boundaries", name),
                     fmt::format("boundaries: the mesh names no part of its boundary, so there is no '{}'; define it "
                                 "by 'where': {}: {{where: x < 0.001, ...}}",
                                 name, name));
    throw KeyError("boundaries.unknown", deck::child_path("boundaries", name),
                   fmt::format("boundaries: the mesh has no boundary '{}'{}", name, suggestion(name, mesh.tags)));
  }
}

/// InputError for an unknown name, which would silently leave a closed wall.
void require_sides(const std::map<std::string, BoundaryKeys>& keys, const Triangles& mesh) {
  std::vector<bool> met(mesh.tags.size(), false);
  for (const auto& side : mesh.boundary) mesh.for_tags(side, [&](std::int32_t tag) { met[tag] = true; });
  for (std::size_t tag = 0; tag < met.size(); ++tag) {
    const auto key = keys.find(mesh.tags[tag]);
    if (met[tag] || key == keys.end() || key->second.where) continue;
    throw KeyError("boundaries.inside", deck::child_path("boundaries", mesh.tags[tag]),
                   fmt::format("boundaries: no line of '{}' is an edge of the boundary: they lie inside the mesh, or "
                               "join nodes that are no "
                               "edge of a triangle; correct the mesh, or leave '{}' out",
                               mesh.tags[tag], mesh.tags[tag]));
  }
}

/// InputError for a condition that holds nowhere, which would silently leave a closed wall.
void require_some_side(const std::string& name, const Formula& where, const Triangles& mesh) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Point low{far, far}, high{-far, -far};
  for (const auto& side : mesh.boundary) {
    const Point &a = mesh.point[side.node[0]], &b = mesh.point[side.node[1]];
    const Point middle{0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
    if (where({middle[0], middle[1]}) != 0.0) return;
    for (int d = 0; d < 2; ++d) {
      low[d] = std::min(low[d], middle[d]);
      high[d] = std::max(high[d], middle[d]);
    }
  }
  throw KeyError(
      "boundaries.where", deck::child_path(deck::child_path("boundaries", name), "where"),
      fmt::format("boundaries: '{}': '{}' holds for no edge of the boundary (their middles reach from x = {:.4g} to "
                  "{:.4g} and from y = {:.4g} to {:.4g}); correct it, make it wider, or leave it out",
                  name, where.text(), low[0], high[0], low[1], high[1]));
}

}  // namespace

Boundaries::Boundaries(const std::map<std::string, BoundaryKeys>& keys, const Triangles& mesh, const DualCells& cells,
                       const NodeRange& range, const std::map<std::string, double>& parameters)
    : cells_(cells), range_(range), conditions_(1) {
  require_names(keys, mesh);
  require_sides(keys, mesh);
  std::map<std::string, Formula> where;
  std::map<std::string, int> number;
  for (const auto& [name, key] : keys) {
    Condition condition;
    const std::vector<std::string> variables{"x", "y", "t"};
    const std::string path = deck::child_path("boundaries", name);
    const auto formula = [&](const char* part, const std::string& text, const std::vector<std::string>& in) {
      return deck::about_key("graph.formula", deck::child_path(path, part),
                             [&] { return Formula(text, in, parameters); });
    };
    if (key.value) condition = {Kind::value, formula("value", *key.value, variables)};
    if (key.flux) condition = {Kind::flux, formula("flux", *key.flux, variables)};
    if (key.outflow) condition.kind = Kind::outflow;
    if (key.where)
      require_some_side(name, where.emplace(name, formula("where", *key.where, {"x", "y"})).first->second, mesh);
    closed_ = closed_ && condition.kind == Kind::wall;
    number[name] = static_cast<int>(conditions_.size());
    conditions_.push_back(std::move(condition));
  }
  std::vector<int> of_side;
  for (const auto& side : mesh.boundary) of_side.push_back(condition_of(mesh, side, where, number));
  for (const auto& half : cells.sides) of_half_.push_back(of_side[half.side]);
  std::vector<int> of_node(mesh.nodes(), 0);  // the first prescribed value counts
  for (std::size_t s = 0; s < of_side.size(); ++s)
    if (conditions_[of_side[s]].kind == Kind::value)
      for (const auto node : mesh.boundary[s].node)
        if (of_node[node] == 0 || of_side[s] < of_node[node]) of_node[node] = of_side[s];
  if (std::all_of(of_node.begin(), of_node.end(), [](int c) { return c == 0; })) return;
  for (const auto i : range.own()) {
    fixed_.push_back(of_node[i] > 0);
    if (of_node[i] > 0) given_.push_back({range.row_of(i), mesh.point[i], static_cast<std::size_t>(of_node[i])});
  }
}

int Boundaries::condition_of(const Triangles& mesh, const Triangles::Side& side,
                             const std::map<std::string, Formula>& where,
                             const std::map<std::string, int>& number) const {
  const Point &a = mesh.point[side.node[0]], &b = mesh.point[side.node[1]];
  for (const auto& [name, condition] : where)
    if (condition({0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}) != 0.0) return number.at(name);
  const auto same = [](const Condition& p, const Condition& q) {
    return p.kind == q.kind && p.formula.text() == q.formula.text();
  };
  int out = 0;
  std::string before;
  mesh.for_tags(side, [&](std::int32_t tag) {
    const auto& name = mesh.tags[tag];
    const auto found = number.find(name);
    if (found == number.end() || where.count(name)) return;
    if (out > 0 && !same(conditions_[out], conditions_[found->second]))
      throw KeyError("boundaries.overlap", "boundaries",
                     fmt::format("boundaries: the edge at x = {:.4g}, y = {:.4g} belongs to '{}' and to '{}', which "
                                 "set different conditions; leave one out, or select its part by 'where'",
                                 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), before, name));
    if (out == 0) {
      out = found->second;
      before = name;
    }
  });
  return out;
}

void Boundaries::hold(double t, std::span<double> c) const {
  for (const auto& g : given_) c[g.row] = conditions_[g.condition].formula({g.place[0], g.place[1], t});
}

void Boundaries::add(double t, std::span<const double> c, std::span<const double> flow, std::span<double> out) const {
  for (std::size_t s = 0; s < of_half_.size(); ++s) {
    const auto& half = cells_.sides[s];
    const auto& condition = conditions_[of_half_[s]];
    double& into = out[half.node];
    if (condition.kind == Kind::flux) {
      const double x = 0.5 * (half.from[0] + half.to[0]), y = 0.5 * (half.from[1] + half.to[1]);
      into += condition.formula({x, y, t}) * std::hypot(half.to[0] - half.from[0], half.to[1] - half.from[1]);
    } else if (condition.kind == Kind::outflow && flow[s] > 0.0) {
      into -= flow[s] * (5.0 * c[half.node] + c[half.other]) / 6.0;  // exact for linear c (Nishikawa 2010)
    }
  }
}

double Boundaries::flow_through_walls(std::span<const double> flow) const {
  double most = 0.0;
  for (std::size_t s = 0; s < of_half_.size(); ++s) {
    const auto kind = conditions_[of_half_[s]].kind;
    if (kind == Kind::wall || kind == Kind::flux) most = std::max(most, std::abs(flow[s]));
    if (kind == Kind::outflow) most = std::max(most, -flow[s]);
  }
  return range_.comm().max(most);
}

}  // namespace cambium::graph
