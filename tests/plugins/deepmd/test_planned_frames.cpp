// Frames of a data set that is not held in memory: the same bits as when it is, read by the plan of a loader, once per
// node.
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/io/hdf5/h5.hpp"
#include "core/io/npy.hpp"
#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/packed_sample.hpp"
#include "core/train/data/shuffle_loader.hpp"
#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/datasets/neighbour_slots.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

struct PlannedWorld {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

constexpr std::int64_t large_frame = 8 * (72 + 9 + 1 + 72 + 9), small_frame = 8 * (36 + 9 + 1 + 36 + 9);  // bytes

/// Atoms at the places of oxygen in water, which keep apart, with numbers in place of labels.
LabelledFrame numbered_frame(std::uint64_t seed, std::size_t atoms) {
  const Configuration c = water(3, seed);
  LabelledFrame f;
  for (std::size_t k = 0; k < atoms; ++k) f.x.push_back(c.x[3 * k]);
  f.box = c.box;
  const auto number = [&](std::uint64_t k) { return Random4(seed, Stream::test, 1000 + k, 0).normal(0); };
  f.energy = number(0);
  for (std::uint64_t i = 0; i < atoms; ++i)
    f.force.push_back({number(3 * i + 1), number(3 * i + 2), number(3 * i + 3)});
  for (std::uint64_t k = 0; k < 9; ++k) f.virial.push_back(number(200 + k));
  return f;
}

std::vector<int> types_of_water(std::size_t atoms) {
  auto types = water(2).types;
  types.resize(atoms);
  return types;
}

/// Systems of 30 frames of 24 atoms and of 20 frames of 12 atoms.
struct TwoSystems {
  PlannedWorld world;
  SharedScratch scratch{world.comm};
  std::vector<std::string> folders{scratch.file("large"), scratch.file("small")};

  TwoSystems() {
    if (world.comm.root()) {
      std::vector<LabelledFrame> large, small;
      for (std::uint64_t k = 0; k < 30; ++k) large.push_back(numbered_frame(k + 1, 24));
      for (std::uint64_t k = 0; k < 20; ++k) small.push_back(numbered_frame(k + 101, 12));
      write_system(folders[0], {"O", "H"}, types_of_water(24), large);
      write_system(folders[1], {"H", "O"}, types_of_water(12), small);
    }
    world.comm.barrier();
  }
  DeepmdNpy opened(const std::vector<std::string>& systems, double cache) {
    DeepmdNpy data({systems, cache}, world.context);
    data.open(world.context);
    return data;
  }
  train::BatchPlan plan(std::int64_t samples, bool ordered) const {
    return {.seed = 9,
            .samples = samples,
            .batch = 10,
            .ordered = ordered,
            .slices = ordered ? 4 : 1,
            .rank = world.comm.rank(),
            .ranks = world.comm.size(),
            .steps = samples / 10 * 4};
  }
};

/// MiB for so many frames of the largest size.
double room_for_frames(const DeepmdNpy& data, double frames) {
  return frames * static_cast<double>(data.most_packed_bytes()) / 1048576.0;
}

bool equal_samples(const train::Sample& a, const train::Sample& b) {
  if (a.id != b.id || a.bytes != b.bytes || a.fields.size() != b.fields.size()) return false;
  for (const auto& [name, x] : a.fields) {
    const auto found = b.fields.find(name);
    if (found == b.fields.end()) return false;
    const TensorRef& y = found->second;
    if (x.dtype != y.dtype || !std::equal(x.shape, x.shape + x.rank, y.shape, y.shape + y.rank)) return false;
    if (std::memcmp(x.data, y.data, static_cast<std::size_t>(x.elements() * size_of(x.dtype))) != 0) return false;
  }
  return true;
}

bool equal_batches(const train::Batch& a, const train::Batch& b) {
  bool same = a.samples == b.samples && a.epoch == b.epoch && a.slices.size() == b.slices.size();
  for (std::size_t k = 0; same && k < a.slices.size(); ++k) {
    same = a.slices[k].size() == b.slices[k].size();
    for (std::size_t i = 0; same && i < a.slices[k].size(); ++i) same = equal_samples(*a.slices[k][i], *b.slices[k][i]);
  }
  return same;
}

DeepPotentialNetwork::Params planned_network() {
  DeepPotentialNetwork::Params p;
  p.rcut = 4.0;
  p.neuron = {4, 8};
  p.axis_neuron = 2;
  p.fitting = {8, 8};
  return p;
}

}  // namespace

TEST_CASE("frames are read from .npy files one by one, with the bits of a set that is held") {
  TwoSystems set;
  DeepmdNpy held = set.opened(set.folders, 256), read = set.opened(set.folders, 0);
  CHECK(held.origin() == train::Dataset::Origin::memory);
  CHECK(read.origin() == train::Dataset::Origin::files);
  REQUIRE(read.size() == 50);
  CHECK(held.size() == 50);
  CHECK(read.bytes_read() == 0);  // headers alone
  CHECK(held.bytes_read() == 30 * large_frame + 20 * small_frame);
  const std::vector<std::int64_t> ids = {0, 3, 4, 5, 29, 30, 31, 49};
  const auto a = held.read(ids), b = read.read(ids);
  for (std::size_t k = 0; k < ids.size(); ++k) CHECK(equal_samples(*a[k], *b[k]));
  CHECK(read.bytes_read() == 5 * large_frame + 3 * small_frame);
  std::int64_t largest = 0;
  for (const auto& sample : b) largest = std::max(largest, train::packed_bytes(*sample));
  CHECK(largest <= read.most_packed_bytes());
  CHECK(read.most_packed_bytes() < 2 * largest);
}

TEST_CASE("ranks of a node read each frame once, and get the batches of a set that is held") {
  TwoSystems set;
  const auto& comm = set.world.comm;
  constexpr double everything = 30 * large_frame + 20 * small_frame;
  for (const bool ordered : {false, true})
    for (const int ahead : {0, 2}) {
      DeepmdNpy held = set.opened(set.folders, 256), planned = set.opened(set.folders, 0),
                own = set.opened(set.folders, 0);
      const auto plan = set.plan(50, ordered);
      const double memory = room_for_frames(planned, 50.0 / comm.size() + 10);
      train::BufferedLoader shared({.memory = memory, .ahead = ahead, .shared = true}, set.world.context),
          separate({.memory = memory, .ahead = ahead, .remap = false}, set.world.context);
      train::ShuffleLoader shuffle({}, set.world.context);
      shared.open(planned, plan, set.world.context);
      separate.open(own, plan, set.world.context);
      shuffle.open(held, plan, set.world.context);
      bool same = true;
      for (std::int64_t step = 0; step < plan.steps; ++step) {
        const auto expected = shuffle.batch(step);
        same = same && equal_batches(shared.batch(step), expected) && equal_batches(separate.batch(step), expected);
      }
      CHECK(same);
      CHECK(comm.sum(static_cast<double>(planned.bytes_read())) == everything);
      CHECK(comm.sum(shared.counts().reads) == 50);
      const double apart = comm.sum(static_cast<double>(own.bytes_read()));
      if (comm.size() == 1)
        CHECK(apart == everything);
      else
        CHECK(apart > 1.3 * everything);
      comm.barrier();
    }
}

TEST_CASE("a rank reads the frames of its plan and no others") {
  TwoSystems set;
  for (const bool remap : {false, true}) {
    DeepmdNpy data = set.opened({set.folders[0]}, 0);
    const auto plan = set.plan(30, false);
    train::BufferedLoader loader({.memory = room_for_frames(data, 8.5), .ahead = 0, .remap = remap}, set.world.context);
    loader.open(data, plan, set.world.context);
    for (std::int64_t step = 0; step < plan.steps; ++step) loader.batch(step);
    CHECK(data.bytes_read() == loader.counts().reads * large_frame);
    CHECK(loader.counts().reads == loader.counts().samples - loader.counts().from_buffer);
    CHECK(loader.counts().from_buffer > 0);
  }
}

TEST_CASE("chunks of HDF5 systems are read as a whole") {
  TwoSystems set;
  const std::string file = set.scratch.file("data.hdf5");
  DeepmdNpy held = set.opened({set.folders[0]}, 256);
  if (set.world.comm.root()) {
    io::File h5 = io::File::create(file);
    const auto values = [&](const std::string& name) {
      return io::read_npy(set.folders[0] + "/set.000/" + name + ".npy").values;
    };
    const auto coord = values("coord"), force = values("force"), box = values("box"), energy = values("energy"),
               virial = values("virial");
    h5.write("a/type.raw", types_of_water(24));
    h5.write("a/type_map.raw", std::vector<std::string>{"O", "H"});
    const std::int64_t three[] = {30, 24, 3}, chunk_of_three[] = {8, 24, 2}, two[] = {30, 72}, chunk_of_two[] = {8, 72},
                       none[] = {0, 0, 0};
    h5.allocate("a/set.000/coord.npy", DType::f64, two, chunk_of_two)
        .write_block(std::span(none, 2), io::tensor_of(coord.data(), {30, 72}));
    h5.allocate("a/set.000/force.npy", DType::f64, three, chunk_of_three)
        .write_block(none, io::tensor_of(force.data(), {30, 24, 3}));
    h5.write("a/set.000/box.npy", box);  // flattened
    h5.write("a/set.000/energy.npy", energy);
    h5.write("a/set.000/virial.npy", io::tensor_of(virial.data(), {30, 3, 3}));
  }
  set.world.comm.barrier();
  DeepmdNpy read = set.opened({file + "#/a"}, 0);
  REQUIRE(read.size() == 30);
  CHECK(read.chunk_of(9) == std::pair<std::int64_t, std::int64_t>(8, 16));
  CHECK(read.chunk_of(29) == std::pair<std::int64_t, std::int64_t>(24, 30));
  std::vector<std::int64_t> some, every;
  for (std::int64_t id = 0; id < 30; ++id) every.push_back(id);
  for (std::int64_t id = 1; id < 30; id += 3) some.push_back(id);
  for (const auto& ids : {some, every}) {
    const auto a = held.read(ids), b = read.read(ids);
    for (std::size_t k = 0; k < ids.size(); ++k) CHECK(equal_samples(*a[k], *b[k]));
  }
  // Room for everything: four chunks, each once.
  DeepmdNpy planned = set.opened({file}, 0);
  const auto plan = set.plan(30, false);
  train::BufferedLoader loader({.memory = room_for_frames(planned, 40), .ahead = 0, .shared = true}, set.world.context);
  loader.open(planned, plan, set.world.context);
  train::ShuffleLoader shuffle({}, set.world.context);
  shuffle.open(held, plan, set.world.context);
  for (std::int64_t step = 0; step < plan.steps; ++step) CHECK(equal_batches(loader.batch(step), shuffle.batch(step)));
  const std::int64_t reads = set.world.comm.sum(loader.counts().reads);
  CHECK(reads >= 4);
  if (set.world.comm.size() == 1) CHECK(reads == 4);
}

TEST_CASE("statistics of a set that is not held have the bits of one that is, and a bad value is named") {
  TwoSystems set;
  for (const int frames : {1000, 7}) {
    DeepmdNpy held = set.opened(set.folders, 256), read = set.opened(set.folders, 0);
    auto params = planned_network();
    params.statistics_frames = frames;
    DeepPotentialNetwork a(params, set.world.context), b(params, set.world.context);
    a.fit_statistics(held, set.world.context);
    const std::int64_t before = read.bytes_read();
    b.fit_statistics(read, set.world.context);
    CHECK(a.state() == b.state());
    CHECK(b.shape().type_map == std::vector<std::string>{"O", "H"});
    CHECK(read.bytes_read() > before);
  }
  // Also where the first species comes on another rank.
  DeepmdNpy turned = set.opened({set.folders[1], set.folders[0]}, 0);
  CHECK(species_of_data(turned, set.world.comm) == std::vector<std::string>{"H", "O"});
  set.world.comm.barrier();
  const std::string path = set.folders[1] + "/set.000/force.npy";
  if (set.world.comm.root()) {
    std::vector<double> force(20 * 36, 0.5);
    force[36 * 11 + 4] = std::nan("");
    std::ofstream(path, std::ios::binary) << npy_text(force, {20, 36});
  }
  set.world.comm.barrier();
  DeepmdNpy bad = set.opened(set.folders, 0);
  DeepPotentialNetwork network(planned_network(), set.world.context);
  const std::string found = message([&] { network.fit_statistics(bad, set.world.context); });
  CHECK(found == path + ": frame 11, value 4 of 36 is nan; remove the frame, or compute it again");
  CHECK(message([&] { set.opened(set.folders, 256); }) == found);
  // A file that another program replaced by a shorter one.
  set.world.comm.barrier();
  if (set.world.comm.root()) std::ofstream(path, std::ios::binary) << npy_text(std::vector<double>(36, 0.5), {1, 36});
  set.world.comm.barrier();
  const std::int64_t id = 45;
  CHECK(message([&] { bad.read(std::span(&id, 1)); }) ==
        path + ": has changed since the data set was opened; do not write to it during a training");
}
