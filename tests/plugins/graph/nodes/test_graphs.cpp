// Graphs in memory: files, text, made ones, and what is refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/made_graph.hpp"
#include "plugins/graph/graphs/matrices.hpp"
#include "plugins/graph/layers/blocks.hpp"
#include "plugins/graph/tasks/node_baselines.hpp"
#include "plugins/graph/tasks/two_classes.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

GraphPtr read_list(const std::string& edges, const std::string& labels, std::int64_t nodes, bool directed) {
  return read_edge_list({edges, labels, nodes, directed, {}});
}

struct Folder {
  Comm comm{MPI_COMM_SELF};
  SharedScratch scratch{comm};
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch.file(name)) << text;
    return scratch.file(name);
  }
  /// An HDF5 file that `change` may spoil.
  std::string file(const std::function<void(io::File&)>& fill) const {
    const auto path = scratch.file("graph.h5");
    auto file = io::File::create(path);
    fill(file);
    file.close();
    return path;
  }
  template <class F>
  std::string says(F&& action) const {
    try {
      action();
    } catch (const InputError& error) {
      std::string text = error.what();
      for (auto at = text.find(scratch.folder + "/"); at != std::string::npos; at = text.find(scratch.folder + "/"))
        text.erase(at, scratch.folder.size() + 1);
      return text;
    }
    return "no error";
  }
  std::string of_text(const std::string& edges, std::int64_t nodes = 0, bool directed = false) const {
    const auto path = write("edges.txt", edges);
    return says([&] { read_list(path, "", nodes, directed); });
  }
};

/// A path of three nodes with a feature each.
void small(io::File& file) {
  file.set_attribute("nodes", 3);
  const std::vector<int> edges = {0, 1, 1, 2};
  file.write("edges", io::tensor_of(edges.data(), {2, 2}));
  file.write("labels", std::vector<int>{0, 1, 1});
  file.write("split", std::vector<int>{0, 1, 2});
}

}  // namespace

TEST_CASE("edges are read in both directions, added up within one, and counted", "[graph]") {
  const Folder folder;
  const auto path = folder.write("edges.txt", "# a remark\n0 1 2.5\n\n1 2 4  # another\n2 1 4\n2 2\n0 1 0.5\n1 0 3\n");
  const auto graph = read_list(path, "", 5, false);
  CHECK(graph->nodes() == 5);
  CHECK(graph->edges == 3);
  CHECK(graph->duplicates == 3);
  CHECK(graph->mutual == 2);
  CHECK(graph->loops == 1);
  CHECK(graph->weights.column == std::vector<std::int32_t>{1, 0, 2, 1, 2});
  CHECK(graph->weights.value == std::vector<double>{3.0, 3.0, 4.0, 4.0, 1.0});
  CHECK(graph->features.columns == 5);  // each node by itself
  const auto directed = read_list(path, "", 0, true);
  CHECK(directed->nodes() == 3);
  CHECK(directed->edges == 5);
  CHECK(directed->duplicates == 1);
  CHECK(directed->weights.columns_of(1)[0] == 0);  // node 1 hears node 0
  CHECK(directed->fingerprint != graph->fingerprint);
}

TEST_CASE("classes and roles from text", "[graph]") {
  const Folder folder;
  const auto edges = folder.write("edges.txt", "0 1\n1 2\n"),
             labels = folder.write("labels.txt", "0 1 training\n2 0 test\n1 1\n");
  const auto graph = read_list(edges, labels, 0, false);
  CHECK(graph->labels == std::vector<std::int32_t>{1, 1, 0});
  CHECK(graph->classes == 2);
  CHECK(graph->roles == std::vector<Role>{Role::training, Role::none, Role::test});
  const auto of = [&](const std::string& text) {
    const auto path = folder.write("labels.txt", text);
    return folder.says([&] { read_list(edges, path, 0, false); });
  };
  CHECK(of("0 1\n7 1\n") ==
        "labels.txt:2: there is no node 7; the graph has 3, numbered 0 to 2 ('edges.txt' names no other; where nodes "
        "have no edge, 'count' sets the number of nodes)");
  CHECK(of("0 1 learning\n") == "labels.txt:1: 'learning' is no role of a node; training, validation and test are");
  CHECK(of("0 -2\n") == "labels.txt:1: classes are numbered from 0 to 999999, not -2");
  CHECK(
      of("0 1\n2") ==
      "labels.txt:2: 'node class' or 'node class role' was expected, but the line has 1 word; is the file cut short?");
}

TEST_CASE("classes that are not known", "[graph]") {
  const Folder folder;
  const auto edges = folder.write("edges.txt", "0 1\n1 2\n2 3\n");
  for (const char* text : {"0 1 train\n1 -1\n2 0\n3 -1\n", "node,class\n0,1\n1,\n2,0\n3,NaN\n",
                           "id;y;split\n0;1;train\n1;?;\n2;0;test\n"}) {
    INFO(text);
    const auto graph = read_list(edges, folder.write("labels.txt", text), 0, false);
    CHECK(graph->labels == std::vector<std::int32_t>{1, -1, 0, -1});
    CHECK(graph->classes == 2);
  }
}

TEST_CASE("columns of classes are found by their names, in any order", "[graph]") {
  const Folder folder;
  const auto edges = folder.write("edges.txt", "0 1\n1 2\n");
  for (const char* text : {"0 1 training\n2 0 test\n1 1\n", "label,node,split\n1,0,train\n0,2,TEST\n1,1,\n",
                           "\"Split\";\"Y\";\"Node_ID\"\nTrain;1;0\nTest;0;2\n;1;1\n",
                           ",id,target,split\n0,0,1,train\n1,2,0,test\n2,1,1,\n",
                           "\tlabel\tid\tsplit\n0\t1\t0\tTraining\n1\t0\t2\tTEST\n2\t1\t1\t\n",
                           "Unnamed: 0,class,role,id\n0,1,train,0\n1,0,test,2\n2,1,,1\n",
                           "# class node\n1 0\n0 2\n1 1\n", "node class\n0 1 train\n2 0 test\n1 1\n"}) {
    INFO(text);
    const auto graph = read_list(edges, folder.write("labels.txt", text), 0, false);
    CHECK(graph->labels == std::vector<std::int32_t>{1, 1, 0});
    if (std::string_view(text).starts_with('#')) continue;
    CHECK(graph->roles == std::vector<Role>{Role::training, Role::none, Role::test});
  }
  const auto of = [&](const std::string& text) {
    const auto path = folder.write("labels.txt", text);
    return folder.says([&] { read_list(edges, path, 0, false); });
  };
  CHECK(of("node,colour\n0,1\n") ==
        "labels.txt:1: 'colour' names no column of labels; call them node, class and role, or id, label and split");
  CHECK(
      of("node,id,class\n0,0,1\n") ==
      "labels.txt:1: the names 'node', 'id', 'class' must be those of one column of nodes, one of classes and at most "
      "one of roles; call them node, class and role");
  CHECK(of("class,node\n0\n") == "labels.txt:2: 2 columns were expected, but the line has 1; is the file cut short?");
}

TEST_CASE("edges that cannot be", "[messages]") {
  const Folder folder;
  CHECK(folder.of_text("0 1\n1 5\n", 5) == "edges.txt:2: there is no node 5; the graph has 5, numbered 0 to 4");
  CHECK(folder.of_text("0 1\n-1 2\n") == "edges.txt:2: node indices start at 0, found -1");
  CHECK(folder.of_text("0 1\n1 2 -0.5\n") ==
        "edges.txt:2: the weight between nodes 1 and 2 is -0.5; weights are finite and 0 or more");
  CHECK(folder.of_text("0 1\n1 2 nan\n").find("edges.txt:2: ") == 0);
  CHECK(folder.of_text("0 1\n1\n") ==
        "edges.txt:2: 'u v' or 'u v weight' was expected, but the line has 1 word; is the file cut short?");
  CHECK(folder.of_text("\n") == "edges.txt: a graph without nodes");
}

TEST_CASE("files of graphs", "[graph]") {
  const Folder folder;
  const auto path = folder.file(small);
  const auto graph = read_graph(path);
  CHECK(graph->nodes() == 3);
  CHECK(graph->edges == 2);
  CHECK(graph->classes == 2);
  const auto dense = read_graph(folder.file([](io::File& file) {
    small(file);
    const std::vector<float> numbers = {1, 0, 0, 2, 0, 0};
    file.write("features", io::tensor_of(numbers.data(), {3, 2}));
    file.write("weights", std::vector<double>{0.5, 2.0});
  }));
  CHECK(dense->features.start == std::vector<std::int64_t>{0, 1, 2, 2});
  CHECK(dense->features.value == std::vector<float>{1, 2});
  CHECK(dense->weights.value == std::vector<double>{0.5, 0.5, 2.0, 2.0});
}

TEST_CASE("files that are damaged", "[messages]") {
  const Folder folder;
  const auto says = [&](const std::function<void(io::File&)>& fill) {
    const auto path = folder.file(fill);
    return folder.says([&] { read_graph(path); });
  };
  CHECK(says([](io::File&) {}) == "'graph.h5' has no attribute 'nodes' (how many there are); is it a file of a graph?");
  CHECK(says([](io::File& f) { small(f), f.set_attribute("nodes", 2), f.remove("labels"), f.remove("split"); }) ==
        "graph.h5: edge 2: there is no node 2; the graph has 2, numbered 0 to 1");
  CHECK(says([](io::File& f) { small(f), f.set_attribute("nodes", 4); }) ==
        "graph.h5: 3 classes for 4 nodes; the file is cut short, or its parts belong to different graphs");
  CHECK(says([](io::File& f) { small(f), f.write("weights", std::vector<double>{1.0}); }) ==
        "'graph.h5': /weights holds 1 values for 2 edges; the file is cut short or damaged");
  CHECK(says([](io::File& f) {
          small(f);
          f.write("weights", std::vector<double>{1.0, std::numeric_limits<double>::quiet_NaN()});
        }) == "graph.h5: edge 2: the weight between nodes 1 and 2 is not a number; weights are finite and 0 or more");
  CHECK(says([](io::File& f) {
          small(f);
          f.remove("split");
          f.write("split", std::vector<int>{0, 1, 3});
        }) == "'graph.h5': /split holds 3 for node 2; 0 is training, 1 validation, 2 test, -1 none of them");
  const auto features = [](io::File& f, std::vector<int> start, std::vector<int> column) {
    small(f);
    f.create_group("features").set_attribute("columns", 4);
    f.write("features/indptr", start);
    f.write("features/indices", column);
  };
  CHECK(says([&](io::File& f) { features(f, {0, 1, 2, 3}, {0, 3, 1}); }) == "no error");
  CHECK(says([&](io::File& f) {
          features(f, {0, 1, 2, 4}, {0, 3, 1});
        }) ==
        "'graph.h5': /features/indptr must hold 4 values from 0 to 3, the count of /features/indices, and "
        "/features/values as many as these; the file is cut short or damaged");
  CHECK(says([&](io::File& f) {
          features(f, {0, 2, 1, 3}, {0, 3, 1});
        }) == "'graph.h5': /features/indptr falls at node 1; it must rise");
  CHECK(says([&](io::File& f) {
          features(f, {0, 1, 2, 3}, {0, 4, 1});
        }) == "'graph.h5': /features/indices of node 1 must rise within 0 to 3");
}

TEST_CASE("how neighbours are weighed", "[graph]") {
  const Folder folder;
  // A node without edges, one with a loop of weight 2.
  const auto graph = read_list(folder.write("edges.txt", "0 1 3\n1 1 2\n"), "", 3, false);
  const auto a = weighed(*graph, Weighing::symmetric);
  CHECK(a.start == std::vector<std::int64_t>{0, 2, 4, 5});
  CHECK(a.value[0] == Approx(1.0 / 4.0).epsilon(1e-15));  // degrees with the loop of one: 4, 6, 1
  CHECK(a.value[1] == Approx(3.0 / std::sqrt(24.0)).epsilon(1e-15));
  CHECK(a.value[2] == a.value[1]);
  CHECK(a.value[3] == Approx(3.0 / 6.0).epsilon(1e-15));
  CHECK(a.value[4] == 1.0);
  const auto m = weighed(*graph, Weighing::mean);
  CHECK(m.start == std::vector<std::int64_t>{0, 1, 3, 3});
  CHECK(m.value[1] == Approx(0.6).epsilon(1e-15));
  CHECK(weighed(*graph, Weighing::none).column == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("made-up graphs are functions of their keys", "[graph]") {
  MadeGraph keys;
  keys.nodes = 3000;
  const auto one = make_graph(keys), two = make_graph(keys);
  CHECK(one->fingerprint == two->fingerprint);
  CHECK(one->classes == 4);
  CHECK(one->duplicates == 0);
  double inside = 0.0;
  for (std::int64_t i = 0; i < one->nodes(); ++i)
    for (const auto j : one->weights.columns_of(i)) inside += one->labels[i] == one->labels[j];
  const auto entries = static_cast<double>(one->weights.entries());
  CHECK(inside / entries == Approx(keys.inside).margin(0.02));
  CHECK(entries / 3000.0 == Approx(keys.degree).margin(0.1));
  keys.seed = 2;
  CHECK(make_graph(keys)->fingerprint != one->fingerprint);
}

TEST_CASE("drawn neighbours have the mean of all, and depend on node and step alone", "[blocks]") {
  MadeGraph keys;
  keys.nodes = 200;
  keys.degree = 12;
  const auto graph = make_graph(keys);
  const auto a = weighed(*graph, Weighing::mean);
  const std::vector<std::int32_t> nodes = {5, 70, 3}, other = {3};
  const auto row = [&](std::span<const std::int32_t> batch, std::size_t which, std::int64_t step) {
    NeighbourDraw draw{{3}, true, 1, step};
    const auto blocks = blocks_of(a, batch, 1, draw);
    std::vector<double> out(200, 0.0);
    const auto columns = blocks.spreads[0]->rows().columns_of(static_cast<std::int64_t>(which));
    const auto values = blocks.spreads[0]->rows().values_of(static_cast<std::int64_t>(which));
    for (std::size_t e = 0; e < columns.size(); ++e) out[blocks.nodes[columns[e]]] += values[e];
    return out;
  };
  CHECK(row(nodes, 2, 4) == row(other, 0, 4));
  CHECK(row(nodes, 2, 4) != row(nodes, 2, 5));
  std::vector<double> mean(200, 0.0);
  constexpr int steps = 4000;
  for (int step = 0; step < steps; ++step) {
    const auto drawn = row(other, 0, step);
    CHECK(std::count_if(drawn.begin(), drawn.end(), [](double x) { return x > 0.0; }) == 3);
    for (std::size_t k = 0; k < 200; ++k) mean[k] += drawn[k] / steps;
  }
  const auto columns = a.columns_of(3);
  for (std::size_t e = 0; e < columns.size(); ++e) CHECK(mean[columns[e]] == Approx(a.values_of(3)[e]).epsilon(0.15));
}

TEST_CASE("features are divided by their sum where they are counts, and taken as they are where they are not") {
  Folder folder;
  const auto weights = [&](const std::string& file, const std::string& key) {
    static int runs = 0;
    Comm alone(MPI_COMM_SELF);
    Place place(alone, folder.scratch.file(fmt::format("run_{}", runs++)));
    place.run("train", fmt::format("{{network: {{type: gcn, layers: [4], dropout: 0{}}}, dataset: {{type: graph, file: "
                                   "{}}}, loader: full_graph, epochs: 3, optimizer: adam, learning_rate: {{type: "
                                   "constant, start: 0.01}}}}",
                                   key, file));
    return place.weights();
  };
  for (const bool counts : {true, false}) {
    const auto path = folder.file([&](io::File& file) {
      small(file);
      const std::vector<double> values =
          counts ? std::vector<double>{2, 1, 0, 3, 4, 4} : std::vector<double>{0.5, -0.4999, 1.25, 2, -3, 0.25};
      file.write("features", io::tensor_of(values.data(), {3, 2}));
    });
    INFO("counts " << counts);
    CHECK(features_seen(read_graph(path)->features).counts == counts);
    const auto found = weights(path, "");
    CHECK((found == weights(path, ", sums_to_one: true")) == counts);
    CHECK((found == weights(path, ", sums_to_one: false")) == !counts);
  }
}

TEST_CASE("counts whose sum says the class are taken as they are, because validation nodes say so") {
  Folder folder;
  constexpr int nodes = 80;
  const auto path = folder.file([](io::File& file) {
    file.set_attribute("nodes", nodes);
    std::vector<int> edges, labels, roles;
    std::vector<double> values;
    for (int i = 0; i < nodes; ++i) {
      const int label = i % 2;
      edges.insert(edges.end(), {i, (i + 2) % nodes});
      labels.push_back(label);
      roles.push_back(i % 3);
      values.insert(values.end(), {label == 0 ? 1.0 : 6.0, label == 0 ? 1.0 : 6.0});  // the shares are the same
    }
    file.write("edges", io::tensor_of(edges.data(), {nodes, 2}));
    file.write("features", io::tensor_of(values.data(), {nodes, 2}));
    file.write("labels", labels);
    file.write("split", roles);
  });
  Comm alone(MPI_COMM_SELF);
  const auto weights = [&](const std::string& name, const std::string& key) {
    Place place(alone, folder.scratch.file(name));
    place.run("train", "{network: {type: gcn, layers: [8], dropout: 0" + key +
                           "}, dataset: {type: graph, file: " + path +
                           "}, loader: full_graph, epochs: 3, optimizer: adam, learning_rate: {type: constant, start: "
                           "0.01}}");
    return place.weights();
  };
  const auto chosen = weights("chosen", "");
  CHECK(chosen == weights("plain", ", sums_to_one: false"));
  CHECK(chosen != weights("divided", ", sums_to_one: true"));
}

TEST_CASE("the most frequent class is that of all nodes whose class is known, not of a balanced training part") {
  GraphParts parts;
  parts.source = "test";
  parts.nodes = 6;
  parts.edges = {{0, 1, 1.0}};
  parts.labels = {0, 1, 1, 1, 1, 0};
  parts.roles = {Role::training, Role::training, Role::validation, Role::validation, Role::test, Role::test};
  const auto graph = make_graph(std::move(parts));
  const auto judged = most_frequent(*graph);
  CHECK(judged.nodes.classes == std::vector<std::int32_t>(6, 1));
  CHECK(judged.validation == 1.0);
}

TEST_CASE("ROC AUC and average precision are those of counted pairs and thresholds") {
  const std::vector<std::int32_t> labels{1, 0, 1, 0, 0, 1, 1, 0};
  const std::vector<double> scores{0.9, 0.8, 0.8, 0.5, 0.5, 0.5, 0.2, 0.1};
  double above = 0.0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < labels.size(); ++j)
      if (labels[i] == 1 && labels[j] == 0) above += scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0;
  const auto found = two_class_score(labels, scores);
  CHECK(found.roc_auc == Approx(above / 16.0));
  // Thresholds 0.9, 0.8, 0.5, 0.2: 1 of 1, 2 of 3, 3 of 6, 4 of 7 are of class 1, each with one more of them found.
  CHECK(found.average_precision == Approx((1.0 + 2.0 / 3.0 + 3.0 / 6.0 + 4.0 / 7.0) / 4.0));
  CHECK(std::isnan(two_class_score(std::vector<std::int32_t>{1, 1}, std::vector<double>{0.1, 0.2}).roc_auc));
}

TEST_CASE("of two classes classify_nodes judges probabilities, too, and writes them") {
  Folder folder;
  const auto path = folder.file([](io::File& file) {
    file.set_attribute("nodes", 6);
    const std::vector<int> edges{0, 1, 1, 2, 3, 4, 4, 5, 0, 2, 3, 5};
    file.write("edges", io::tensor_of(edges.data(), {6, 2}));
    const std::vector<double> values{1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1};
    file.write("features", io::tensor_of(values.data(), {6, 2}));
    file.write("labels", std::vector<int>{0, 0, 0, 1, 1, 1});
    file.write("split", std::vector<int>{0, 1, 2, 0, 1, 2});
  });
  Comm alone(MPI_COMM_SELF);
  Place place(alone, folder.scratch.file("two"));
  const std::string data = "{type: graph, file: " + path;
  place.run("train", "{network: {type: gcn, layers: [4], dropout: 0}, dataset: " + data +
                         "}, loader: full_graph, epochs: 40, optimizer: adam, learning_rate: {type: constant, start: "
                         "0.05}}");
  const auto keys = "{models: ['" + place.context.run_directory + "/model.h5'], dataset: " + data +
                    ", nodes: test}, mlp: {seeds: 1}}";
  const auto task = place.registry.make<Task>("classify_nodes", deck::parse(keys, "test"), place.context);
  REQUIRE(task->run(place.context) == Task::Outcome::done);
  const auto lines = task->lines();
  const auto table = std::find_if(lines.begin(), lines.end(),
                                  [](const auto& line) { return line.starts_with("class 1 against class 0"); });
  REQUIRE(table != lines.end());
  REQUIRE((table + 4)->starts_with("gcn"));
  CHECK(std::stod((table + 1)->substr(34, 10)) == 0.5);  // one score for all nodes
  CHECK(std::stod((table + 4)->substr(34, 10)) == 1.0);
  CHECK(std::stod((table + 4)->substr(44)) == 1.0);
  std::ifstream nodes(place.context.run_directory + "/nodes.csv");
  std::string line;
  std::getline(nodes, line);
  CHECK(line == "node,class,predicted,probability_0,probability_1");
  for (int count = 0; count < 2; ++count) {
    REQUIRE(std::getline(nodes, line));
    int node = 0, label = 0, predicted = 0;
    double zero = 0.0, one = 0.0;
    REQUIRE(std::sscanf(line.c_str(), "%d,%d,%d,%lf,%lf", &node, &label, &predicted, &zero, &one) == 5);
    CHECK(zero + one == Approx(1.0).margin(2e-6));
    CHECK((one > zero) == (predicted == 1));
  }
}

TEST_CASE("classes spread from nodes that hear nobody, along directed edges") {
  GraphParts parts;
  parts.source = "test";
  parts.nodes = 5;
  parts.directed = true;
  parts.edges = {{0, 2, 1.0}, {1, 3, 1.0}, {3, 4, 2.0}};
  parts.labels = {0, 1, 0, 1, 1};
  parts.roles = {Role::training, Role::training, Role::validation, Role::validation, Role::validation};
  const auto graph = make_graph(std::move(parts));
  double alpha = 0.0;
  CHECK(propagate_labels(*graph, {}, alpha).nodes.classes == std::vector<std::int32_t>{0, 1, 0, 1, 1});
}
