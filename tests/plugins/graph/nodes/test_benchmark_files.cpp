// Graphs with several splits, as public benchmarks and graph libraries lay them out: read, selected, all evaluated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/networks/node_network.hpp"
#include "plugins/graph/tasks/classify_nodes.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

struct Files {
  Comm world;
  SharedScratch scratch{world};
  std::vector<std::vector<Role>> roles;  ///< of each split; empty where Python has no numpy or h5py

  Files() {
    const std::string script = CAMBIUM_SOURCE_DIR "/tests/plugins/graph/nodes/benchmark_files.py";
    const auto list = scratch.file("roles.txt");
    bool written = false;
    for (const char* python : {"/usr/bin/python3", "python3"})
      if (world.root() && !written)
        written =
            std::system(fmt::format("{} {} {} > {} 2>/dev/null", python, script, scratch.folder, list).c_str()) == 0;
    if (world.max(written ? 1 : 0) == 0) {
      std::printf("SKIPPED: graphs with several splits: no python3 with numpy and h5py\n");
      return;
    }
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string kind;
      int split = 0;
      words >> kind >> split;
      roles.emplace_back();
      for (int role = 0; words >> role;) roles.back().push_back(static_cast<Role>(role));
    }
  }
  template <class F>
  std::string says(F&& action) const {
    try {
      action();
    } catch (const InputError& error) {
      std::string text = error.what();
      const std::string folder = std::string(scratch.folder) + "/";
      for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
      return text;
    }
    return "no error";
  }
};

}  // namespace

TEST_CASE("archives with masks of several splits are one graph, however they are laid out", "[splits]") {
  const Files files;
  if (files.roles.empty()) return;
  REQUIRE(files.roles.size() == 3);
  const auto first = read_graph(files.scratch.file("heterophilous_compressed.npz"));
  CHECK(first->nodes() == 60);
  CHECK(first->edges == 150);
  CHECK(first->classes == 2);
  CHECK(first->features.columns == 5);
  CHECK(first->splits == 3);
  for (const char* name : {"heterophilous_compressed.npz", "heterophilous_stored.npz", "library_compressed.npz",
                           "library_stored.npz", "heterophilous.h5", "library.h5", "own.h5", "own.npz"}) {
    INFO(name);
    for (std::int64_t k = 0; k < 3; ++k) {
      const auto graph = read_graph(files.scratch.file(name), k);
      CHECK(graph->fingerprint == first->fingerprint);
      CHECK(graph->roles == files.roles[k]);
      CHECK(graph->in_role == std::array<std::int64_t, 3>{30, 14, 14});
    }
  }
}

TEST_CASE("an archive states that its edges have directions", "[splits]") {
  const Files files;
  if (files.roles.empty()) return;
  const auto both = read_graph(files.scratch.file("own.npz")), one = read_graph(files.scratch.file("directed.npz"));
  CHECK_FALSE(both->directed);
  CHECK(one->directed);
  CHECK(one->notes.empty());
  CHECK(one->weights.entries() == one->edges);
  CHECK(both->weights.entries() == 2 * both->edges - both->loops);
  CHECK_THROWS_WITH(read_graph(files.scratch.file("each.npz")),
                    files.scratch.file("each.npz") + ": directed must hold one value, 0 or 1");
}

TEST_CASE("splits as lists of nodes, weights by another name, arrays that are not read", "[splits]") {
  const Files files;
  if (files.roles.empty()) return;
  const auto whole = read_graph(files.scratch.file("library_stored.npz"));
  for (const char* name : {"listed.npz", "listed.h5"}) {
    INFO(name);
    const auto graph = read_graph(files.scratch.file(name));
    CHECK(graph->roles == files.roles[0]);
    CHECK(graph->fingerprint == whole->fingerprint);
    CHECK(graph->notes.empty());
  }
  for (const char* name : {"weighted.npz", "weighted.h5"}) {
    INFO(name);
    const auto path = files.scratch.file(name);
    const auto graph = read_graph(path);
    double sum = 0.0;
    for (std::int64_t i = 0; i < graph->nodes(); ++i)
      for (const double weight : graph->weights.values_of(i)) sum += weight;
    CHECK(sum == 2 * 150 * 151 / 2);
    CHECK(graph->notes == std::vector<std::string>{path + ": not used of its arrays: 'year'"});
    Log log;
    report(*graph, log);
    REQUIRE(log.warnings().size() == 1);
    CHECK(log.warnings()[0].text ==
          path +
              ": 1 of 3 classes has no node: classes count from 0, those of the file from 1 or above; networks have an "
              "output for each");
  }
}

TEST_CASE("each network of a committee learns its split, and is judged on it", "[splits]") {
  Files files;
  if (files.roles.empty()) return;
  const auto path = files.scratch.file("heterophilous_compressed.npz");
  const auto figures = [&](const std::string& split, int models, const std::string& judged_split) {
    Place place(files.world, files.scratch.file("run_" + split));
    const auto data = [&](const std::string& of, const std::string& nodes) {
      return fmt::format("{{type: graph, file: {}, split: {}, nodes: {}}}", path, of, nodes);
    };
    place.run("train",
              fmt::format("{{network: {{type: gcn, layers: [8], residual: true, normalization: layer, dropout: "
                          "0}}, dataset: {}, validation: {}, loader: full_graph, epochs: 80, optimizer: adam, "
                          "learning_rate: {{type: constant, start: 0.05}}, models: {}, reduce: {{mode: "
                          "ordered}}, validate: {{every: 80}}}}",
                          data(split, "training"), data(split, "validation"), models));
    const auto folder = files.scratch.file("judge_" + split);
    Place judge(files.world, folder);
    auto task = judge.registry.make<Task>(
        "classify_nodes",
        deck::parse(fmt::format("{{models: [\"{}/{}\"], dataset: {}, mlp: {{seeds: 1}}}}", place.context.run_directory,
                                models > 1 ? "model_*/model.h5" : "model.h5", data(judged_split, "test")),
                    "test"),
        judge.context);
    task->run(judge.context);
    return task->lines();
  };
  const auto line_of = [](const std::vector<std::string>& lines, const std::string& begin, int which = 0) {
    for (const auto& line : lines)
      if (line.starts_with(begin) && which-- == 0) return line;
    return std::string(100, ' ');
  };
  const auto all = figures("each", 3, "each");
  const auto network = line_of(all, "gcn"), auc = line_of(all, "gcn", 1), frequent = line_of(all, "most frequent");
  CHECK(std::stod(network.substr(34, 10)) > std::stod(frequent.substr(34, 10)));
  CHECK(std::stoi(network.substr(66, 10)) == 3);
  CHECK(std::stoi(frequent.substr(66, 10)) == 3);
  CHECK(std::stod(auc.substr(34, 10)) > 0.9);
  CHECK(line_of(all, "mean and standard deviation over 3 splits of training, validation and test nodes").size() < 100);
  // The mean of the splits is that of the shares of each.
  double mean = 0.0;
  for (int k = 0; k < 3; ++k) {
    const auto one = figures(std::to_string(k), 1, std::to_string(k));
    mean += std::stod(line_of(one, "most frequent").substr(34, 10)) / 3.0;
  }
  CHECK(std::stod(frequent.substr(34, 10)) == Approx(mean).margin(1e-4));
}

TEST_CASE("a network of no split is judged on none of several", "[messages]") {
  Files files;
  if (files.roles.empty()) return;
  Place place(files.world, files.scratch.file("one"));
  place.run("train", fmt::format("{{network: {{type: gcn, layers: [4]}}, dataset: {{type: graph, file: {}}}, loader: "
                                 "full_graph, epochs: 2, optimizer: adam, learning_rate: {{type: constant, start: "
                                 "0.05}}}}",
                                 files.scratch.file("one.h5")));
  const auto judged = [&](const std::string& more) {
    return files.says([&] {
      Place judge(files.world, files.scratch.file("judged"));
      judge.run("classify_nodes",
                fmt::format("{{models: [{}/model.h5], baselines: false, dataset: {{type: graph, file: {}, "
                            "nodes: test{}}}}}",
                            place.context.run_directory, files.scratch.file("own.h5"), more));
    });
  };
  CHECK(judged(", split: each") ==
        "models: 'one/model.h5' was trained on none of the 3 splits of own.h5; train it with split: each, or give the "
        "data set its index");
  CHECK(judged(", split: 1") == "no error");
}

TEST_CASE("splits and archives that cannot be", "[messages]") {
  const Files files;
  if (files.roles.empty()) return;
  const auto of = [&](const std::string& name, std::int64_t split) {
    return files.says([&] { read_graph(files.scratch.file(name), split); });
  };
  CHECK(of("own.h5", 3) ==
        "own.h5: there is no split 3; the file has 3, numbered from 0 (with split: each, give at most as many models)");
  CHECK(of("library.h5", 7).find("library.h5: there is no split 7; the file has 3") == 0);
  CHECK(of("library_stored.npz", 7).find("library_stored.npz: there is no split 7; the file has 3") == 0);
  CHECK(of("shared.npz", 0).find("is marked for training and for validation; masks of a split share no node") !=
        std::string::npos);
  CHECK(of("turned.npz", 0) ==
        "'turned.npz': train_masks has the shape 3 x 7; expected 60 (nodes), nodes x splits or splits x nodes");
  CHECK(of("listed_beyond.npz", 0) ==
        "'listed_beyond.npz': valid_idx lists node 60; the graph has 60, numbered 0 to 59");
  for (const char* name : {"one_hot.npz", "one_hot.h5"})
    CHECK(of(name, 0) == fmt::format("'{}': /y has the shape 60 x 2, expected one class for each node; of one-hot "
                                     "vectors these are numpy.argmax(y, axis=1)",
                                     name));
  CHECK(of("names.npz", 0) ==
        "names.npz: y: the type <U5 is text, expected numbers; number them: numpy.unique(array, "
        "return_inverse=True)[1]");
  CHECK(of("objects.npz", 0) ==
        "objects.npz: y: the type |O is Python objects, expected numbers; number them: numpy.unique(array, "
        "return_inverse=True)[1]");
  CHECK(of("halves.npz", 0) == "halves.npz: node_labels holds 1.5, and integers of 32 bits were expected");
  CHECK(of("rows.npz", 0) == "'rows.npz': /node_features must have a row for each of the 60 nodes");
  CHECK(of("threes.npz", 0) == "'threes.npz': /edge_index must have two rows, the nodes of each edge");
  CHECK(of("short.npz", 0) ==
        "short.npz is no zip archive, or was cut short; a graph is the file that numpy.savez writes");
  CHECK(of("spoiled.npz", 0) == "spoiled.npz: the compressed member 'node_features.npy' is damaged");
  CHECK(of("flipped.npz", 0) ==
        "flipped.npz: member 'node_features.npy' does not have its checksum: the file is damaged");
  CHECK(of("other.npz", 0) ==
        "other.npz: member 'node_labels.npy' is compressed by method 12 of zip, of which only 'stored' and 'deflated' "
        "are read; write the file again with numpy.savez");
  CHECK(of("none.npz", 0) ==
        "cannot read the graph none.npz: No such file or directory; check the path (relative paths start at the folder "
        "where the program was started)");
}

TEST_CASE("nodes of a graph with fewer classes get the probabilities of all classes of the network") {
  Comm world;
  SharedScratch scratch(world);
  const auto text = [&](const char* name, const std::string& lines) {
    if (world.root()) std::ofstream(scratch.file(name)) << lines;
    world.barrier();
    return scratch.file(name);
  };
  std::string lines, three, two;
  for (int node = 0; node < 12; ++node) {
    lines += fmt::format("{} {}\n", node, (node + 1) % 12);
    three += fmt::format("{} {} training\n", node, node % 3);
    two += fmt::format("{} {} test\n", node, node % 2);
  }
  const auto data = [&](const std::string& labels, const std::string& nodes) {
    return fmt::format("{{type: graph, edges: {}, labels: {}, nodes: {}}}", text("ring.txt", lines), labels, nodes);
  };
  Place place(world, scratch.file("fewer"));
  place.run("train", fmt::format("{{network: {{type: gcn, layers: [4]}}, dataset: {}, loader: full_graph, epochs: 5, "
                                 "learning_rate: {{type: constant, start: 0.05}}}}",
                                 data(text("three.txt", three), "training")));
  place.run("classify_nodes", fmt::format("{{models: ['{}/model.h5'], baselines: false, dataset: {}}}",
                                          place.context.run_directory, data(text("two.txt", two), "test")));
  world.barrier();
  std::ifstream table(place.context.run_directory + "/nodes.csv");
  std::string line;
  std::getline(table, line);
  CHECK(line == "node,class,predicted,probability_0,probability_1,probability_2");
  int rows = 0;
  for (; std::getline(table, line); ++rows) {
    int node = 0, label = 0, predicted = 0;
    double p[3] = {};
    REQUIRE(std::sscanf(line.c_str(), "%d,%d,%d,%lf,%lf,%lf", &node, &label, &predicted, p, p + 1, p + 2) == 6);
    CHECK(label == node % 2);
    CHECK(p[0] + p[1] + p[2] == Approx(1.0).margin(1e-5));
    CHECK(p[predicted] >= std::max({p[0], p[1], p[2]}) - 1e-6);
  }
  CHECK(rows == 12);
}
