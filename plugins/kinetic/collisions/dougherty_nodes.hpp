#pragma once
#include <algorithm>

#include "core/parallel/host_threads.hpp"
#include "plugins/kinetic/collisions/dougherty.hpp"
#include "plugins/kinetic/collisions/packs.hpp"

namespace cambium::kinetic {

using NodePolicy = Kokkos::TeamPolicy<ExecSpace>;
using NodeTeam = NodePolicy::member_type;

/// Calls body(i) for i < n on the threads of a team, with a barrier at the end. On hosts a team is one thread.
template <class Body>
CAMBIUM_FN void each(const NodeTeam& team, int n, const Body& body) {
  if constexpr (device_is_host) {
    for (int i = 0; i < n; ++i) body(i);
  } else {
    for (int i = team.team_rank(); i < n; i += team.team_size()) body(i);
    team.team_barrier();
  }
}

/// Sum over a team, on all its threads.
CAMBIUM_FN void sum_over(const NodeTeam& team, double& x) {
  if constexpr (!device_is_host) {
    team.team_reduce(Kokkos::Sum<double>(x));
    team.team_broadcast(x, 0);
  }
}

/// Outcome of a node: the reason of a failure, with the values for its message, or the number of sub-steps.
struct NodeOutcome {
  enum Kind { fine, no_state, too_many, cut_off };
  int kind = fine, steps = 0, species = 0;  ///< of two, the one that has no state
  double a = 0.0, b = 0.0;
};

/// A distribution function at the nodes of some cells of configuration space, and Dougherty's operator there, for a
/// team at each node. `work` holds four arrays [velocity cell][group] of each node: f before, f, a stage, its rate.
template <class T>
struct DoughertyNodes {
  static constexpr int W = Packs<T>::width;
  Packs<T> cells;
  DoughertyOperator op;
  View<double*> basis, weight;  ///< [node][conf mode], [node]
  View<int*> group, conf_mode;  ///< of each mode
  View<double*> work;
  int nodes = 1, conf = 1, first = 0;  ///< first of the cells

  CAMBIUM_FN int size() const { return op.cells * op.groups; }
  /// One of the four arrays of a node.
  CAMBIUM_FN double* array(int node, int which) const {
    return work.data() + (std::int64_t{node} * 4 + which) * size();
  }

  /// f of a node, twice.
  CAMBIUM_FN void read(const NodeTeam& team, int node) const {
    const InBlocks at(cells.layout, first + node / nodes);
    const int q = node % nodes;
    double *before = array(node, 0), *f = array(node, 1);
    each(team, op.cells, [&](int iv) {
      const T* from = cells.pack(at.block, iv) + at.lane;
      double* to = before + std::int64_t{iv} * op.groups;
      for (int g = 0; g < op.groups; ++g) to[g] = 0.0;
      for (int k = 0; k < cells.layout.modes; ++k)
        to[group(k)] += static_cast<double>(from[k * W]) * basis(q * conf + conf_mode(k));
      for (int g = 0; g < op.groups; ++g) f[std::int64_t{iv} * op.groups + g] = to[g];
    });
  }

  CAMBIUM_FN DoughertyOperator::Moments moments(const NodeTeam& team, const double* f) const {
    DoughertyOperator::Moments m;
    each(team, op.cells, [&](int iv) { op.add_moments(f, iv, m); });
    sum_over(team, m.m0);
    sum_over(team, m.m2);
    sum_over(team, m.ends);
    for (int d = 0; d < op.vdim; ++d) {
      sum_over(team, m.m1[d]);
      sum_over(team, m.jump[d]);
    }
    return m;
  }

  /// Lines of cells one after the other on hosts, cell by cell on devices.
  CAMBIUM_FN void rate(const NodeTeam& team, const double* f, double* out, const DoughertyOperator::State& s) const {
    for (int d = 0; d < op.vdim; ++d) {
      const int length = device_is_host ? op.count[d] : 1, pieces = op.count[d] / length, lines = op.lines[d],
                stride = op.stride[d];
      each(team, op.cells / length * lines, [&](int k) {
        const int piece = k / lines % pieces, start = k / lines / pieces;
        const int begin = start / stride * stride * op.count[d] + start % stride;
        op.add_piece(f, out, d, op.line[d][k % lines], begin, piece * length, (piece + 1) * length, s);
      });
    }
  }

  /// Changes at all nodes of a cell go to the coefficients: of a velocity cell on hosts, of one mode on
  /// devices.
  CAMBIUM_FN int parts() const { return device_is_host ? 1 : cells.layout.modes; }
  CAMBIUM_FN void operator()(std::int64_t i) const {
    const int modes = cells.layout.modes, part = static_cast<int>(i % parts());
    const int iv = static_cast<int>(i / parts() % op.cells), cell = static_cast<int>(i / parts() / op.cells);
    const InBlocks at(cells.layout, first + cell);
    T* f = cells.pack(at.block, iv) + at.lane;
    for (int k = part; k < (device_is_host ? modes : part + 1); ++k) {
      const std::int64_t place = std::int64_t{iv} * op.groups + group(k);
      double change = 0.0;
      for (int q = 0; q < nodes; ++q)
        change += weight(q) * basis(q * conf + conf_mode(k)) *
                  (array(cell * nodes + q, 1)[place] - array(cell * nodes + q, 0)[place]);
      f[k * W] = static_cast<T>(static_cast<double>(f[k * W]) + change);
    }
  }
};

/// Sub-steps of SSP-RK3 that `rate` = nu dt stiffness() requires.
CAMBIUM_FN double explicit_steps_of(double rate) {
  const double reach = 2.4;  // of SSP-RK3 along the negative axis, nearly
  return std::ceil(rate / reach);
}

/// The same for a node; false if there are so many that a step would take minutes.
CAMBIUM_FN bool find_substeps(double rate, NodeOutcome& out) {
  const double most = 20000.0, steps = explicit_steps_of(rate);
  if (steps > most) {
    out.kind = NodeOutcome::too_many;
    out.a = steps;
    return false;
  }
  out.steps = steps > 1.0 ? static_cast<int>(steps) : 1;
  return true;
}

/// The arrays of an operator for the nodes of `cells` cells of configuration space of a solver.
template <class T>
DoughertyNodes<T> nodes_of(const Solver& solver, const Dougherty& d, int cells);

/// Number of cells of configuration space, of `all`, that are processed at a time when a node of one takes `bytes`
/// bytes. On a host each thread gets the same number of complete cells: their nodes stay in its cache.
inline int cells_at_once(int all, int nodes, double bytes) {
  constexpr int nodes_of_thread = 2;
  const double room = std::min(1024.0, 1.0 * (1 << 30) / bytes);
  const int cells =
      device_is_host ? std::max(1, nodes_of_thread / nodes) * host_threads() : static_cast<int>(room / nodes);
  return std::clamp(cells, 1, std::max(1, all));
}

/// NumericalError for the first node that failed, naming its species and cell.
void require_fine(const View<NodeOutcome*>& outcomes, int count, int nodes, int first, const PhaseGrid& grid,
                  const std::array<const CollidingSpecies*, 2>& species);

inline int threads_of_a_node() { return device_is_host ? 1 : 256; }

}  // namespace cambium::kinetic
