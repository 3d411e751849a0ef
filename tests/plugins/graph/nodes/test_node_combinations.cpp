// Layouts, codecs, order, division, loaders and networks drawn at random, each against the same training on one rank.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/sparse/layout.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// CAMBIUM_SEED draws other combinations.
std::uint64_t seed() {
  const char* given = std::getenv("CAMBIUM_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

struct Combination {
  std::string network, layout, codec, reduce;
  sparse::Scheme scheme = sparse::Scheme::needed_rows;
  bool attention = false, sums_in_order = false, divided = false, whole = true, in_order = false;
  std::string fan_out;

  explicit Combination(std::uint64_t number) {
    std::uint64_t drawn = 0;
    const auto one_of = [&](std::uint64_t count) {
      return static_cast<std::size_t>(static_cast<double>(count) *
                                      Random4(seed(), Stream::test, number, drawn++).uniform(0));
    };
    const char* networks[] = {"type: gcn, layers: [8]", "type: gcn, layers: [30, 8]", "type: graph_sage, layers: [8]",
                              "type: graph_attention, layers: [4], heads: 3, edge_dropout: 0.2"};
    const std::size_t kind = one_of(4);
    network = networks[kind];
    network += std::vector<std::string>{"", ", residual: true", ", residual: true, normalization: layer"}[number % 3];
    attention = kind == 3;
    constexpr std::pair<sparse::Scheme, const char*> layouts[] = {
        {sparse::Scheme::rows, "rows"},
        {sparse::Scheme::needed_rows, "needed_rows"},
        {sparse::Scheme::needed_rows, "needed_rows"},
        {sparse::Scheme::rows_1_5d, "rows_1_5d, replication: 2"},
        {sparse::Scheme::grid_2d, "grid_2d"},
        {sparse::Scheme::grid_3d, "grid_3d"}};
    std::tie(scheme, layout) = layouts[one_of(6)];
    codec = std::vector<std::string>{"none", "none", "bf16", "int8"}[one_of(4)];
    sums_in_order = by_rows() && one_of(2) == 0 && (codec == "none" || one_of(4) == 0);  // else refused
    divided = one_of(2) == 0;
    whole = one_of(3) > 0;
    in_order = one_of(2) == 0;
    if (!whole && one_of(2) == 0) fan_out = kind == 1 ? ", fan_out: [3, 2, 2]" : ", fan_out: [3, 2]";
  }
  bool by_rows() const { return scheme == sparse::Scheme::rows || scheme == sparse::Scheme::needed_rows; }

  /// A stage train; `alone`: as one rank has it, which exchanges nothing.
  std::string deck(bool alone, int epochs, const char* rate = "0.1") const {
    const auto divides =
        alone ? std::string("rows")
              : fmt::format("{{type: {}, codec: {}{}}}", layout, codec, sums_in_order ? ", ordered: true" : "");
    return fmt::format(
        "{{network: {{{}, dropout: 0.3, precision: float64, layout: {}{}}}, dataset: {{type: graph, {}{}}}, loader: "
        "{}, "
        "epochs: {}, optimizer: sgd, learning_rate: {{type: constant, start: {}}}, reduce: {}}}",
        network, divides, fan_out, small_graph, divided && !alone ? ", divided: true" : "",
        whole ? "full_graph" : "shuffle, batch: 8", epochs, rate,
        in_order ? "{mode: ordered, micro_batches: 8}" : "{mode: fast}");
  }
  /// Why ranks refuse it, in a word of the message; nothing where they do not.
  std::optional<std::string> refusal(int ranks) const {
    sparse::LayoutKeys keys;
    keys.scheme = scheme;
    keys.copies = scheme == sparse::Scheme::rows_1_5d ? 2 : 1;
    if (sums_in_order && codec != "none") return "remove one of them";
    if (!sparse::fits(keys, ranks)) return "ranks";
    if (ranks == 1) return {};
    if (divided && !whole) return "divided: true stores a part of the graph on each rank";
    if (divided && !by_rows()) return "divided: true stores rows of the graph on each rank";
    if (attention && whole && !by_rows()) return "graph_attention weighs neighbours by itself";
    return {};
  }
  /// Relative error of a gradient whose rows of other ranks arrive in few bits, 0 where none do. Each layer has two
  /// such products, whose errors add up as squares. A number of bf16 errs by 1/256 of itself, of sums that cancel 4.
  /// One of int8 errs by 1/127 of the largest in its group, which is 4 deviations or so, in slopes that are zero but
  /// for 18 of 120 nodes 10.
  double coded(int ranks) const {
    if (ranks == 1 || !whole || codec == "none") return 0.0;
    const double products = network.find("30") == std::string::npos ? 4.0 : 6.0;
    return std::sqrt(products) * (codec == "bf16" ? 4.0 / 256 : 10.0 / 127);
  }
  bool same_bits(int ranks) const { return in_order && (by_rows() || !whole || ranks == 1) && coded(ranks) == 0.0; }
};

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("whatever is combined, weights are those of one rank, or it is refused", "[ranks]") {
  Comm world, self{MPI_COMM_SELF};
  const SharedScratch scratch(world);
  const auto trained = [&](const std::string& deck, bool alone) {
    Place place(alone ? self : world, scratch.file(alone ? "alone" + std::to_string(world.rank()) : "together"));
    place.run("train", deck);
    return place.weights();
  };
  const int ranks = world.size();
  int refused = 0, same = 0, close = 0, coded = 0;
  for (std::uint64_t k = 0; k < 80; ++k) {
    const Combination c(k);
    INFO("CAMBIUM_SEED=" << seed() << ", combination " << k << ", ranks " << ranks << ": " << c.deck(false, 3));
    if (const auto why = c.refusal(ranks)) {
      std::string said = "nothing";
      try {
        trained(c.deck(false, 1), false);
      } catch (const std::exception& error) {
        said = error.what();
      }
      CHECK(said.find(*why) != std::string::npos);
      ++refused;
      continue;
    }
    const auto alone = trained(c.deck(true, 3), true), together = trained(c.deck(false, 3), false);
    REQUIRE(alone.size() == together.size());
    if (c.same_bits(ranks)) {
      CHECK(alone == together);
      ++same;
    } else if (const double error = c.coded(ranks); error > 0.0) {
      const auto before = trained(c.deck(true, 1, "1e-30"), true);
      const double moved = distance(alone, before), off = distance(alone, together);
      CHECK(off > 0.0);
      CHECK(off <= error * moved);
      ++coded;
    } else {
      CHECK(distance(alone, together) <= 1e-12 * distance(alone, std::vector<double>(alone.size(), 0.0)));
      ++close;
    }
  }
  CHECK(same > 5);
  CHECK((close > 0 || ranks == 1));
  if (ranks > 1) CHECK((coded > 0 && refused > 0));
}
