// The stage compare: errors of any potentials on labelled frames, and a fit that finds the numbers that made the
// labels.
#include <fmt/format.h>

#include "plugins/deepmd/tasks/compare.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

TEST_CASE("the simplex finds a minimum inside the cube, and one on its border") {
  const auto bowl = [](double a, double b) {
    return [a, b](const std::vector<double>& p) {
      const double u = p[0] - a, v = p[1] - b;
      return 3.0 * u * u + v * v + u * v;
    };
  };
  const auto inside = simplex_minimum(bowl(0.21, 0.83), 2, 200);
  CHECK(inside[0] == Approx(0.21).margin(1e-4));
  CHECK(inside[1] == Approx(0.83).margin(1e-4));
  // A valley behind a wide basin: a simplex that begins in the middle ends in the basin.
  const auto valley = [](const std::vector<double>& p) {
    const double u = p[0] - 0.12, v = p[1] - 0.2, w = p[0] - 0.7, z = p[1] - 0.7;
    return std::min(300.0 * (u * u + v * v) - 2.0, w * w + z * z);
  };
  CHECK(simplex_minimum(valley, 2, 200)[0] == Approx(0.12).margin(1e-3));
  const auto border = simplex_minimum(bowl(0.4, 1.5), 2, 200);
  CHECK(border[1] == 1.0);
  CHECK(border[0] == Approx(0.4 + 0.5 / 6.0).margin(1e-3));  // of 3 u^2 - 0.5 u
}

namespace {

const std::string lattice = "structure: {lattice: {type: fcc, a: 5.3, cells: [2, 2, 2], species: [Ar]}}";

std::string lennard_jones(double epsilon, double sigma) {
  return fmt::format("{{type: lennard_jones, epsilon: {}, sigma: {}, cutoff: 6}}", epsilon, sigma);
}

std::string labels(Stages& stages, const std::string& folder, double epsilon, double sigma) {
  return stages.run("label", folder,
                    fmt::format("{{{}, potential: {}, perturbed: {{frames: 7, displacement: 0.2}}, validation: 0}}",
                                lattice, lennard_jones(epsilon, sigma))) +
         "/train";
}

/// Rows of compare.csv by the name of the potential: RMSE and MAE.
std::map<std::string, std::pair<double, double>> table_of(const std::string& folder) {
  std::map<std::string, std::pair<double, double>> out;
  std::ifstream in(folder + "/compare.csv");
  std::string line, name, path, frames, rmse, mae;
  std::getline(in, line);
  CHECK(line == "potential,system,frames,force_rmse (eV/angstrom),force_mae (eV/angstrom)");
  while (std::getline(in, name, ',') && std::getline(in, path, ',') && std::getline(in, frames, ',') &&
         std::getline(in, rmse, ',') && std::getline(in, mae)) {
    CHECK(frames == "7");
    out[name] = {std::stod(rmse), std::stod(mae)};
  }
  return out;
}

}  // namespace

TEST_CASE("potentials are compared with the labels, and a fit finds the numbers that made them") {
  Stages stages;
  const std::string systems = labels(stages, "labels", 0.0104, 3.4);
  const std::string folder = stages.run(
      "compare", "compare",
      fmt::format("{{systems: ['{}'], potentials: {{same: {{potential: {}}}, deeper: {{potential: {}}}, fitted: "
                  "{{potential: {}, fit: {{vary: {{epsilon: [0.001, 0.05], sigma: [3, 4]}}, systems: ['{}'], frames: "
                  "3}}}}}}}}",
                  systems, lennard_jones(0.0104, 3.4), lennard_jones(0.0208, 3.4), lennard_jones(1.0, 1.0), systems));
  const auto table = table_of(folder);
  REQUIRE(table.size() == 3);
  CHECK(table.at("same").first < 1e-12);
  // Twice the depth doubles the forces: the error is the size of the labels.
  double squares = 0.0, absolute = 0.0, count = 0.0;
  const DataSystem data = DataSystem::load(systems);
  for (std::size_t k = 0; k < data.frames(); ++k)
    for (const auto& f : data.frame(k).force)
      for (const double x : f) {
        squares += x * x;
        absolute += std::abs(x);
        count += 1.0;
      }
  CHECK(table.at("deeper").first == Approx(std::sqrt(squares / count)));
  CHECK(table.at("deeper").second == Approx(absolute / count));
  CHECK(table.at("fitted").first < 0.01 * table.at("deeper").first);
  const deck::Node fit = deck::load(folder + "/fit_fitted.yaml");
  CHECK(fit["type"].text() == "lennard_jones");
  CHECK(std::stod(fit["epsilon"].text()) == Approx(0.0104).epsilon(0.05));
  CHECK(std::stod(fit["sigma"].text()) == Approx(3.4).epsilon(0.01));
}

namespace {

/// Two atoms of argon with the forces of a Lennard-Jones pair, in a cell that holds them barely.
std::string pair_of_atoms(const Scratch& scratch, const std::string& pbc) {
  const double r = 3.6, six = std::pow(3.4 / r, 6), force = 24.0 * 0.0104 * six * (2.0 * six - 1.0) / r;
  const std::string file = scratch.file("pair.xyz");
  std::ofstream(file) << fmt::format(
      "2\nLattice=\"5 0 0 0 5 0 0 0 5\" pbc=\"{}\" Properties=species:S:1:pos:R:3:forces:R:3 energy=1\n"
      "Ar 0.5 1 1 {:.15g} 0 0\nAr 4.1 1 1 {:.15g} 0 0\n",
      pbc, -force, force);
  return file;
}

}  // namespace

TEST_CASE("frames that are not periodic are compared as they are, and refused where a potential needs a cell") {
  Stages stages;
  const auto run = [&](const std::string& pbc, const std::string& potential) {
    return stages.run("compare", "open",
                      fmt::format("{{systems: ['{}'], potentials: {{one: {{potential: {}}}}}}}",
                                  pair_of_atoms(stages.scratch, pbc), potential));
  };
  std::ifstream in(run("F F F", lennard_jones(0.0104, 3.4)) + "/compare.csv");
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  CHECK(std::stod(line.substr(line.rfind(',') + 1)) < 1e-12);
  const std::string tail = "{type: lennard_jones, epsilon: 0.0104, sigma: 3.4, cutoff: 6, tail: true}",
                    said = "pair.xyz, frame 0: the structure is not periodic along all three cell vectors";
  for (const std::string pbc : {"F F F", "T T F"}) {
    CHECK_THROWS_WITH(run(pbc, tail), Catch::Contains(said));
    CHECK_THROWS_WITH(run(pbc, "{type: coulomb, charges: {Ar: 0}}"), Catch::Contains(said));
  }
  run("T T T", tail);
}

TEST_CASE("a comparison without forces, systems or sensible bounds is refused") {
  Stages stages;
  const std::string file = stages.scratch.file("one.xyz");
  std::ofstream(file) << "1\nLattice=\"9 0 0 0 9 0 0 0 9\" energy=1\nAr 1 1 1\n";
  const auto run = [&](const std::string& systems, const std::string& more) {
    stages.run("compare", "refused",
               fmt::format("{{systems: [{}], potentials: {{one: {{potential: {}{}}}}}}}", systems,
                           lennard_jones(0.01, 3.4), more));
  };
  CHECK_THROWS_WITH(run("'" + file + "'", ""), Catch::Contains(", frame 0: a comparison needs forces"));
  CHECK_THROWS_WITH(run("", ""), Catch::Contains("compare needs systems and potentials"));
  CHECK_THROWS_WITH(run("a", ", fit: {vary: {}, systems: [a]}"),
                    Catch::Contains("a fit needs keys to vary and systems"));
  CHECK_THROWS_WITH(run("a", ", fit: {vary: {epsilon: [2, 1]}, systems: [a]}"),
                    Catch::Contains("vary.epsilon: give [lowest, highest], both above 0"));
}
