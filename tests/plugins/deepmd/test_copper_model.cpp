// The Deep Potential that inputs/deepmd/copper.yaml makes and inputs/deepmd/models holds, beside the potential it was
// trained on.
#include <iostream>

#include "core/particles/lattice.hpp"
#include "plugins/deepmd/tasks/sampling.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/md_run.hpp"

using namespace cambium;
using namespace cambium::deepmd;

namespace {

const std::string model = CAMBIUM_SOURCE_DIR "/inputs/deepmd/models/copper.dp";

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry};
  std::unique_ptr<Potential> teacher, trained;

  World() {
    register_plugins(registry);
    teacher = make("{type: sutton_chen, element: Cu, cutoff: 6.0, switch_width: 2.0}");
    trained = make("{type: deep_potential, model: " + model + ", compress: 1e-8}");
    const Species copper[] = {{"Cu", 63.546}};
    for (auto* p : {teacher.get(), trained.get()}) p->bind(copper);
  }
  std::unique_ptr<Potential> make(const std::string& text) {
    const deck::Node node = deck::parse(text, "test");
    return registry.make<Potential>(node["type"].text(),
                                    node.without([](const std::string& key) { return key == "type"; }), context);
  }
};

Configuration crystal(double a, int cells) {
  Configuration c;
  c.species = {{"Cu", 63.546}};
  c.box = Box::orthogonal(a * cells, a * cells, a * cells);
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k)
        for (const auto& s : lattice_basis(LatticeType::fcc))
          c.x.push_back({a * (i + s[0]), a * (j + s[1]), a * (k + s[2])});
  c.types.assign(c.x.size(), 0);
  return c;
}

struct Bulk {
  double a, modulus;  ///< Å, eV/Å^3
};

/// Minimum and curvature of E(a) per cell of four atoms, by Newton's steps on differences.
Bulk bulk_of(Potential& potential, Context& context) {
  const auto energy = [&](double a) { return *single_point(potential, crystal(a, 1), context).energy; };
  double a = 3.6;
  constexpr double h = 0.01;
  double second = 0.0;
  for (int k = 0; k < 8; ++k) {
    const double up = energy(a + h), mid = energy(a), down = energy(a - h);
    second = (up - 2.0 * mid + down) / (h * h);
    a -= (up - down) / (2.0 * h) / second;
  }
  return {a, second / (9.0 * a)};  // B = V d2E/dV2 with V = a^3 at the minimum
}

}  // namespace

TEST_CASE("trained copper: errors on configurations that it has not seen") {
  World world;
  const Configuration start = crystal(3.61, 3);
  std::vector<Configuration> unseen;
  Perturbed crystals;
  crystals.strain = 0.03;
  crystals.volume = 0.04;
  crystals.displacement = 0.08;
  for (int k = 0; k < 10; ++k) unseen.push_back(perturbed(start, crystals, 4711, k));
  Trajectories liquid;
  liquid.melt_at = 4500;
  liquid.equilibrate = 600;
  liquid.frames = 10;
  liquid.every = 25;
  for (const Configuration& c : trajectory(start, liquid, 1550.0, 0.03, *world.teacher, 4711, 0, world.context))
    unseen.push_back(c);
  double energy = 0.0, force = 0.0, frames = 0.0, components = 0.0;
  for (const Configuration& c : unseen) {
    const LabelledFrame t = single_point(*world.teacher, c, world.context),
                        m = single_point(*world.trained, c, world.context);
    const double e = (*m.energy - *t.energy) / static_cast<double>(c.x.size());
    energy += e * e;
    frames += 1.0;
    for (std::size_t i = 0; i < c.x.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) force += std::pow(m.force[i][k] - t.force[i][k], 2), components += 1.0;
  }
  energy = std::sqrt(energy / frames);
  force = std::sqrt(force / components);
  std::cout << "copper, unseen configurations: " << 1e3 * energy << " meV/atom, " << 1e3 * force << " meV/Å\n";
  REQUIRE(energy < 3e-3);
  REQUIRE(force < 40e-3);
}

TEST_CASE("trained copper: lattice constant and bulk modulus") {
  World world;
  const Bulk t = bulk_of(*world.teacher, world.context), m = bulk_of(*world.trained, world.context);
  std::cout << "copper: lattice constant " << t.a << " and " << m.a << " Å, bulk modulus " << 160.2176634 * t.modulus
            << " and " << 160.2176634 * m.modulus << " GPa (teacher, trained)\n";
  REQUIRE(std::abs(m.a / t.a - 1.0) < 0.003);
  REQUIRE(std::abs(m.modulus / t.modulus - 1.0) < 0.05);
}

namespace {
/// Mean and scatter about it of the conserved energy per atom along a run in the liquid.
std::vector<double> conserved_energies(double timestep, int samples, int every, int cells = 4, double melting = 0.4,
                                       const std::string& more = "") {
  const std::string text =
      "{structure: {lattice: {type: fcc, a: 3.74, cells: [" + std::to_string(cells) + ", " + std::to_string(cells) +
      ", " + std::to_string(cells) +
      "], species: [Cu], displacement: 0.5}}, initial_temperature: 2500, potential: {type: deep_potential, model: " +
      model + ", compress: 1e-9" + more + "}, timestep: " + std::to_string(timestep) + "}";
  test::MdRun run(text, 5);
  std::vector<double> out;
  run.advance(static_cast<int>(std::lround(melting / timestep)));  // the displaced crystal melts
  for (int k = 0; k < samples; ++k) {
    run.advance(every);
    out.push_back(run.measure()[test::conserved] / run.count());
  }
  return out;
}
double slope(const std::vector<double>& y) {
  const double n = static_cast<double>(y.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double x = static_cast<double>(k);
    sx += x;
    sy += y[k];
    sxx += x * x;
    sxy += x * y[k];
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
double scatter(const std::vector<double>& y) {
  double mean = 0, sum = 0;
  for (double v : y) mean += v / static_cast<double>(y.size());
  for (double v : y) sum += (v - mean) * (v - mean) / static_cast<double>(y.size());
  return std::sqrt(sum);
}
}  // namespace

TEST_CASE("trained copper: energy of the liquid is conserved, to second order in the step", "[.long]") {
  const auto one = conserved_energies(0.001, 600, 10), two = conserved_energies(0.002, 300, 10);
  const double drift = slope(one) / 0.01, order = std::log2(scatter(two) / scatter(one));
  std::cout << "copper liquid: drift " << drift << " eV/atom/ps at 1 fs, order of the scatter " << order << "\n";
  REQUIRE(std::abs(drift) < 1e-6);
  REQUIRE(order == Approx(2.0).margin(0.3));
}

TEST_CASE("trained copper: with energy networks of few bits NVE conserves energy as it does in full") {
  const auto full = conserved_energies(0.001, 60, 2, 3, 0.06);
  for (const std::string few : {"{bits: 4}", "{bits: 2}", "{weights: ternary}"}) {
    const auto coded = conserved_energies(0.001, 60, 2, 3, 0.06, ", quantize: " + few);
    INFO(few << ": scatter " << scatter(full) << ' ' << scatter(coded) << ", drift " << slope(full) / 0.002 << ' '
             << slope(coded) / 0.002);
    std::cout << "copper, quantize: " << few << ": scatter of the conserved energy " << scatter(coded)
              << " eV/atom, in full " << scatter(full) << "\n";
    CHECK(scatter(coded) < 2.0 * scatter(full));
    CHECK(std::abs(coded.back() - full.back()) > 1e-3);  // it is another energy
  }
}
