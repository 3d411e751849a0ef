#include "plugins/graph/networks/light_gcn.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/graphs/graph.hpp"
#include "plugins/graph/graphs/streams.hpp"
#include "plugins/graph/links/propagation.hpp"
#include "plugins/graph/links/samples.hpp"
#include "plugins/graph/links/spectrum.hpp"

namespace cambium::graph {

void LightGcn::Params::describe(deck::Describe<Params>& d) {
  d("embedding_dim", &Params::width, "embedding dimension").formerly("width").at_least(1).at_most(10000).def(64);
  d("layers", &Params::layers, "propagations whose results are averaged with the embeddings")
      .at_least(0)
      .at_most(30)
      .def(2);
  d("loss", &Params::loss,
    "loss: bpr, pairwise ranking of a link against one negative sample; softmax, against negatives shared by all links")
      .options({{"bpr", LinkLossKeys::Type::bpr}, {"softmax", LinkLossKeys::Type::softmax}})
      .def(LinkLossKeys::Type::softmax);
  d("negatives", &Params::negatives, "number of negative samples per step, for softmax")
      .at_least(1)
      .at_most(1e6)
      .def(1024);
  d("draw", &Params::draw,
    "sampling of negatives for softmax: items, uniform; links, proportional to their number of links")
      .options({{"items", LinkLossKeys::Draw::items}, {"links", LinkLossKeys::Draw::links}})
      .def(LinkLossKeys::Draw::items);
  d("mask_positives", &Params::skip_known,
    "masking for softmax: negatives that are positives of the same user are ignored")
      .formerly("skip_known")
      .def(false);
  d("cosine", &Params::cosine, "scores are cosines of embeddings; false: products").def(true);
  d("norm_exponent", &Params::judge_lengths,
    "exponent of the embedding norms in the score of models trained on cosines (1: inner product), which restores the "
    "popularity of items")
      .formerly("judge_lengths")
      .range(0.0, 1.0)
      .def(0.0);
  d("temperature", &Params::temperature, "temperature that scores are divided by in the loss")
      .greater_than(0.0)
      .def(0.1);
  d("l2_weight", &Params::squares, "weight of half the squares of the embeddings that a link names")
      .formerly("squares")
      .non_negative()
      .def(0.0);
  d("init", &Params::start,
    "initialisation of the embeddings: random, or spectral (leading singular vectors of the links)")
      .formerly("start")
      .options({{"random", Start::random}, {"spectral", Start::spectral}})
      .def(Start::random);
  d("precision", &Params::precision, "floating-point precision of weights and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(Precision::float32);
}

LightGcn::LightGcn(const Params& params, Context&) : params_(params) {
  const LinkLossKeys loss{params.loss,      params.cosine, params.temperature,
                          params.negatives, params.draw,   params.skip_known};
  const LinkShape shape{params.width, params.layers, loss, params.judge_lengths};
  engine_ = dtype() == DType::f64 ? make_link_engine<double>(shape) : make_link_engine<float>(shape);
}

DType LightGcn::dtype() const { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }

LinkGraphPtr LightGcn::graph_of(const train::Sample& sample) const {
  const auto* links = storage_of<LinkSamples>(sample);
  if (!links) throw InputError("light_gcn needs links; give a dataset of type links");
  return links->graph;
}

void LightGcn::require_fit(const LinkGraph& graph) const {
  if (graph.fingerprint == links_) return;
  throw InputError(
      fmt::format("{}: these are not the links that this light_gcn was trained on, to whose users and items its "
                  "embeddings belong; give the data set of its training, or train on this one",
                  graph.source));
}

void LightGcn::fit_statistics(train::Dataset& training, Context&) {
  const std::int64_t first[] = {0};
  graph_ = graph_of(*training.read(first).front());
  users_ = graph_->users;
  items_ = graph_->items;
  bipartite_ = graph_->bipartite;
  links_ = graph_->fingerprint;
}

std::vector<train::ParameterInfo> LightGcn::parameters() const {
  return {{"embeddings", {bipartite_ ? users_ + items_ : users_, params_.width}, true, false}};
}

namespace {

/// Square roots of the degrees of users, then items.
std::vector<double> roots_of_degrees(const LinkGraph& graph) {
  std::vector<double> out(graph.nodes(), 0.0);
  for (std::int64_t user = 0; user < graph.users; ++user)
    for (const auto item : graph.training.columns_of(user)) {
      out[user] += 1.0;
      if (graph.bipartite) out[graph.users + item] += 1.0;
    }
  for (double& x : out) x = std::sqrt(x);
  return out;
}

/// True if a pair of vectors has a positive eigenvalue; that of users and items always has one.
bool positive(const Spectrum& s, std::int64_t j, const LinkGraph& graph) {
  double together = 0.0;
  for (std::int64_t i = 0; !graph.bipartite && i < graph.users; ++i)
    together += s.left[i * s.count + j] * s.right[i * s.count + j];
  return graph.bipartite || together > 0.0;
}

/// Embedding table whose dot products are the low-rank reconstruction of the links from their leading singular vectors.
std::vector<double> spectral_table(const LinkGraph& graph, std::int64_t width, std::uint64_t seed) {
  const auto s = leading_spectrum(scaled_links<double>(graph.training), width, 6, seed);
  const auto roots = roots_of_degrees(graph);
  std::vector<double> out(graph.nodes() * width, 0.0);
  for (std::int64_t j = 0; j < s.count; ++j) {
    const double factor = positive(s, j, graph) ? std::sqrt(s.values[j]) : 0.0;
    for (std::int64_t node = 0; node < graph.nodes(); ++node) {
      const bool user = node < graph.users;
      const auto place = static_cast<std::size_t>((user ? node : node - graph.users) * s.count + j);
      out[node * width + j] = factor * roots[node] * (user ? s.left[place] : s.right[place]);
    }
  }
  return out;
}

}  // namespace

void LightGcn::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const TensorRef& table = weights[0];
  const bool spectral = params_.start == Start::spectral;
  std::vector<double> start;
  if (spectral) start = spectral_table(*graph_, params_.width, seed);
  for (std::int64_t k = 0; k < table.elements(); ++k) {
    const double drawn =
        Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k / 4), 0).normal(static_cast<int>(k % 4));
    const double x = spectral ? start[k] + 1e-4 * drawn : 0.1 * drawn;
    if (dtype() == DType::f64)
      static_cast<double*>(table.data)[k] = x;
    else
      static_cast<float*>(table.data)[k] = static_cast<float>(x);
  }
}

std::vector<train::TermInfo> LightGcn::terms() const {
  return {{params_.loss == LinkLossKeys::Type::bpr ? "bpr" : "softmax", "", train::TermInfo::Report::mean},
          {"squares", "", train::TermInfo::Report::mean}};
}

void LightGcn::begin_step(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  engine_->begin_step();
}

void LightGcn::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const double> term_weights, std::span<const TensorRef> gradients,
                        std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  if (samples.empty()) return;
  const auto graph = graph_of(*samples.front());
  LinkBatch batch;
  batch.seed = seed_;
  batch.step = step_;
  const auto& links = *storage_of<LinkSamples>(*samples.front());
  for (const auto& sample : samples) {
    batch.ids.push_back(sample->id);
    batch.links.push_back(links.link(sample->id));
  }
  engine_->gradient(graph, batch, weights[0], term_weights, gradients[0], terms);
  if (ready) ready(0);
}

LinkGraphPtr LightGcn::look_at(const train::Sample& first, std::span<const TensorRef> weights) {
  auto graph = graph_of(first);
  require_fit(*graph);
  engine_->look_at(graph, weights[0]);
  return graph;
}

void LightGcn::begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) {
  if (data.size() == 0) return;
  const std::int64_t first[] = {0};
  look_at(*data.read(first).front(), weights);
}

void LightGcn::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<train::TermSum> metrics) {
  if (samples.empty()) return;
  const auto graph = look_at(*samples.front(), weights);
  const auto& links = *storage_of<LinkSamples>(*samples.front());
  for (const auto& sample : samples) {
    const auto link = links.link(sample->id);
    const auto other = judged_item(*graph, link.user, sample->id);
    const double lead = engine_->score(link) - engine_->score({link.user, other});
    metrics[0].sum += lead > 0.0 ? 0.0 : lead < 0.0 ? 1.0 : 0.5;
    metrics[0].count += 1.0;
  }
}

void LightGcn::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                     std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  look_at(*samples.front(), weights);
  const auto& links = *storage_of<LinkSamples>(*samples.front());
  for (std::size_t k = 0; k < samples.size(); ++k)
    static_cast<double*>(outputs[0].data)[static_cast<std::int64_t>(k) * outputs[0].stride[0]] =
        engine_->score(links.link(samples[k]->id));
}

std::vector<float> LightGcn::rows_of(const LinkGraphPtr& graph, std::span<const TensorRef> weights) {
  require_fit(*graph);
  engine_->look_at(graph, weights[0]);
  return engine_->rows();
}

std::string LightGcn::state() const {
  return nlohmann::json{{"users", users_}, {"items", items_}, {"bipartite", bipartite_}, {"links", links_}}.dump();
}

void LightGcn::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  users_ = json.at("users").get<std::int64_t>();
  items_ = json.at("items").get<std::int64_t>();
  bipartite_ = json.at("bipartite").get<bool>();
  links_ = json.at("links").get<std::uint64_t>();
  if (users_ < 1 || items_ < 1 || users_ > most_nodes || items_ > most_nodes)
    throw InputError(fmt::format(
        "the state of this light_gcn holds {} users and {} items, which is invalid; its file is damaged or was changed",
        users_, items_));
}

std::vector<Citation> LightGcn::citations() const {
  std::vector<Citation> out{{"he2020", R"(@inproceedings{he2020,
  author    = {He, Xiangnan and Deng, Kuan and Wang, Xiang and Li, Yan and Zhang, Yongdong and Wang, Meng},
  title     = {{LightGCN}: Simplifying and Powering Graph Convolution Network for Recommendation},
  booktitle = {Proceedings of the 43rd International ACM SIGIR Conference on Research and Development in Information
               Retrieval},
  pages     = {639--648},
  year      = {2020},
  doi       = {10.1145/3397271.3401063}
})"}};
  if (params_.loss == LinkLossKeys::Type::softmax)
    out.push_back({"wu2024", R"(@article{wu2024,
  author = {Wu, Jiancan and Wang, Xiang and Gao, Xingyu and Chen, Jiawei and Fu, Hongcheng and Qiu, Tianyu},
  title = {On the Effectiveness of Sampled Softmax Loss for Item Recommendation},
  journal = {ACM Transactions on Information Systems}, volume = {42}, number = {4}, pages = {98}, year = {2024},
  eprint = {2201.02327}, archiveprefix = {arXiv}
})"});
  return out;
}

}  // namespace cambium::graph
