#pragma once
// Crystals and disordered cells of charges, and what long-range sums must satisfy in them.
#include <fmt/format.h>

#include <fstream>

#include "plugins/md/potentials/coulomb.hpp"
#include "tests/plugins/md/potential_check.hpp"

namespace cambium::test {

/// A cell of two species with charges 1 and -1 in a triclinic cell, away from symmetric places.
inline PotentialCase charged_case(const md::Coulomb::Params& params, World& world, std::array<int, 3> cells = {2, 2, 2},
                                  double displacement = 0.3) {
  PotentialCase c;
  const double a = 4.2;
  const double rows[3][3] = {{cells[0] * a, 0, 0}, {0.7, cells[1] * a, 0}, {-0.6, 0.9, cells[2] * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, cells, {{0, 0, 0}, {.5, .5, .5}});
  rattle(c.positions, displacement, 11);
  c.species = {{"Na", 23.0}, {"Cl", 35.5}};
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(static_cast<int>(i % 2));
  c.potential = std::make_unique<md::Coulomb>(params, world.context);
  c.potential->bind(c.species);
  return c;
}

inline md::Coulomb::Params salt(md::Coulomb::Method method) {
  md::Coulomb::Params p;
  p.charges = {{"Na", 1.0}, {"Cl", -1.0}};
  p.method = method;
  return p;
}

/// Root of the mean squared difference of force vectors, eV/Å.
inline double rms_difference(const std::vector<Position>& a, const std::vector<Position>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int k = 0; k < 3; ++k) sum += (a[i][k] - b[i][k]) * (a[i][k] - b[i][k]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

/// Fourth-order central differences of the energy along every coordinate; momentum need not be conserved.
inline void check_gradient(const PotentialCase& c, World& world, double tolerance) {
  auto s = c.system();
  NeighborList list;
  build_neighbors(s.particles, c.potential->cutoff(), c.skin, list);
  const auto home = wrapped_positions(s);
  const Evaluation at = evaluate(*c.potential, s, list, world);
  const double h = c.gradient_step;
  double worst = 0.0;
  for (std::size_t i = 0; i < home.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const auto energy = [&](double d) {
        auto moved = home;
        moved[i][k] += d;
        s.update(moved);
        return evaluate(*c.potential, s, list, world, {true, false}).energy;
      };
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      worst = std::max(worst, std::abs(slope + at.forces[i][k]));
    }
  CHECK(worst < tolerance * largest(at.forces));
}

/// W_ab = -dE/d(strain_ab) with cell and atoms strained together and turned back into the lower-triangular form.
inline void check_strain(const PotentialCase& c, World& world, double tolerance) {
  auto s = c.system();
  const Evaluation at = c.evaluate(s, world);
  double scale = 1e-300;
  for (double w : at.virial) scale = std::max(scale, std::abs(w));
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const auto energy = [&](double strain) {
        double rows[3][3], turn[3][3];
        for (int r = 0; r < 3; ++r)
          for (int k = 0; k < 3; ++k) rows[r][k] = c.box.h[r][k] + (k == a ? strain * c.box.h[r][b] : 0.0);
        const Box box = Box::from_vectors(rows, turn);
        auto positions = c.positions;
        for (auto& p : positions) {
          Position x = p;
          x[a] += strain * p[b];
          for (int k = 0; k < 3; ++k) p[k] = x[0] * turn[0][k] + x[1] * turn[1][k] + x[2] * turn[2][k];
        }
        auto strained = c.system(box, positions, c.types);
        return c.evaluate(strained, world, {true, false}).energy;
      };
      const double h = 1e-3;
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      INFO("component " << a << b);
      CHECK(std::abs(slope + at.virial[3 * a + b]) < tolerance * scale);
    }
}

}  // namespace cambium::test
