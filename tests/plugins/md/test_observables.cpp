#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numbers>

#include "core/io/checkpoint.hpp"
#include "core/parallel/random.hpp"
#include "plugins/md/writers/msd.hpp"
#include "plugins/md/writers/rdf.hpp"
#include "plugins/md/writers/vacf.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::md;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  SharedScratch scratch{comm};
  Context context{comm, log, timing};
  World() { context.run_directory = scratch.folder; }
};

struct Atom {
  double x[3], v[3];
  int type;
};

/// Particles on the ranks of `comm`, dealt like cards; wrapped into the cell, with image counts.
State state_of(const Comm& comm, const Box& box, const std::vector<Atom>& atoms) {
  State state;
  Particles& p = state.particles;
  p.box = box;
  p.species = {{"Cu", 60.0}, {"O", 20.0}};
  p.nglobal = std::ssize(atoms);
  for (std::int64_t k = comm.rank(); k < std::ssize(atoms); k += comm.size()) ++p.nlocal;
  p.reserve(p.nlocal);
  auto x = Kokkos::create_mirror_view(p.x);
  auto v = Kokkos::create_mirror_view(p.v);
  auto tag = Kokkos::create_mirror_view(p.tag);
  auto image = Kokkos::create_mirror_view(p.image);
  for (int row = 0; row < p.nlocal; ++row) {
    const std::int64_t k = comm.rank() + std::int64_t{row} * comm.size();
    const Atom& atom = atoms[k];
    double s[3], inside[3];
    box.to_fractional(atom.x, s);
    for (int d = 0; d < 3; ++d) {
      image(row, d) = static_cast<int>(std::floor(s[d]));
      s[d] -= std::floor(s[d]);
    }
    box.to_cartesian(s, inside);
    for (int d = 0; d < 3; ++d) {
      x(row, d) = inside[d];
      v(row, d) = atom.v[d];
    }
    x(row, 3) = atom.type;
    tag(row) = k + 1;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.v, v);
  Kokkos::deep_copy(p.tag, tag);
  Kokkos::deep_copy(p.image, image);
  return state;
}

void observe(Writer& writer, State& state, std::int64_t step, double time) {
  state.step = step;
  state.time = time;
  writer.observe(state, step, time);
}

std::vector<Atom> fcc(double a, int cells) {
  const double basis[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  std::vector<Atom> atoms;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k)
        for (int m = 0; m < 4; ++m)
          atoms.push_back(
              {{a * (i + basis[m][0]), a * (j + basis[m][1]), a * (k + basis[m][2])}, {0, 0, 0}, m == 0 ? 1 : 0});
  return atoms;
}

std::vector<double> read(const World& w, const std::string& file, const std::string& path) {
  return io::File::open(w.scratch.file(file)).read<std::vector<double>>(path);
}

}  // namespace

TEST_CASE("the RDF of a perfect fcc crystal has its shells, neighbours and nothing between") {
  World w;
  const double a = 4.0;
  const int cells = 6, bins = 1000;
  State state = state_of(w.comm, Box::orthogonal(cells * a, cells * a, cells * a), fcc(a, cells));
  Rdf::Params params;
  params.bins = bins;
  params.r_max = 10.0;
  Rdf rdf(params, w.context);
  for (int step : {0, 100, 200}) observe(rdf, state, step, 0.0);
  rdf.finish(state);
  if (!w.comm.root()) return;
  const auto file = io::File::open(w.scratch.file("rdf.h5"));
  CHECK(file.read<std::vector<std::string>>("rdf/pair") == std::vector<std::string>{"Cu-Cu", "Cu-O", "O-O"});
  CHECK(file.read<double>("rdf/samples") == 3.0);
  const auto n = read(w, "rdf.h5", "rdf/coordination"), g = read(w, "rdf.h5", "rdf/g"), r = read(w, "rdf.h5", "rdf/r");
  auto coordination = [&](int pair, double distance) {
    return n[pair * bins + static_cast<int>(distance * bins / 10.0)];
  };
  // Around a corner atom (O): 12 face atoms at a/sqrt2, 6 corners at a, 24 faces at a sqrt(3/2), 12 corners at a sqrt2,
  // ..
  const double between = a * 1.1;                   // after the second shell
  CHECK(coordination(0, a * 0.85) == Approx(8.0));  // a face atom has 8 face and 4 corner atoms at a/sqrt2
  CHECK(coordination(1, a * 0.85) == Approx(4.0));
  CHECK(coordination(2, a * 0.85) == Approx(0.0).margin(1e-12));
  CHECK(coordination(0, between) == Approx(8.0 + 6.0));
  CHECK(coordination(2, between) == Approx(6.0));
  CHECK(coordination(2, 1.5 * a) == Approx(6.0 + 12.0));
  CHECK(coordination(0, 1.3 * a) == Approx(8.0 + 6.0 + 16.0));
  CHECK(coordination(1, 1.3 * a) == Approx(4.0 + 8.0));
  const double shells[] = {a / std::sqrt(2.0), a, a * std::sqrt(1.5), a * std::sqrt(2.0), a * std::sqrt(2.5)};
  for (int k = 0; k < bins; ++k) {
    bool on_shell = r[k] > 9.7;
    for (double shell : shells) on_shell |= std::abs(r[k] - shell) < 0.011;
    for (double more : {3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0}) on_shell |= std::abs(r[k] - a * std::sqrt(more)) < 0.011;
    if (!on_shell) CHECK(g[k] == 0.0);
  }
  // The first shell's weight: 8 neighbours over the ideal number in the same bins.
  const double volume = std::pow(cells * a, 3), members = 3.0 * std::pow(cells, 3);
  double weight = 0.0;
  for (int k = 0; k < bins; ++k) {
    const double inner = k * 0.01, outer = inner + 0.01;
    if (r[k] < 3.0) weight += g[k] * 4.0 / 3.0 * std::numbers::pi * (std::pow(outer, 3) - std::pow(inner, 3));
  }
  CHECK(weight == Approx(8.0 * volume / (members - 1.0)));
}

TEST_CASE("the RDF of independent particles is 1 at every distance, in a skew cell as well") {
  World w;
  const double rows[3][3] = {{30, 0, 0}, {8, 28, 0}, {-5, 6, 31}};
  const Box box = Box::from_vectors(rows);
  Rdf::Params params;
  params.bins = 10;
  params.r_max = 12.0;
  params.average = 500;
  Rdf rdf(params, w.context);
  State last;
  for (int sample = 0; sample < 10; ++sample) {
    std::vector<Atom> atoms;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const Random4 random(7, Stream::test, i, sample);
      const double s[3] = {random.uniform(0), random.uniform(1), random.uniform(2)};
      Atom atom{{}, {0, 0, 0}, i % 4 == 0 ? 1 : 0};
      box.to_cartesian(s, atom.x);
      atoms.push_back(atom);
    }
    last = state_of(w.comm, box, atoms);
    observe(rdf, last, 100 * sample, 0.0);
  }
  rdf.finish(last);
  if (!w.comm.root()) return;
  const auto g = read(w, "rdf.h5", "rdf/g");
  CHECK(read(w, "rdf.h5", "rdf/samples") == std::vector<double>{5, 5});
  CHECK(read(w, "rdf.h5", "rdf/first_step") == std::vector<double>{0, 500});
  CHECK(read(w, "rdf.h5", "rdf/last_step") == std::vector<double>{400, 900});
  REQUIRE(g.size() == 2 * 3 * 10);
  const double members[3] = {1500.0 * 1499.0, 2.0 * 1500.0 * 500.0, 500.0 * 499.0};
  for (int average = 0; average < 2; ++average)
    for (int pair = 0; pair < 3; ++pair)
      for (int k = 0; k < 10; ++k) {
        const double inner = 1.2 * k, outer = inner + 1.2;
        const double shell = 4.0 / 3.0 * std::numbers::pi * (std::pow(outer, 3) - std::pow(inner, 3));
        // Unordered pairs are Poisson distributed; five samples; six standard deviations.
        const double pairs = 5.0 * 0.5 * members[pair] * shell / box.volume();
        CHECK(g[average * 30 + pair * 10 + k] == Approx(1.0).margin(6.0 / std::sqrt(pairs)));
      }
}

TEST_CASE("an RDF reaches as far as the cell allows and says so") {
  World w;
  State state = state_of(w.comm, Box::orthogonal(12, 14, 16), fcc(4.0, 3));
  Rdf::Params params;
  params.r_max = 7.5;
  Rdf too_far(params, w.context);
  CHECK(message([&] { observe(too_far, state, 0, 0.0); }) ==
        "rdf: r_max = 7.5 Å is more than half the smallest width of the cell (12 Å): choose at most 6 Å or a larger "
        "cell");
  params.r_max.reset();
  Rdf fits(params, w.context);
  observe(fits, state, 0, 0.0);
  fits.finish(state);
  if (w.comm.root()) CHECK(read(w, "rdf.h5", "rdf/r").back() == Approx(0.95 * 6.0).epsilon(0.01));
}

TEST_CASE("particles that fly freely have MSD = v^2 t^2, whatever cells they cross and however the whole drifts") {
  World w;
  const double rows[3][3] = {{10, 0, 0}, {3, 9, 0}, {-2, 1, 8}};
  const Box box = Box::from_vectors(rows);
  std::vector<Atom> start;
  double momentum[3] = {0, 0, 0}, mass = 0.0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Random4 random(3, Stream::test, i, 0), more(3, Stream::test, i, 1);
    Atom atom{{}, {}, i % 3 == 0 ? 1 : 0};
    for (int k = 0; k < 3; ++k) {
      atom.x[k] = 8.0 * random.uniform(k);
      atom.v[k] = 5.0 * more.normal(k) + 2.0;
    }
    const double m = atom.type ? 20.0 : 60.0;
    mass += m;
    for (int k = 0; k < 3; ++k) momentum[k] += m * atom.v[k];
    start.push_back(atom);
  }
  double square[2] = {0, 0}, members[2] = {0, 0};
  for (const auto& atom : start)
    for (int k = 0; k < 3; ++k) {
      square[atom.type] += std::pow(atom.v[k] - momentum[k] / mass, 2);
      members[atom.type] += 1.0 / 3.0;
    }
  Msd::Params params;
  params.length = 20;
  params.origins = 4;
  Msd msd(params, w.context);
  State state;
  for (int sample = 0; sample < 50; ++sample) {
    const double t = 0.25 * sample;
    auto atoms = start;
    for (auto& atom : atoms)
      for (int k = 0; k < 3; ++k) atom.x[k] += atom.v[k] * t;
    state = state_of(w.comm, box, atoms);
    observe(msd, state, 10 * sample, t);
  }
  msd.finish(state);
  if (!w.comm.root()) return;
  const auto time = read(w, "msd.h5", "time"), value = read(w, "msd.h5", "msd"), origins = read(w, "msd.h5", "origins");
  REQUIRE(time.size() == 21);
  CHECK(origins[0] == 10);  // every 5 samples of 50
  CHECK(origins[20] == 6);  // origins 0, 5, .. 25 are 20 samples old before the end
  for (std::size_t k = 0; k < time.size(); ++k) {
    CHECK(time[k] == Approx(0.25 * static_cast<double>(k)).margin(1e-12));
    for (int s = 0; s < 2; ++s)
      CHECK(value[(s + 1) * 21 + k] == Approx(square[s] / members[s] * time[k] * time[k]).margin(1e-9));
    CHECK(value[k] == Approx((square[0] + square[1]) / 60.0 * time[k] * time[k]).margin(1e-9));
  }
}

TEST_CASE("atoms that only follow a changing cell have no displacement, and others theirs in the later cell") {
  World w;
  const double rows[3][3] = {{10, 0, 0}, {3, 9, 0}, {-2, 1, 8}};
  for (const bool remove_drift : {true, false}) {
    INFO("drift removed: " << remove_drift);
    Msd::Params params;
    params.length = 4;
    params.origins = 4;
    params.remove_drift = remove_drift;
    Msd msd(params, w.context);
    State state;
    Box last;
    for (int sample = 0; sample < 5; ++sample) {
      double strained[3][3];
      for (int r = 0; r < 3; ++r)
        for (int k = 0; k < 3; ++k) strained[r][k] = rows[r][k] * (1.0 + 0.02 * sample * (k + 1));
      last = Box::from_vectors(strained);
      for (double& x : last.origin) x = -0.3 * sample;
      std::vector<Atom> atoms;
      for (std::uint64_t i = 0; i < 40; ++i) {
        const Random4 random(4, Stream::test, i, 0);
        // One species moves by a fifth of the first vector a sample, the other, of the same mass in all, back.
        const double jump = 0.2 * sample * (i % 4 == 0 ? 1.0 : -1.0);
        const double s[3] = {3.0 * random.uniform(0) - 1.0 + jump, random.uniform(1), 2.0 * random.uniform(2)};
        Atom atom{{}, {}, i % 4 == 0 ? 0 : 1};
        last.to_cartesian(s, atom.x);
        atoms.push_back(atom);
      }
      state = state_of(w.comm, last, atoms);
      observe(msd, state, sample, 0.1 * sample);
    }
    msd.finish(state);
    w.comm.barrier();
    if (w.comm.root()) {
      const auto value = read(w, "msd.h5", "msd");
      REQUIRE(value.size() == 15);
      // Lag 4 has one origin, the first sample: four jumps of a fifth of the last cell's first vector.
      for (int s = 0; s < 2; ++s)
        CHECK(value[5 * (s + 1) + 4] == Approx(std::pow(0.8 * last.h[0][0], 2)).epsilon(1e-10));
      CHECK(value[0] == Approx(0.0).margin(1e-12));
    }
    w.comm.barrier();
  }
}

TEST_CASE("a random walk gives its diffusion coefficient by Einstein's relation") {
  World w;
  const Box box = Box::orthogonal(20, 20, 20);
  const double dt = 0.5, sigma = 0.3;  // D = sigma^2 / (2 dt)
  std::vector<Atom> atoms(400, Atom{{10, 10, 10}, {0, 0, 0}, 0});
  Msd::Params params;
  params.length = 20;
  params.origins = 20;
  params.remove_drift = false;
  Msd msd(params, w.context);
  State state;
  for (int sample = 0; sample < 200; ++sample) {
    state = state_of(w.comm, box, atoms);
    observe(msd, state, sample, dt * sample);
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const Random4 random(11, Stream::test, i, sample);
      for (int k = 0; k < 3; ++k) atoms[i].x[k] += sigma * random.normal(k);
    }
  }
  msd.finish(state);
  if (w.comm.root()) CHECK(read(w, "msd.h5", "diffusion")[0] == Approx(sigma * sigma / (2.0 * dt)).epsilon(0.05));
}

TEST_CASE("particles on springs have a cosine as velocity autocorrelation") {
  World w;
  const Box box = Box::orthogonal(20, 20, 20);
  const double omega = 3.0, dt = 0.02;
  Vacf::Params params;
  params.length = 100;
  params.origins = 50;
  params.remove_drift = false;
  Vacf vacf(params, w.context);
  State state;
  for (int sample = 0; sample < 150; ++sample) {
    std::vector<Atom> atoms;
    for (int i = 0; i < 64; ++i) {
      Atom atom{{1, 2, 3}, {}, i % 2};
      // Phases spread evenly make the average over particles exact: <cos(wt0 + p) cos(wt0 + wt + p)> = cos(wt) / 2.
      for (int k = 0; k < 3; ++k)
        atom.v[k] = (atom.type + 1) * std::cos(omega * dt * sample + 2.0 * std::numbers::pi * (i / 2 + k) / 32.0);
      atoms.push_back(atom);
    }
    state = state_of(w.comm, box, atoms);
    observe(vacf, state, sample, dt * sample);
  }
  vacf.finish(state);
  if (!w.comm.root()) return;
  const auto time = read(w, "vacf.h5", "time"), value = read(w, "vacf.h5", "vacf"),
             running = read(w, "vacf.h5", "running_diffusion");
  REQUIRE(time.size() == 101);
  for (std::size_t k = 0; k < 101; ++k) {
    CHECK(value[101 + k] == Approx(1.5 * std::cos(omega * time[k])).margin(1e-10));
    CHECK(value[202 + k] == Approx(6.0 * std::cos(omega * time[k])).margin(1e-10));
    CHECK(running[101 + k] == Approx(0.5 * std::sin(omega * time[k]) / omega).margin(2e-4));
  }
  CHECK(read(w, "vacf.h5", "diffusion")[1] == Approx(running[201]));
}

TEST_CASE("observables interrupted by a restart give the same bits") {
  World w;
  const Box box = Box::orthogonal(20, 20, 20);
  auto sample_at = [&](int sample) {
    std::vector<Atom> atoms;
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Random4 random(5, Stream::test, i, sample), more(6, Stream::test, i, sample);
      Atom atom{{}, {}, i % 3 == 0 ? 1 : 0};
      for (int k = 0; k < 3; ++k) {
        atom.x[k] = 20.0 * random.uniform(k);
        atom.v[k] = more.normal(k);
      }
      atoms.push_back(atom);
    }
    return state_of(w.comm, box, atoms);
  };
  Rdf::Params rdf_params;
  rdf_params.average = 12;
  Msd::Params msd_params;
  msd_params.length = 8;
  msd_params.origins = 4;
  Vacf::Params vacf_params;
  vacf_params.length = 8;
  vacf_params.origins = 4;
  auto make = [&] {
    std::vector<std::unique_ptr<Writer>> writers;
    writers.push_back(std::make_unique<Rdf>(rdf_params, w.context));
    writers.push_back(std::make_unique<Msd>(msd_params, w.context));
    writers.push_back(std::make_unique<Vacf>(vacf_params, w.context));
    return writers;
  };
  auto run = [&](std::vector<std::unique_ptr<Writer>>& writers, int from, int to) {
    for (int sample = from; sample < to; ++sample) {
      State state = sample_at(sample);
      for (auto& writer : writers) observe(*writer, state, sample, 0.1 * sample);
      if (sample + 1 == to)
        for (auto& writer : writers) writer->finish(state);
    }
  };
  auto results = [&] {
    std::vector<double> all;
    const std::pair<const char*, const char*> arrays[] = {{"rdf.h5", "rdf/g"}, {"rdf.h5", "rdf/coordination"},
                                                          {"msd.h5", "msd"},   {"msd.h5", "time"},
                                                          {"vacf.h5", "vacf"}, {"vacf.h5", "running_diffusion"}};
    for (const auto& [file, name] : arrays) {
      const auto values = read(w, file, name);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  auto whole = make();
  run(whole, 0, 30);
  w.comm.barrier();
  const auto expected = results();
  w.comm.barrier();
  auto first = make();
  run(first, 0, 17);
  const State at = sample_at(16);
  io::Provenance provenance;
  provenance.ranks = w.comm.size();
  io::write_checkpoint(w.scratch.file("restart.16.h5"), at, w.comm, provenance, [&](io::Group& root) {
    for (std::size_t k = 0; k < first.size(); ++k) {
      io::Group own = root.create_group(fmt::format("writers/{}", k));
      first[k]->save(own);
    }
  });
  auto second = make();
  const io::Checkpoint checkpoint(w.scratch.file("restart.16.h5"), w.comm);
  for (std::size_t k = 0; k < second.size(); ++k) {
    second[k]->load(checkpoint.file().group(fmt::format("writers/{}", k)));
    second[k]->resume(16);
  }
  run(second, 17, 30);
  w.comm.barrier();
  CHECK(results() == expected);
  w.comm.barrier();
}
