// Training on one graph: the same weights on any number of ranks.
#include <fmt/format.h>

#include <cmath>

#include "core/sparse/distributed/layout.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

std::string stage(const std::string& model, const std::string& more) {
  return "{network: " + model + ", dataset: {type: graph, " + small_graph +
         "}, validation: {type: graph, nodes: validation, " + small_graph +
         "}, loader: whole_graph, epochs: 10, optimizer: {type: adam, weight_decay: 5e-4}, learning_rate: {type: "
         "constant, "
         "start: 0.01}, validate: {every: 5, keep_best: false}, " +
         more + "}";
}

const std::vector<std::string> models = {
    "{type: gcn, layers: [8], precision: float64}",
    "{type: gcn, layers: [30, 8], precision: float64}",
    "{type: graph_sage, layers: [8], precision: float64}",
    "{type: graph_attention, layers: [4], heads: 3, precision: float64}",
};

struct Ranks {
  Comm world, self{MPI_COMM_SELF};
  SharedScratch scratch{world};
  std::vector<double> trained(const std::string& keys, bool alone) {
    Place place(alone ? self : world, scratch.file(alone ? "alone" + std::to_string(world.rank()) : "together"));
    place.run("train", keys);
    return place.weights();
  }
};

/// A layout as a deck has it.
sparse::LayoutKeys sparse_keys(Ranks& ranks, const std::string& layout) {
  struct Keys {
    deck::Choice<sparse::Layout> layout;
    static void describe(deck::Describe<Keys>& d) { d("layout", &Keys::layout, "how"); }
  };
  Comm self(MPI_COMM_SELF);
  Place place(self, ranks.scratch.file("layouts" + std::to_string(ranks.world.rank())));
  place.context.dry_run = true;  // whatever the number of ranks
  const auto keys = deck::read<Keys>(deck::parse("{layout: " + layout + "}", "test"), &place.registry);
  return place.registry.make<sparse::Layout>(keys.layout, place.context)->keys();
}

}  // namespace

TEST_CASE("weights after ten epochs are those of one rank", "[ranks]") {
  Ranks ranks;
  for (const auto& model : models) {
    INFO(model);
    const auto keys = stage(model, "reduce: {mode: fast}");
    const auto alone = ranks.trained(keys, true), together = ranks.trained(keys, false);
    REQUIRE(alone.size() == together.size());
    double worst = 0.0, size = 0.0;
    for (std::size_t k = 0; k < alone.size(); ++k)
      worst = std::max(worst, std::abs(alone[k] - together[k])), size = std::max(size, std::abs(alone[k]));
    CHECK(worst <= 1e-10 * size);
  }
}

TEST_CASE("in ordered mode they are the same bit for bit", "[ranks]") {
  Ranks ranks;
  for (const auto& model : models) {
    INFO(model);
    const auto keys = stage(model, "reduce: {mode: ordered, slices: 8}");
    CHECK(ranks.trained(keys, true) == ranks.trained(keys, false));
  }
  const auto few = stage("{type: gcn, layers: [8]}", "reduce: {mode: ordered, slices: 8}");
  CHECK(ranks.trained(few, true) == ranks.trained(few, false));
}

TEST_CASE("every layout that these ranks allow gives the weights of one rank", "[ranks]") {
  Ranks ranks;
  for (const char* layout : {"rows", "needed_rows", "{type: rows_1_5d, copies: 2}", "grid_2d", "grid_3d"}) {
    INFO(layout);
    const auto keys = sparse_keys(ranks, layout);
    if (!sparse::fits(keys, ranks.world.size())) continue;
    for (const char* model :
         {"type: gcn, layers: [8]", "type: gcn, layers: [30, 8]", "type: graph_sage, layers: [8]"}) {
      INFO(model);
      const auto deck = [&](const std::string& divided) {
        return stage(fmt::format("{{{}, precision: float64, layout: {}}}", model, divided),
                     "reduce: {mode: fast}, accumulate: 2");
      };
      const auto alone = ranks.trained(deck("rows"), true), together = ranks.trained(deck(layout), false);
      double worst = 0.0, size = 0.0;
      for (std::size_t k = 0; k < alone.size(); ++k)
        worst = std::max(worst, std::abs(alone[k] - together[k])), size = std::max(size, std::abs(alone[k]));
      CHECK(worst <= 1e-10 * size);
    }
  }
}
