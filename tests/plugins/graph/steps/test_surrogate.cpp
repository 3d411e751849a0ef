// A physics whose steps a trained network makes: what rollout computes, on any number of ranks, and after a restart.
// This file sees no Torch.
#include "plugins/graph/trajectories/interpolation.hpp"
#include "plugins/graph/trajectories/network_steps.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"
#include "tests/plugins/graph/node_case.hpp"
#include "tests/plugins/graph/steps/made_run.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;
using cambium::graph::test::Transport;

namespace {

/// A network of three exchanges, trained for a few steps of length 1.
struct Trained {
  Stages stages;
  std::string model = stages.scratch.file("train/model.h5");

  Trained() {
    const auto path = stages.scratch.file("run.h5");
    MadeRun made{.n = 8, .growth = 0.15, .moments = 9};
    if (stages.comm.root()) made.write(path);
    stages.comm.barrier();
    stages.run("train",
               "{network: {type: mesh_graph_net, layers: 3, width: 8, precision: float64}, dataset: {type: "
               "mesh_trajectories, files: [" +
                   path + "]}, batch: 4, steps: 12, seed: 2, learning_rate: {type: constant, start: 1e-2}}",
               "train");
  }
  std::string deck(const std::string& more) const {
    return "{mesh: {rectangle: {cells: [15, 6], size: [15, 6]}}, initial: 0.5 + 0.4*sin(x)*cos(y), end_time: 6, "
           "surrogate: '" +
           model + "'" + more + "}";
  }
  /// A physics with the network, not begun.
  std::unique_ptr<Transport> physics(const std::string& more, MPI_Comm comm) {
    auto out = std::make_unique<Transport>(deck(more), comm, false);
    out->context().registry = &stages.registry;
    return out;
  }
  std::unique_ptr<Transport> begun(MPI_Comm comm, const std::string& more = "") {
    auto out = physics(more, comm);
    out->physics().initialise(out->state(), out->context());
    return out;
  }
};

}  // namespace

TEST_CASE("the network's steps are the same on any number of ranks, and change the state") {
  Trained trained;
  const auto part = trained.begun(MPI_COMM_WORLD), whole = trained.begun(MPI_COMM_SELF);
  const auto before = whole->own();
  part->finish();
  whole->finish();
  CHECK(whole->state().step == 6);
  CHECK(whole->state().time == Approx(6.0));
  const auto mine = part->own(), same = whole->same_rows(part->node_run().stepper().range());
  double moved = 0.0;
  for (std::size_t k = 0; k < mine.size(); ++k) CHECK(mine[k] == Approx(same[k]).epsilon(1e-12));
  for (std::size_t k = 0; k < before.size(); ++k) moved = std::max(moved, std::abs(whole->own()[k] - before[k]));
  CHECK(moved > 1e-3);
}

TEST_CASE("a restart goes on as if nothing had happened, given values are held") {
  Trained trained;
  const std::string held = ", boundaries: {left: {value: 0.25}}";
  const auto straight = trained.begun(MPI_COMM_WORLD, held);
  auto resumed = trained.physics(held, MPI_COMM_WORLD);
  const std::string path = trained.stages.scratch.file("restart.h5");
  for (int k = 0; k < 3; ++k) straight->advance();
  straight->write(path);
  resumed->resume(path);
  straight->finish();
  resumed->finish();
  CHECK(straight->own() == resumed->own());
  const auto& run = straight->node_run();
  int found = 0;
  for (std::int64_t i = 0; i < run.stepper().range().owned(); ++i)
    if (run.shown().place[i][0] == 0.0) {
      CHECK(straight->own()[i] == 0.25);
      ++found;
    }
  CHECK(straight->comm().sum(std::int64_t{found}) == 7);
}

TEST_CASE("a rank works on its nodes and those in reach alone") {
  Trained trained;
  const auto part = trained.begun(MPI_COMM_WORLD);
  const auto& report = part->physics().report();
  REQUIRE(report.size() == 1);
  if (part->comm().size() == 1) CHECK(report[0].ends_with("a rank computes 112 of 112 nodes"));
  if (part->comm().size() > 1) CHECK(!report[0].ends_with("a rank computes 112 of 112 nodes"));
}

TEST_CASE("a step brings the values of nodes within reach, and no others") {
  Trained trained;
  for (const std::string fields : {"", ", diffusivity: 0.1"}) {
    const auto part = trained.begun(MPI_COMM_WORLD, fields);
    const auto& network = *part->node_run().network();
    const auto halo = network.computed() - part->node_run().stepper().range().owned();
    for (int step = 1; step <= 3; ++step) {
      part->advance();
      CHECK(network.words().dense == step * halo);
    }
    const auto ranks = part->comm().size();
    CHECK((halo == 0) == (ranks == 1));
    // 16 x 7 nodes, 28 or 56 of them on a rank, in the order of their columns or rows: at most three of these away.
    if (ranks > 1) CHECK(halo < 112 - part->node_run().stepper().range().owned());
  }
}

TEST_CASE("coded values of other ranks' nodes take the bytes of their codec, and the steps are nearly the same") {
  using Codec = lowp::WireCodec;
  Trained trained;
  const auto exact = trained.begun(MPI_COMM_WORLD);
  exact->finish();
  const auto right = exact->own();
  const bool alone = exact->comm().size() == 1;
  std::vector<double> off;
  for (const auto& [name, codec, most] : {std::tuple{"bf16", Codec::bf16, 0.01}, std::tuple{"int8", Codec::int8, 0.02},
                                          std::tuple{"int4", Codec::int4, 0.3}}) {
    const auto coded = trained.begun(MPI_COMM_WORLD, fmt::format(", codec: {}", name));
    coded->finish();
    const auto found = coded->own();
    double worst = 0.0;
    for (std::size_t k = 0; k < right.size(); ++k) worst = std::max(worst, std::abs(found[k] - right[k]));
    off.push_back(exact->comm().max(worst));
    INFO(name << " differs by " << off.back());
    CHECK((off.back() > 0.0) == !alone);
    CHECK(off.back() < most);
    const auto& words = coded->node_run().network()->words();
    CHECK(words.bytes == words.messages * lowp::message_bytes(codec, 128));  // each of fewer numbers, padded to these
  }
  CHECK((alone || off[1] < off[2]));
}

TEST_CASE("partitions of a network's nodes give its steps, to rounding") {
  Trained trained;
  const auto whole = trained.begun(MPI_COMM_SELF);
  whole->finish();
  for (const char* partition : {"ranges", "cut"}) {
    const auto part = trained.begun(MPI_COMM_WORLD, fmt::format(", partition: {}", partition));
    part->finish();
    const auto mine = part->own(), same = whole->same_rows(part->node_run().stepper().range());
    for (std::size_t k = 0; k < mine.size(); ++k) CHECK(mine[k] == Approx(same[k]).epsilon(1e-12));
    const auto& network = *part->node_run().network();
    CHECK(part->comm().sum(network.words().dense) == 6 * network.halo());
    if (std::string(partition) == "ranges") CHECK(network.halo() == network.halo_of_ranges());
  }
}

TEST_CASE("what a network cannot do instead of the equations", "[messages]") {
  Trained trained;
  const auto says = [&](const std::string& more) {
    std::string text;
    try {
      trained.begun(MPI_COMM_SELF, more);
    } catch (const InputError& error) {
      text = error.what();
    }
    return text;
  };
  CHECK(
      says(", timestep: 0.1") ==
      "'timestep' and 'surrogate' exclude each other: a network's steps have the length that it was trained on; leave "
      "timestep out");
  std::string text;
  try {
    Transport("{mesh: {rectangle: {cells: [4, 4]}}, diffusivity: 1, end_time: 1, codec: int8}");
  } catch (const InputError& error) {
    text = error.what();
  }
  CHECK(text ==
        "'codec' rounds the nodes of other ranks, and the equations would then not keep their totals; give a "
        "'surrogate', or leave codec out");
  CHECK(says(", sample_interval: 2.5") ==
        "sample_interval is 2.5, but '" + trained.model + "' makes steps of 1; take a multiple of these");
  CHECK(says(", start_time: 0.5") == "the run begins at t = 0.5, but '" + trained.model +
                                         "' makes steps of 1; begin at a multiple of these, or set 'start_time: 0'");
}

TEST_CASE("values between nodes are linear within triangles, and those of the edge outside") {
  const Scratch scratch;
  const auto mesh = made_trajectory(scratch.file("a.h5"), {.n = 5, .moments = 3});
  std::vector<double> plane;
  for (std::int64_t i = 0; i < mesh.nodes(); ++i)
    plane.push_back(2.0 + 3.0 * mesh.place[3 * i] - mesh.place[3 * i + 1]);
  const std::vector<double> places{1.3, 2.2, 0.0, 0.4, 3.1, 0.0, 3.0, 1.0, 0.0};
  const auto at = Interpolation(mesh, places)(plane, 1);
  for (std::size_t k = 0; k < at.size(); ++k)
    CHECK(at[k] == Approx(2.0 + 3.0 * places[3 * k] - places[3 * k + 1]).epsilon(1e-12));
  const std::vector<double> far{-10.0, -10.0, 0.0};
  const double low = *std::min_element(plane.begin(), plane.end()),
               high = *std::max_element(plane.begin(), plane.end());
  const double outside = Interpolation(mesh, far)(plane, 1)[0];
  CHECK((outside >= low && outside <= high));
}
