// What a rank holds of a divided graph, and judging by shares of the nodes.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/loader.hpp"
#include "core/train/run/validation.hpp"
#include "plugins/graph/networks/node_network.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

constexpr std::int64_t nodes = 12000, width = 12;

/// Edges between near nodes, features without zeros, forty classes: answers take more than anything else.
void write_graph(const std::string& path) {
  std::vector<int> ends, labels, split;
  std::vector<float> features;
  for (std::int64_t i = 0; i < nodes; ++i) {
    for (std::uint64_t k = 0; k < 6; ++k) {
      const double u = Random4(3, Stream::test, static_cast<std::uint64_t>(i), k).uniform(0);
      ends.push_back(static_cast<int>(i));
      ends.push_back(static_cast<int>((i + 1 + static_cast<int>(20.0 * u)) % nodes));
    }
    labels.push_back(static_cast<int>(i * 40 / nodes));
    split.push_back(static_cast<int>(i % 3));
    for (std::int64_t f = 0; f < width; ++f)
      features.push_back(static_cast<float>(1.5 + std::sin(0.001 * static_cast<double>(i * (f + 1)))));
  }
  auto file = io::File::create(path);
  file.set_attribute("nodes", nodes);
  file.write("edges", io::tensor_of(ends.data(), {6 * nodes, 2}));
  file.write("labels", labels);
  file.write("split", split);
  file.write("features", io::tensor_of(features.data(), {nodes, width}));
  file.close();
}

/// A network on such a graph after a step and a look at the validation nodes.
struct Looked {
  Place place;
  std::unique_ptr<train::Dataset> training, validation;
  std::unique_ptr<train::Network> network;
  std::unique_ptr<train::FlatLayout> layout;
  train::FlatBuffer weights, gradients;
  std::vector<train::TermSum> metrics;

  Looked(Comm& comm, const std::string& folder, const std::string& model, const std::string& file, bool divided)
      : place(comm, folder) {
    const auto data = [&](const char* which) {
      auto out = place.registry.make<train::Dataset>(
          "graph", deck::parse(fmt::format("{{file: {}, nodes: {}, divided: {}}}", file, which, divided), "test"),
          place.context);
      out->open(place.context);
      return out;
    };
    training = data("training");
    validation = data("validation");
    const auto keys = deck::parse(model, "test");
    network = place.registry.make<train::Network>(
        keys["type"].text(), keys.without([](const std::string& key) { return key == "type"; }), place.context);
    network->fit_statistics(*training, place.context);
    layout = std::make_unique<train::FlatLayout>(network->parameters(), std::int64_t{1} << 40);
    weights = train::FlatBuffer(*layout, network->dtype());
    gradients = train::FlatBuffer(*layout, network->dtype());
    network->initialise(weights.views(), 7);
    step();
    metrics = train::Validation(*validation, 64).evaluate(*network, weights.views(), comm);
  }
  void step() {
    const auto loader = place.registry.make<train::Loader>("full_graph", deck::parse("{}", "test"), place.context);
    train::BatchPlan plan;
    plan.samples = plan.batch = training->size();
    plan.ranks = place.comm.size();
    plan.rank = place.comm.rank();
    plan.steps = 1;
    loader->open(*training, plan, place.context);
    network->begin_step(11, 0);
    train::TermSum sum;
    const double one = 1.0;
    for (const auto& slice : loader->batch(0).slices)
      network->gradient(slice, weights.views(), {&one, 1}, gradients.views(), {&sum, 1}, [](int) {});
  }
  GraphPtr graph() const {
    return storage_of<NodeSamples>(*validation->read(std::vector<std::int64_t>{0}).front())->graph;
  }
  NodeNetwork& nodes_of() { return dynamic_cast<NodeNetwork&>(*network); }
};

const std::vector<std::string> models = {
    "{type: gcn, layers: [16], sums_to_one: false}",
    "{type: graph_sage, layers: [8], sums_to_one: false, precision: float64}",
    "{type: graph_attention, layers: [4], heads: 3, sums_to_one: false}",
};

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("graph and activations on a rank fall as one over the ranks", "[ranks]") {
  Comm world, self{MPI_COMM_SELF};
  const SharedScratch scratch(world);
  const auto file = scratch.file("graph.h5");
  if (world.root()) write_graph(file);
  world.barrier();
  for (const auto& model : models) {
    Looked alone(self, scratch.file("alone" + std::to_string(world.rank())), model, file, false);
    Looked together(world, scratch.file("together"), model, file, true);
    const auto compare = [&](const char* what, std::int64_t one, std::int64_t many, double slack, double whole) {
      const double most = world.max(static_cast<double>(many)), share = static_cast<double>(one) / world.size();
      INFO(model << ", " << what << ": " << one << " bytes on one rank, at most " << most << " on each of "
                 << world.size());
      CHECK(most <= (world.size() == 1 ? share : slack * share + whole * nodes));
    };
    // Rows of neighbours within 20 nodes at both ends, and classes of all nodes, 4 bytes each.
    compare("graph", alone.graph()->bytes(), together.graph()->bytes(), 1.05, 4.0);
    // A product of several ranks has its own rows beside those that it has fetched, once more.
    compare("all", alone.nodes_of().bytes(), together.nodes_of().bytes(), 1.25, 4.0);
    CHECK(alone.nodes_of().bytes() > alone.graph()->bytes() + 8 * 40 * nodes);
  }
}

TEST_CASE("all ranks together judge as one does, bit for bit", "[ranks]") {
  Comm world, self{MPI_COMM_SELF};
  const SharedScratch scratch(world);
  const auto file = scratch.file("graph.h5");
  if (world.root()) write_graph(file);
  world.barrier();
  for (const auto& model : models) {
    INFO(model);
    Looked alone(self, scratch.file("alone" + std::to_string(world.rank())), model, file, false);
    for (const bool divided : {false, true}) {
      Looked together(world, scratch.file("together"), model, file, divided);
      REQUIRE(together.metrics.size() == 2);
      for (std::size_t k = 0; k < 2; ++k) {
        CHECK(together.metrics[k].sum == alone.metrics[k].sum);
        CHECK(together.metrics[k].count == alone.metrics[k].count);
      }
      CHECK(alone.metrics[0].sum > 0.0);
      const auto graph = together.graph();
      const auto own = together.nodes_of().classes_of(graph, together.weights.views());
      CHECK(own.nodes.size() == std::ssize(own.classes));
      CHECK(own.nodes.size() <= nodes / world.size() + 1);
      CHECK(world.sum(own.nodes.size()) == nodes);
    }
    // Sample by sample on one rank, as another program asks: the same up to rounding.
    std::vector<train::TermSum> one(2);
    std::vector<std::int64_t> ids(alone.validation->size());
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
    alone.network->evaluate(alone.validation->read(ids), alone.weights.views(), one);
    CHECK(one[0].sum == alone.metrics[0].sum);
    CHECK(one[1].sum == Approx(alone.metrics[1].sum).epsilon(1e-12));
  }
}

TEST_CASE("the stages evaluate and classify_nodes write the files of one rank", "[ranks]") {
  Comm world, self{MPI_COMM_SELF};
  const SharedScratch scratch(world);
  const auto file = scratch.file("graph.h5");
  if (world.root()) write_graph(file);
  world.barrier();
  const auto data = [&](const std::string& more) { return "{type: graph, file: " + file + more + "}"; };
  const auto model = scratch.file("trained/model.h5");
  {
    Place place(world, scratch.file("trained"));
    place.run("train", "{network: {type: gcn, layers: [8], sums_to_one: false}, dataset: " + data(", divided: true") +
                           ", loader: full_graph, epochs: 2, learning_rate: {type: constant, start: 0.02}, optimizer: "
                           "adam}");
    world.barrier();
  }
  const auto run = [&](Comm& comm, const std::string& folder, const std::string& divided) {
    Place place(comm, scratch.file(folder));
    place.run("evaluate", "{model: " + model + ", dataset: " + data(", nodes: test" + divided) + "}");
    place.run("classify_nodes",
              "{models: [" + model + "], baselines: false, dataset: " + data(", nodes: test" + divided) + "}");
    comm.barrier();
  };
  const auto alone = "alone" + std::to_string(world.rank());
  run(self, alone, "");
  for (const char* divided : {"", ", divided: true"}) {
    run(world, "together", divided);
    for (const char* name : {"evaluation.csv", "scores.csv", "nodes.csv"}) {
      INFO(name);
      const auto text = text_of(scratch.file(std::string("together/") + name));
      CHECK(text == text_of(scratch.file(alone + "/" + name)));
      CHECK(!text.empty());
    }
    world.barrier();
  }
  std::istringstream lines(text_of(scratch.file("together/nodes.csv")));
  std::string line;
  std::int64_t count = -1;
  while (std::getline(lines, line)) ++count;
  CHECK(count == nodes / 3);
}
