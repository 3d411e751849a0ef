#include <fmt/format.h>

#include <fstream>

#include "core/base/error.hpp"
#include "plugins/md/eam/cubic_table.hpp"
#include "plugins/md/potentials/eam.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

constexpr double cutoff = 5.0;

/// To 0 at the cut-off with two derivatives.
double fade(double r) { return r < cutoff ? std::pow(1.0 - r / cutoff, 3) : 0.0; }

/// An embedded-atom model by formulas, of elements 0 and 1.
double density(int source, int site, bool by_both, double r) {
  return (source == 0 ? 2.0 : 3.1) * (by_both && source != site ? 0.7 : 1.0) * std::exp(-0.5 * r) * fade(r);
}
double pair(int a, int b, double r) { return (6.0 + a + b) * std::exp(-1.1 * r) * fade(r) * 40.0; }
double embedding(int element, double rho) { return -(1.0 + 0.4 * element) * std::sqrt(rho + 0.3) + 0.02 * rho * rho; }

struct Grid {
  int nrho = 2000, nr = 2000;
  double drho = 12.0 / 1999, dr = cutoff / 1999;
};

template <class F>
void block(std::ofstream& file, int n, double step, F f) {
  for (int k = 0; k < n; ++k) file << fmt::format("{:.17g}{}", f(k * step), k % 5 == 4 || k == n - 1 ? "\n" : " ");
}

void write_funcfl(const std::string& path, const Grid& g) {
  std::ofstream file(path);
  file << "analytic model\n29 63.546 3.61 fcc\n"
       << fmt::format("{} {:.17g} {} {:.17g} {}\n", g.nrho, g.drho, g.nr, g.dr, cutoff);
  block(file, g.nrho, g.drho, [](double rho) { return embedding(0, rho); });
  block(file, g.nr, g.dr, [](double r) { return std::sqrt(r * pair(0, 0, r) / (27.2 * 0.529)); });
  block(file, g.nr, g.dr, [](double r) { return density(0, 0, false, r); });
}

void write_setfl(const std::string& path, const Grid& g, bool by_both) {
  std::ofstream file(path);
  file << "analytic\nmodel\nof two elements\n2 Cu Ag\n"
       << fmt::format("{} {:.17g} {} {:.17g} {}\n", g.nrho, g.drho, g.nr, g.dr, cutoff);
  for (int a = 0; a < 2; ++a) {
    file << (a == 0 ? "29 63.546 3.61 fcc\n" : "47 107.87 4.09 fcc\n");
    block(file, g.nrho, g.drho, [&](double rho) { return embedding(a, rho); });
    for (int b = 0; b < (by_both ? 2 : 1); ++b)
      block(file, g.nr, g.dr, [&](double r) { return density(a, b, by_both, r); });
  }
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b <= a; ++b) block(file, g.nr, g.dr, [&](double r) { return r * pair(a, b, r); });
}

/// Types of a deck of two species are in the other order than the elements of the file.
double analytic_energy(const PeriodicSystem& s, bool by_both) {
  const bool two = s.particles.species.size() == 2;
  const auto element = [&](double type) { return two ? 1 - static_cast<int>(type) : 0; };
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    const int a = element(x(i, 3));
    double rho = 0.0;
    for (int j = 0; j < s.particles.total(); ++j) {
      const double d[3] = {x(j, 0) - x(i, 0), x(j, 1) - x(i, 1), x(j, 2) - x(i, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (j == i || r >= cutoff) continue;
      const int b = element(x(j, 3));
      energy += 0.5 * pair(a, b, r);
      rho += density(b, a, by_both, r);
    }
    energy += embedding(a, rho);
  }
  return energy;
}

/// Positions that a script for LAMMPS makes, too.
std::vector<Position> disturbed(double a) {
  auto positions = lattice(a, {2, 2, 2}, fcc_basis);
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (int k = 0; k < 3; ++k) positions[i][k] += 0.25 * std::sin(1.7 * static_cast<double>(i) + 0.9 * k);
  return positions;
}

PotentialCase eam_case(const std::string& path, int species, World& world) {
  PotentialCase c;
  const double a = 3.8, rows[3][3] = {{2 * a, 0, 0}, {0.3, 2 * a, 0}, {-0.2, 0.4, 2 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = disturbed(a);
  c.species = {{"Cu", 63.5}};
  if (species == 2) c.species = {{"Ag", 107.9}, {"Cu", 63.5}};  // another order than the file's
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(static_cast<int>((i / 3) % species));
  Eam::Params params;
  params.file = path;
  c.potential = std::make_unique<Eam>(params, world.context);
  c.potential->bind(c.species);
  return c;
}

struct Form {
  const char* name;
  int species;
  bool by_both;
};
const Form forms[] = {{"model.eam", 1, false}, {"model.eam.alloy", 2, false}, {"model.eam.fs", 2, true}};

void write(const std::string& path, const Form& form, const Grid& grid) {
  if (form.species == 1)
    write_funcfl(path, grid);
  else
    write_setfl(path, grid, form.by_both);
}

}  // namespace

TEST_CASE("eam has gradient, strain derivative and symmetries of funcfl, setfl and Finnis-Sinclair tables") {
  World world;
  const Scratch scratch("eam");
  for (const auto& form : forms) {
    INFO(form.name);
    write(scratch.file(form.name), form, {});
    auto c = eam_case(scratch.file(form.name), form.species, world);
    check_forces_are_gradient(c, world);
    check_virial_is_strain_derivative(c, world);
    check_invariances(c, world);
    check_rotation(c, world);
    check_outputs_agree(c, world);
  }
}

TEST_CASE("eam from tables converges to the formulas in fourth order") {
  World world;
  const Scratch scratch("eam_order");
  for (const auto& form : forms) {
    INFO(form.name);
    double error[2];
    for (int k = 0; k < 2; ++k) {
      const int n = k == 0 ? 400 : 800;
      write(scratch.file(form.name), form, {n, n, 12.0 / (n - 1), cutoff / (n - 1)});
      auto c = eam_case(scratch.file(form.name), form.species, world);
      auto s = c.system();
      const double exact = analytic_energy(s, form.by_both);
      error[k] = std::abs(c.evaluate(s, world).energy - exact) / std::abs(exact);
    }
    CHECK(error[0] < 1e-7);
    CHECK((error[1] < error[0] / 12.0 || error[1] < 1e-12));
  }
}

TEST_CASE("eam has LAMMPS' energy, forces and virial") {
  World world;
  const Scratch scratch("eam_lammps");
  // `pair_style eam`, `eam/alloy` and `eam/fs` of LAMMPS of 29 Sep 2021 with these tables, `units metal`; virial from
  // its pressures (1 eV/Å^3 = 1.6021765e6 bar), in the order xx, yy, zz, xy, xz, yz.
  struct Numbers {
    double energy, virial[6], force[3][3];
  };
  const Numbers lammps[3] = {{246.033800898692,
                              {540.0466293182885, 551.9909341600635, 557.5005997039121, 0.7061416217480562,
                               0.44816428382164386, -8.646652870181834},
                              {{-4.70447975540281, -0.757402944820347, -2.73887681121695},
                               {-7.74081619540197, -5.40060653974005, 2.63395447499297},
                               {3.54225292090866, 6.23718473938965, 6.91857999205571}}},
                             {285.089926720409,
                              {631.5134231328027, 646.7194980215676, 652.0705768247647, 0.8431115774563192,
                               1.1483562542822814, -9.71490707242372},
                              {{-5.73678257075972, -1.36015421548513, -4.23071656619109},
                               {-8.70660239658308, -6.42793208292857, 3.18101379966263},
                               {4.31064338107034, 7.22706002374972, 8.3656911619194}}},
                             {287.39667879754,
                              {633.5102425381976, 649.0054704460249, 654.0778637090897, 1.481099844951115,
                               0.8052733015224179, -10.027839013891958},
                              {{-5.73986399311458, -1.32966142686625, -4.1785759959904},
                               {-8.76660688679458, -6.44806997294248, 3.17582969911601},
                               {4.32307539766544, 7.26565696889035, 8.37963550722924}}}};
  for (int form = 0; form < 3; ++form) {
    INFO(forms[form].name);
    write(scratch.file(forms[form].name), forms[form], {});
    auto c = eam_case(scratch.file(forms[form].name), forms[form].species, world);
    auto s = c.system();
    const auto found = c.evaluate(s, world);
    CHECK(found.energy == Approx(lammps[form].energy).epsilon(1e-13));
    const int place[6] = {0, 4, 8, 1, 2, 5};
    for (int k = 0; k < 6; ++k) CHECK(found.virial[place[k]] == Approx(lammps[form].virial[k]).margin(1e-10));
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) CHECK(found.forces[i][k] == Approx(lammps[form].force[i][k]).margin(1e-12));
  }
}

TEST_CASE("eam goes on as a straight line above the densities of its table") {
  World world;
  const Scratch scratch("eam_beyond");
  write(scratch.file("model.eam.alloy"), forms[1], {1000, 2000, 0.4 / 999, cutoff / 1999});
  auto c = eam_case(scratch.file("model.eam.alloy"), 2, world);
  check_forces_are_gradient(c, world);
  check_virial_is_strain_derivative(c, world);
}

TEST_CASE("eam refuses damaged tables by file, line and reason") {
  World world;
  const Scratch scratch("eam_refused");
  const auto refuses = [&](const std::string& name, const std::string& text, EamFormat format = EamFormat::automatic) {
    const auto path = scratch.file(name);
    std::ofstream(path) << text;
    const auto said = message([&] { Eam({path, format, {}}, world.context); });
    return said.substr(std::min(said.find(name), said.size()));
  };
  const std::string title = "title\n29 63.546 3.61 fcc\n", six = "1 2 3 4 5 6\n";
  const std::string good = title + "6 0.1 6 0.5 2.5\n" + six + six + six;
  CHECK(refuses("a.eam", title) ==
        "a.eam:2: the file ends before the numbers of points, their spacings and the cut-off: it is truncated");
  CHECK(refuses("b.eam", title + "6 0.1 6 0.5\n") ==
        "b.eam:3: found 4 words, expected five values: nrho, drho, nr, dr, cut-off");
  CHECK(refuses("c.eam", title + "6 0.1 3 0.5 2\n") == "c.eam:3: nr is 3; a table has 6 to 10000000 points");
  CHECK(refuses("d.eam", title + "6 0.1 6 -0.5 2\n") == "d.eam:3: dr is -0.5; it must be positive");
  CHECK(refuses("e.eam", title + "6 0.1 6 0.5 9\n") ==
        "e.eam:3: the cut-off is 9 Å, but nr = 6 points with dr = 0.5 end at 2.5 Å; one of them is wrong");
  CHECK(refuses("f.eam", title + "6 0.1 6 0.5 2.5\n" + six + "1 2 3\n") ==
        "f.eam:5: the file ends after 3 of 6 values of the effective charge: it is truncated, or the numbers of points "
        "in its header are wrong");
  CHECK(refuses("g.eam", title + "6 0.1 6 0.5 2.5\n" + six + "1 2 3 4 5\n6 7\n" + six) ==
        "g.eam:6: the effective charge has more than 6 values; the numbers of points in the header do not fit the "
        "tables");
  CHECK(refuses("h.eam", good + "7\n") ==
        "h.eam:7: values follow the last table; the numbers of points in the header are wrong");
  CHECK(refuses("i.eam", title + "6 0.1 6 0.5 2.5\n1 2 nan 4 5 6\n") ==
        "i.eam:4: expected a number for the embedding function, found 'nan'");
  CHECK(refuses("j.eam", "title\n29\n") ==
        "j.eam:2: expected atomic number, mass, lattice constant and lattice of an element");
  CHECK(refuses("k.eam", "title\n29 -1 3.61 fcc\n") == "k.eam:2: the mass is -1 g/mol; it must be positive");
  const std::string alloy = "a\nb\nc\n1 Cu\n6 0.1 6 0.5 2.5\n29 63.5 3.6 fcc\n" + six + six + six;
  CHECK(refuses("l.alloy", alloy + six) ==
        "l.alloy:10: values follow the last table; the numbers of points in the header are wrong, or write `format: "
        "finnis_sinclair` for such a file");
  const std::string first = "a\nb\nc\n2 Cu Ag\n6 0.1 6 0.5 2.5\n29 63.5 3.6 fcc\n" + six + six;
  CHECK(refuses("o.alloy", first + "0.5 2 3 4 5 6\n") ==
        "o.alloy:9: expected the atomic number of an element, found '0.5'; write `format: finnis_sinclair` where the "
        "file "
        "has a density for each pair of elements");
  CHECK(refuses("m.alloy", "a\nb\nc\n2 Cu\n6 0.1 6 0.5 2.5\n") ==
        "m.alloy:4: found 1 names, expected the number of elements and as many names");
  // As in LAMMPS, empty lines and what is behind # mean nothing below the titles.
  std::ofstream(scratch.file("n.alloy")) << "a\nb\n\n1 Cu # one\n\n6 0.1 6 0.5 2.5 # points\n\n29 63.5 3.6 fcc\n" +
                                                six + "# density\n1 2 3 # and\n4 5 6\n\n" + six + "# end\n";
  CHECK_NOTHROW(Eam({scratch.file("n.alloy"), EamFormat::automatic, {}}, world.context));
  std::ofstream(scratch.file("good.eam")) << good;
  Eam copper({scratch.file("good.eam"), EamFormat::automatic, {}}, world.context);
  const std::vector<Species> silver = {{"Ag", 107.9}}, own = {{"X", 1.0}};
  CHECK_THROWS_WITH(copper.bind(silver), "eam: " + scratch.file("good.eam") +
                                             " has no species 'Ag'; it has: Cu; name its elements with `species`");
  CHECK_NOTHROW(Eam({scratch.file("good.eam"), EamFormat::automatic, {"X"}}, world.context).bind(own));
  CHECK_THROWS_WITH(Eam({scratch.file("good.eam"), EamFormat::automatic, {"X", "Y"}}, world.context),
                    "eam: `species` names 2 elements, but " + scratch.file("good.eam") + " has 1");
}
