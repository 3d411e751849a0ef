#include "plugins/kinetic/species/higher_moments.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

namespace {

/// Velocities whose product a moment has: none for the density, {0, 1} for v_x v_y, ascending.
using Product = std::vector<int>;

/// All products of up to `order` velocities.
std::vector<Product> products(int velocities, int order) {
  std::vector<Product> out{{}};
  for (std::size_t from = 0; from < out.size(); ++from) {
    if (static_cast<int>(out[from].size()) == order) continue;
    for (int d = out[from].empty() ? 0 : out[from].back(); d < velocities; ++d) {
      Product next = out[from];
      next.push_back(d);
      out.push_back(std::move(next));
    }
  }
  return out;
}

/// Integral over a cell's width of psi_n v^power, for a cell with this centre and width.
double velocity_integral(int n, int power, double centre, double width) {
  std::vector<double> nodes, weights;
  gauss((n + power) / 2 + 1, nodes, weights);
  double sum = 0.0;
  for (std::size_t q = 0; q < nodes.size(); ++q)
    sum += weights[q] * legendre(n, nodes[q]) * std::pow(centre + 0.5 * width * nodes[q], power);
  return 0.5 * width * sum;
}

/// [dimension][cell of this rank][mode number][power], for powers 0 to 3.
class VelocityIntegrals {
 public:
  explicit VelocityIntegrals(const Solver& solver) {
    const PhaseGrid& grid = solver.grid();
    for (const auto& e : solver.basis().exponents)
      degrees_ = std::max(degrees_, *std::max_element(e.begin(), e.end()) + 1);
    for (int d = 0; d < grid.vdim; ++d) {
      const Axis& axis = grid.velocity(d);
      auto& own = values_.emplace_back();
      for (int i = 0; i < axis.cells; ++i)
        for (int n = 0; n < degrees_; ++n)
          for (int power = 0; power < 4; ++power)
            own.push_back(velocity_integral(n, power, axis.centre(i), axis.width(i)));
    }
  }
  double operator()(int d, int cell, int n, int power) const {
    return values_[static_cast<std::size_t>(d)][static_cast<std::size_t>((cell * degrees_ + n) * 4 + power)];
  }

 private:
  int degrees_ = 1;
  std::vector<std::vector<double>> values_;
};

/// Collective: integrals of the products times f as expansions over this rank's cells, [product][cell][mode].
std::vector<std::vector<double>> raw_moments(const Species& species, const std::vector<Product>& all) {
  const Solver& solver = species.solver();
  const PhaseGrid& grid = solver.grid();
  const BasisInfo& basis = solver.basis();
  const ConfGrid& conf = species.conf();
  const VelocityIntegrals integral(solver);
  std::map<std::vector<int>, int> conf_mode;
  for (int k = 0; k < conf.modes(); ++k) conf_mode[conf.exponents[static_cast<std::size_t>(k)]] = k;
  std::vector<int> target;
  for (const auto& e : basis.exponents)
    target.push_back(conf_mode.at(std::vector<int>(e.begin(), e.begin() + grid.cdim)));
  std::vector<std::vector<double>> out(all.size(), std::vector<double>(conf.size(), 0.0));
  std::vector<double> f(static_cast<std::size_t>(basis.modes));
  solver.to_host_const(0);
  for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
    const auto v = grid.local_velocity(iv);
    std::vector<std::vector<double>> weight(all.size(), std::vector<double>(f.size(), 1.0));
    for (std::size_t p = 0; p < all.size(); ++p)
      for (std::size_t m = 0; m < f.size(); ++m)
        for (int d = 0; d < grid.vdim; ++d)
          weight[p][m] *= integral(d, grid.velocity(d).first + v[static_cast<std::size_t>(d)],
                                   basis.exponents[m][static_cast<std::size_t>(grid.cdim + d)],
                                   static_cast<int>(std::count(all[p].begin(), all[p].end(), d)));
    for (int ic = 0; ic < conf.count(); ++ic) {
      solver.get(0, ic, iv, f.data());
      for (std::size_t p = 0; p < all.size(); ++p)
        for (std::size_t m = 0; m < f.size(); ++m)
          out[p][static_cast<std::size_t>(ic) * conf.exponents.size() + static_cast<std::size_t>(target[m])] +=
              weight[p][m] * f[m];
    }
  }
  for (auto& values : out) species.ranks().column().sum(values);
  return out;
}

/// Moments about the mean velocity at one point, from those of products.
class AboutMean {
 public:
  AboutMean(const std::vector<Product>& all, int velocities) : velocities_(velocities) {
    for (std::size_t p = 0; p < all.size(); ++p) at_[all[p]] = p;
  }
  void set(const std::vector<double>& raw) {
    raw_ = raw;
    for (int d = 0; d < velocities_; ++d) u_[d] = raw_[at_.at({d})] / raw_[0];
  }
  bool empty() const { return !(raw_[0] > 0.0); }
  double second(int i, int j) const { return of(i, j) - raw_[0] * u_[i] * u_[j]; }
  double third(int i, int j, int k) const {
    return of(i, j, k) - u_[i] * of(j, k) - u_[j] * of(i, k) - u_[k] * of(i, j) + 2.0 * raw_[0] * u_[i] * u_[j] * u_[k];
  }

 private:
  double of(int i, int j) const { return raw_[at_.at({std::min(i, j), std::max(i, j)})]; }
  double of(int i, int j, int k) const {
    Product p{i, j, k};
    std::sort(p.begin(), p.end());
    return raw_[at_.at(p)];
  }

  int velocities_;
  std::map<Product, std::size_t> at_;
  std::vector<double> raw_;
  double u_[3] = {};
};

/// The products whose moments about the mean are the components.
std::vector<Product> components_of(HigherMoment moment, int velocities) {
  const std::size_t order = moment == HigherMoment::pressure ? 2 : moment == HigherMoment::heat_flux ? 1 : 3;
  std::vector<Product> out;
  for (const auto& p : products(velocities, static_cast<int>(order)))
    if (p.size() == order) out.push_back(p);
  return out;
}

double component(const AboutMean& about, HigherMoment moment, const Product& p, int velocities) {
  if (moment == HigherMoment::pressure) return about.second(p[0], p[1]);
  if (moment == HigherMoment::third_moment) return about.third(p[0], p[1], p[2]);
  double sum = 0.0;
  for (int d = 0; d < velocities; ++d) sum += 0.5 * about.third(p[0], d, d);
  return sum;
}

}  // namespace

std::vector<std::string> component_names(HigherMoment moment, int velocities) {
  const std::string name = moment == HigherMoment::pressure    ? "pressure_"
                           : moment == HigherMoment::heat_flux ? "heat_flux_"
                                                               : "third_moment_";
  std::vector<std::string> out;
  for (const auto& p : components_of(moment, velocities)) {
    out.push_back(name);
    for (int d : p) out.back() += "xyz"[d];
  }
  return out;
}

std::vector<std::vector<double>> higher_moments(const Species& species, HigherMoment moment) {
  const ConfGrid& conf = species.conf();
  const int velocities = species.solver().grid().vdim;
  const auto all = products(velocities, moment == HigherMoment::pressure ? 2 : 3);
  const auto raw = raw_moments(species, all);
  const auto components = components_of(moment, velocities);
  const Projection rule(conf.exponents, 2 * conf.highest() + 2);
  const auto modes = static_cast<std::size_t>(conf.modes()), nodes = static_cast<std::size_t>(rule.nodes());
  std::vector<std::vector<double>> out(components.size(), std::vector<double>(conf.size())),
      at_nodes(components.size(), std::vector<double>(nodes)), raw_nodes(all.size(), std::vector<double>(nodes));
  AboutMean about(all, velocities);
  std::vector<double> point(all.size());
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(conf.count()); ++cell) {
    for (std::size_t p = 0; p < all.size(); ++p) rule.evaluate(&raw[p][cell * modes], raw_nodes[p].data());
    for (std::size_t q = 0; q < nodes; ++q) {
      for (std::size_t p = 0; p < all.size(); ++p) point[p] = raw_nodes[p][q];
      about.set(point);
      for (std::size_t c = 0; c < components.size(); ++c)
        at_nodes[c][q] = about.empty() ? 0.0 : species.mass() * component(about, moment, components[c], velocities);
    }
    for (std::size_t c = 0; c < components.size(); ++c) rule.project(at_nodes[c].data(), &out[c][cell * modes]);
  }
  return out;
}

}  // namespace cambium::kinetic
