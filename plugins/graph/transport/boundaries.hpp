#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/graph/meshes/formula.hpp"
#include "plugins/graph/transport/dual_cells.hpp"

namespace cambium::graph {

/// Condition on a part of the boundary; default: no flux.
struct BoundaryKeys {
  std::optional<std::string> value, flux;
  bool outflow = false;
  std::optional<std::string> where;
  static void describe(deck::Describe<BoundaryKeys>& d);
};

/// Conditions on all half sides and the nodes with prescribed values, for the nodes of a rank.
class Boundaries {
 public:
  /// InputError for a name that the mesh does not have.
  Boundaries(const std::map<std::string, BoundaryKeys>& keys, const Triangles& mesh, const DualCells& cells,
             const NodeRange& range, const std::map<std::string, double>& parameters);

  /// Own nodes with prescribed values; empty if no rank has any.
  const std::vector<char>& fixed() const { return fixed_; }
  /// Sets the prescribed values in `c` (local rows).
  void hold(double t, std::span<double> c) const;
  /// Adds to `out` (own nodes) the inflow by `flux` and the outflow by `outflow`; `flow` is that of every half side.
  void add(double t, std::span<const double> c, std::span<const double> flow, std::span<double> out) const;
  /// True if no part has a condition: the content is conserved.
  bool closed() const { return closed_; }
  std::int64_t bytes() const { return bytes_in(of_half_, given_, fixed_); }
  /// Collective: largest flow through a half side of a closed wall, in either direction.
  double flow_through_walls(std::span<const double> flow) const;

 private:
  enum class Kind : char { wall, value, flux, outflow };
  struct Condition {
    Kind kind = Kind::wall;
    Formula formula;
  };
  struct Given {
    std::int64_t row;  ///< local
    Point place;
    std::size_t condition;
  };
  int condition_of(const Triangles& mesh, const Triangles::Side& side, const std::map<std::string, Formula>& where,
                   const std::map<std::string, int>& number) const;

  const DualCells& cells_;
  const NodeRange& range_;
  std::vector<Condition> conditions_;  ///< the first: a wall
  std::vector<int> of_half_;           ///< condition of each half side
  std::vector<Given> given_;
  std::vector<char> fixed_;
  bool closed_ = true;
};

}  // namespace cambium::graph
