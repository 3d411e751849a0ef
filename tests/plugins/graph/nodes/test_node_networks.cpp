// Networks on nodes: gradients against finite differences, in all ways in which they are computed.
#include <cmath>

#include "core/parallel/random.hpp"
#include "core/train/kinds/loader.hpp"
#include "plugins/graph/graphs/samples.hpp"
#include "plugins/graph/layers/layer.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/nodes/learning.hpp"

using namespace cambium;
using namespace cambium::graph;

namespace {

/// A network in float64 with weights that are not zero anywhere, and samples of one step.
struct Case {
  Comm comm{MPI_COMM_SELF};
  Place place{comm, (std::filesystem::temp_directory_path() / "cambium_node_networks").string()};
  std::unique_ptr<train::Dataset> data;
  std::unique_ptr<train::Network> network;
  std::unique_ptr<train::Loader> loader;
  std::unique_ptr<train::FlatLayout> layout;
  train::FlatBuffer weights, gradients;

  Case(const std::string& model, const std::string& graph) {
    auto& registry = place.registry;
    const auto keys = deck::parse(model, "test");
    data = registry.make<train::Dataset>("graph", deck::parse(graph, "test"), place.context);
    data->open(place.context);
    network = registry.make<train::Network>(
        keys["type"].text(), keys.without([](const std::string& key) { return key == "type"; }), place.context);
    network->fit_statistics(*data, place.context);
    layout = std::make_unique<train::FlatLayout>(network->parameters(), std::int64_t{1} << 40);
    weights = train::FlatBuffer(*layout, DType::f64);
    gradients = train::FlatBuffer(*layout, DType::f64);
    network->initialise(weights.views(), 7);
    for (std::size_t k = 0; k < layout->tensors().size(); ++k)
      for (std::size_t i = 0; double& w : weights.values<double>(k))
        w += 0.1 * Random4(5, Stream::test, k, i++).normal(0);
  }

  /// The whole graph in so many slices, or the nodes alone.
  train::Batch batch(int slices, bool whole) {
    loader =
        place.registry.make<train::Loader>(whole ? "full_graph" : "shuffle", deck::parse("{}", "test"), place.context);
    train::BatchPlan plan;
    plan.samples = plan.batch = data->size();
    plan.slices = slices;
    plan.ordered = true;
    plan.steps = 10;
    loader->open(*data, plan, place.context);
    return loader->batch(0);
  }

  /// The loss of a step; its gradient is left in `gradients`.
  double loss(const train::Batch& batch) {
    gradients.zero();
    network->begin_step(11, 3);
    train::TermSum sum;
    const double one = 1.0;
    for (const auto& slice : batch.slices)
      if (!slice.empty())
        network->gradient(slice, weights.views(), {&one, 1}, gradients.views(), {&sum, 1}, [](int) {});
    CHECK(sum.count == static_cast<double>(data->size()));
    return sum.sum;
  }

  /// Error of the slope along a random direction of array k, as a share of what rounding allows.
  double error_along(const train::Batch& batch, std::size_t k, std::span<const double> slope, double step) {
    std::vector<double> direction;
    double along = 0.0, size = 0.0;
    for (std::size_t i = 0; i < slope.size(); ++i) {
      direction.push_back(Random4(13, Stream::test, i, k).normal(0));
      along += direction.back() * slope[i];
      size += slope[i] * slope[i];
    }
    CHECK(size > 0.0);
    const auto move = [&](double by) {
      auto w = weights.values<double>(k);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] += by * direction[i];
    };
    move(step);
    const double above = loss(batch);
    move(-2.0 * step);
    const double below = loss(batch);
    move(step);
    return std::abs((above - below) / (2.0 * step) - along) /
           (1e-7 * std::max(1.0, std::sqrt(size) * std::sqrt(std::ssize(slope))));
  }

  void compare(const train::Batch& batch) {
    for (std::size_t k = 0; k < layout->tensors().size(); ++k) {
      loss(batch);
      const auto found = gradients.values<double>(k);
      const std::vector<double> slope(found.begin(), found.end());
      INFO(layout->tensors()[k].info.name);
      double error = error_along(batch, k, slope, 1e-6);
      if (error >= 1.0)
        error = error_along(batch, k, slope, 3e-8);  // the corner of a relu may lie within the first step
      CHECK(error < 1.0);
    }
  }
};

const std::vector<std::string> models = {
    "{type: gcn, layers: [8], precision: float64, dropout: 0.3}",
    "{type: gcn, layers: [24, 30, 8], precision: float64, dropout: 0.3}",  // layers that widen
    "{type: gcn, layers: [], precision: float64, bias: false}",
    "{type: graph_sage, layers: [8], precision: float64, dropout: 0.3}",
    "{type: graph_sage, layers: [24, 30], precision: float64, dropout: 0.0}",
    "{type: graph_attention, layers: [4], heads: 3, precision: float64, dropout: 0.3, edge_dropout: 0.4}",
    "{type: graph_attention, layers: [5, 3], heads: 10, last_heads: 2, precision: float64, dropout: 0.0, edge_dropout: "
    "0.0}",
    "{type: gcn, layers: [8, 30], residual: true, normalization: layer, precision: float64, dropout: 0.3}",
    "{type: graph_sage, layers: [8], residual: true, precision: float64, dropout: 0.3}",
    "{type: graph_attention, layers: [4], heads: 3, residual: true, normalization: layer, precision: float64, dropout: "
    "0.3, edge_dropout: 0.4}",
};

}  // namespace

TEST_CASE("gradients of whole graphs are those of finite differences", "[gradient]") {
  for (const auto& model : models)
    for (const char* words : {"5", "18"}) {  // sparse features, and dense ones
      INFO(model << ", words " << words);
      Case c(model,
             std::string("{made: {nodes: 60, classes: 3, degree: 5, width: 20, training: 6, words: ") + words + "}}");
      c.compare(c.batch(4, true));
    }
}

TEST_CASE("gradients of batches of nodes are those of finite differences", "[gradient]") {
  for (const auto& model : models) {
    INFO(model);
    Case c(model, "{" + small_graph + "}");
    c.compare(c.batch(2, false));
  }
  Case drawn("{type: graph_sage, layers: [8], precision: float64, fan_out: [2, 3]}", "{" + small_graph + "}");
  drawn.compare(drawn.batch(2, false));
}

TEST_CASE("slices of a graph and batches of nodes add up to the same gradient", "[gradient]") {
  for (const auto& model : models) {
    INFO(model);
    const auto plain = model.substr(0, model.find(", dropout")) +
                       (model.find(", dropout") == std::string::npos ? "" : ", dropout: 0, ") +
                       (model.find("attention") != std::string::npos   ? "edge_dropout: 0}"
                        : model.find(", dropout") == std::string::npos ? ""
                                                                       : "}");
    Case one(plain, "{" + small_graph + "}"), many(plain, "{" + small_graph + "}"),
        nodes(plain, "{" + small_graph + "}");
    const double loss = one.loss(one.batch(1, true));
    CHECK(many.loss(many.batch(8, true)) == Approx(loss).epsilon(1e-13));
    CHECK(nodes.loss(nodes.batch(4, false)) == Approx(loss).epsilon(1e-12));
    const auto a = one.gradients.values<double>(), b = many.gradients.values<double>(),
               c = nodes.gradients.values<double>();
    for (std::size_t k = 0; k < a.size(); ++k) {
      CHECK(b[k] == Approx(a[k]).margin(1e-12));
      CHECK(c[k] == Approx(a[k]).margin(1e-12));
    }
  }
}

TEST_CASE("skip connections and normalisation have weights of their own in every layer", "[residual]") {
  const auto parameters = [](const std::string& more) {
    Case c("{type: gcn, layers: [8], precision: float64" + more + "}", "{" + small_graph + "}");
    std::vector<std::string> names;
    for (const auto& info : c.network->parameters()) names.push_back(info.name);
    return names;
  };
  CHECK(parameters("") == std::vector<std::string>{"layers.0.w", "layers.0.b", "layers.1.w", "layers.1.b"});
  CHECK(parameters(", residual: true, normalization: layer") ==
        std::vector<std::string>{"layers.0.w", "layers.0.b", "layers.0.residual.w", "layers.0.norm.gain",
                                 "layers.0.norm.b", "layers.1.w", "layers.1.b", "layers.1.residual.w"});
}

TEST_CASE("layer normalisation gives every node mean 0 and deviation 1", "[residual]") {
  LayerShape shape;
  shape.in = 5;
  shape.out = 4;
  shape.bias = shape.residual = shape.normalised = true;
  const auto layer = make_layer<double>(shape);
  Csr<double> one;
  for (std::int32_t i = 0; i < 3; ++i) one.column.push_back(i), one.value.push_back(1.0), one.start.push_back(i + 1);
  one.rows = one.columns = 3;
  Spread<double> spread(one, {});
  std::vector<double> numbers;
  for (std::uint64_t k = 0; k < 100; ++k) numbers.push_back(Random4(3, Stream::test, k, 0).normal(0));
  const std::vector<double> gain(4, 1.0), bias(4, 0.0);
  const std::vector<const double*> weights{numbers.data(), bias.data(), numbers.data() + 20, gain.data(), bias.data()};
  std::vector<double> y(12);
  layer->forward({nullptr, {numbers.data() + 50, 3, 5, 5}}, weights, spread, {}, {y.data(), 3, 4, 4});
  for (int i = 0; i < 3; ++i) {
    double z[4], mean = 0.0, variance = 0.0;
    for (int k = 0; k < 4; ++k) {
      z[k] = 0.0;
      for (int e = 0; e < 5; ++e) z[k] += numbers[50 + 5 * i + e] * (numbers[4 * e + k] + numbers[20 + 4 * e + k]);
      mean += z[k] / 4.0;
    }
    for (const double x : z) variance += (x - mean) * (x - mean) / 4.0;
    for (int k = 0; k < 4; ++k) CHECK(y[4 * i + k] == Approx((z[k] - mean) / std::sqrt(variance + 1e-5)).margin(1e-13));
  }
}

TEST_CASE("states and plans that cannot be", "[messages]") {
  Case c("{type: gcn, layers: [4], precision: float64}", "{" + small_graph + "}");
  const auto said = [](const auto& call) {
    try {
      call();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(said([&] { c.network->restore(R"({"features": 0, "classes": 3})"); }) ==
        "the state of this gcn holds 0 features and 3 classes, which is invalid; its file is damaged or was changed");
  const auto loader = c.place.registry.make<train::Loader>("full_graph", deck::parse("{}", "test"), c.place.context);
  train::BatchPlan plan;
  plan.samples = plan.batch = c.data->size();
  plan.turns = 2;
  CHECK(said([&] { loader->open(*c.data, plan, c.place.context); }) ==
        "loader full_graph gives every rank contiguous rows, but parallel interleaves the ranks; divide over one "
        "level of ranks, or remove parallel");
}
