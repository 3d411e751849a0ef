// How often networks on nodes are right on published graphs, beside baselines.
#include <fmt/format.h>

#include "plugins/graph/tasks/classify_nodes.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// Mean share of test nodes that are right, and of the baseline that sees features alone.
struct Shares {
  double network = 0.0, features = 0.0, spread = 0.0;
};

Shares shares(const std::string& file, const std::string& model, const std::string& optimizer, int models, int hidden) {
  Comm comm;
  SharedScratch scratch(comm);
  Place place(comm, scratch.file("train"));
  place.run("train", fmt::format("{{network: {}, dataset: {{type: graph, file: {}}}, loader: full_graph, epochs: 200, "
                                 "optimizer: {}, learning_rate: {{type: constant, start: 0.01}}, models: {}}}",
                                 model, file, optimizer, models));
  Place judge(comm, scratch.file("judge"));
  const auto keys = fmt::format(
      "{{models: [\"{}/model_*/model.h5\"], dataset: {{type: graph, file: {}, nodes: test}}, mlp: {{layers: [{}], "
      "seeds: {}, "
      "weight_decay: {}}}}}",
      scratch.file("train"), file, hidden, models, optimizer.find("5e-4") != std::string::npos ? "5e-4" : "0");
  auto task = judge.registry.make<Task>("classify_nodes", deck::parse(keys, "test"), judge.context);
  task->run(judge.context);
  Shares out;
  for (const auto& line : task->lines()) {
    std::printf("%s\n", line.c_str());
    const auto number = [&] { return std::stod(line.substr(34, 10)); };
    if (line.starts_with("gcn") || line.starts_with("graph_")) out.network = number();
    if (line.starts_with("features alone")) out.features = number();
    if (line.starts_with("label propagation")) out.spread = number();
  }
  return out;
}

}  // namespace

TEST_CASE("gcn on Cora", "[data]") {
  const auto file = real_graph("cora.h5");
  if (file.empty()) return;
  const auto found = shares(file, "{type: gcn, layers: [16], bias: false}", "{type: adam, weight_decay: 5e-4}", 10, 16);
  CHECK(found.network >= 0.810);
  CHECK(found.features < 0.60);
}

TEST_CASE("gcn on CiteSeer", "[data]") {
  const auto file = real_graph("citeseer.h5");
  if (file.empty()) return;
  const auto found = shares(file, "{type: gcn, layers: [16], bias: false}", "{type: adam, weight_decay: 5e-4}", 10, 16);
  CHECK(found.network >= 0.702);
  CHECK(found.features < 0.60);
}

TEST_CASE("gcn on facebook's pages", "[data][facebook]") {
  const auto file = real_graph("facebook.h5");
  if (file.empty()) return;
  const auto found = shares(file, "{type: gcn, layers: [64], bias: false}", "adam", 3, 64);
  CHECK(found.network >= 0.945);
  CHECK(found.features < found.network);
}
