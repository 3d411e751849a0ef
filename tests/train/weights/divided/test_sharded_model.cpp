// Weights, gradients and states divided over ranks: memory and bytes by their formulas, and the same weights, bit for
// bit, whatever is divided over however many ranks.
#include "core/train/optimizers/lbfgs.hpp"
#include "core/train/weights/whole_weights.hpp"
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

TEST_CASE("memory of every stage is bytes x parameters / ranks") {
  const Comm comm;
  Layers network(3, 100, 96);
  const std::int64_t n = comm.size();
  for (bool split : {false, true}) {
    const std::int64_t kept = split ? 2 : 4, states = split ? 10 : 8;
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split,
              false);
      run.step(network, comm.size());
      const auto& memory = run.model.memory();
      const double parameters = static_cast<double>(run.model.layout().parameters());
      const double padding = static_cast<double>(run.model.layout().size()) / parameters;
      CHECK(padding < 1.01);
      const auto expected = [&](std::int64_t bytes, bool divided) {
        return static_cast<double>(bytes) * parameters / static_cast<double>(divided ? n : 1);
      };
      CHECK(static_cast<double>(memory.now(Held::weights)) == Approx(padding * expected(kept, stage >= 3)));
      CHECK(static_cast<double>(memory.now(Held::gradients)) == Approx(padding * expected(kept, stage >= 2)));
      CHECK(static_cast<double>(memory.now(Held::states)) == Approx(padding * expected(states, stage >= 1)));
      const double together =
          static_cast<double>(memory.now(Held::weights) + memory.now(Held::gradients) + memory.now(Held::states)) /
          parameters;
      if (stage == 0) CHECK(together == Approx(split ? 14.0 : 16.0).epsilon(0.01));
      if (stage == 3) CHECK(together == Approx((split ? 14.0 : 16.0) / static_cast<double>(n)).epsilon(0.01));
      CHECK(memory.now(Held::windows) == 0);
      CHECK(memory.now(Held::messages) == 0);
      CHECK(memory.now(Held::copies) == 0);
      // Of three modules at most two are in use at a time: one's weights and gradient, and a gradient under way. The
      // weights that are gathered ahead come on top.
      const double module = parameters / 3.0, without = 1.05 * module * (split ? 4 + 2 + 4 + 2 + 2 : 4 + 4 + 4) + 1000;
      CHECK(static_cast<double>(memory.peak(Held::windows)) <
            without + (stage == 3 ? 1.05 * module * static_cast<double>(kept) : 0.0));
      if (stage < 3) continue;
      auto waiting = partition({{"world", comm.size()}}, 1, 1, 1);
      waiting.prefetch = false;
      Run plain(MPI_COMM_WORLD, waiting, network, split, false);
      plain.step(network, comm.size());
      CHECK(static_cast<double>(plain.model.memory().peak(Held::windows)) < without);
      if (comm.size() > 1) CHECK(plain.model.memory().peak(Held::windows) < memory.peak(Held::windows));
    }
  }
}

TEST_CASE("bytes on the wire are 2 P (N - 1) / N, and 3 with divided weights") {
  const Comm comm;
  Layers network(3, 30, 16);
  for (bool split : {false, true})
    for (int stage = 0; stage <= 3; ++stage)
      for (bool ordered : {false, true}) {
        Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split,
                ordered);
        for (int k = 0; k < 2; ++k) run.step(network, comm.size());
        const std::int64_t size = run.model.layout().size() * (split ? 2 : 4);
        CHECK(bytes_of(run.model, "") == 2 * (stage == 3 ? 3 : 2) * size * (comm.size() - 1) / comm.size());
      }
}

TEST_CASE("weights after 200 steps have the same bits whatever is divided over however many ranks") {
  const Comm comm;
  Layers network(2, 5, 16);
  const auto expected = plainly(network, 8, 200);
  Clip clip;
  clip.norm = 0.05;
  for (bool split : {false, true}) {
    const auto bounds = split ? std::optional(clip) : std::nullopt;
    Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, split, true);
    for (int k = 0; k < 200; ++k) alone.step(network, 8, bounds);
    if (!split) CHECK(same_bits(alone.weights(), expected));
    for (int stage = split ? 1 : 0; stage <= 3; stage += split ? 2 : 1) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, split,
              true, stage % 2 == 0);
      for (int k = 0; k < 200; ++k) run.step(network, 8, bounds);
      INFO("stage " << stage << ", split " << split);
      CHECK(same_bits(run.weights(), alone.weights()));
    }
  }
}

TEST_CASE("a bounded norm gives the same bits undivided and however divided, in ordered mode") {
  const Comm comm;
  Layers network(3, 7, 24);
  Clip clip;
  clip.norm = 0.05;
  clip.value = 0.02;
  // Without `parallel`: whole weights, on one rank.
  Log log;
  Timing timing;
  Comm alone{MPI_COMM_SELF};
  Context context{alone, log, timing};
  AdamW adam({}, context);
  ReduceParams ordered;
  ordered.mode = ReduceParams::Mode::ordered;
  WholeWeights whole(ordered, {}, alone, network, adam);
  whole.start([](FlatBuffer& first) { fill(first, 5, 0.1); });
  std::vector<double> norms;
  for (int step = 0; step < 100; ++step) {
    whole.begin(8);
    for (int s = 0; s < 8; ++s) {
      const Pass pass = whole.pass();
      network.slice(static_cast<std::uint64_t>(1000 * step + s), pass.weights, pass.gradients, pass.ready);
    }
    whole.finish();
    norms.push_back(whole.update({1.0 / 8, clip, 1e-2, step + 1}));
  }
  std::vector<float> expected;
  whole.whole([&](FlatBuffer& all) { expected = packed<float>(all); });
  for (const std::int64_t whole_below : {0, 100})
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1, whole_below),
              network, false, true);
      INFO("stage " << stage << ", whole below " << whole_below);
      for (int step = 0; step < 100; ++step) {
        run.step(network, 8, clip);
        REQUIRE(run.last_norm == norms[step]);
        REQUIRE(run.last_norm > 0.05);
      }
      CHECK(same_bits(run.weights(), expected));
    }
}

TEST_CASE("frozen parameters do not count in the norm of a gradient, however it is divided") {
  const Comm comm;
  Layers network(3, 7, 24);
  Undivided plain(network);
  const auto views = plain.weights.views();
  plain.sum(8, 0, [&](std::uint64_t number, std::span<const TensorRef> gradients, const ReadyCallback& ready) {
    network.slice(number, views, gradients, ready);
  });
  const auto squares = squared_norms(plain.gradients);
  const double trained = std::sqrt(squares[2] + squares[3] + squares[4] + squares[5]);  // without w0 and b0
  const auto frozen = [](Context& context) -> std::unique_ptr<Optimizer> {
    AdamW::Params params;
    params.groups = {{.match = "*0", .freeze = true}};
    return std::make_unique<AdamW>(params, context);
  };
  Clip clip;
  clip.norm = 0.05;
  for (const std::int64_t whole_below : {0, 100})
    for (int stage = 0; stage <= 3; ++stage) {
      Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1, whole_below),
              network, {true, true, 5000}, frozen);
      run.step(network, 8, clip);
      INFO("stage " << stage << ", whole below " << whole_below);
      CHECK(run.last_norm == Approx(trained).epsilon(1e-6));
    }
}

TEST_CASE("weights that are gathered ahead have the same bits and take the same bytes") {
  const Comm comm;
  for (bool modules_without_weights : {false, true})
    for (bool split : {false, true}) {
      Layers network(4, 5, 16);
      // Of 80, 96, 112 and 128 weights two layers are divided.
      auto p = partition({{"world", comm.size()}}, 1, 1, 1, modules_without_weights ? 100 : 0);
      auto waiting = p;
      waiting.prefetch = false;
      Run ahead(MPI_COMM_WORLD, p, network, split, true), plain(MPI_COMM_WORLD, waiting, network, split, true);
      Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0, p.whole_below), network, split, true);
      for (int k = 0; k < 9; ++k) {
        ahead.step(network, 8, {}, k % 3);
        plain.step(network, 8, {}, k % 3);
        alone.step(network, 8, {}, k % 3);
      }
      CHECK(same_bits(ahead.weights(), alone.weights()));
      CHECK(same_bits(plain.weights(), alone.weights()));
      for (const char* what : {"gather forward", "gather backward", "gather update", "reduce-scatter"})
        CHECK(bytes_of(ahead.model, what) == bytes_of(plain.model, what));
    }
}

TEST_CASE("a bounded norm is that of the mean gradient") {
  Layers network(3, 5, 16);
  const Comm comm;
  Clip loose;
  loose.norm = 1e9;
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), network, false, true);
  run.step(network, 8, loose);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer weights(layout, DType::f32), gradient(layout, DType::f32);
  fill(weights, 5, 0.1);
  for (int s = 0; s < 8; ++s)
    network.slice(static_cast<std::uint64_t>(s), weights.views(), gradient.views(), ReadyCallback([](int) {}));
  double square = 0.0;
  for (double tensor : squared_norms(gradient)) square += tensor / 64.0;
  CHECK(run.last_norm == Approx(std::sqrt(square)).epsilon(1e-6));
  Run bounded(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 1), network, false, true),
      by_hand(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  Clip value;
  value.value = 1e-4;
  bounded.step(network, 8, value);
  by_hand.step(network, 8, value);
  CHECK(same_bits(bounded.weights(), by_hand.weights()));
}

TEST_CASE("small tensors stay whole, and change nothing else") {
  const Comm comm;
  Layers network(3, 40, 32);
  Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0, 100), network, false, true);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1, 100), network, false, true);
  for (int k = 0; k < 10; ++k) {
    run.step(network, 8);
    reference.step(network, 8);
  }
  CHECK(same_bits(run.weights(), reference.weights()));
  const std::int64_t small = 128, large = run.model.layout().size() - small;  // three biases of 32, padded to 64
  CHECK(run.model.memory().now(Held::weights) == 4 * (large / comm.size() + small));
}

TEST_CASE("the Frontier layout on eight ranks: weights are gathered within pairs alone") {
  const Comm comm;
  if (comm.size() != 8) return;
  const std::vector<Mesh::Level> levels{{"pair", 2}, {"node", 2}, {"world", 2}};
  Layers network(3, 100, 96), little(3, 5, 16);
  Run run(MPI_COMM_WORLD, partition(levels, 1, 2, 3), network, false, false);
  run.step(network, 8);
  const std::int64_t size = 4 * run.model.layout().size();
  for (const char* pass : {"gather forward", "gather backward"}) {
    CHECK(bytes_of(run.model, pass, "pair") == size / 2);
    CHECK(bytes_of(run.model, pass) == size / 2);
  }
  CHECK(bytes_of(run.model, "reduce-scatter", "pair") == size / 2);
  CHECK(bytes_of(run.model, "reduce-scatter", "node") == size / 4);
  CHECK(bytes_of(run.model, "reduce-scatter", "world") == size / 8);
  CHECK(bytes_of(run.model, "gather update", "pair") == 0);
  CHECK(bytes_of(run.model, "gather update", "node") == size / 4);
  CHECK(bytes_of(run.model, "gather update", "world") == size / 8);
  CHECK(run.model.memory().now(Held::weights) == size / 2);
  CHECK(run.model.memory().now(Held::gradients) == size / 4);
  CHECK(run.model.memory().now(Held::states) == 2 * size / 8);
  Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), little, true, true);
  for (int k = 0; k < 6; ++k) alone.step(little, 8);
  const int layouts[][3] = {{1, 2, 3}, {1, 1, 1}, {1, 3, 3}, {0, 0, 2}, {0, 1, 3}, {3, 3, 3}, {0, 0, 0}, {2, 2, 2}};
  for (const auto& depth : layouts) {
    for (bool prefetch : {true, false}) {
      if (!prefetch && depth[0] == 0) continue;
      auto p = partition(levels, depth[0], depth[1], depth[2]);
      p.prefetch = prefetch;
      Run divided(MPI_COMM_WORLD, p, little, true, true);
      for (int k = 0; k < 6; ++k) divided.step(little, 8);
      INFO("weights " << depth[0] << ", gradients " << depth[1] << ", states " << depth[2] << ", ahead " << prefetch);
      CHECK(same_bits(divided.weights(), alone.weights()));
    }
  }
}

TEST_CASE("a rank without samples takes part") {
  const Comm comm;
  Layers network(3, 40, 32);
  for (int stage = 0; stage <= 3; ++stage) {
    Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
    Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1), network, false,
            true);
    for (int k = 0; k < 3; ++k) {
      run.step(network, 8, {}, 5);
      reference.step(network, 8, {}, 5);
    }
    CHECK(same_bits(run.weights(), reference.weights()));
  }
}

TEST_CASE("a network without modules, and what is put into files and back") {
  const Comm comm;
  Layers network(3, 40, 32, false), by_module(3, 40, 32);
  Run reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 0, 0, 1), network, false, true);
  for (int k = 0; k < 5; ++k) {
    run.step(network, 8);
    reference.step(network, 8);
  }
  CHECK(same_bits(run.weights(), reference.weights()));
  // What one has learned goes on in another that divides differently.
  Run other(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), by_module, false, true);
  const auto hand_over = [](const FlatBuffer& from, FlatBuffer& to) { unpack<float>(packed<float>(from), to); };
  const auto saved = run.model.save(false);
  other.model.load([&](Snapshot& into) {
    hand_over(saved.weights, into.weights);
    for (std::size_t k = 0; k < 2; ++k) hand_over(saved.states[k], into.states[k]);
  });
  other.steps = run.steps;
  for (int k = 0; k < 5; ++k) {
    other.step(by_module, 8);
    reference.step(network, 8);
  }
  CHECK(same_bits(other.weights(), reference.weights()));
  other.model.keep_best();
  const auto before = other.weights();
  other.step(by_module, 8);
  CHECK(same_bits(other.best(), before));
}

TEST_CASE("what cannot be divided is refused") {
  const Comm comm;
  Log log;
  Timing timing;
  Context context{const_cast<Comm&>(comm), log, timing};
  AdamW adam({}, context);
  Lamb lamb({}, context);
  Layers whole(2, 40, 32, false), network(2, 40, 32);
  const std::vector<Mesh::Level> world{{"world", comm.size()}};
  const auto make = [&](int w, int g, int s, Network& n, Optimizer& o, std::int64_t limit = 0) {
    auto p = partition(world, w, g, s);
    p.limit = limit;
    DividedWeights model(p, comm, n, o, {});
  };
  CHECK_THROWS_WITH(make(0, 1, 1, whole, adam),
                    "this network does not announce which of its weights it uses next, so that its weights and "
                    "gradients cannot be sharded; shard the states alone (parallel: {preset: zero1})");
  Lbfgs lbfgs({}, context);
  CHECK_THROWS_WITH(
      make(0, 0, 0, network, lbfgs),
      "this optimizer needs scalar products over all weights, which parallel partitions into groups; remove "
      "parallel, or take another optimizer");
  CHECK_NOTHROW(make(0, 0, 1, network, lamb));
  SplitAdamW split({}, context);
  auto coded = partition(world, 0, 0, 1);
  coded.codecs.update = WeightCodec::difference;
  CHECK_THROWS_WITH(
      DividedWeights(coded, comm, network, lamb, {}),
      "parallel.update_codec stores exact weights in shards, but this optimizer needs full tensors; remove "
      "update_codec, or take adam, adamw or sgd");
  CHECK_THROWS_WITH(DividedWeights(coded, comm, network, split, {}),
                    "parallel.update_codec and parallel.weight_codec encode unsplit weights, but this optimizer splits "
                    "them; use adam, "
                    "adamw or sgd, or remove both");
  // Two layers of 1312 and 1344 weights, each padded to 1344: 16 bytes each are 43 kB on one rank.
  CHECK_THROWS_WITH(
      make(0, 0, 0, network, adam, 40000),
      "parallel.memory_limit is 0.040 MB per rank, but 0.043 MB are needed: weights 0.011, gradients 0.011, "
      "states 0.011, windows and messages 0.000, and 0.011 more; divide more (parallel.preset zero1, "
      "zero2, zero3), start more ranks, or raise memory_limit");
}

TEST_CASE("what does not fit one rank whole is trained divided by four") {
  const Comm comm;
  if (comm.size() < 4) return;
  Layers network(2, 40, 32);
  auto limited = partition({{"world", comm.size()}}, 1, 1, 1);
  limited.limit = 40000;
  Run run(MPI_COMM_WORLD, limited, network, false, true),
      reference(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, false, true);
  for (int k = 0; k < 3; ++k) {
    run.step(network, 8);
    reference.step(network, 8);
  }
  CHECK(same_bits(run.weights(), reference.weights()));
  CHECK(run.model.memory().peak_in_steps() <= 40000);
  CHECK(reference.model.memory().peak_in_steps() > 43000);
}
