#pragma once
#include <algorithm>
#include <type_traits>

#include "plugins/kinetic/collisions/dougherty_nodes.hpp"
#include "plugins/kinetic/collisions/implicit_lines.hpp"

namespace cambium::kinetic {

/// A distribution function at the nodes of configuration space, and an implicit step of Dougherty's operator there. A
/// unit is a piece of a pack, with as many cells of configuration space as a register holds doubles; a team works at
/// one node of a unit. `work` holds f of each node, [unit][node][velocity cell][group][lane].
template <class T>
struct ImplicitNodes {
  static constexpr int W = Packs<T>::width;
  static constexpr int lanes = W < native_width<double> ? W : native_width<double>;
  static constexpr int pieces = W / lanes;                 ///< of a pack
  static constexpr int together = device_is_host ? 4 : 1;  ///< lines whose factors are read once
  static constexpr int most_groups = 27;
  using D = Pack<double, lanes>;

  Packs<T> cells;
  DoughertyOperator op;
  View<double*> basis;          ///< [node][conf mode]
  View<int*> group, conf_mode;  ///< of each mode
  View<double*> work;
  int nodes = 1, conf = 1, first = 0;  ///< first of the units
  View<double*> projection;            ///< [mode][node]: of values at nodes onto modes

  /// Velocity moments of the lanes, in the unit of DoughertyOperator::Moments.
  struct Moments {
    D m0 = 0.0, m2 = 0.0, ends = 0.0, m1[3] = {0.0, 0.0, 0.0}, jump[3] = {0.0, 0.0, 0.0};
  };
  /// Target values of the first and second moments of a step.
  struct Target {
    D m1[3] = {0.0, 0.0, 0.0}, m2 = 0.0;
  };
  struct State {
    D u[3] = {0.0, 0.0, 0.0}, vt2 = 1.0;
    D missing = 0.0;  ///< widening that is left to do after the step
  };

  CAMBIUM_FN int size() const { return op.cells * op.groups * lanes; }
  CAMBIUM_FN double* at(int unit, int node) const { return work.data() + (std::int64_t{unit} * nodes + node) * size(); }
  CAMBIUM_FN T* pack(int unit, int iv) const {
    const int whole = first + unit;
    return cells.pack(whole / pieces, iv) + whole % pieces * lanes;
  }
  /// Lanes of a unit that hold cells.
  CAMBIUM_FN int held(int unit) const {
    const int whole = first + unit, left = cells.lanes(whole / pieces) - whole % pieces * lanes;
    return left < 0 ? 0 : left < lanes ? left : lanes;
  }
  CAMBIUM_FN static D widened(const T* from) {
    if constexpr (std::is_same_v<T, double>) return D::load(from);
    double values[lanes];
    for (int l = 0; l < lanes; ++l) values[l] = static_cast<double>(from[l]);
    return D::load(values);
  }

  /// f of a velocity cell at a node.
  CAMBIUM_FN void values(const T* from, int node, D* to) const {
    for (int g = 0; g < op.groups; ++g) to[g] = D(0.0);
    for (int k = 0; k < cells.layout.modes; ++k)
      to[group(k)] = fma(widened(from + k * W), D(basis(node * conf + conf_mode(k))), to[group(k)]);
  }
  CAMBIUM_FN void read(int unit, int node, int iv) const {
    D f[most_groups];
    values(pack(unit, iv), node, f);
    double* to = at(unit, node) + std::int64_t{iv} * op.groups * lanes;
    for (int g = 0; g < op.groups; ++g) f[g].store(to + g * lanes);
  }
  /// The coefficients of a velocity cell from its values at all nodes: read() and this are inverse, because Gauss's
  /// rule integrates products of modes exactly.
  CAMBIUM_FN void write(int unit, int iv) const {
    T* f = pack(unit, iv);
    const double* now = at(unit, 0) + std::int64_t{iv} * op.groups * lanes;
    const int kept = held(unit);
    for (int k = 0; k < cells.layout.modes; ++k) {
      D sum(0.0);
      for (int q = 0; q < nodes; ++q)
        sum = fma(D::load(now + std::int64_t{q} * size() + group(k) * lanes), D(projection(k * nodes + q)), sum);
      for (int l = 0; l < kept; ++l) f[k * W + l] = static_cast<T>(sum[l]);
    }
  }

  CAMBIUM_FN static void add_up(const NodeTeam& team, D& x) {
    if constexpr (!device_is_host) {
      double value = x[0];
      sum_over(team, value);
      x = D(value);
    }
  }
  /// As DoughertyOperator::add_moments, for all cells.
  CAMBIUM_FN Moments moments(const NodeTeam& team, const double* f) const {
    Moments m;
    if constexpr (device_is_host) {  // indices are incremented: divisions are slow
      int place[3] = {};
      for (int iv = 0; iv < op.cells; ++iv) {
        add_moments(f, iv, place, m);
        for (int d = op.vdim - 1; d >= 0 && ++place[d] == op.count[d]; --d) place[d] = 0;
      }
    } else {
      each(team, op.cells, [&](int iv) {
        int place[3] = {};
        for (int d = 0; d < op.vdim; ++d) place[d] = op.place(iv, d);
        add_moments(f, iv, place, m);
      });
    }
    add_up(team, m.m0);
    add_up(team, m.m2);
    add_up(team, m.ends);
    for (int d = 0; d < op.vdim; ++d) {
      add_up(team, m.m1[d]);
      add_up(team, m.jump[d]);
    }
    return m;
  }
  CAMBIUM_FN void add_moments(const double* f, int iv, const int (&at)[3], Moments& m) const {
    const D unit(op.volume(at));
    for (int d = 0; d < op.vdim; ++d)
      for (int k = 0; k < op.lines[d]; ++k) {
        const auto& l = op.line[d][k];
        if (!l.counts) continue;
        const int place = at[d];
        const double h = 0.5 * op.width_of(d, place), c = op.centre(d, place);
        D n[3];
        for (int i = 0; i < 3; ++i)
          n[i] = i < l.modes ? unit * D::load(f + (std::int64_t{iv} * op.groups + l.group[i]) * lanes) : D(0.0);
        if (d == 0) m.m0 += n[0];
        m.m1[d] += D(c) * n[0] + D(h / std::sqrt(3.0)) * n[1];
        m.m2 += D(c * c + h * h / 3.0) * n[0] + D(2.0 * c * h / std::sqrt(3.0)) * n[1] +
                D(2.0 / (3.0 * std::sqrt(5.0)) * h * h) * n[2];
        for (int side = -1; side <= 1; side += 2) {
          if (place != (side > 0 ? op.count[d] - 1 : 0)) continue;
          const D end = (n[0] + D(side * std::sqrt(3.0)) * n[1] + D(std::sqrt(5.0)) * n[2]) * D(0.5 * side / h);
          m.jump[d] += end;
          m.ends += D(side > 0 ? op.upper[d] : op.lower[d]) * end;
        }
      }
  }

  /// Drift and vt^2 with which a step of z = nu dt leads from moments m to the target. Without the ends of velocity
  /// space the scheme makes of them, with w = M1 - u M0 and r_n = R(-n z),
  ///   M1 = u M0 + w r_1,   M2 = M2_u + 2 u.w r_1 + (M2 - M2_u - 2 u.w) r_2,   M2_u = u^2 M0 + vdim vt^2 M0;
  /// what the ends add is taken at the beginning of the step.
  CAMBIUM_FN State state(const Moments& m, const Target& target, D z) const {
    const D k1 = ImplicitScheme::decay(z), k2 = ImplicitScheme::decay(z + z);
    D cross(0.0), along(0.0), square(0.0), tilt(0.0), q[3];
    for (int d = 0; d < op.vdim; ++d) {
      const D w = (m.m1[d] - target.m1[d]) / k1;
      q[d] = m.m1[d] - w;
      cross += m.jump[d] * q[d];
      along += m.jump[d] * w;
      square += q[d] * q[d];
      tilt += q[d] * w;
    }
    const D two = (k2 - k1) + (k2 - k1);
    State s;
    s.vt2 = (target.m2 - m.m2 + k2 * m.m2 - (two * tilt + k2 * square) / m.m0) /
            (k2 * (cross / m.m0 + D(1.0 * op.vdim) * m.m0 - m.ends) + two * along / m.m0);
    for (int d = 0; d < op.vdim; ++d) s.u[d] = (q[d] + s.vt2 * m.jump[d]) / m.m0;
    return s;
  }

  /// Lines of M modes along d, `P` at a time, each with run(Lines<M, P>()) of a thread.
  template <int M, int P, class Run>
  CAMBIUM_FN void over_lines(const NodeTeam& team, double* f, int d, bool counting, const Run& run) const {
    int found[DoughertyOperator::most_lines], kinds = 0;
    for (int k = 0; k < op.lines[d]; ++k)
      if (op.line[d][k].modes == M && (!counting || op.line[d][k].counts)) found[kinds++] = k;
    const int starts = op.cells / op.count[d], all = kinds * starts, stride = op.stride[d];
    each(team, (all + P - 1) / P, [&](int n) {
      Lines<M, P> lines;
      lines.step = std::int64_t{stride} * op.groups * lanes;
      for (int p = 0; p < P; ++p) {
        const int k = n * P + p, start = k / kinds;
        const auto& line = op.line[d][found[k % kinds]];
        const std::int64_t cell = std::int64_t{start / stride} * stride * op.count[d] + start % stride;
        for (int m = 0; m < M; ++m) lines.first[p][m] = f + (cell * op.groups + line.group[m]) * lanes;
      }
      run(lines);
    });
  }
  template <int M>
  CAMBIUM_FN bool has_lines(int d) const {
    bool any = false;
    for (int k = 0; k < op.lines[d]; ++k) any = any || op.line[d][k].modes == M;
    return any;
  }
  CAMBIUM_FN int lines_of(int d, int modes) const {
    int count = 0;
    for (int k = 0; k < op.lines[d]; ++k) count += op.line[d][k].modes == modes;
    return count * (op.cells / op.count[d]);
  }

  /// Size of a team's scratch memory in doubles: factors, and the lines of each thread.
  CAMBIUM_FN int longest() const {
    int most = 1;
    for (int d = 0; d < op.vdim; ++d) most = most < op.count[d] ? op.count[d] : most;
    return most;
  }
  CAMBIUM_FN int factor_numbers() const { return longest() * 27 * lanes; }
  CAMBIUM_FN int line_numbers() const { return longest() * together * 3 * lanes; }

  template <int M>
  CAMBIUM_FN void step_lines(const NodeTeam& team, double* f, int d, const State& s, D z, double* scratch) const {
    if (!has_lines<M>(d)) return;
    const LineFactors<D, M> factors{scratch};
    each(team, 1, [&](int) { factors.factorize(op, d, s.u[d], s.vt2, z * D(ImplicitScheme::g)); });
    double* mine = scratch + factor_numbers() + (device_is_host ? 0 : team.team_rank()) * std::int64_t{line_numbers()};
    // Lines that are left over where their number is no multiple go one at a time.
    if (lines_of(d, M) % together == 0)
      over_lines<M, together>(team, f, d, false, [&](const Lines<M, together>& lines) {
        LineStep<D, M, together>{factors, lines, mine, op.count[d]}();
      });
    else
      over_lines<M, 1>(team, f, d, false, [&](const Lines<M, 1>& line) {
        LineStep<D, M, 1>{factors, line, mine, op.count[d]}();
      });
  }
  CAMBIUM_FN void step(const NodeTeam& team, double* f, const State& s, D z, double* scratch) const {
    for (int d = 0; d < op.vdim; ++d) {
      step_lines<3>(team, f, d, s, z, scratch);
      step_lines<2>(team, f, d, s, z, scratch);
      step_lines<1>(team, f, d, s, z, scratch);
    }
  }

  /// True for a widening that an explicit step does in a stable way.
  CAMBIUM_FN bool little(double widening) const {
    double stiff = 0.0;
    for (int d = 0; d < op.vdim; ++d) stiff += op.largest / (op.narrowest[d] * op.narrowest[d]);
    return std::abs(widening) * stiff < 0.2;
  }
  /// Shifts and widens f, whose moments are m, by the remaining difference from the target, if this is small: f then
  /// has exactly the target's moments. Acts on lines of no other exponent, since only these have moments. False, with f
  /// unchanged, if it is not small in one of `kept` lanes.
  CAMBIUM_FN bool correct(const NodeTeam& team, double* f, const Moments& m, const Target& target, int kept,
                          State& s) const {
    D missing[3], push(0.0), cross(0.0);
    for (int d = 0; d < op.vdim; ++d) {
      missing[d] = target.m1[d] - m.m1[d];
      push += missing[d] * m.m1[d];
      cross += m.jump[d] * m.m1[d];
    }
    const D widening = s.missing =
        (D(0.5) * (target.m2 - m.m2) - push / m.m0) / (cross / m.m0 - m.ends + D(1.0 * op.vdim) * m.m0);
    bool may = true;
    bool exact = true;
    for (int l = 0; l < kept; ++l) {
      may = may && little(widening[l]);
      const double unit = 1e-15 * m.m2[l];
      exact = exact && std::abs(target.m2[l] - m.m2[l]) < unit;
      for (int d = 0; d < op.vdim; ++d) exact = exact && missing[d][l] * missing[d][l] < 1e-15 * unit * m.m0[l];
    }
    if (!may || exact) return may;
    for (int d = 0; d < op.vdim; ++d) {
      const D shift = (missing[d] + widening * m.jump[d]) / m.m0;
      over_lines<3, 1>(team, f, d, true,
                       [&](const Lines<3, 1>& line) { shift_and_widen<D, 3>(op, d, line, shift, widening); });
      over_lines<2, 1>(team, f, d, true,
                       [&](const Lines<2, 1>& line) { shift_and_widen<D, 2>(op, d, line, shift, widening); });
    }
    return true;
  }

  /// Rescales f to the density of m, which long steps miss by rounding; returns the moments after that.
  CAMBIUM_FN Moments keep_density(const NodeTeam& team, double* f, const Moments& m, int kept) const {
    Moments now = moments(team, f);
    const D scale = m.m0 / now.m0;
    bool differs = false;
    for (int l = 0; l < kept; ++l) differs = differs || std::abs(scale[l] - 1.0) > 1e-15;
    if (!differs) return now;
    each(team, op.cells * op.groups,
         [&](int i) { (D::load(f + std::int64_t{i} * lanes) * scale).store(f + std::int64_t{i} * lanes); });
    now.m0 = m.m0;
    now.m2 *= scale;
    now.ends *= scale;
    for (int d = 0; d < op.vdim; ++d) {
      now.m1[d] *= scale;
      now.jump[d] *= scale;
    }
    return now;
  }

  /// Takes a step at a node whose moments are m, which are the target's afterwards. False if a lane has no state that
  /// leads there: `s` is then the last one.
  CAMBIUM_FN bool advance(const NodeTeam& team, int unit, int node, const Moments& m, const Target& target, D z,
                          double* scratch, State& s) const {
    constexpr int most = 12;
    double* f = at(unit, node);
    const int kept = held(unit);
    Target aim = target;
    for (int n = 0; n < most; ++n) {
      s = state(m, aim, z);
      for (int l = 0; l < kept; ++l)
        if (!(m.m0[l] > 0.0) || !(s.vt2[l] > 0.0)) return false;
      step(team, f, s, z, scratch);
      const Moments now = keep_density(team, f, m, kept);
      if (correct(team, f, now, target, kept, s)) return true;
      // The ends of velocity space contribute: shift the aim by as much as the step has missed the target.
      aim.m2 += target.m2 - now.m2;
      for (int d = 0; d < op.vdim; ++d) aim.m1[d] += target.m1[d] - now.m1[d];
      each(team, op.cells, [&](int iv) { read(unit, node, iv); });
    }
    return false;
  }
  /// Moments at a node; lanes without cells get those of some Maxwellian.
  CAMBIUM_FN Moments moments_at(const NodeTeam& team, int unit, int node) const {
    Moments m = moments(team, at(unit, node));
    double keep[lanes];
    for (int l = 0; l < lanes; ++l) keep[l] = l < held(unit) ? 1.0 : 0.0;
    const D mask = D::load(keep), rest = D(1.0) - mask;
    const auto only = [&](D& x, D otherwise) { x = select(mask > D(0.5), x, otherwise); };
    only(m.m0, rest);
    only(m.m2, rest);
    only(m.ends, D(0.0));
    for (int d = 0; d < op.vdim; ++d) only(m.m1[d], D(0.0)), only(m.jump[d], D(0.0));
    return m;
  }
  /// Outcome of a step with these moments in a lane; `fine`: it reached the target.
  CAMBIUM_FN NodeOutcome outcome(bool fine, const Moments& m, const State& s, int lane, int species) const {
    NodeOutcome out;
    const bool state = m.m0[lane] > 0.0 && s.vt2[lane] > 0.0;
    if (!fine)
      out.kind = !state ? NodeOutcome::no_state : little(s.missing[lane]) ? NodeOutcome::fine : NodeOutcome::cut_off;
    out.species = species;
    out.a = m.m0[lane] * op.moment_unit();
    out.b = s.vt2[lane];
    return out;
  }
  CAMBIUM_FN double* scratch(const NodeTeam& team) const {
    return static_cast<double*>(
        team.team_scratch(1).get_shmem_aligned(scratch_bytes(device_is_host ? 1 : team.team_size()), 64));
  }
  CAMBIUM_FN int scratch_bytes(int threads) const {
    return static_cast<int>(sizeof(double)) * (factor_numbers() + threads * line_numbers());
  }
};

/// Work on a unit's velocity cells before and after steps, for all its nodes.
template <class T>
struct ReadUnits {
  ImplicitNodes<T> at;
  CAMBIUM_FN void operator()(std::int64_t i) const {
    const int unit = static_cast<int>(i / at.op.cells), iv = static_cast<int>(i % at.op.cells);
    for (int q = 0; q < at.nodes; ++q) at.read(unit, q, iv);
  }
};
template <class T>
struct WriteUnits {
  ImplicitNodes<T> at;
  CAMBIUM_FN void operator()(std::int64_t i) const {
    at.write(static_cast<int>(i / at.op.cells), static_cast<int>(i % at.op.cells));
  }
};

/// Data of a run in addition to the nodes of its species: an outcome for each node and lane, and the cells of lanes.
class ImplicitRun {
 public:
  explicit ImplicitRun(const Solver& solver, int nodes, int lanes, double bytes_of_unit);

  int units() const { return units_; }
  int at_once() const { return batch_; }
  /// One value per cell of configuration space, for each lane of each unit.
  View<double*> by_lane(const std::vector<double>& of_cells) const;
  View<NodeOutcome*> outcomes;  ///< [unit of a batch][node][lane]
  /// NumericalError for the first cell of units from `first` on that failed.
  void require_fine(int first, int count, const PhaseGrid& grid,
                    const std::array<const CollidingSpecies*, 2>& species) const;

 private:
  int units_, batch_, nodes_, lanes_;
  std::vector<int> cell_of_;  ///< of each unit and lane; -1: none
};

/// The arrays of an operator for the nodes of `units` units of a solver.
template <class T>
ImplicitNodes<T> implicit_nodes_of(const Solver& solver, const Dougherty& d, int units) {
  const DoughertyNodes<T> plain = nodes_of<T>(solver, d, 0);
  ImplicitNodes<T> out{plain.cells, plain.op,    plain.basis, plain.group, plain.conf_mode,
                       {},          plain.nodes, plain.conf,  0,           {}};
  std::vector<double> projection;
  for (const auto& [g, a] : d.modes())
    for (int q = 0; q < out.nodes; ++q) projection.push_back(d.conf_rule().weight(q) * d.conf_rule().basis(q, a));
  out.projection = on_device("kinetic: projection onto modes", projection);
  out.work = View<double*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: f at nodes"),
                           static_cast<std::size_t>(units) * out.nodes * static_cast<std::size_t>(out.size()));
  return out;
}

inline NodePolicy implicit_policy(int teams, int bytes, int threads) {
  return NodePolicy(teams, threads).set_scratch_size(1, Kokkos::PerTeam(bytes + 64));
}
inline int threads_of_lines() { return device_is_host ? 1 : 64; }

}  // namespace cambium::kinetic
