// The stage label: what it writes, that it is a function of the seed alone, and that labels are derivatives of
// energies.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/timing.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/model/model_tree.hpp"
#include "plugins/deepmd/model/random_model.hpp"
#include "plugins/deepmd/tasks/label.hpp"
#include "plugins/plugin_list.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry};
  World() { register_plugins(registry); }
};

Label::Params copper(int frames) {
  Label::Params p;
  LatticeSpec lattice;
  lattice.a = 3.61;
  lattice.cells = {2, 2, 2};
  lattice.species = {"Cu"};
  p.structure.lattice = lattice;
  p.potential = deck::Choice<Potential>(
      "sutton_chen", deck::Node::map({{"element", deck::Node::scalar("Cu")}, {"cutoff", deck::Node::scalar("5.0")}}));
  p.perturbed.frames = frames;
  Trajectories hot;
  hot.temperature = {600.0, 1200.0};
  hot.frames = 2;
  hot.every = 3;
  hot.equilibrate = 4;
  p.dynamics = {hot};
  p.validation = 0.3;
  return p;
}

DataSystem run(World& world, const std::string& folder) {
  world.context.run_directory = folder;
  Label(copper(6), world.context).run(world.context);
  world.comm.barrier();
  return DataSystem::load(folder + "/train");
}

}  // namespace

TEST_CASE("labels are energies with their own derivatives") {
  World world;
  const Comm self(MPI_COMM_SELF);
  Context alone{const_cast<Comm&>(self), world.log, world.timing, &world.registry};
  auto potential = world.registry.make<Potential>(copper(1).potential, alone);
  Configuration c;
  c.species = {{"Cu", 63.5}};
  c.box = Box::orthogonal(7.22, 7.22, 7.22);
  for (int k = 0; k < 32; ++k) c.types.push_back(0);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int d = 0; d < 2; ++d)
        for (const auto& s : lattice_basis(LatticeType::fcc))
          c.x.push_back({3.61 * (a + s[0]), 3.61 * (b + s[1]), 3.61 * (d + s[2])});
  potential->bind(c.species);
  Perturbed spec;
  spec.strain = 0.05;
  spec.displacement = 0.15;
  c = perturbed(c, spec, 11, 3);
  const LabelledFrame f = single_point(*potential, c, alone);
  constexpr double h = 1e-4;
  for (int k = 0; k < 3; ++k) {
    Configuration up = c, down = c;
    up.x[5][k] += h;
    down.x[5][k] -= h;
    const double slope =
        (*single_point(*potential, up, alone).energy - *single_point(*potential, down, alone).energy) / (2 * h);
    REQUIRE(f.force[5][k] == Approx(-slope).margin(1e-6));
  }
  const auto stretched = [&](double s) {
    Configuration out = c;
    for (auto& row : out.box.h)
      for (double& x : row) x *= 1 + s;
    for (auto& x : out.x)
      for (double& v : x) v *= 1 + s;
    return *single_point(*potential, out, alone).energy;
  };
  REQUIRE(f.virial[0] + f.virial[4] + f.virial[8] == Approx(-(stretched(h) - stretched(-h)) / (2 * h)).margin(1e-4));
}

TEST_CASE("the stage writes the same data for the same seed on any number of ranks") {
  World world;
  const SharedScratch scratch(world.comm);
  const DataSystem first = run(world, scratch.file("a")), second = run(world, scratch.file("b"));
  const DataSystem held_out = DataSystem::load(scratch.file("a") + "/validation");
  REQUIRE(first.frames() + held_out.frames() == 10);
  REQUIRE(first.type_map() == std::vector<std::string>{"Cu"});
  REQUIRE(first.frames() == second.frames());
  double energies = 0.0;
  for (std::size_t k = 0; k < first.frames(); ++k) {
    REQUIRE(*first.frame(k).energy == *second.frame(k).energy);
    REQUIRE(first.frame(k).x == second.frame(k).x);
    energies += *first.frame(k).energy;
  }
  REQUIRE(energies / static_cast<double>(first.frames()) / 32 < -2.5);
  World other;
  other.context.seed = 2;
  REQUIRE(*run(other, scratch.file("c")).frame(0).energy != *first.frame(0).energy);
}

/// Frames of both sets, all their numbers.
static std::vector<double> numbers_of(const std::string& folder) {
  std::vector<double> out;
  for (const char* set : {"/train", "/validation"}) {
    const DataSystem system = DataSystem::load(folder + set);
    for (std::size_t k = 0; k < system.frames(); ++k) {
      const LabelledFrame f = system.frame(k);
      out.push_back(*f.energy);
      for (const auto& rows : {f.x, f.force})
        for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
    }
  }
  return out;
}

TEST_CASE("a stage that is stopped again and again writes what one that is not stopped writes") {
  World world;
  const SharedScratch scratch(world.comm);
  run(world, scratch.file("whole"));
  world.context.run_directory = scratch.file("pieces");
  int stops = 0;
  for (double limit = 1e-4;; limit *= 2.0) {
    StopRequest stop(world.comm, wall_seconds(), limit);
    world.context.stop = &stop;
    world.context.resume = stops > 0;
    if (Label(copper(6), world.context).run(world.context) == Task::Outcome::done) break;
    ++stops;
    CHECK(std::filesystem::exists(world.context.run_directory + "/samples.journal"));
  }
  world.comm.barrier();
  CHECK(stops > 0);
  CHECK_FALSE(std::filesystem::exists(world.context.run_directory + "/samples.journal"));
  CHECK_FALSE(std::filesystem::exists(world.context.run_directory + "/labels.journal"));
  CHECK(numbers_of(scratch.file("pieces")) == numbers_of(scratch.file("whole")));
}

TEST_CASE("a stage does not go on with what another deck has finished") {
  World world;
  const SharedScratch scratch(world.comm);
  world.context.run_directory = scratch.file("run");
  {
    StopRequest stop(world.comm, wall_seconds() - 1.0, 1e-3);
    world.context.stop = &stop;
    CHECK(Label(copper(6), world.context).run(world.context) == Task::Outcome::stopped_early);
  }
  world.context.stop = nullptr;
  world.context.resume = true;
  Label::Params other = copper(6);
  other.perturbed.displacement = 0.2;
  CHECK_THROWS_WITH(Label(other, world.context).run(world.context),
                    Catch::Contains("holds results of other work") && Catch::Contains("use another run directory"));
}

namespace {

/// Writes an untrained model.
deck::Node member(World& world, const std::string& path, std::uint64_t seed) {
  RandomModel spec;
  spec.type_map = {"Cu"};
  spec.rcut = 3.5;
  spec.sel = {40};
  spec.neuron = {4, 8};
  spec.axis_neuron = 2;
  spec.fitting = {8};
  spec.seed = seed;
  if (world.comm.root()) save_model_tree(random_model(spec).to_tree(), path);
  world.comm.barrier();
  return deck::Node::scalar(path);
}

/// A committee of three untrained models explores.
Label::Params exploring(World& world, const SharedScratch& scratch, int most) {
  std::vector<deck::Node> files;
  for (std::uint64_t k = 0; k < 3; ++k)
    files.push_back(member(world, scratch.file("member_" + std::to_string(k) + ".dp"), k + 1));
  Label::Params p = copper(6);
  p.validation = 0.0;
  p.explore_with = deck::Choice<Potential>(
      "deep_potential", deck::Node::map({{"model", files[0]}, {"committee", deck::Node::list({files[1], files[2]})}}));
  p.select = Select{0.0, 1e9, most};
  return p;
}

/// The training frames and the table of deviations by configuration.
std::pair<DataSystem, std::vector<std::pair<double, bool>>> explore(World& world, const SharedScratch& scratch,
                                                                    const std::string& name, int most) {
  const Label::Params p = exploring(world, scratch, most);
  world.context.run_directory = scratch.file(name);
  if (world.comm.root()) std::filesystem::create_directories(world.context.run_directory);
  world.comm.barrier();
  Label(p, world.context).run(world.context);
  world.comm.barrier();
  std::ifstream csv(scratch.file(name) + "/deviation.csv");
  std::string line;
  std::getline(csv, line);
  std::vector<std::pair<double, bool>> rows;
  for (int step = 0, kept = 0; std::getline(csv, line);) {
    double deviation = 0.0;
    REQUIRE(std::sscanf(line.c_str(), "%d,%lf,%d", &step, &deviation, &kept) == 3);
    rows.emplace_back(deviation, kept == 1);
  }
  return {DataSystem::load(scratch.file(name) + "/train"), rows};
}

}  // namespace

TEST_CASE("a stage does not go on with samples of another committee under the same names") {
  World world;
  const SharedScratch scratch(world.comm);
  const Label::Params p = exploring(world, scratch, 0);
  world.context.run_directory = scratch.file("run");
  const auto stopped = [&] {
    StopRequest stop(world.comm, wall_seconds() - 1.0, 1e-3);
    world.context.stop = &stop;
    const auto outcome = Label(p, world.context).run(world.context);
    world.context.stop = nullptr;
    world.context.resume = true;
    return outcome == Task::Outcome::stopped_early;
  };
  CHECK(stopped());
  CHECK(stopped());  // the files are as they were
  const std::string changed = scratch.file("member_2.dp"), before = scratch.file("before.dp");
  const auto keep = [&](const std::string& from, const std::string& to) {
    world.comm.barrier();
    if (world.comm.root()) std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    world.comm.barrier();
  };
  keep(changed, before);
  member(world, changed, 7);
  CHECK_THROWS_WITH(Label(p, world.context).run(world.context),
                    "label: '" + changed + "' has changed since '" + world.context.run_directory +
                        "/samples.journal' was begun, whose finished pieces depend on its old content; restore it, or "
                        "remove the journal to compute all pieces again");
  keep(before, changed);
  CHECK(Label(p, world.context).run(world.context) == Task::Outcome::done);
}

TEST_CASE("of what a committee explores the most disputed configurations are labelled, by the teacher") {
  World world;
  const SharedScratch scratch(world.comm);
  const auto [all, every] = explore(world, scratch, "all", 0);
  const auto [some, rows] = explore(world, scratch, "some", 4);
  REQUIRE(every.size() == 10);
  REQUIRE(rows.size() == 10);
  REQUIRE(all.frames() == 10);
  REQUIRE(some.frames() == 4);
  std::vector<double> sorted;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    REQUIRE(rows[k].first == every[k].first);
    sorted.push_back(rows[k].first);
  }
  std::sort(sorted.rbegin(), sorted.rend());
  REQUIRE(sorted[3] > sorted[4]);
  for (std::size_t k = 0, next = 0; k < rows.size(); ++k) {
    REQUIRE(rows[k].second == (rows[k].first >= sorted[3]));
    if (!rows[k].second) continue;
    REQUIRE(some.frame(next).x == all.frame(k).x);
    REQUIRE(*some.frame(next).energy == *all.frame(k).energy);
    REQUIRE(*some.frame(next).energy / 32 < -2.0);  // Sutton and Chen's, not the untrained models'
    ++next;
  }
}
