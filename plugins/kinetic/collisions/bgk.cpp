#include "plugins/kinetic/collisions/bgk.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "plugins/kinetic/collisions/maxwellians.hpp"
#include "plugins/kinetic/collisions/on_ranks.hpp"

namespace cambium::kinetic {

/// The arrays of the kernels, and what fills them.
struct Bgk::Maxwellians : MaxwellianArrays {
  View<double*> stays;
  int batch;  ///< blocks whose factors are held at a time
  int width;

  Maxwellians(const Solver& solver, const ConfGrid& conf_grid, const Projection& conf_rule);
  void tell_modes(const BasisInfo& info);
  void tell_velocities(const PhaseGrid& grid, const Projection& rule);
  template <class T>
  void project(const std::vector<double>& states);
  template <class T>
  std::vector<double> moments() const;
  template <class T>
  void relax(Solver& solver, const std::vector<double>& stay) const;

  int blocks() const { return layout.blocks(); }
  std::int64_t packs() const { return std::int64_t{layout.blocks()} * layout.velocity_cells; }
  int cells() const { return layout.nx * layout.others; }
  int components() const { return layout.vdim + 2; }
};

Bgk::Maxwellians::Maxwellians(const Solver& solver, const ConfGrid& conf_grid, const Projection& conf_rule) {
  const PhaseGrid& grid = solver.grid();
  const Projection rule(solver.basis().exponents, solver.basis().order + 1);
  layout = solver.storage(0).layout;
  width = layout.width;
  conf_nodes = conf_rule.nodes();
  nodes = rule.nodes();
  points = solver.basis().order + 1;
  conf = conf_grid.modes();
  for (int d = 0; d < grid.vdim; ++d) longest = std::max(longest, grid.velocity(d).count);
  // Enough packs to fill a device; on a host factors of few cells, which stay in a cache.
  constexpr std::int64_t enough = device_is_host ? 1 << 12 : 1 << 18;
  batch = static_cast<int>(std::clamp<std::int64_t>(enough / layout.velocity_cells, 1, std::max(1, blocks())));
  std::vector<double> weights, values;
  for (int q = 0; q < nodes; ++q) {
    weights.push_back(rule.weight(q));
    for (int k = 0; k < layout.modes; ++k) values.push_back(rule.basis(q, k));
  }
  for (int d = 0; d < grid.vdim; ++d) jacobian *= std::sqrt(2.0) * 0.5 * layout.dv[d];
  weight = on_device("kinetic: weights", weights);
  basis = on_device("kinetic: modes at nodes", values);
  tell_velocities(grid, rule);
  tell_modes(solver.basis());
  const auto lanes = static_cast<std::size_t>(width), all = static_cast<std::size_t>(blocks()) * lanes;
  state = View<double*>("kinetic: states of Maxwellians", all * conf_nodes * components());
  factor =
      View<double*>("kinetic: factors of Maxwellians", lanes * batch * conf_nodes * layout.vdim * longest * points);
  maxwellian = View<double*>("kinetic: Maxwellians", lanes * static_cast<std::size_t>(packs()) * layout.modes);
  moment = View<double*>("kinetic: moments of Maxwellians", all * components() * conf);
  stays = View<double*>("kinetic: what stays", all);
}

void Bgk::Maxwellians::tell_velocities(const PhaseGrid& grid, const Projection& rule) {
  std::vector<double> speeds, centres;
  for (int d = 0; d < grid.vdim; ++d) {
    const Axis& axis = grid.velocity(d);
    for (int i = 0; i < longest; ++i) {
      const int cell = axis.first + std::min(i, axis.count - 1);  // shorter dimensions do not use the rest
      centres.push_back(axis.centre(cell));
      for (int p = 0; p < points; ++p)  // the first dimension runs fastest: its points are those of the line
        speeds.push_back(centres.back() + 0.5 * axis.width(cell) * rule.xi(p, 0));
    }
  }
  speed = on_device("kinetic: speeds", speeds);
  centre = on_device("kinetic: velocities", centres);
}

void Bgk::Maxwellians::tell_modes(const BasisInfo& info) {
  std::vector<int> axis(info.modes, 0), degrees(info.modes, 0), sees(static_cast<std::size_t>(conf) * seen_most, -1),
      count(conf, 0);
  for (int k = 0; k < info.modes; ++k) {
    const auto& e = info.exponents[k];
    const auto begin = e.begin() + info.cdim;
    int total = 0;
    for (int d = 0; d < info.vdim; ++d)
      if (begin[d]) total += begin[d], axis[k] = d;
    degrees[k] = *std::max_element(begin, e.end());
    if (total != degrees[k]) continue;  // two velocity factors: no contribution to moments up to the second
    const auto x =
        std::find(info.conf_exponents.begin(), info.conf_exponents.end(), std::vector<int>(e.begin(), begin));
    const auto a = x - info.conf_exponents.begin();
    sees[a * seen_most + count[a]++] = k;
  }
  along = on_device("kinetic: axes of modes", axis);
  degree = on_device("kinetic: degrees of modes", degrees);
  seen = on_device("kinetic: modes of moments", sees);
}

template <class T>
void Bgk::Maxwellians::project(const std::vector<double>& states) {
  constexpr int W = Packs<T>::width;
  const auto host = Kokkos::create_mirror_view(state);
  const int rows = conf_nodes * components();
  for (int block = 0; block < blocks(); ++block)  // lanes without a cell have no density
    for (int q = 0; q < rows; ++q)
      for (int l = 0; l < W; ++l)
        host((std::int64_t{block} * rows + q) * W + l) = q % components() == components() - 1 ? 1.0 : 0.0;
  for (int ic = 0; ic < cells(); ++ic) {
    const InBlocks at(layout, ic);
    for (int q = 0; q < rows; ++q)
      host((std::int64_t{at.block} * rows + q) * W + at.lane) = states[static_cast<std::size_t>(ic) * rows + q];
  }
  Kokkos::deep_copy(state, host);
  for (first = 0; first < blocks(); first += batch) {
    const std::int64_t here = std::min(batch, blocks() - first);
    Kokkos::parallel_for("kinetic: factors of Maxwellians", PackRange(0, here * conf_nodes * layout.vdim * longest),
                         MaxwellianFactors<W>{*this});
    const ProjectMaxwellian<W> kernel{*this};
    Kokkos::parallel_for("kinetic: Maxwellians", PackRange(0, here * layout.velocity_cells * kernel.parts()), kernel);
  }
}

/// M0, M1 and M2 of the projected Maxwellian from its modes up to degree two in velocity, in Solver's layout.
template <class T>
std::vector<double> Bgk::Maxwellians::moments() const {
  constexpr int W = Packs<T>::width;
  Kokkos::parallel_for("kinetic: moments of Maxwellians",
                       Kokkos::TeamPolicy<ExecSpace>(blocks() * conf, device_is_host ? 1 : 128),
                       MomentsOfMaxwellian<W>{*this});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), moment);
  const int rows = components() * conf;
  std::vector<double> out(static_cast<std::size_t>(cells()) * rows);
  for (int ic = 0; ic < cells(); ++ic) {
    const InBlocks at(layout, ic);
    for (int k = 0; k < rows; ++k)
      out[static_cast<std::size_t>(ic) * rows + k] = host((std::int64_t{at.block} * rows + k) * W + at.lane);
  }
  return out;
}

template <class T>
void Bgk::Maxwellians::relax(Solver& solver, const std::vector<double>& stay) const {
  const auto host = Kokkos::create_mirror_view(stays);
  for (int ic = 0; ic < cells(); ++ic) {
    const InBlocks at(layout, ic);
    host(at.block * Packs<T>::width + at.lane) = stay[ic];
  }
  Kokkos::deep_copy(stays, host);
  Kokkos::parallel_for("kinetic: towards Maxwellians", PackRange(0, packs() * (device_is_host ? 1 : layout.modes)),
                       RelaxToMaxwellian<T>{packs_of<T>(solver, 0), maxwellian, stays});
}

Bgk::Bgk(const Solver& solver, const ConfGrid& conf, std::vector<double> frequency, CollidingSpecies species)
    : grid_(solver.grid()), species_(std::move(species)), conf_(conf), components_(grid_.vdim + 2),
      frequency_(std::move(frequency)), conf_rule_(conf.exponents, solver.basis().order + 1),
      maxwellians_(std::make_shared<Maxwellians>(solver, conf, conf_rule_)) {}

std::vector<double> Bgk::states_of(const std::vector<double>& moments) const {
  const int n = conf_.modes(), nodes = conf_rule_.nodes(), vdim = grid_.vdim;
  std::vector<std::vector<double>> values(components_, std::vector<double>(nodes));
  std::vector<double> out;
  for (int ic = 0; ic < grid_.local_conf_cells(); ++ic) {
    for (int c = 0; c < components_; ++c)
      conf_rule_.evaluate(&moments[(static_cast<std::size_t>(ic) * components_ + c) * n], values[c].data());
    for (int q = 0; q < nodes; ++q) {
      const double density = values[0][q];
      double square = 0.0;
      for (int d = 0; d < vdim; ++d) square += std::pow(values[1 + d][q] / density, 2);
      const double vt2 = (values[1 + vdim][q] / density - square) / vdim;
      if (!(density > 0.0) || !(vt2 > 0.0)) refuse_state(species_, density, vt2, grid_, ic);
      out.push_back(density);
      for (int d = 0; d < vdim; ++d) out.push_back(values[1 + d][q] / density);
      out.push_back(vt2);
    }
  }
  return out;
}

/// Corrects the Maxwellians until they have these moments.
template <class T>
void Bgk::correct(const std::vector<double>& moments, const Ranks& ranks) {
  std::vector<double> target = moments;  // of the Maxwellian before it is projected
  double scale = 0.0;
  for (double m : moments) scale = std::max(scale, std::abs(m));
  scale = ranks.all.max(scale);
  for (iterations_ = 1;; ++iterations_) {
    std::vector<double> states;
    on_ranks(ranks.all, [&] { states = states_of(target); });
    maxwellians_->project<T>(states);
    auto found = maxwellians_->moments<T>();
    if (ranks.column.size() > 1) ranks.column.sum(found);
    double worst = 0.0;
    for (std::size_t k = 0; k < target.size(); ++k) {
      worst = std::max(worst, std::abs(moments[k] - found[k]));
      target[k] += moments[k] - found[k];
    }
    if (ranks.all.max(worst) < 3e-15 * scale || iterations_ == 30) break;
  }
}

void Bgk::act(Solver& solver, double dt, const std::vector<double>& moments, const Ranks& ranks) {
  const Region region("BGK collisions", WorkKind::transcendental);
  std::vector<double> stays;
  for (double nu : frequency_) stays.push_back(std::exp(-nu * dt));
  in_precision(solver, [&](auto number) {
    correct<decltype(number)>(moments, ranks);
    maxwellians_->relax<decltype(number)>(solver, stays);
  });
}

}  // namespace cambium::kinetic
