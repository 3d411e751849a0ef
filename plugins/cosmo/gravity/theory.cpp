#include "plugins/cosmo/gravity/theory.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/cosmo/gravity/clouds.hpp"
#include "plugins/cosmo/gravity/gaussian_field.hpp"

namespace cambium::cosmo {

Theory::Theory(const Cosmology& cosmology, const Lattice& lattice, std::uint64_t seed)
    : expansion_(cosmology), power_(cosmology), lattice_(lattice), box_(lattice.particles, lattice.box), seed_(seed) {}

double Theory::linear_growth(double from, double to) const {
  return expansion_.growth(to).first / expansion_.growth(from).first;
}

void Theory::place(double a, std::int64_t begin, const View<double**>& position, const View<double**>& momentum) const {
  const View<double*> field("field: waves", box_.waves());
  gaussian_field(box_, power_, seed_, field);
  const auto by = displacements(box_, field, lattice_.order, begin, static_cast<std::int64_t>(position.extent(0)));
  move_to(by, {expansion_.growth(a), a, expansion_.rate(a)}, box_, lattice_.origin, begin, position, momentum);
}

View<double*> Theory::waves(double a, const BoxWaves& mesh, Clouds clouds, const Comm& comm) const {
  const std::int64_t rows = even_share(box_.values(), comm);
  const View<double**> position("theory: position", rows, 3), momentum("theory: momentum", rows, 3);
  place(a, comm.exclusive_sum(rows), position, momentum);
  const View<std::int64_t*> mass("theory: mass", mesh.values());
  const View<double*> values("theory: contrast", mesh.values()), out("theory: waves", mesh.waves());
  assign_clouds(clouds, position, mesh.box(), mesh.cells(), mass, comm);
  contrast(mass, box_.values(), values);
  mesh.forward(values, out);
  return out;
}

std::string problem_of_start(const Cosmology& cosmology, double start, double spacing) {
  constexpr double largest = 0.5;
  const double radius = spacing * std::cbrt(0.75 / constants::pi);
  const double deviation = Expansion(cosmology).growth(start).first * LinearPower(cosmology).deviation(radius);
  if (deviation <= largest) return {};
  return fmt::format(
      "initial_scale_factor: at scale factor {:g} the density around a particle deviates by {:.2f} of the mean, and "
      "perturbation "
      "theory places particles well below {:g}; begin at {:.1g}",
      start, deviation, largest, 0.5 * start * largest / deviation);
}

}  // namespace cambium::cosmo
