#include "plugins/graph/networks/mesh_graph_net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "core/train/networks/torch/saved_tensors.hpp"

namespace cambium::graph {

using torch::Tensor;
using train::TorchBatch;

void MeshGraphNet::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "exchanges of messages, each of which reaches one edge further").range(1, 64).def(6);
  d("width", &Params::width, "hidden size of nodes and edges").at_least(1).def(32);
  d("use_positions", &Params::places, "node coordinates as inputs, for laws that depend on position")
      .formerly("places")
      .def(false);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations of the two layers of each part, in order: encoders of nodes and of "
    "edges, updates of edges and of nodes in each exchange, decoder; 0 for a full matrix. A stage compress determines "
    "them")
      .def({});
  d.check([](const Params& p) { return train::ranks_problem(p.ranks, static_cast<std::size_t>(6 + 4 * p.layers)); });
}

namespace {

template <class T>
std::span<const T> numbers(const train::Sample& sample, const char* name) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end() || found->second.dtype != dtype_of<T>() || !found->second.contiguous())
    throw InputError("mesh_graph_net reads steps on graphs: give a data set of the type 'mesh_trajectories'");
  return {static_cast<const T*>(found->second.data), static_cast<std::size_t>(found->second.elements())};
}

/// Sums over the values of a training set.
struct Sums {
  std::vector<double> value, square, change;
  std::array<double, 3> place{};
  double nodes = 0.0, edges = 0.0, length = 0.0, weight = 0.0, distance = 0.0;

  void add(const train::Sample& sample) {
    const auto v = numbers<double>(sample, "value"), next = numbers<double>(sample, "next");
    for (std::size_t k = 0; k < v.size(); ++k) {
      const std::size_t f = k % value.size();
      value[f] += v[k];
      square[f] += v[k] * v[k];
      change[f] += (next[k] - v[k]) * (next[k] - v[k]);
    }
    const auto x = numbers<double>(sample, "place");
    for (std::size_t k = 0; k < x.size(); ++k) {
      place[k % 3] += x[k];
      distance += x[k] * x[k];
    }
    nodes += static_cast<double>(x.size() / 3);
    const auto e = numbers<std::int32_t>(sample, "edge");
    for (std::size_t k = 0; k + 1 < e.size(); k += 2) {
      double s = 0.0;
      for (int a = 0; a < 3; ++a) s += std::pow(x[3 * e[k] + a] - x[3 * e[k + 1] + a], 2);
      length += std::sqrt(s);
    }
    for (const double w : numbers<double>(sample, "weight")) {
      weight += w;
      edges += 1.0;
    }
  }
};

}  // namespace

void MeshGraphNet::fit_statistics(train::Dataset& training, Context&) {
  fields_ = 0;
  for (const auto& field : training.fields())
    if (field.name == "value" && field.shape.size() == 2) fields_ = field.shape[1];
  if (fields_ < 1)
    throw InputError("mesh_graph_net reads steps on graphs: give a data set of the type 'mesh_trajectories'");
  Sums sums;
  for (auto* of : {&sums.value, &sums.square, &sums.change}) of->assign(fields_, 0.0);
  const std::int64_t looked_at = std::min<std::int64_t>(512, training.size());
  for (std::int64_t k = 0; k < looked_at; ++k) {
    const std::int64_t id = training.size() * k / looked_at;
    const auto sample = training.read(std::span(&id, 1)).front();
    sums.add(*sample);
    interval_ = numbers<double>(*sample, "interval")[0];
  }
  mean_.clear();
  deviation_.clear();
  increment_.clear();
  middle_.clear();
  for (std::size_t f = 0; f < sums.value.size(); ++f) {
    mean_.push_back(sums.value[f] / sums.nodes);
    deviation_.push_back(std::sqrt(std::max(sums.square[f] / sums.nodes - mean_[f] * mean_[f], 1e-24)));
    increment_.push_back(std::sqrt(std::max(sums.change[f] / sums.nodes, 1e-24)));
  }
  extent_ = sums.distance / sums.nodes;
  for (const double x : sums.place) {
    middle_.push_back(x / sums.nodes);
    extent_ -= middle_.back() * middle_.back();
  }
  extent_ = std::sqrt(std::max(extent_, 1e-24));
  nodes_ = std::max<std::int64_t>(1, std::lround(sums.nodes / static_cast<double>(looked_at)));
  edges_ = std::max<std::int64_t>(1, std::lround(2.0 * sums.edges / static_cast<double>(looked_at)));
  length_ = std::max(sums.length / std::max(sums.edges, 1.0), 1e-12);
  weight_ = std::max(std::abs(sums.weight) / std::max(sums.edges, 1.0), 1e-12);
}

std::shared_ptr<torch::nn::Module> MeshGraphNet::build() {
  auto whole = std::make_shared<torch::nn::Module>("mesh_graph_net");
  const std::int64_t width = params_.width;
  train::RankLayers made(params_.ranks);
  const std::int64_t inputs = fields_ + 1 + (params_.places ? 3 : 0);
  node_encoder_ = whole->register_module("node_encoder", TwoLayers(made, TwoLayersShape{inputs, width, width, nodes_}));
  edge_encoder_ = whole->register_module("edge_encoder", TwoLayers(made, TwoLayersShape{5, width, width, edges_}));
  torch::nn::ModuleList layers;
  exchanges_.clear();
  for (std::int64_t k = 0; k < params_.layers; ++k) {
    exchanges_.emplace_back(made, width, nodes_, edges_);
    layers->push_back(exchanges_.back());
  }
  whole->register_module("exchanges", layers);
  decoder_ = whole->register_module("decoder", TwoLayers(made, TwoLayersShape{width, width, fields_, nodes_, false}));
  return whole;
}

std::vector<std::string> MeshGraphNet::segments() const {
  std::vector<std::string> out{"node_encoder", "edge_encoder"};
  for (std::int64_t k = 0; k < params_.layers; ++k) out.push_back(fmt::format("exchanges.{}", k));
  out.emplace_back("decoder");
  return out;
}

/// The last layer starts at zero, so an untrained network predicts persistence.
void MeshGraphNet::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                           std::uint64_t seed) const {
  const bool last = info.name.starts_with("decoder.out.") && info.name != "decoder.out.enter.weight";
  if (last) return train::fill_constant(weights, 0.0);
  TorchNetwork::initial(info, index, weights, seed);
}

MeshGraphNet::Graphs MeshGraphNet::graphs(const TorchBatch& batch) const {
  std::vector<double> value, next, node, edge, share;
  std::vector<std::int64_t> from, to;
  for (const auto& sample : batch.samples()) {
    const auto x = numbers<double>(*sample, "place"), v = numbers<double>(*sample, "value");
    const auto weight = numbers<double>(*sample, "weight");
    const auto ends = numbers<std::int32_t>(*sample, "edge"), boundary = numbers<std::int32_t>(*sample, "boundary");
    if (std::abs(numbers<double>(*sample, "interval")[0] - interval_) > 1e-6 * interval_)
      throw InputError(
          fmt::format("the network makes steps of {:g}, these trajectories are {:g} apart; give them another "
                      "interval or stride",
                      interval_, numbers<double>(*sample, "interval")[0]));
    const auto first = std::ssize(share);
    for (std::size_t i = 0; i < boundary.size(); ++i) {
      for (std::size_t f = 0; f < mean_.size(); ++f)
        node.push_back((v[i * mean_.size() + f] - mean_[f]) / deviation_[f]);
      node.push_back(boundary[i]);
      for (std::size_t a = 0; params_.places && a < 3; ++a) node.push_back((x[3 * i + a] - middle_[a]) / extent_);
      share.push_back(1.0 / static_cast<double>(boundary.size()));
    }
    for (std::size_t e = 0; e < weight.size(); ++e)
      for (const bool back : {false, true}) {
        const auto a = ends[2 * e + (back ? 1 : 0)], b = ends[2 * e + (back ? 0 : 1)];
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
          const double d = (x[3 * a + k] - x[3 * b + k]) / length_;
          edge.push_back(d);
          square += d * d;
        }
        edge.insert(edge.end(), {std::sqrt(square), weight[e] / weight_});
        from.push_back(first + a);
        to.push_back(first + b);
      }
    value.insert(value.end(), v.begin(), v.end());
    if (sample->fields.contains("next")) {
      const auto n = numbers<double>(*sample, "next");
      next.insert(next.end(), n.begin(), n.end());
    }
  }
  const auto rows = [](const std::vector<double>& of, std::int64_t width) {
    return torch::tensor(of, torch::kFloat64).reshape({-1, width});
  };
  Graphs out;
  out.value = rows(value, fields_);
  if (next.size() == value.size()) out.next = rows(next, fields_);
  out.node = rows(node, fields_ + 1 + (params_.places ? 3 : 0)).to(real());
  out.edge = rows(edge, 5).to(real());
  out.share = torch::tensor(share, torch::kFloat64).to(real());
  out.edges = {torch::tensor(from, torch::kInt64), torch::tensor(to, torch::kInt64)};
  return out;
}

/// (nodes, fields), in units of increment_.
Tensor MeshGraphNet::increment(const Graphs& g) {
  enter(0);
  Tensor node = node_encoder_(g.node);
  enter(1);
  Tensor edge = edge_encoder_(g.edge);
  const bool again = recomputes() && torch::GradMode::is_enabled();
  for (std::size_t k = 0; k < exchanges_.size(); ++k) {
    enter(static_cast<int>(k) + 2);
    if (!again) {
      exchanges_[k]->forward(node, edge, g.edges);
      continue;
    }
    const auto nodes = node.size(0), edges = edge.size(0);
    const auto exchange = [layer = exchanges_[k], ends = g.edges, nodes, edges](const Tensor& both) {
      Tensor of_nodes = both.narrow(0, 0, nodes), of_edges = both.narrow(0, nodes, edges);
      layer.ptr()->forward(of_nodes, of_edges, ends);
      return torch::cat({of_nodes, of_edges});
    };
    const Tensor both = train::recomputed(exchange, torch::cat({node, edge}));
    node = both.narrow(0, 0, nodes);
    edge = both.narrow(0, nodes, edges);
  }
  enter(static_cast<int>(exchanges_.size()) + 2);
  return decoder_(node);
}

std::vector<train::TorchNetwork::Term> MeshGraphNet::loss(const TorchBatch& batch) {
  const auto g = graphs(batch);
  const Tensor scale = torch::tensor(increment_, torch::kFloat64);
  const Tensor truth = ((g.next - g.value) / scale).to(real());
  const Tensor error = (increment(g) - truth).square().mean(1);
  return {{(error * g.share).sum(), static_cast<double>(batch.size())}};
}

std::vector<Tensor> MeshGraphNet::predict(const TorchBatch& batch) {
  const auto g = graphs(batch);
  return {g.value + increment(g).to(torch::kFloat64) * torch::tensor(increment_, torch::kFloat64)};
}

std::vector<Citation> MeshGraphNet::citations() const {
  return {{"pfaff2021", R"(@inproceedings{pfaff2021,
  author = {Pfaff, Tobias and Fortunato, Meire and Sanchez-Gonzalez, Alvaro and Battaglia, Peter W.},
  title = {Learning Mesh-Based Simulation with Graph Networks},
  booktitle = {International Conference on Learning Representations}, year = {2021}
})"}};
}

std::string MeshGraphNet::state() const {
  return nlohmann::json{{"fields", fields_},       {"mean", mean_},     {"deviation", deviation_},
                        {"increment", increment_}, {"length", length_}, {"weight", weight_},
                        {"middle", middle_},       {"extent", extent_}, {"interval", interval_},
                        {"nodes", nodes_},         {"edges", edges_}}
      .dump();
}

void MeshGraphNet::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("fields").get_to(fields_);
  in.at("mean").get_to(mean_);
  in.at("deviation").get_to(deviation_);
  in.at("increment").get_to(increment_);
  in.at("length").get_to(length_);
  in.at("weight").get_to(weight_);
  in.at("middle").get_to(middle_);
  in.at("extent").get_to(extent_);
  in.at("interval").get_to(interval_);
  nodes_ = in.value("nodes", std::int64_t{1});
  edges_ = in.value("edges", std::int64_t{1});
}

}  // namespace cambium::graph
