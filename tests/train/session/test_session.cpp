#include <cmath>
#include <filesystem>

#include "core/io/hdf5/h5.hpp"
#include "core/train/session.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// 48 points of y = x0 x1, spread over the ranks in order: rank r has those from first to last.
struct Points {
  std::vector<double> x, y;
  std::int64_t rows;
  Points(std::int64_t first, std::int64_t last) : rows(last - first) {
    for (std::int64_t i = first; i < last; ++i) {
      const double a = std::sin(0.7 * static_cast<double>(i)), b = std::cos(1.3 * static_cast<double>(i));
      x.insert(x.end(), {a, b});
      y.push_back(a * b);
    }
  }
  std::vector<HostArray> arrays() const {
    return {{"x", io::tensor_of(x.data(), {rows, 2}), ""}, {"y", io::tensor_of(y.data(), {rows, 1}), "eV"}};
  }
};

std::string keys_with(const std::string& reduce, const std::string& network = "network") {
  return network +
         ": {type: mlp, layers: [8], input: x, target: y, precision: float64}\noptimizer: sgd\n"
         "learning_rate: {type: constant, start: 0.1}\nreduce: " +
         reduce + "\n";
}

/// Weights after some steps in which rank r has the points of `shares`.
std::vector<double> trained(const Comm& comm, const std::string& reduce, const std::vector<std::int64_t>& cuts,
                            const std::string& path) {
  Session session(comm.handle(), keys_with(reduce));
  const auto r = static_cast<std::size_t>(comm.rank());
  const Points mine(cuts[r], cuts[r + 1]);
  for (int k = 0; k < 20; ++k) session.step(mine.arrays());
  session.save(path);
  comm.barrier();
  return io::File::open(path).read<std::vector<double>>("weights");
}

}  // namespace

TEST_CASE("a session that calls its network model, as earlier versions did, trains the same") {
  Comm self(MPI_COMM_SELF);
  const Scratch scratch;
  const Points all(0, 48);
  std::vector<std::vector<double>> weights;
  for (const char* key : {"network", "model"}) {
    Session session(self.handle(), keys_with("{mode: fast}", key));
    for (int k = 0; k < 5; ++k) session.step(all.arrays());
    session.save(scratch.file("net.h5"));
    weights.push_back(io::File::open(scratch.file("net.h5")).read<std::vector<double>>("weights"));
  }
  CHECK(weights[0] == weights[1]);
  CHECK_THROWS_WITH(Session(self.handle(), keys_with("{mode: fast}") + "model: {type: mlp, layers: [2]}\n"),
                    Catch::Contains("deck:5:1: model: 'model' is called 'network' now, and 'network' is given as well "
                                    "(deck:1:1): remove one of them"));
}

TEST_CASE("a session has no validations that a learning rate could follow") {
  Comm self(MPI_COMM_SELF);
  const std::string deck =
      "network: {type: mlp, layers: [8], input: x, target: y}\nlearning_rate: {type: reduce_on_plateau, start: 0.1}\n";
  CHECK_THROWS_WITH(
      Session(self.handle(), deck),
      "learning_rate reduce_on_plateau follows the validations of a stage train, which a session does not "
      "have; take another one");
}

TEST_CASE("a session needs the number of steps for a learning rate that depends on it") {
  Comm self(MPI_COMM_SELF);
  const auto deck = [](const std::string& rate, const std::string& more = "") {
    return "network: {type: mlp, layers: [8], input: x, target: y}\nlearning_rate: " + rate + "\n" + more;
  };
  const auto refused = [&](const std::string& rate, const std::string& type) {
    CHECK_THROWS_WITH(Session(self.handle(), deck(rate)),
                      "learning_rate " + type +
                          " changes over all steps, whose number is not given to the session; give steps, the "
                          "number of calls of step()");
    CHECK_NOTHROW(Session(self.handle(), deck(rate, "steps: 100\n")));
  };
  refused("{type: linear, start: 0.1}", "linear");
  refused("{type: polynomial, start: 0.1}", "polynomial");
  refused("{type: cosine, start: 0.1}", "cosine");
  refused("{type: exponential, start: 0.1, stop: 0.01}", "exponential");
  refused("{type: wsd, start: 0.1}", "wsd");
  refused(
      "{type: sequence, schedules: [{steps: 5, rate: {type: constant, start: 0.1}}, {rate: {type: cosine, start: "
      "0.1}}]}",
      "sequence");
  for (const char* rate :
       {"{type: constant, start: 0.1}", "{type: cosine, start: 0.1, steps: 50}", "{type: step, start: 0.1, every: 10}",
        "{type: sequence, schedules: [{steps: 5, rate: {type: cosine, start: 0.1}}, {rate: {type: constant, start: "
        "0.1}}]}"})
    CHECK_NOTHROW(Session(self.handle(), deck(rate)));
}

TEST_CASE("a session that goes on with schedule_free_adamw has the weights of one that was not interrupted") {
  Comm self(MPI_COMM_SELF);
  const Scratch scratch;
  const Points all(0, 48);
  const std::string deck =
      "network: {type: mlp, layers: [8], input: x, target: y, precision: float64}\n"
      "optimizer: schedule_free_adamw\nlearning_rate: {type: constant, start: 0.1}\n";
  Session whole(self.handle(), deck), first(self.handle(), deck), second(self.handle(), deck);
  for (int k = 0; k < 10; ++k) whole.step(all.arrays());
  for (int k = 0; k < 4; ++k) first.step(all.arrays());
  first.save(scratch.file("half.h5"));
  second.load(scratch.file("half.h5"));
  for (int k = 4; k < 10; ++k) second.step(all.arrays());
  CHECK(whole.evaluate(all.arrays()) == second.evaluate(all.arrays()));
}

TEST_CASE("uneven shares give the gradient of the whole, an empty one included") {
  Comm world, self(MPI_COMM_SELF);
  SharedScratch scratch(world);
  std::vector<std::int64_t> cuts{0};
  for (int r = 1; r < world.size(); ++r) cuts.push_back(r == 1 ? 31 : 31 + (r - 2) * 5);  // rank 1 has none of four
  cuts.push_back(48);
  const auto uneven = trained(world, "{mode: fast}", cuts, scratch.file("uneven.h5"));
  const auto whole =
      trained(self, "{mode: fast}", {0, 48}, scratch.file("whole" + std::to_string(world.rank()) + ".h5"));
  REQUIRE(uneven.size() == whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k) CHECK(uneven[k] == Approx(whole[k]).epsilon(1e-12).margin(1e-13));
}

TEST_CASE("ordered sums give the same bits for any number of ranks") {
  Comm world, self(MPI_COMM_SELF);
  SharedScratch scratch(world);
  std::vector<std::int64_t> cuts;
  for (int r = 0; r <= world.size(); ++r) cuts.push_back(48 * r / world.size());
  const std::string ordered = "{mode: ordered, micro_batches: 8}";
  if (world.size() == 3) {
    CHECK(message([&] { Session bad(world.handle(), keys_with(ordered)); })
              .ends_with("each rank of a session divides samples of its own, so that 3 ranks need a multiple of 3 "
                         "micro-batches, not 8; start another number of ranks, or set reduce.mode to fast"));
    return;
  }
  const auto together = trained(world, ordered, cuts, scratch.file("together.h5"));
  const auto alone = trained(self, ordered, {0, 48}, scratch.file("alone" + std::to_string(world.rank()) + ".h5"));
  CHECK(together == alone);
}

TEST_CASE("what a session refuses") {
  Comm world;
  Session session(world.handle(), keys_with("{mode: fast}"));
  CHECK(message([&] { session.evaluate(Points(0, 4).arrays()); }) ==
        "evaluate needs a network whose sizes are known: call step() or load() first");
  CHECK(message([&] { session.step(std::vector<HostArray>{}); }) ==
        "no arrays were given; pass at least one per field of the model");
  const Points points(0, 4);
  auto arrays = points.arrays();
  arrays[1].values.shape[0] = 3;
  CHECK(message([&] { session.step(arrays); }) ==
        "array 'y' holds 3 samples, but 'x' holds 4; the first axis counts the same samples");
  session.step(points.arrays());
  arrays = points.arrays();
  arrays[1].unit = "K";
  CHECK(
      message([&] { session.step(arrays); }) ==
      "array 'y' has samples of shape (1) in K, those of the first step had (1) in eV; shape, type and unit must stay");
  CHECK(message([&] { session.step(std::vector<HostArray>{arrays[0]}); }) ==
        "array 'y' is missing; the first step had it");
  std::vector<double> out(4);
  CHECK(message([&] {
          session.infer(points.arrays(), std::vector<HostArray>{{"output", io::tensor_of(out.data(), {4}), ""}});
        }) == "the output 'output' needs a float64 array of shape (4, 1)");
  std::vector<double> two(8);
  arrays = points.arrays();
  arrays[1].values = io::tensor_of(two.data(), {4, 2});
  CHECK(message([&] { session.evaluate(arrays); }) ==
        "sample 0: field 'y' has 2 values, but the model was made for 1; give it samples like those it was trained on");
  const SharedScratch scratch{world};
  const auto file = scratch.file("model.h5");
  session.write_model(file);
  CHECK(
      message([&] { session.load(file); }) ==
      "'" + file +
          "' is no checkpoint of a training: it has no /train; give a restart.*.h5, or the file that a session saved");
  CHECK(session.outputs()[0].unit == "eV");
  CHECK(message([&] { Session bad(world.handle(), "no_such_deck.yaml"); }) ==
        "cannot read the deck 'no_such_deck.yaml'; give the name of a YAML file, or YAML text");
}

namespace {

std::vector<double> answers(Session& session, const Points& points) {
  std::vector<double> out(points.rows, -1.0);
  session.infer(points.arrays(), std::vector<HostArray>{{"output", io::tensor_of(out.data(), {points.rows, 1}), "eV"}});
  return out;
}

/// Files that a session with these keys must not take, and what it says of each.
std::vector<std::pair<std::string, std::string>> wrong_files(const Comm& world, const SharedScratch& scratch) {
  const Points points(0, 8);
  const auto file = [&](const std::string& name) { return scratch.file(name); };
  Session other(world.handle(),
                "network: {type: mlp, layers: [8], input: x, target: y, precision: float64}\n"
                "learning_rate: {type: constant, start: 0.1}\n");
  other.step(points.arrays());
  other.save(file("adam.h5"));
  other.write_model(file("model.h5"));
  Session wider(world.handle(),
                "network: {type: mlp, layers: [9], input: x, target: y, precision: float64}\n"
                "optimizer: sgd\nlearning_rate: {type: constant, start: 0.1}\n");
  wider.step(points.arrays());
  wider.save(file("wider.h5"));
  if (world.root()) std::filesystem::copy_file(file("wider.h5"), file("cut.h5"));
  if (world.root()) std::filesystem::resize_file(file("cut.h5"), 3000);
  world.barrier();
  return {{file("model.h5"), "is no checkpoint of a training: it has no /train"},
          {file("adam.h5"), "was written with optimizer adam, but the deck has sgd"},
          {file("wider.h5"), "holds 37 values in /weights, but the deck's model has 33 parameters"},
          {file("cut.h5"), "cut.h5"},
          {file("none.h5"), "none.h5"}};
}

}  // namespace

TEST_CASE("a session that fails to load a file goes on refusing, or as it was") {
  Comm world;
  const SharedScratch scratch{world};
  const auto files = wrong_files(world, scratch);
  const Points points(0, 8);
  Session empty(world.handle(), keys_with("{mode: fast}"));
  for (const auto& [file, words] : files) {
    CHECK_THAT(message([&] { empty.load(file); }), Catch::Contains(words));
    CHECK(message([&] { answers(empty, points); }) ==
          "infer needs a network whose sizes are known: call step() or load() first");
    CHECK(message([&] { empty.write_model(scratch.file("never.h5")); }) ==
          "write_model needs a network whose sizes are known: call step() or load() first");
    CHECK(empty.steps() == 0);
  }
  Session tries(world.handle(), keys_with("{mode: fast}")), twin(world.handle(), keys_with("{mode: fast}"));
  for (int k = 0; k < 3; ++k) {
    tries.step(points.arrays());
    twin.step(points.arrays());
  }
  for (const auto& [file, words] : files) {
    CHECK_THAT(message([&] { tries.load(file); }), Catch::Contains(words));
    CHECK(tries.steps() == twin.steps());
    CHECK(answers(tries, points) == answers(twin, points));
    CHECK(tries.step(points.arrays()) == twin.step(points.arrays()));
  }
}

TEST_CASE("a session whose first step fails has no network, and begins anew") {
  Comm world;
  const Points points(0, 8);
  Session session(world.handle(), keys_with("{mode: fast}")), twin(world.handle(), keys_with("{mode: fast}"));
  Points bad(0, 8);
  bad.y[3] = std::nan("");
  CHECK_THROWS(session.step(bad.arrays()));
  CHECK(message([&] { answers(session, points); }) ==
        "infer needs a network whose sizes are known: call step() or load() first");
  CHECK(session.metrics().empty());
  CHECK(session.step(points.arrays()) == twin.step(points.arrays()));
  CHECK(answers(session, points) == answers(twin, points));
}

TEST_CASE("the model that a session writes is one that cambium reads") {
  Comm world;
  SharedScratch scratch(world);
  Session session(world.handle(), keys_with("{mode: fast}"));
  session.step(Points(0, 8).arrays());
  session.write_model(scratch.file("model.h5"));
  world.barrier();
  const auto file = io::File::open(scratch.file("model.h5"));
  CHECK(file.group("model").attribute<std::string>("type") == "mlp");
  CHECK(file.exists("weights/layers.0.w"));
  CHECK(file.group("fields/y").attribute<std::string>("unit") == "eV");
}
