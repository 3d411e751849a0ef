#pragma once
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/kinetic/fields/banded.hpp"
#include "plugins/kinetic/fields/element.hpp"

namespace cambium::kinetic {

/// Stiffness of the nodes of a grid, which may be distributed over ranks in consecutive strips: nodes are numbered line
/// by line, and the line between two strips is the last of one and the first of the next. Each rank factorizes the band
/// of its inner lines; the Schur complement of the lines between strips, one dense block for each rank and its coupling
/// to the next, is eliminated from the first to the last and back. A rank stores the band of its own nodes and three
/// blocks as wide as a line, and sends each neighbour one line per solution.
class StripSolver {
 public:
  struct Nodes {
    const Element& element;
    const std::vector<int>& number;   ///< [cell][node of the element]
    const std::vector<bool>& pinned;  ///< by number: keeps the value of its right-hand side
    const Comm* strips = nullptr;     ///< outlives the solver; null where one rank has all
    int line = 0;                     ///< nodes of a line between two strips
  };
  StripSolver() = default;
  /// Collective over the strips.
  explicit StripSolver(const Nodes& nodes);

  /// Collective. `right`, by number of node, becomes the solution; on a line between two strips each rank gives what
  /// its own cells put there, and both get the solution. Rows of unpinned nodes have no entries of pinned ones.
  void solve(std::vector<double>& right) const;

 private:
  struct Coupling {
    int shared, inner;  ///< indices among the nodes of both lines, and among those that only this rank has
    double value;
  };
  bool below() const { return strips_ && strips_->rank() > 0; }
  bool above() const { return strips_ && strips_->rank() + 1 < strips_->size(); }
  std::vector<double> assemble(const Nodes& nodes);
  void eliminate_inner(std::vector<double>& shared) const;
  void eliminate_lines(const std::vector<double>& shared);
  void join_lines(std::vector<double>& shared) const;
  /// Adds factor times the coupling of inner nodes to shared ones, or the other way.
  void add_to_shared(double factor, const std::vector<double>& inner, std::vector<double>& shared) const;
  void add_to_inner(double factor, const std::vector<double>& shared, std::vector<double>& inner) const;

  const Comm* strips_ = nullptr;
  int line_ = 0, lower_ = 0, upper_ = 0;  ///< nodes of a line, and of those that are shared with either neighbour
  Banded inner_;
  std::vector<Coupling> couplings_;
  std::vector<bool> left_to_next_;  ///< pinned nodes of the upper line, which the next strip keeps
  Banded block_;                    ///< of the lower line, without the lines below it,
  std::vector<double> across_;      ///< its coupling to the upper one, [lower][upper],
  std::vector<double> carried_;     ///< and the inverse of the first times the second
};

}  // namespace cambium::kinetic
