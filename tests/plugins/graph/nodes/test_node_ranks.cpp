// Training on one graph: the same weights on any number of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/sparse/layout.hpp"
#include "plugins/graph/graphs/divided_graph.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/matrices.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

std::string stage(const std::string& model, const std::string& more) {
  return "{network: " + model + ", dataset: {type: graph, " + small_graph +
         "}, validation: {type: graph, nodes: validation, " + small_graph +
         "}, loader: full_graph, epochs: 10, optimizer: {type: adam, weight_decay: 5e-4}, learning_rate: {type: "
         "constant, "
         "start: 0.01}, validate: {every: 5, keep_best: false}, " +
         more + "}";
}

const std::vector<std::string> models = {
    "{type: gcn, layers: [8], precision: float64}",
    "{type: gcn, layers: [30, 8], precision: float64}",
    "{type: graph_sage, layers: [8], precision: float64}",
    "{type: graph_attention, layers: [4], heads: 3, precision: float64}",
    "{type: gcn, layers: [8, 8], residual: true, normalization: layer, precision: float64}",
    "{type: graph_attention, layers: [4], heads: 3, residual: true, precision: float64}",
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
    for (std::size_t k = 0; k < alone.size(); ++k) {
      worst = std::max(worst, std::abs(alone[k] - together[k]));
      size = std::max(size, std::abs(alone[k]));
    }
    CHECK(worst <= 1e-10 * size);
  }
}

TEST_CASE("in ordered mode they are the same bit for bit", "[ranks]") {
  Ranks ranks;
  for (const auto& model : models) {
    INFO(model);
    const auto keys = stage(model, "reduce: {mode: ordered, micro_batches: 8}");
    CHECK(ranks.trained(keys, true) == ranks.trained(keys, false));
  }
  const auto few = stage("{type: gcn, layers: [8]}", "reduce: {mode: ordered, micro_batches: 8}");
  CHECK(ranks.trained(few, true) == ranks.trained(few, false));
}

TEST_CASE("every layout that these ranks allow gives the weights of one rank", "[ranks]") {
  Ranks ranks;
  for (const char* layout : {"rows", "needed_rows", "{type: rows_1_5d, replication: 2}", "grid_2d", "grid_3d"}) {
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
      for (std::size_t k = 0; k < alone.size(); ++k) {
        worst = std::max(worst, std::abs(alone[k] - together[k]));
        size = std::max(size, std::abs(alone[k]));
      }
      CHECK(worst <= 1e-10 * size);
    }
  }
}

namespace {

/// A weighted graph with loops, edges given twice and features that are no counts.
void write_graph(const std::string& path, bool directed, bool sparse) {
  constexpr std::int64_t nodes = 151, edges = 900, width = 6;
  std::vector<int> ends, labels, split, indices;
  std::vector<double> weights;
  std::vector<float> features;
  std::vector<std::int64_t> places{0};
  for (std::int64_t k = 0; k < edges; ++k) {
    const auto a = static_cast<int>(k * k % nodes), b = static_cast<int>((7 * k + k / 90) % nodes);
    // Without directions, weights of an edge that is given again are added in one of them.
    ends.push_back(directed ? a : std::min(a, b));
    ends.push_back(directed ? b : std::max(a, b));
    weights.push_back(0.1 + 0.3 * std::sin(static_cast<double>(k)) * std::sin(static_cast<double>(k)));
  }
  for (std::int64_t i = 0; i < nodes; ++i) {
    labels.push_back(static_cast<int>(i % 3));
    split.push_back(static_cast<int>(i % 5 == 0));
    for (std::int64_t f = 0; f < width; ++f) {
      const bool none = (i + f) % 3 == 0;
      if (!sparse) features.push_back(none ? 0.0f : static_cast<float>(1.0 + 0.1 * static_cast<double>(i * f % 11)));
      if (!sparse || none) continue;
      features.push_back(static_cast<float>(1.0 + 0.1 * static_cast<double>(i * f % 11)));
      indices.push_back(static_cast<int>(f));
    }
    places.push_back(std::ssize(indices));
  }
  auto file = io::File::create(path);
  file.set_attribute("nodes", nodes);
  file.set_attribute("directed", std::int64_t{directed});
  file.write("edges", io::tensor_of(ends.data(), {edges, 2}));
  file.write("weights", weights);
  file.write("labels", labels);
  file.write("split", split);
  if (sparse) {
    auto group = file.create_group("features");
    group.set_attribute("columns", width);
    group.write("indptr", places);
    group.write("indices", indices);
    group.write("values", features);
  } else {
    file.write("features", io::tensor_of(features.data(), {nodes, width}));
  }
  file.close();
}

template <class T>
bool same(const sparse::Csr<T>& a, const sparse::Csr<T>& b) {
  return a.rows == b.rows && a.columns == b.columns && a.start == b.start && a.column == b.column && a.value == b.value;
}

}  // namespace

TEST_CASE("a rank's part that is read is its part of the whole graph", "[ranks]") {
  Ranks ranks;
  for (const bool directed : {false, true})
    for (const bool sparse : {false, true}) {
      const auto path = ranks.scratch.file("graph" + std::to_string(2 * directed + sparse) + ".h5");
      if (ranks.world.root()) write_graph(path, directed, sparse);
      ranks.world.barrier();
      const auto whole = read_graph(path);
      const auto read = read_divided_graph(path, ranks.world), cut = held_part(*whole, ranks.world);
      CHECK(same(read->weights, cut->weights));
      CHECK(same(read->features, cut->features));
      CHECK(read->labels == whole->labels);
      const auto here = read->here();
      CHECK(read->roles == std::vector<Role>(whole->roles.begin() + here.begin, whole->roles.begin() + here.end));
      CHECK(cut->roles == read->roles);
      CHECK(std::tuple(read->edges, read->loops, read->duplicates, read->feature_entries, read->classes,
                       read->in_role) == std::tuple(whole->edges, whole->loops, whole->duplicates,
                                                    whole->feature_entries, whole->classes, whole->in_role));
      for (const auto weighing : {Weighing::symmetric, Weighing::mean, Weighing::pattern, Weighing::none}) {
        const auto all = weighed(*whole, weighing);
        CHECK(same(weighed(*read, weighing), rows_of(all, here.begin, here.end)));
        CHECK(same(weighed(*cut, weighing), rows_of(all, here.begin, here.end)));
      }
      CHECK(read->held.has_value() == (ranks.world.size() > 1));
    }
}

TEST_CASE("edges of a file in both directions count once, on one rank and divided", "[ranks]") {
  Ranks ranks;
  constexpr int nodes = 40;
  const auto write = [&](const std::string& name, bool both, const std::vector<double>& weights) {
    const auto path = ranks.scratch.file(name);
    if (ranks.world.root()) {
      std::vector<int> ends;
      for (int k = 0; k < nodes - 1; ++k) ends.insert(ends.end(), {k, k + 1});
      for (int k = 0; both && k < nodes - 1; ++k) ends.insert(ends.end(), {k + 1, k});
      auto file = io::File::create(path);
      file.set_attribute("nodes", nodes);
      file.write("edges", io::tensor_of(ends.data(), {std::ssize(ends) / 2, 2}));
      if (!weights.empty()) file.write("weights", weights);
      file.write("labels", std::vector<int>(nodes, 0));
      file.close();
    }
    ranks.world.barrier();
    return path;
  };
  const auto both = write("both.h5", true, {});  // once: nobody writes what another rank may still read
  const auto once = read_graph(write("once.h5", false, {})), twice = read_graph(both);
  CHECK(once->fingerprint == twice->fingerprint);
  CHECK(twice->mutual == nodes - 1);
  const auto part = read_divided_graph(both, ranks.world);
  CHECK(part->mutual == nodes - 1);
  CHECK(part->edges == nodes - 1);
  CHECK(same(part->weights, rows_of(once->weights, part->here().begin, part->here().end)));
  std::vector<double> weights(2 * (nodes - 1), 0.5);
  CHECK(read_graph(write("equal.h5", true, weights))->weights.value == std::vector<double>(2 * (nodes - 1), 0.5));
  weights.back() = 0.75;
  const auto other = write("other.h5", true, weights);
  for (const auto& read : {std::function<void()>([&] { read_graph(other); }),
                           std::function<void()>([&] { read_divided_graph(other, ranks.world); })}) {
    std::string said;
    try {
      read();
    } catch (const InputError& error) {
      said = error.what();
    }
    CHECK(said.find("the edge between nodes ") != std::string::npos);
    CHECK(said.find(" in the other; give it one weight, or make the graph directed") != std::string::npos);
  }
}

TEST_CASE("a divided graph gives the weights of a whole one, and its ranks hold their share", "[ranks]") {
  Ranks ranks;
  const auto path = ranks.scratch.file("divided.h5");
  if (ranks.world.root()) write_graph(path, false, true);
  ranks.world.barrier();
  for (const auto& model : models) {
    INFO(model);
    const auto keys = [&](const std::string& divided) {
      return "{network: " + model + ", dataset: {type: graph, file: " + path + divided +
             "}, validation: {type: graph, nodes: validation, file: " + path + divided +
             "}, loader: full_graph, epochs: 10, optimizer: {type: adam}, learning_rate: {type: constant, start: "
             "0.01}, "
             "reduce: {mode: ordered, micro_batches: 8}}";
    };
    CHECK(ranks.trained(keys(""), true) == ranks.trained(keys(", divided: true"), false));
  }
  const auto part = read_divided_graph(path, ranks.world);
  const double all = ranks.world.sum(static_cast<double>(part->weights.entries()));
  CHECK(static_cast<double>(part->weights.entries()) <= 1.2 * all / ranks.world.size());
  CHECK(part->weights.rows == part->here().size());
  const auto whole = read_graph(path);
  CHECK(all == static_cast<double>(whole->weights.entries()));
}

TEST_CASE("what wants more of a divided graph than a rank holds says so", "[ranks]") {
  Ranks ranks;
  if (ranks.world.size() == 1) return;
  const auto says = [&](const std::string& task, const std::string& keys) {
    try {
      Place(ranks.world, ranks.scratch.file("refused")).run(task, keys);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto data = "dataset: {type: graph, divided: true, " + small_graph + "}";
  const std::string rest = ", epochs: 1, learning_rate: {type: constant, start: 0.01}}";
  CHECK(says("train", "{network: {type: gcn, layers: [4]}, " + data + rest) ==
        "made: divided: true stores a part of the graph on each rank, and passes for single nodes need all of it; take "
        "loader: full_graph, or remove divided");
  if (ranks.world.size() == 4)
    CHECK(says("train", "{network: {type: gcn, layers: [4], layout: grid_2d}, loader: full_graph, " + data + rest) ==
          "made: divided: true stores rows of the graph on each rank, which layout grid_2d needs elsewhere; take "
          "needed_rows or rows, or remove divided");
  CHECK(says("classify_nodes", "{" + data + "}") ==
        "baselines need the full graph on a rank, and divided: true stores a part on each; give models and baselines: "
        "false, "
        "or remove divided");
}

TEST_CASE("an edge of a divided graph that cannot stand is named", "[ranks]") {
  Ranks ranks;
  const auto path = ranks.scratch.file("bad.h5");
  if (ranks.world.root()) {
    auto file = io::File::create(path);
    const std::vector<int> ends = {0, 1, 1, 7};
    file.set_attribute("nodes", 3);
    file.write("edges", io::tensor_of(ends.data(), {2, 2}));
    file.close();
  }
  ranks.world.barrier();
  CHECK_THROWS_WITH(read_divided_graph(path, ranks.world),
                    path + ": edge 2: there is no node 7; the graph has 3, numbered 0 to 2");
}
