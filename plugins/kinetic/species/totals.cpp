#include "plugins/kinetic/species/totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

Totals::Totals(const Species& species) : species_(species) {
  for (int c = 0; c < species.components(); ++c)
    integrals_.push_back(species.conf().integral(species.moment(c).data()));
  species.ranks().row().sum(integrals_);
}

double Totals::particles() const { return integrals_.front(); }
double Totals::momentum(int d) const { return species_.mass() * integrals_[1 + static_cast<std::size_t>(d)]; }
double Totals::kinetic_energy() const { return 0.5 * species_.mass() * integrals_.back(); }
double Totals::square_integral() const { return species_.ranks().all().sum(species_.solver().square_integral(0)); }

double Totals::entropy() const {
  const Solver& solver = species_.solver();
  solver.to_host_const(0);
  const PhaseGrid& grid = solver.grid();
  const Projection rule(solver.basis().exponents, solver.basis().order + 1);
  std::vector<double> f(rule.modes()), values(rule.nodes());
  double sum = 0.0;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      rule.evaluate(f.data(), values.data());
      const double volume = grid.velocity_volume(iv);
      for (int q = 0; q < rule.nodes(); ++q)
        if (values[q] > 0.0) sum -= volume * rule.weight(q) * values[q] * std::log(values[q]);
    }
  for (int d = 0; d < grid.dimensions(); ++d) sum *= d < grid.cdim ? 0.5 * grid.axis[d].width() : 0.5;
  return species_.ranks().all().sum(sum);
}

double Totals::temperature() const {
  const int vdim = species_.solver().grid().vdim;
  double drift2 = 0.0;
  for (int d = 0; d < vdim; ++d) drift2 += std::pow(momentum(d) / (species_.mass() * particles()), 2);
  return (2.0 * kinetic_energy() / particles() - species_.mass() * drift2) / vdim;
}

double Totals::debye_length(double epsilon0) const {
  const ConfGrid& conf = species_.conf();
  const int vdim = species_.solver().grid().vdim;
  std::vector<std::vector<double>> moments;
  for (int c = 0; c < species_.components(); ++c) moments.push_back(species_.moment(c));
  const double to_mean = std::pow(0.5, 0.5 * conf.dimensions);  // of the first mode
  const double mean = particles() / (conf.whole_count() * conf.cell_volume());
  double smallest = std::numeric_limits<double>::infinity();
  for (int cell = 0; cell < conf.count(); ++cell) {
    const auto at = static_cast<std::size_t>(cell) * static_cast<std::size_t>(conf.modes());
    const double density = to_mean * moments.front()[at];
    if (!(density > 1e-3 * mean)) continue;
    double spread = to_mean * moments.back()[at] / density;  // mean square velocity about the drift
    for (int d = 0; d < vdim; ++d)
      spread -= std::pow(to_mean * moments[1 + static_cast<std::size_t>(d)][at] / density, 2);
    const double square = epsilon0 * species_.mass() * spread / (vdim * density * std::pow(species_.charge(), 2));
    if (square > 0.0) smallest = std::min(smallest, std::sqrt(square));
  }
  return species_.ranks().row().min(smallest);
}

}  // namespace cambium::kinetic
