// The same answer on any number of ranks, whichever dimension is cut; restart bit for bit.
#include "core/io/h5.hpp"
#include "kinetic_run.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

static VlasovMaxwell::Params small(std::vector<int> ranks = {}) {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {12});
  p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {8, 6},
                       "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
  p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
  p.fields.B = {"0", "0", "0.3 + 0.2*sin(0.5*x)"};
  p.ranks = std::move(ranks);
  return p;
}

template <class P>
static std::vector<double> cells_of(KineticRun<P>& run) {
  const auto& solver = run.physics->species().front()->solver();
  solver.to_host_const(0);
  std::vector<double> out, f(solver.basis().modes);
  for (int ic = 0; ic < solver.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < solver.grid().local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
  return out;
}

/// Largest difference between this rank's part of a run and the same cells of a run on one rank.
template <class P>
static double difference(KineticRun<P>& part, KineticRun<P>& whole) {
  const auto& a = part.physics->species().front()->solver();
  const auto& b = whole.physics->species().front()->solver();
  a.to_host_const(0), b.to_host_const(0);
  std::vector<double> f(a.basis().modes), g(a.basis().modes);
  double worst = 0.0;
  for (int ic = 0; ic < a.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < a.grid().local_velocity_cells(); ++iv) {
      const auto v = a.grid().local_velocity(iv);
      int index = 0;
      for (int d = 0; d < a.grid().vdim; ++d) index = index * a.grid().velocity(d).cells + a.grid().velocity(d).first + v[d];
      a.get(0, ic, iv, f.data());
      b.get(0, a.grid().conf_index(a.grid().local_conf(ic)), index, g.data());
      for (std::size_t k = 0; k < f.size(); ++k) worst = std::max(worst, std::abs(f[k] - g[k]));
    }
  return part.comm.max(worst);
}

TEST_CASE("cuts in configuration and velocity space change nothing beyond rounding") {
  const int n = Comm().size();
  std::vector<std::vector<int>> cuts{{n, 1, 1}, {1, n, 1}, {1, 1, n}, {}};
  if (n == 4) cuts.push_back({2, 2, 1}), cuts.push_back({1, 2, 2});
  for (const auto& cut : cuts) {
    KineticRun<VlasovMaxwell> whole(small(), MPI_COMM_SELF), part(small(cut));
    whole.start(), part.start();
    for (int k = 0; k < 10; ++k) whole.step(), part.step();
    INFO("cut " << (cut.empty() ? std::string("chosen") : std::to_string(cut[0]) + "," + std::to_string(cut[1]) + "," + std::to_string(cut[2])));
    CHECK(difference(part, whole) < 1e-13);
    CHECK(part.state.time == Approx(whole.state.time).epsilon(1e-12));
  }
}

TEST_CASE("two dimensions are cut in both directions") {
  const int n = Comm().size();
  VlasovPoisson::Params p;
  p.domain = domain({"0", "0"}, {"4*pi", "4*pi"}, {8, 6});
  p.species = {species("electron", "-1", "1", {"-5", "-5"}, {"5", "5"}, {4, 4},
                       "(1 + 0.1*cos(0.5*x)*cos(0.5*y)) * maxwellian(vx) * maxwellian(vy)")};
  std::vector<std::vector<int>> cuts{{n, 1, 1, 1}, {1, n, 1, 1}, {1, 1, 1, n}};
  if (n == 4) cuts.push_back({2, 2, 1, 1}), cuts.push_back({1, 2, 2, 1});
  for (const auto& cut : cuts) {
    auto q = p;
    q.ranks = cut;
    KineticRun<VlasovPoisson> whole(p, MPI_COMM_SELF), part(q);
    whole.start(), part.start();
    for (int k = 0; k < 5; ++k) whole.step(), part.step();
    CHECK(difference(part, whole) < 1e-13);
  }
}

TEST_CASE("a restarted run is the same bit for bit") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("kinetic_restart.h5");
  auto params = small();
  params.observables.growth_rate = GrowthParams{};
  KineticRun<VlasovMaxwell> straight(params), first(params), second(params);
  straight.start(), first.start();
  for (int k = 0; k < 8; ++k) straight.step();
  for (int k = 0; k < 4; ++k) first.step();
  {
    io::File file = comm.root() ? io::File::create(path) : io::File::in_memory(path);
    first.physics->save(file);
    if (comm.root()) file.close();
  }
  comm.barrier();
  second.state.step = first.state.step, second.state.time = first.state.time;
  second.physics->restore(second.state, second.context, io::File::open(path), true);
  for (int k = 0; k < 4; ++k) second.step();
  CHECK(second.state.time == straight.state.time);
  CHECK(cells_of(second) == cells_of(straight));
  CHECK(second("total_energy") == straight("total_energy"));
  CHECK(second.physics->growth()->fit().gamma == straight.physics->growth()->fit().gamma);
}
