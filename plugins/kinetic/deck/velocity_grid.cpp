#include "plugins/kinetic/deck/velocity_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"
#include "plugins/kinetic/deck/formula.hpp"

namespace cambium::kinetic {

void SpacingParams::describe(deck::Describe<SpacingParams>& d) {
  d("edges", &SpacingParams::edges,
    "faces of the cells from 'lower' to 'upper', ascending, one more than there are cells (formulas)")
      .def({})
      .example("[-6, -3, -1, 0, 1, 3, 6]");
  d("mapping", &SpacingParams::mapping,
    "faces of the cells as v(eta): a formula in eta, which goes from -1 at 'lower' to 1 at 'upper' in equal steps")
      .def("")
      .example("6*eta*abs(eta)");
  d("stretch", &SpacingParams::stretch,
    "fraction of the quadratic part, 0 to 1: with the middle c and half the extent h, v = c + h ((1 - stretch) eta + "
    "stretch eta |eta|), so that cells widen from the middle to the ends (formula)")
      .def("")
      .example("0.8");
  d.check([](const SpacingParams& p) -> std::string {
    const int given = int(!p.edges.empty()) + int(!p.mapping.empty()) + int(!p.stretch.empty());
    return given > 1 ? "'edges', 'mapping' and 'stretch' exclude each other; give one of them" : "";
  });
}

namespace {

/// eta of face k of n cells; exactly 0 in the middle, and antisymmetric.
double eta_of(int k, int n) { return (2.0 * k - n) / n; }

/// The keys of one dimension, with what its messages need.
struct Divider {
  const Axis& axis;
  const SpacingParams& keys;
  const std::string& what;
  const std::map<std::string, double>& parameters;
  std::string path;  ///< of the keys

  std::string key(const char* name) const { return deck::child_path(path, name); }

  std::vector<double> given() const {
    const int n = axis.cells;
    if (std::ssize(keys.edges) != n + 1)
      throw KeyError("kinetic.edges.count", key("edges"),
                     fmt::format("{}: 'edges' has {} entries, but {} cells have {} faces, 'lower' and 'upper' included",
                                 what, keys.edges.size(), n, n + 1));
    std::vector<double> out;
    for (std::size_t k = 0; k < keys.edges.size(); ++k)
      out.push_back(deck::about_key("kinetic.formula", deck::child_path(key("edges"), k),
                                    [&] { return constant(keys.edges[k], parameters); }));
    for (std::size_t k = 1; k < out.size(); ++k)
      if (!(out[k] > out[k - 1]))
        throw KeyError(
            "kinetic.edges.order", deck::child_path(key("edges"), k),
            fmt::format("{}: 'edges' must increase, but {:g} is followed by {:g}", what, out[k - 1], out[k]));
    require_ends(out, "edges");
    return out;
  }

  std::vector<double> mapped() const {
    const Formula v =
        deck::about_key("kinetic.formula", key("mapping"), [&] { return Formula(keys.mapping, {"eta"}, parameters); });
    std::vector<double> out;
    for (int k = 0; k <= axis.cells; ++k) {
      const double eta = eta_of(k, axis.cells);
      out.push_back(v(std::array{eta}));
      if (k > 0 && !(out[k] > out[k - 1]))
        throw KeyError("kinetic.mapping.order", key("mapping"),
                       fmt::format("{}: 'mapping' must increase, but it is {:g} at eta = {:g} and {:g} at eta = {:g}",
                                   what, out[k - 1], eta_of(k - 1, axis.cells), out[k], eta));
    }
    require_ends(out, "mapping");
    return out;
  }

  std::vector<double> stretched() const {
    const double s =
        deck::about_key("kinetic.formula", key("stretch"), [&] { return constant(keys.stretch, parameters); });
    if (!(s >= 0.0 && s <= 1.0))
      throw KeyError("kinetic.stretch.range", key("stretch"),
                     fmt::format("{}: 'stretch' is {:g} and must be between 0 (cells of equal widths) and 1", what, s));
    const double middle = 0.5 * (axis.lower + axis.upper), half = 0.5 * (axis.upper - axis.lower);
    std::vector<double> out;
    for (int k = 0; k <= axis.cells; ++k) {
      const double eta = eta_of(k, axis.cells);
      out.push_back(middle + half * ((1.0 - s) * eta + s * eta * std::abs(eta)));
    }
    return out;
  }

  void require_ends(const std::vector<double>& edges, const char* name) const {
    const double small = 1e-9 * (axis.upper - axis.lower);
    if (std::abs(edges.front() - axis.lower) > small || std::abs(edges.back() - axis.upper) > small)
      throw KeyError("kinetic.spacing.ends", key(name),
                     fmt::format("{}: '{}' leads from {:g} to {:g} and must lead from 'lower', {:g}, to 'upper', {:g}",
                                 what, name, edges.front(), edges.back(), axis.lower, axis.upper));
  }
};

}  // namespace

void divide(Axis& axis, const SpacingParams& keys, std::size_t d, const std::map<std::string, double>& parameters,
            const std::string& what) {
  const Divider by{axis, keys, what, parameters, deck::child_path("spacing", d)};
  std::vector<double> edges;
  if (!keys.edges.empty()) edges = by.given();
  if (!keys.mapping.empty()) edges = by.mapped();
  if (!keys.stretch.empty()) edges = by.stretched();
  if (edges.empty()) return;
  constexpr int most = 8000;  // an attribute of a file has 64 KiB
  if (axis.cells > most)
    throw KeyError("kinetic.spacing.cells", by.path,
                   fmt::format("{}: {} cells are more than the {} that can have different widths; give fewer 'cells'",
                               what, axis.cells, most));
  const double mean = axis.width();
  edges.front() = axis.lower;
  edges.back() = axis.upper;
  bool equal = true;
  double least = mean;
  for (int k = 0; k < axis.cells; ++k) {
    least = std::min(least, edges[k + 1] - edges[k]);
    equal = equal && std::abs(edges[k + 1] - edges[k] - mean) < 1e-12 * mean;
  }
  if (equal) return;
  for (double& edge : edges)
    if (std::abs(edge) < 1e-9 * least) edge = 0.0;
  axis.edges = std::move(edges);
}

void require_zero_on_face(const Axis& axis, const std::string& species, int d) {
  if (axis.lower > 0.0 || axis.upper < 0.0) return;
  const auto above = std::find_if(axis.edges.begin(), axis.edges.end(), [](double edge) { return edge >= 0.0; });
  if (axis.stretched() && *above > 0.0)
    throw KeyError("kinetic.edges.zero", deck::child_path("spacing", static_cast<std::size_t>(d)),
                   fmt::format("species '{}', velocity dimension {}: v = 0 lies inside the cell from {:g} to {:g}, "
                               "where streaming would change its direction; 0 must be an edge between two cells",
                               species, d + 1, above[-1], *above));
  if (axis.stretched()) return;
  const double steps = -axis.lower / axis.width();
  if (std::abs(steps - std::round(steps)) < 1e-9 * axis.cells) return;
  const std::string problem = fmt::format(
      "species '{}', velocity dimension {}: v = 0 lies inside a cell ({:g} to {:g} in {} cells), where streaming would "
      "change its direction; ",
      species, d + 1, axis.lower, axis.upper, axis.cells);
  if (axis.cells == 1) throw KeyError("kinetic.velocity.cells", "cells", problem + "give at least 2 'cells'");
  // Some cells must be on either side of 0.
  const double below = std::clamp(std::round(steps), 1.0, axis.cells - 1.0), rest = axis.cells - below;
  throw KeyError("kinetic.velocity.face", "lower",
                 problem + fmt::format("move 'lower' to {:.10g} or 'upper' to {:.10g}", -below * axis.upper / rest,
                                       -axis.lower * rest / below));
}

void require_symmetric(const Axis& axis, const std::string& species, int d, const std::string& key) {
  if (axis.symmetric()) return;
  const double small = 1e-9 * (axis.upper - axis.lower);
  if (std::abs(axis.lower + axis.upper) > small)
    throw KeyError(
        "kinetic.velocity.symmetric", key,
        fmt::format("species '{}': a reflecting wall needs velocities that are symmetric about 0, not {:g} to {:g}",
                    species, axis.lower, axis.upper));
  int k = 0;
  while (std::abs(axis.edges[k + 1] + axis.edges[axis.cells - 1 - k]) <= small) ++k;
  throw KeyError(
      "kinetic.edges.symmetric", key,
      fmt::format("species '{}': a reflecting wall needs cells that are mirror images at v = 0, but velocity "
                  "dimension {} has a cell from {:g} to {:g} and none from {:g} to {:g}",
                  species, d + 1, axis.edges[k], axis.edges[k + 1], -axis.edges[k + 1], -axis.edges[k]));
}

}  // namespace cambium::kinetic
