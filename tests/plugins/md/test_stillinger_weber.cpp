#include <limits>

#include "core/base/error.hpp"
#include "plugins/md/potentials/stillinger_weber_kernel.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using md::StillingerWeber;

namespace {

/// The formula as printed, over pairs and triplets.
double plain_energy(const PeriodicSystem& s, const StillingerWeber::Params& p) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    std::vector<std::array<double, 4>> legs;
    for (int j = 0; j < s.particles.total(); ++j) {
      const double d[3] = {x(j, 0) - x(i, 0), x(j, 1) - x(i, 1), x(j, 2) - x(i, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (j == i || r >= p.a * p.sigma) continue;
      legs.push_back({d[0] / r, d[1] / r, d[2] / r, r});
      energy += 0.5 * p.A * p.epsilon * (p.B * std::pow(p.sigma / r, p.p) - std::pow(p.sigma / r, p.q)) *
                std::exp(p.sigma / (r - p.a * p.sigma));
    }
    for (std::size_t j = 0; j < legs.size(); ++j)
      for (std::size_t k = j + 1; k < legs.size(); ++k) {
        const double cosine = legs[j][0] * legs[k][0] + legs[j][1] * legs[k][1] + legs[j][2] * legs[k][2];
        energy += p.lambda * p.epsilon * (cosine - p.cos0) * (cosine - p.cos0) *
                  std::exp(p.gamma * p.sigma / (legs[j][3] - p.a * p.sigma)) *
                  std::exp(p.gamma * p.sigma / (legs[k][3] - p.a * p.sigma));
      }
  }
  return energy;
}

/// The kernel that devices run, and the host for atoms with very many neighbours: one thread per atom.
template <class P>
class AtomByAtom : public StillingerWeber {
 public:
  AtomByAtom(const Params& params, Context& context) : StillingerWeber(params, context), own_(params) {}
  void compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
               ForceOutput& out, Context&) override {
    using namespace md;
    dispatch(request, [&]<Outputs outputs>() {
      run_atoms<outputs>("test", particles.nlocal, StillingerWeberKernel<P, outputs, false>(own_, particles, list, out),
                         out);
    });
  }

 private:
  Params own_;
};

/// Leaves numbers that are none where the arrays of the next call will lie.
[[gnu::noinline]] void spoil_stack() {
  volatile double none[16384];
  for (auto& value : none) value = std::numeric_limits<double>::quiet_NaN();
}

class OnSpoiledStack : public StillingerWeber {
 public:
  using StillingerWeber::StillingerWeber;
  void compute(const Particles& particles, const NeighborList& list, GhostExchange& exchange,
               const ForceRequest& request, ForceOutput& out, Context& context) override {
    spoil_stack();
    StillingerWeber::compute(particles, list, exchange, request, out, context);
  }
};

PotentialCase silicon_case(const StillingerWeber::Params& params, double a, double amplitude, World& world) {
  PotentialCase c;
  const double rows[3][3] = {{2 * a, 0, 0}, {0.3, 2 * a, 0}, {-0.2, 0.4, 2 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {2, 2, 2}, diamond_basis);
  rattle(c.positions, amplitude, 4);
  c.types.assign(c.positions.size(), 0);
  c.species = {{"Si", 28.0855}};
  c.potential = std::make_unique<StillingerWeber>(params, world.context);
  c.potential->bind(c.species);
  c.oracle = [params](const PeriodicSystem& s) { return plain_energy(s, params); };
  return c;
}

}  // namespace

TEST_CASE("stillinger_weber silicon, crystal to dense liquid") {
  World world;
  for (const auto& [a, amplitude] : {std::pair(5.431, 0.02), std::pair(5.431, 0.4), std::pair(4.9, 0.5)}) {
    INFO("lattice constant " << a << ", amplitude " << amplitude);
    check_potential(silicon_case({}, a, amplitude, world), world);
  }
}

TEST_CASE("stillinger_weber, atoms shared out among threads") {
  World world;
  for (const int threads : {2, 3, 4}) {
    const AsIfThreads as_if(threads);
    check_potential(silicon_case({}, 5.431, 0.4, world), world);
  }
}

TEST_CASE("stillinger_weber with many neighbours and other parameters") {
  World world;
  StillingerWeber::Params p;
  p.epsilon = 0.4;
  p.sigma = 2.4;
  p.a = 2.1;
  p.lambda = 3.0;
  p.gamma = 0.9;
  p.cos0 = -0.2;
  p.p = 5;
  p.q = 2;
  auto c = silicon_case(p, 5.0, 0.3, world);  // over 32 neighbours, so that not all fit the kept packs
  c.skin = 3.0;                               // and rows longer than the filter takes
  check_potential(c, world);
}

TEST_CASE("stillinger_weber one thread per atom, whole packs and single numbers") {
  World world;
  auto c = silicon_case({}, 5.2, 0.4, world);
  c.potential = std::make_unique<AtomByAtom<Pack<double, 1>>>(StillingerWeber::Params(), world.context);
  check_potential(c, world);
  if constexpr (device_is_host) {
    c.potential =
        std::make_unique<AtomByAtom<Pack<double, native_width<double>>>>(StillingerWeber::Params(), world.context);
    check_potential(c, world);
  }
}

TEST_CASE("stillinger_weber with more neighbours than a block of the host holds") {
  World world;
  StillingerWeber::Params p;
  p.sigma = 4.0;
  p.a = 2.5;
  p.epsilon = 1e-3;
  auto c = silicon_case(p, 4.4, 0.3, world);  // about 390 neighbours within 10 Å
  check_energy_against_oracle(c, world);
  check_virial_is_strain_derivative(c, world);
  check_outputs_agree(c, world);
}

TEST_CASE("stillinger_weber silicon has its published cohesion") {
  // In units of epsilon and sigma the ideal crystal has energy -2 epsilon per atom at its minimum.
  World world;
  PotentialCase c = silicon_case({}, 5.431, 0.0, world);
  c.box = Box::orthogonal(10.862, 10.862, 10.862);
  auto s = c.system();
  const Evaluation e = c.evaluate(s, world);
  CHECK(e.energy / c.positions.size() == Approx(-2.0 * 2.1683).epsilon(1e-5));
}

TEST_CASE("stillinger_weber reads nothing behind its last pair") {
  World world;
  auto c = silicon_case({}, 5.431, 0.02, world);  // 16 atoms of 4 neighbours fill whole packs, their last load does not
  c.potential = std::make_unique<OnSpoiledStack>(StillingerWeber::Params(), world.context);
  check_potential(c, world);
}

TEST_CASE("stillinger_weber takes one species") {
  World world;
  StillingerWeber potential({}, world.context);
  const std::vector<Species> two = {{"Si", 28.1}, {"Ge", 72.6}};
  CHECK_THROWS_WITH(potential.bind(two), "stillinger_weber describes one species, but the deck has 2: Si, Ge");
}
