// Training on links: the same weights on any number of ranks, and the same judgement.
#include <cmath>

#include "plugins/graph/links/link_baselines.hpp"
#include "plugins/graph/links/made_links.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

struct Ranks {
  Comm world, self{MPI_COMM_SELF};
  SharedScratch scratch{world};
  std::vector<double> trained(const std::string& network, const std::string& more, bool alone) {
    Place place(alone ? self : world, scratch.file(alone ? "alone" + std::to_string(world.rank()) : "together"));
    place.run("train", "{network: {type: light_gcn, " + network +
                           "}, dataset: {type: links, made: {users: 60, items: 40, links: 6}}, batch: 50, epochs: 3, "
                           "optimizer: adam, learning_rate: {type: constant, start: 0.01}, " +
                           more + "}");
    return place.weights();
  }
};

const char* const networks[] = {"width: 6, negatives: 20, precision: float64",
                                "width: 6, layers: 3, loss: bpr, squares: 0.01, cosine: false, precision: float64",
                                "width: 6, negatives: 20, draw: links, start: spectral, precision: float64"};

}  // namespace

TEST_CASE("light_gcn has the weights of one rank", "[ranks]") {
  Ranks ranks;
  for (const auto* network : networks) {
    INFO(network);
    const auto alone = ranks.trained(network, "reduce: {mode: fast}", true),
               together = ranks.trained(network, "reduce: {mode: fast}", false);
    REQUIRE(alone.size() == together.size());
    double worst = 0.0;
    for (std::size_t k = 0; k < alone.size(); ++k) worst = std::max(worst, std::abs(alone[k] - together[k]));
    CHECK(worst < 1e-9);
  }
}

TEST_CASE("in ordered mode light_gcn has them bit for bit", "[ranks]") {
  Ranks ranks;
  for (const std::string network : {networks[0], networks[1], networks[2], "width: 6, negatives: 20"}) {
    INFO(network);
    CHECK(ranks.trained(network, "reduce: {mode: ordered, micro_batches: 4}", true) ==
          ranks.trained(network, "reduce: {mode: ordered, micro_batches: 4}", false));
  }
}

TEST_CASE("links are judged alike on any number of ranks", "[ranks]") {
  Ranks ranks;
  LinkParts parts;
  parts.source = "made";
  parts.share = 0.3;
  parts.training = draw_links({});
  const auto graph = make_links(parts);
  const auto scores = low_pass_filter(*graph, 0.3, 8);
  const auto alone = judge(*graph, *scores, 20, ranks.self), together = judge(*graph, *scores, 20, ranks.world);
  CHECK(alone.recall == together.recall);
  CHECK(alone.ndcg == together.ndcg);
  CHECK(alone.auc == together.auc);
  const auto known = judge(*graph, *most_popular(*graph), 20, ranks.world);
  CHECK(together.recall > known.recall);
  CHECK(together.auc > 0.6);
}
