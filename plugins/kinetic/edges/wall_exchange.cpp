#include "plugins/kinetic/edges/wall_exchange.hpp"

#include <cmath>

namespace cambium::kinetic {

static constexpr int most_modes = 729;  ///< of any configuration: tensor products of three modes in six dimensions

/// Flows through one face.
template <class T>
struct OutflowOfFace {
  Packs<T> cells;
  View<int*> side;
  View<double*> weight, found;
  int components;

  CAMBIUM_FN void operator()(std::int64_t i) const {
    const Layout& layout = cells.layout;
    const InBlocks at(layout, side(i));
    for (int c = 0; c < components; ++c) {
      double sum = 0.0;
      for (int iv = 0; iv < layout.velocity_cells; ++iv) {
        const T* f = cells.pack(at.block, iv) + at.lane;
        const double* w = weight.data() + (std::int64_t{iv} * components + c) * layout.modes;
        for (int k = 0; k < layout.modes; ++k) sum += w[k] * static_cast<double>(f[k * Packs<T>::width]);
      }
      found(i * components + c) = sum;
    }
  }
};

/// Inflow into a cell at the wall. The image of a velocity cell has the same speed towards the wall; a mode k of
/// exponent n along v_d gets, from modes of equal other velocity and tangential exponents, `partner(3 k + n')` being
/// the first of exponent n' along v_d (0 along x_d), the trace of the image, odd n' with the opposite sign.
template <class T>
struct ReturnOfFace {
  Packs<T> from, to;
  View<int*> side, incoming, exponent, across, partner, conf_mode;
  View<double*> streaming, edge, moments, emission, emitted, added;
  double c, reflection;
  int dimension, components, conf;
  bool high;

  CAMBIUM_FN void operator()(std::int64_t i) const {
    const Layout& layout = to.layout;
    const InBlocks at(layout, side(i));
    double rhs[most_modes];
    for (int n = 0; n < static_cast<int>(incoming.size()); ++n) {
      const int iv = incoming(n);
      for (int k = 0; k < layout.modes; ++k) rhs[k] = emitted(i) * emission(std::int64_t{iv} * layout.modes + k);
      if (reflection > 0.0) reflect(at, iv, rhs);
      T* f = to.pack(at.block, iv) + at.lane;
      for (int k = 0; k < layout.modes; ++k) {
        f[k * Packs<T>::width] = static_cast<T>(static_cast<double>(f[k * Packs<T>::width]) + c * rhs[k]);
        for (int m = 0; m < components; ++m)
          added((i * components + m) * conf + conf_mode(k)) +=
              c * rhs[k] * moments((std::int64_t{iv} * components + m) * layout.modes + k);
      }
    }
  }
  CAMBIUM_FN void reflect(const InBlocks& at, int iv, double* rhs) const {
    const Layout& layout = to.layout;
    const int stride = layout.velocity_stride(dimension), place = layout.velocity_place(iv, dimension);
    const int image = iv + (layout.nv[dimension] - 1 - 2 * place) * stride;
    const T* f = from.pack(at.block, image) + at.lane;
    for (int k = 0; k < layout.modes; ++k) {
      const int n = exponent(k);
      double sum = 0.0;
      for (int o = 0; o < layout.modes; ++o) {
        if (partner(o) != partner(k)) continue;
        const double trace = static_cast<double>(f[o * Packs<T>::width]) * edge(across(o));
        sum += (exponent(o) % 2 ? -1.0 : 1.0) * streaming((std::int64_t{place} * 3 + n) * 3 + exponent(o)) * trace;
      }
      rhs[k] += reflection * edge(across(k)) * sum;
    }
  }
};

WallExchange::WallExchange(const VelocityTables& tables, int dimension, bool high)
    : dimension_(dimension), components_(tables.components()), conf_(tables.basis().conf), high_(high),
      of_emission_(tables.components(), 0.0) {
  const PhaseGrid& grid = tables.grid();
  const Axis& x = grid.conf(dimension);
  if (high ? x.first + x.count == x.cells : x.first == 0)
    for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
      if (grid.local_conf(ic)[dimension] == (high ? x.count - 1 : 0)) side_.push_back(ic);
  for (int a = 0; a < grid.cdim; ++a)
    if (a != dimension) area_ *= grid.conf(a).width();
  cells_ = on_device("kinetic: cells at a wall", side_);
  outflow_ = on_device("kinetic: weights of outflow", tables.outflow_weights(dimension, high));
  found_ = View<double*>("kinetic: flows to a wall", side_.size() * components_);
  flows_.resize(side_.size() * components_);
}

void WallExchange::set_return(const VelocityTables& tables, double reflection, double vt,
                              const std::function<double(double)>& sum) {
  reflection_ = reflection;
  const PhaseGrid& grid = tables.grid();
  const BasisInfo& basis = tables.basis();
  const Axis& v = grid.velocity(dimension_);
  const int d = dimension_, cells = grid.local_velocity_cells();
  std::vector<int> incoming, exponent, across, partner;
  for (int iv = 0; iv < cells; ++iv)
    if ((v.centre(v.first + grid.local_velocity(iv)[d]) > 0.0) != high_) incoming.push_back(iv);
  for (const auto& e : basis.exponents) {
    exponent.push_back(e[grid.cdim + d]);
    across.push_back(e[d]);
    int others = 0;  // a number for each set of the other exponents
    for (int a = 0; a < grid.dimensions(); ++a)
      if (a != d && a != grid.cdim + d) others = 3 * others + e[a];
    partner.push_back(others);
  }
  std::vector<double> x, w, streaming, edge;
  gauss(4, x, w);
  for (int i = 0; i < v.count; ++i)
    for (int k = 0; k < 3; ++k)
      for (int n = 0; n < 3; ++n) {
        const double centre = v.centre(v.first + i), half = 0.5 * v.width(v.first + i);
        double sum_of = 0.0;
        for (std::size_t q = 0; q < x.size(); ++q)
          sum_of += w[q] * std::abs(centre + half * x[q]) * legendre(k, x[q]) * legendre(n, x[q]);
        streaming.push_back(2.0 / grid.conf(d).width() * sum_of);
      }
  for (int n = 0; n < 3; ++n) edge.push_back(legendre(n, high_ ? 1.0 : -1.0));
  incoming_ = on_device("kinetic: incoming velocities", incoming);
  exponent_ = on_device("kinetic: exponents along v", exponent);
  across_ = on_device("kinetic: exponents along x", across);
  partner_ = on_device("kinetic: other exponents", partner);
  conf_mode_ = on_device("kinetic: modes of configuration space", tables.conf_mode());
  streaming_ = on_device("kinetic: streaming", streaming);
  edge_ = on_device("kinetic: modes at a wall", edge);
  const auto weights = tables.moment_weights(), emission = tables.emission(d, high_, vt, sum);
  moments_ = on_device("kinetic: weights of moments", weights);
  emission_ = on_device("kinetic: emission", emission);
  emitted_ = View<double*>("kinetic: emitted", side_.size());
  added_ = View<double*>("kinetic: moments of what enters", side_.size() * components_ * conf_);
  double cell = 1.0;
  for (int a = 0; a < grid.cdim; ++a) cell *= std::sqrt(2.0) * 0.5 * grid.conf(a).width();
  for (int iv = 0; iv < cells; ++iv)
    for (int c = 0; c < components_; ++c)
      for (int k = 0; k < basis.modes; ++k)
        if (tables.conf_mode()[k] == 0)
          of_emission_[c] += cell * emission[static_cast<std::size_t>(iv) * basis.modes + k] *
                             weights[(static_cast<std::size_t>(iv) * components_ + c) * basis.modes + k];
}

template <class T>
void WallExchange::measure_on(const Solver& solver, int slot) {
  Kokkos::parallel_for("kinetic: flows to a wall", PackRange(0, static_cast<std::int64_t>(side_.size())),
                       OutflowOfFace<T>{packs_of<T>(solver, slot), cells_, outflow_, found_, components_});
}

const std::vector<double>& WallExchange::measure(const Solver& solver, int slot) {
  in_precision(solver, [&](auto number) { measure_on<decltype(number)>(solver, slot); });
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found_);
  for (std::size_t k = 0; k < flows_.size(); ++k) flows_[k] = host(k);
  return flows_;
}

Flow WallExchange::total() const {
  Flow out(components_, 0.0);
  for (std::size_t k = 0; k < flows_.size(); ++k) out[k % components_] += flows_[k];
  return out;
}

template <class T>
void WallExchange::give_back_on(Solver& solver, int in, int out, double c) {
  const ReturnOfFace<T> kernel{packs_of<T>(solver, in),
                               packs_of<T>(solver, out),
                               cells_,
                               incoming_,
                               exponent_,
                               across_,
                               partner_,
                               conf_mode_,
                               streaming_,
                               edge_,
                               moments_,
                               emission_,
                               emitted_,
                               added_,
                               c,
                               reflection_,
                               dimension_,
                               components_,
                               conf_,
                               high_};
  Kokkos::parallel_for("kinetic: what a wall gives back", PackRange(0, static_cast<std::int64_t>(side_.size())),
                       kernel);
}

Flow WallExchange::give_back(Solver& solver, int in, int out, double c, const std::vector<double>& emitted,
                             std::vector<double>& fresh) {
  const auto host = Kokkos::create_mirror_view(emitted_);
  double all = 0.0;
  for (std::size_t k = 0; k < emitted.size(); ++k) all += host(k) = emitted[k];
  Kokkos::deep_copy(emitted_, host);
  Kokkos::deep_copy(added_, 0.0);
  in_precision(solver, [&](auto number) { give_back_on<decltype(number)>(solver, in, out, c); });
  const auto added = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), added_);
  const std::size_t row = static_cast<std::size_t>(components_) * conf_;
  for (std::size_t i = 0; i < side_.size(); ++i)
    for (std::size_t k = 0; k < row; ++k) fresh[side_[i] * row + k] += added(i * row + k);
  Flow flow = of_emission_;
  for (double& value : flow) value *= all;
  return flow;
}

}  // namespace cambium::kinetic
