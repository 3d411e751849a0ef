// Fits that need no network.
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/graph/molecules/energy_fit.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

namespace {

double mean_error(const auto& fit, const std::vector<MoleculeView>& views) {
  double sum = 0.0;
  for (const auto& m : views) sum += std::abs(fit(m) - m.energy) / static_cast<double>(views.size());
  return sum;
}

}  // namespace

TEST_CASE("a fit to counts is exact where energies are counts, also where counts depend on each other") {
  auto table = make_molecules(recipe(40));
  for (auto& m : table.molecules) {
    m.energy = 0.0;
    for (const auto z : m.species) m.energy += 0.5 * z - 7.0;
    for (std::size_t b = 0; b < m.bond.size(); b += 3)
      m.energy -= 3.0 * (m.species[m.bond[b]] + m.species[m.bond[b + 1]]);
  }
  const auto samples = samples_of(table);
  const auto views = views_of(samples);
  CountFit atoms, bonds;
  atoms.fit(views, CountFit::Counted::atoms);
  bonds.fit(views, CountFit::Counted::bonds);  // one bond less than atoms in every molecule
  CHECK(mean_error(bonds, views) < 1e-8);
  CHECK(mean_error(atoms, views) > 1.0);
  CHECK(CountFit::from(bonds.text())(views[5]) == bonds(views[5]));
}

TEST_CASE("a Coulomb matrix is that of the definition and does not know the order of the atoms") {
  MoleculeTable table;
  table.molecules.push_back({{1, 8}, {0, 0, 0, 0, 0, 2}, 0.0, {}, {}});
  table.molecules.push_back({{8, 1}, {5, 5, 3, 5, 5, 5}, 0.0, {}, {}});
  const auto samples = samples_of(table);
  const auto x = coulomb_matrix(molecule_of(*samples[0]), 3), y = coulomb_matrix(molecule_of(*samples[1]), 3);
  const std::vector<double> expected{0.5 * std::pow(8.0, 2.4), 4.0, 0.5, 0.0, 0.0, 0.0};
  for (std::size_t k = 0; k < 6; ++k) {
    CHECK(x[k] == Approx(expected[k]).margin(1e-14));
    CHECK(y[k] == Approx(expected[k]).margin(1e-14));
  }
}

TEST_CASE("bags of bonds are those of the definition, whatever the order of the atoms") {
  MoleculeTable table;
  table.molecules.push_back({{1, 8, 1}, {0, 0, 0, 0, 0, 2, 0, 0, 3}, 0.0, {}, {}});
  table.molecules.push_back({{1, 1, 8}, {0, 0, 3, 0, 0, 0, 0, 0, 2}, 0.0, {}, {}});
  const auto samples = samples_of(table);
  const Descriptor expected{{{1, 1}, {1.0 / 3.0}}, {{1, 8}, {8.0, 4.0}}};
  CHECK(bag_of_bonds(molecule_of(*samples[0])) == expected);
  CHECK(bag_of_bonds(molecule_of(*samples[1])) == expected);
  const DescriptorRows rows({{{{1, 8}, {5.0}}}, expected});
  const auto apart = rows.distances({{{1, 8}, {6.0, 1.0, 0.5}}, {{6, 6}, {7.0}}});
  CHECK(apart[0] == Approx(1.0 + 1.0 + 0.5 + 7.0));
  CHECK(apart[1] == Approx(1.0 / 3.0 + 2.0 + 3.0 + 0.5 + 7.0));
}

TEST_CASE("the error of a kernel when each molecule is left out in turn is that of fits without it") {
  using Descriptors = MoleculeKernel::Descriptors;
  const auto descriptors = GENERATE(Descriptors::coulomb, Descriptors::bag_of_bonds);
  const auto samples = samples_of(make_molecules(recipe(24)));
  const auto views = views_of(samples);
  MoleculeKernel kernel(descriptors);
  kernel.fit(views);
  CHECK(mean_error(kernel, views) < kernel.left_out_error());
  // The same by 24 fits with the width and ridge that were chosen; the atoms' fit is that of all.
  CountFit atoms;
  atoms.fit(views, CountFit::Counted::atoms);
  const std::size_t n = views.size();
  double sum = 0.0;
  for (std::size_t out = 0; out < n; ++out) {
    std::vector<std::size_t> in;
    for (std::size_t k = 0; k < n; ++k)
      if (k != out) in.push_back(k);
    const auto similarity = [&](std::size_t a, std::size_t b) {
      if (descriptors == Descriptors::bag_of_bonds)
        return std::exp(-DescriptorRows({bag_of_bonds(views[a])}).distances(bag_of_bonds(views[b]))[0] /
                        kernel.width());
      const auto x = coulomb_matrix(views[a], 8), y = coulomb_matrix(views[b], 8);
      double apart = 0.0;
      for (std::size_t k = 0; k < x.size(); ++k) apart += std::abs(x[k] - y[k]);
      return std::exp(-apart / kernel.width());
    };
    std::vector<std::vector<double>> a(in.size(), std::vector<double>(in.size() + 1));
    for (std::size_t i = 0; i < in.size(); ++i) {
      for (std::size_t j = 0; j < in.size(); ++j) a[i][j] = similarity(in[i], in[j]) + (i == j ? kernel.ridge() : 0.0);
      a[i].back() = views[in[i]].energy - atoms(views[in[i]]);
    }
    for (std::size_t i = 0; i < in.size(); ++i)  // Gauss and Jordan; positive definite, so without exchanges
      for (std::size_t r = 0; r < in.size(); ++r) {
        if (r == i) continue;
        const double factor = a[r][i] / a[i][i];
        for (std::size_t c = i; c <= in.size(); ++c) a[r][c] -= factor * a[i][c];
      }
    double found = atoms(views[out]);
    for (std::size_t i = 0; i < in.size(); ++i) found += a[i].back() / a[i][i] * similarity(in[i], out);
    sum += std::abs(found - views[out].energy) / static_cast<double>(n);
    CHECK(kernel.without(views[out]) == Approx(found).epsilon(1e-8));
  }
  CHECK(kernel.left_out_error() == Approx(sum).epsilon(1e-6));
  const auto others = samples_of(make_molecules(recipe(5, 9, 10)));
  // Two sums of the same two dozen terms, each compiled for itself: equal to their rounding.
  for (const auto& m : views_of(others)) CHECK(kernel.without(m) == Approx(kernel(m)).epsilon(1e-11));
  const auto again = MoleculeKernel::from(kernel.text());
  CHECK(again(views[3]) == kernel(views[3]));
  CHECK(again.without(views[3]) == kernel.without(views[3]));
}

TEST_CASE("a larger molecule than any that is known is met with zeros") {
  const auto samples = samples_of(make_molecules(recipe(10, 3, 4))),
             large = samples_of(make_molecules(recipe(2, 9, 9)));
  MoleculeKernel kernel(MoleculeKernel::Descriptors::coulomb);
  kernel.fit(views_of(samples));
  CHECK(std::isfinite(kernel(molecule_of(*large[0]))));
}

TEST_CASE("what the baselines refuse", "[messages]") {
  auto table = make_molecules(recipe(4));
  table.bonds = false;
  for (auto& m : table.molecules) m.bond.clear();
  const auto samples = samples_of(table);
  CountFit fit;
  CHECK(message([&] { fit.fit(views_of(samples), CountFit::Counted::bonds); }) ==
        "the molecules have no bonds to count; take atoms, or give a file with the array 'bond'");
  const std::vector<MoleculeView> many(4001, molecule_of(*samples[0]));
  MoleculeKernel kernel(MoleculeKernel::Descriptors::coulomb);
  CHECK(
      message([&] { kernel.fit(many); }) ==
      "a kernel of 4001 molecules takes longer than it is worth (at most 4000); leave coulomb and bag_of_bonds out of "
      "'baselines', and take another 'reference'");
}

TEST_CASE("baselines on gdb1k", "[data]") {
  const auto path = gdb1k_file();
  if (path.empty()) return;
  const auto table = read_molecule_h5(path, "gdb1k");
  const auto samples = samples_of(table);
  double atoms = 0.0, bonds = 0.0;
  for (int fold = 0; fold < 5; ++fold) {
    std::vector<MoleculeView> training, test;
    for (std::size_t m = 0; m < samples.size(); ++m)
      (table.fold[m] == fold ? test : training).push_back(molecule_of(*samples[m]));
    CountFit fit;
    fit.fit(training, CountFit::Counted::atoms, true);
    atoms += mean_error(fit, test) / 5.0;
    fit.fit(training, CountFit::Counted::bonds, true);
    bonds += mean_error(fit, test) / 5.0;
  }
  CHECK(atoms == Approx(16.9).margin(0.3));
  CHECK(bonds == Approx(9.62).margin(0.3));
}
