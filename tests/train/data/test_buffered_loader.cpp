#include <algorithm>
#include <numeric>

#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/shuffle_loader.hpp"
#include "core/train/data/subset.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;
using Keep = AccessPlan::Keep;

namespace {

/// Three shards, 600 samples of 1 KiB and a label.
struct Shards600 {
  World world;
  SharedScratch scratch{world.comm};
  explicit Shards600(std::int64_t chunk = 0) {
    if (world.comm.root())
      for (int k = 0; k < 3; ++k)
        write_shard(scratch.file("p" + std::to_string(k) + ".h5"),
                    {.first = 200 * k, .rows = 200, .width = 128, .chunk = chunk});
    world.comm.barrier();
  }
  Hdf5Dataset make() { return Hdf5Dataset(shard_params({scratch.file("p*.h5")}), world.context); }
  BatchPlan plan() const {
    return {
        .seed = 9, .samples = 600, .batch = 24, .rank = world.comm.rank(), .ranks = world.comm.size(), .steps = 25 * 8};
  }
};

/// MiB that hold so many of the samples above (1024 bytes and a cache line of label).
double room_for(double samples) { return samples * (1024 + 64) / 1048576.0; }

std::vector<std::int64_t> ids_of(const Batch& batch) {
  std::vector<std::int64_t> out;
  for (const auto& slice : batch.slices)
    for (const auto& sample : slice) out.push_back(sample->id);
  return out;
}

bool right(const Batch& batch) {
  for (const auto& slice : batch.slices)
    for (const auto& sample : slice)
      if (x_of(*sample, 127) != 1000.0 * static_cast<double>(sample->id) + 127) return false;
  return true;
}

}  // namespace

TEST_CASE("bytes read and hit rate beat a shuffled loader by the predicted factor") {
  Shards600 set;
  const auto& comm = set.world.comm;
  const double f = 0.5;
  auto run = [&](const BufferedLoader::Params& params) {
    Hdf5Dataset data = set.make();
    data.open(set.world.context);
    BufferedLoader loader(params, set.world.context);
    const auto plan = set.plan();
    loader.open(data, plan, set.world.context);
    std::int64_t first_epoch = 0;
    bool good = true;
    for (std::int64_t step = 0; step < plan.steps; ++step) {
      good = good && right(loader.batch(step));
      if (step + 1 == 25) first_epoch = data.bytes_read();
    }
    CHECK(good);
    CHECK(loader.counts().samples <= 600 * 8);
    CHECK(loader.results(set.world.context).size() == 7);
    return comm.sum(static_cast<double>(data.bytes_read() - first_epoch));
  };
  // Read as it is needed, so that the first epoch's bytes can be told apart.
  BufferedLoader::Params ours{.memory = room_for(f * 600 / comm.size() + 0.5), .ahead = 0};
  BufferedLoader::Params theirs = ours;
  theirs.remap = false;
  theirs.keep = Keep::first;
  const double read = run(ours), read_by_chance = run(theirs);
  const double row = 128 * 8 + 4, epochs = 7;
  CHECK(read == Approx((1 - f) * 600 * row * epochs).epsilon(0.01));
  CHECK(read_by_chance / read == Approx((1 - f / comm.size()) / (1 - f)).epsilon(0.1));
  {
    Hdf5Dataset data = set.make();
    data.open(set.world.context);
    ShuffleLoader shuffle({}, set.world.context);
    shuffle.open(data, set.plan(), set.world.context);
    for (std::int64_t step = 0; step < 25; ++step) shuffle.batch(step);
    CHECK(comm.sum(static_cast<double>(data.bytes_read())) == 600 * row);
  }
}

TEST_CASE("reading ahead hands out the same batches") {
  Shards600 set(GENERATE(0, 8));
  std::vector<std::vector<std::int64_t>> first;
  for (const int ahead : {0, 1, 3}) {
    Hdf5Dataset data = set.make();
    data.open(set.world.context);
    BufferedLoader loader({.memory = room_for(70), .ahead = ahead}, set.world.context);
    loader.open(data, set.plan(), set.world.context);
    for (std::int64_t step = 0; step < 80; ++step) {
      const auto batch = loader.batch(step);
      REQUIRE(batch.step == step);
      REQUIRE(batch.epoch == step / 25);
      REQUIRE(batch.samples == 24);
      REQUIRE(right(batch));
      if (ahead == 0)
        first.push_back(ids_of(batch));
      else
        REQUIRE(ids_of(batch) == first[step]);
    }
  }
}

TEST_CASE("a resumed run gets the shares of one that was not interrupted") {
  Shards600 set;
  Hdf5Dataset data = set.make();
  data.open(set.world.context);
  Hdf5Dataset again = set.make();
  again.open(set.world.context);
  BufferedLoader whole({.memory = room_for(70)}, set.world.context), later({.memory = room_for(70)}, set.world.context);
  whole.open(data, set.plan(), set.world.context);
  later.open(again, set.plan(), set.world.context);
  for (std::int64_t step = 0; step < 60; ++step) {
    const auto batch = whole.batch(step);
    if (step < 43) continue;
    const auto resumed = later.batch(step);
    CHECK(ids_of(resumed) == ids_of(batch));
    CHECK(right(resumed));
  }
}

TEST_CASE("global batches are the same sets as the shuffled loader's, and with an ordered plan the same slices") {
  Shards600 set;
  Hdf5Dataset data = set.make();
  data.open(set.world.context);
  auto plan = set.plan();
  plan.ordered = GENERATE(false, true);
  plan.slices = plan.ordered ? 8 : 2;
  if (plan.ordered && 8 % plan.ranks != 0) return;
  BufferedLoader buffered({.memory = room_for(50)}, set.world.context);
  ShuffleLoader shuffle({}, set.world.context);
  buffered.open(data, plan, set.world.context);
  Hdf5Dataset again = set.make();
  again.open(set.world.context);
  shuffle.open(again, plan, set.world.context);
  for (std::int64_t step = 0; step < 60; ++step) {
    const Batch a = buffered.batch(step), b = shuffle.batch(step);
    REQUIRE(a.slices.size() == b.slices.size());
    if (plan.ordered) {
      CHECK(ids_of(a) == ids_of(b));
      for (std::size_t k = 0; k < a.slices.size(); ++k) CHECK(a.slices[k].size() == b.slices[k].size());
    }
    std::vector<double> sums(600, 0.0);
    for (const auto id : ids_of(a)) sums[id] += 1;
    for (const auto id : ids_of(b)) sums[id] -= 1;
    set.world.comm.sum(sums);
    CHECK(std::all_of(sums.begin(), sums.end(), [](double x) { return x == 0; }));
  }
}

TEST_CASE("ranks of a node that share their buffers get the shuffled loader's batches and read each sample once") {
  Shards600 set(GENERATE(0, 8));
  const int ahead = GENERATE(0, 2);
  const auto& comm = set.world.comm;
  auto plan = set.plan();
  plan.ordered = GENERATE(false, true);
  plan.slices = plan.ordered ? 8 : 2;
  for (const auto permutation : {BatchPlan::Permutation::stored, BatchPlan::Permutation::computed}) {
    plan.permutation = permutation;
    Hdf5Dataset data = set.make(), again = set.make();
    data.open(set.world.context);
    again.open(set.world.context);
    // All ranks together hold everything: in chunks or not, each sample is read once.
    BufferedLoader shared({.memory = room_for(600.0 / comm.size() + 24), .ahead = ahead, .remap = true, .shared = true},
                          set.world.context);
    ShuffleLoader shuffle({}, set.world.context);
    shared.open(data, plan, set.world.context);
    shuffle.open(again, plan, set.world.context);
    bool same = true, good = true;
    for (std::int64_t step = 0; step < plan.steps; ++step) {
      const Batch a = shared.batch(step), b = shuffle.batch(step);
      same = same && ids_of(a) == ids_of(b) && a.slices.size() == b.slices.size() && a.samples == b.samples;
      for (std::size_t k = 0; same && k < a.slices.size(); ++k) same = a.slices[k].size() == b.slices[k].size();
      good = good && right(a);
    }
    CHECK(same);
    CHECK(good);
    const double row = 128 * 8 + 4, needed = comm.sum(static_cast<double>(shared.counts().bytes_needed));
    CHECK(comm.sum(static_cast<double>(data.bytes_read())) == Approx(600 * row).epsilon(1e-3));
    CHECK(needed <= 600 * row);
    CHECK(comm.sum(shared.counts().reads) >= 75);
    set.world.comm.barrier();
  }
}

TEST_CASE("a resumed run of ranks that share their buffers gets the same batches") {
  Shards600 set;
  Hdf5Dataset data = set.make(), again = set.make();
  data.open(set.world.context);
  again.open(set.world.context);
  const BufferedLoader::Params params{.memory = room_for(70), .ahead = 1, .shared = true};
  BufferedLoader whole(params, set.world.context), later(params, set.world.context);
  whole.open(data, set.plan(), set.world.context);
  later.open(again, set.plan(), set.world.context);
  for (std::int64_t step = 0; step < 60; ++step) {
    const auto batch = whole.batch(step);
    if (step < 43) continue;
    const auto resumed = later.batch(step);
    CHECK(ids_of(resumed) == ids_of(batch));
    CHECK(right(resumed));
  }
}

TEST_CASE("whole chunks that are read are counted against what was needed") {
  Shards600 set(8);
  Hdf5Dataset data = set.make();
  data.open(set.world.context);
  const auto plan = set.plan();
  // Too little memory to keep neighbours: nearly each sample takes a chunk of 8, whose rows are all read.
  BufferedLoader none({.memory = 0.0, .ahead = 0}, set.world.context);
  none.open(data, plan, set.world.context);
  for (std::int64_t step = 0; step < 25; ++step) none.batch(step);
  const auto counts = none.counts();
  const double row = 128 * 8 + 4;
  CHECK(static_cast<double>(counts.bytes_needed) == Approx(row * static_cast<double>(counts.samples)));
  CHECK(static_cast<double>(counts.bytes_read) > 6 * static_cast<double>(counts.bytes_needed));
  const auto results = none.results(set.world.context);
  const auto over =
      std::find_if(results.begin(), results.end(), [](const auto& r) { return r.key == "read_over_needed"; });
  REQUIRE(over != results.end());
  CHECK(over->value > 6.0);
  // Room for everything: chunks are read once, and what is read along is needed later.
  Hdf5Dataset once = set.make();
  once.open(set.world.context);
  BufferedLoader all({.memory = room_for(700), .ahead = 0}, set.world.context);
  all.open(once, plan, set.world.context);
  for (std::int64_t step = 0; step < 50; ++step) all.batch(step);
  if (set.world.comm.size() == 1) CHECK(all.counts().reads == 75);
  CHECK(all.counts().bytes_read <= 600 * row);
}

TEST_CASE("a subset reads the chunks of its files whole") {
  Shards600 set(8);
  Hdf5Dataset data = set.make();
  data.open(set.world.context);
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < 600; ++id)
    if (id % 5 != 0) ids.push_back(id);
  Subset part(data, ids);
  CHECK(part.origin() == Dataset::Origin::files);
  CHECK(part.chunk_of(0) == std::pair<std::int64_t, std::int64_t>{0, 6});  // 1 2 3 4 6 7 of 0 to 7
  CHECK(part.chunk_of(6) == std::pair<std::int64_t, std::int64_t>{6, 12});
  CHECK(part.chunk_of(12) == std::pair<std::int64_t, std::int64_t>{12, 19});
  BatchPlan plan = set.plan();
  plan.samples = part.size();
  BufferedLoader loader({.memory = room_for(700), .ahead = 0}, set.world.context);
  loader.open(part, plan, set.world.context);
  bool good = true;
  for (std::int64_t step = 0; step < 2 * plan.steps_per_epoch(); ++step) good = good && right(loader.batch(step));
  CHECK(good);
  if (set.world.comm.size() == 1) CHECK(loader.counts().reads == 75);
}

TEST_CASE("what a planned loader cannot plan is said") {
  Shards600 set;
  auto& context = set.world.context;
  auto plan = set.plan();
  struct Large : Dataset {
    void open(Context&) override {}
    std::int64_t size() const override { return std::int64_t{1} << 33; }
    std::vector<FieldInfo> fields() const override { return {{"x", "", {1}}}; }
    std::vector<SamplePtr> read(std::span<const std::int64_t>) override { return {}; }
  } large;
  plan.samples = large.size();
  BufferedLoader loader({.memory = 0.0}, context);
  CHECK(message([&] { loader.open(large, plan, context); }) ==
        "loader buffered stores the order of at most 4294967295 samples, but the data set has 8589934592; set "
        "permutation: computed");
  plan.permutation = BatchPlan::Permutation::computed;
  CHECK(message([&] { loader.open(large, plan, context); }) == "no error");
  BufferedLoader shared({.memory = 0.0, .shared = true}, context);
  CHECK(message([&] { shared.open(large, plan, context); }) ==
        (plan.ranks == 1 ? "no error"
                         : "loader.shared_memory: true copies samples between ranks, and those of this data set are "
                           "more than arrays; remove shared_memory"));
  struct Huge : Large {
    std::vector<FieldInfo> fields() const override { return {{"x", "", {std::int64_t{1} << 40}}}; }
    bool plain() const override { return true; }
  } huge;
  CHECK(message([&] { shared.open(huge, plan, context); }) ==
        (plan.ranks == 1
             ? "no error"
             : "loader.shared_memory: true needs memory that the ranks of a node share (/dev/shm), and there "
               "is none or too little; make it larger, lower batch, or remove shared_memory"));
}

TEST_CASE("a bad number found while reading ahead reaches the trainer") {
  Shards600 set;
  if (set.world.comm.root()) {
    auto file = io::File::append(set.scratch.file("p1.h5"));
    const double bad = HUGE_VAL;
    file.dataset("x").write_block(std::vector<std::int64_t>{3, 1}, io::tensor_of(&bad, {1, 1}));
    file.close();
  }
  set.world.comm.barrier();
  Hdf5Dataset data = set.make();
  data.open(set.world.context);
  BufferedLoader loader({}, set.world.context);
  loader.open(data, set.plan(), set.world.context);
  std::string text = message([&] {
    for (std::int64_t step = 0; step < 25 * set.world.comm.size(); ++step) loader.batch(step);
  });
  if (text == "no error") text.clear();  // another rank computes that sample
  const double failed = set.world.comm.sum(text.empty() ? 0.0 : 1.0);
  CHECK(failed >= 1);
  if (!text.empty())
    CHECK(text == "'" + set.scratch.file("p1.h5") +
                      "' holds inf in array 'x', sample 203 (row 3 of the file); correct it or leave the sample out");
}
