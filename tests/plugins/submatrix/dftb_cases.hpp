#pragma once
// Structures and keys for tests of DFTB, and forces and virial beside differences of the Mermin energy.
#include "plugins/submatrix/dftb/ground_state.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/submatrix/dftb_set.hpp"
#include "tests/scratch.hpp"

namespace cambium::test {

/// Every process has a set of its own: ranks run beside each other.
inline const std::string& set_folder() {
  static const Scratch scratch("dftb");
  static const std::string folder = write_set(scratch.file("set"), 250);
  return folder;
}

inline const std::vector<Species> species{{"C", 12.0}, {"H", 1.0}, {"X", 30.0}};

inline submatrix::DftbKeys keys(bool periodic) {
  submatrix::DftbKeys out;
  out.slater_koster.directory = set_folder();
  out.shells = {{"C", "p"}, {"X", "d"}};
  out.periodic = periodic;
  out.tolerance = 1e-11;
  return out;
}

/// Bent chain C H X C H, distances of about three bohr.
inline submatrix::DftbAtoms molecule() {
  submatrix::DftbAtoms out;
  out.periodic = false;
  out.type = {0, 1, 2, 0, 1};
  out.x = {0.1, 0.0, 0.0, -1.3, 1.8, 0.5, 2.9, 0.4, -0.3, 4.4, 2.8, 0.6, 6.2, 2.0, 1.5};
  for (std::int64_t k = 1; k <= 5; ++k) out.tag.push_back(k);
  return out;
}

/// Two C and an H in a triclinic cell of less than ten bohr.
inline submatrix::DftbAtoms crystal() {
  submatrix::DftbAtoms out = molecule();
  out.periodic = true;
  out.cell = {{{6.1, 0.0, 0.0}, {0.7, 5.6, 0.0}, {-0.5, 0.4, 6.4}}};
  out.volume = 6.1 * 5.6 * 6.4;
  out.type = {0, 1, 0};
  out.x = {0.1, 0.0, 0.0, -1.4, 2.1, 0.5, 2.9, 1.4, 2.3};
  out.tag.resize(3);
  return out;
}

struct Case {
  submatrix::DftbAtoms atoms;
  submatrix::DftbKeys keys;
  submatrix::DftbParameters parameters;
  Case(submatrix::DftbAtoms a, submatrix::DftbKeys k)
      : atoms(std::move(a)), keys(std::move(k)), parameters(keys.slater_koster, keys.shells, keys.repulsion, species) {}
  submatrix::DftbState run(World& world) const { return submatrix::ground_state(atoms, parameters, keys, world.context); }
};

inline void check_forces(const Case& c, World& world) {
  const submatrix::DftbState at = c.run(world);
  double total[3] = {};
  for (std::size_t i = 0; i < at.forces.size(); ++i) {
    total[i % 3] += at.forces[i];
    const auto energy = [&](double step) {
      Case moved = c;
      moved.atoms.x[i] += step;
      return moved.run(world).mermin;
    };
    constexpr double h = 2e-3;
    const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
    CHECK(at.forces[i] == Approx(-slope).margin(1e-7));
  }
  for (double t : total) CHECK(std::abs(t) < 1e-10);
}

inline void check_virial(const Case& c, World& world) {
  const submatrix::DftbState at = c.run(world);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const auto energy = [&](double strain) {
        Case moved = c;
        for (std::size_t i = 0; i < moved.atoms.type.size(); ++i)
          moved.atoms.x[3 * i + a] += strain * c.atoms.x[3 * i + b];
        for (std::size_t k = 0; k < 3; ++k) moved.atoms.cell[k][a] += strain * c.atoms.cell[k][b];
        if (a == b) moved.atoms.volume *= 1.0 + strain;
        return moved.run(world).mermin;
      };
      constexpr double h = 1e-3;
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      CHECK(at.virial[3 * a + b] == Approx(-slope).margin(1e-6));
    }
}

}  // namespace cambium::test
