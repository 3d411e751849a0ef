#include "plugins/sequence/networks/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/attention/random_features.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "plugins/sequence/networks/byte_fields.hpp"
#include "plugins/sequence/networks/transformer_pass.hpp"

namespace cambium::sequence {

void Transformer::Linear::describe(deck::Describe<Linear>& d) {
  d("weights", &Linear::weights,
    "weights in products, with full-precision weights for the updates: full; ternary, -s, 0, s (BitNet b1.58); "
    "mxfp8_e4m3, mxfp8_e5m2, mxfp4, blocks of 32 with a power of two each (OCP microscaling)")
      .options({{"full", LinearWeights::full},
                {"ternary", LinearWeights::ternary},
                {"mxfp8_e4m3", LinearWeights::mxfp8_e4m3},
                {"mxfp8_e5m2", LinearWeights::mxfp8_e5m2},
                {"mxfp4", LinearWeights::mxfp4}})
      .def(LinearWeights::full);
  d("activations", &Linear::activations,
    "activations in products: full; int8 with a scale for every position; or the microscaled formats of `weights`")
      .options({{"full", Activations::full},
                {"int8", Activations::int8},
                {"mxfp8_e4m3", Activations::mxfp8_e4m3},
                {"mxfp8_e5m2", Activations::mxfp8_e5m2},
                {"mxfp4", Activations::mxfp4}})
      .def(Activations::full);
}

void Transformer::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "blocks of attention and feed-forward network").at_least(1).def(2);
  d("width", &Params::width, "hidden size (d_model) per position").at_least(1).def(128);
  d("heads", &Params::heads, "number of self-attention heads").at_least(1).def(4);
  d("mlp_ratio", &Params::expand, "width of the feed-forward network over `width`")
      .formerly("expand")
      .at_least(1)
      .def(4);
  d("input", &Params::input, "field of bytes that is read and predicted").def("text");
  d("floor", &Params::floor,
    "field of the smallest possible loss (entropy) of each predicted byte in nats, if the data have one")
      .def("surprise");
  d("answers", &Params::answers,
    "field with 1 for each predicted byte that is an answer and 0 for the others, if the data have one: the metric "
    "answers_right is their accuracy")
      .def("answer");
  d("loss_on", &Params::learn, "bytes in the cross-entropy loss: every_byte, or answers only")
      .formerly("learn")
      .options({{"every_byte", Learn::every_byte}, {"answers", Learn::answers}})
      .def(Learn::every_byte);
  d("causal", &Params::causal,
    "true: causal attention and next-byte prediction; false: bidirectional attention and prediction of masked bytes, "
    "the answers with loss_on: answers, else a random fraction of the text")
      .def(true);
  d("mask_probability", &Params::masked, "masking probability of a byte, with causal: false and loss_on: every_byte")
      .formerly("masked")
      .range(0.01, 0.99)
      .def(0.15);
  d("attention", &Params::attention, "self-attention between the positions of a text");
  d("precision", &Params::precision,
    "precision of weights and products; bfloat16 rounds the factors of products, accumulation is float32")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float32);
  d("linear", &Params::linear, "bits of the products inside the blocks");
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations, 0 for a full matrix: for each block queries, keys and values, the "
    "attention output, up and down projection; then the output head. A stage compress determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    if (p.width % p.heads != 0)
      return fmt::format("width {} is not a multiple of heads {}; every head takes an equal part", p.width, p.heads);
    return train::ranks_problem(p.ranks, 4 * static_cast<std::size_t>(p.layers) + 1);
  });
}

/// The deck determines only the weights of the blocks: at least two copies of them, weights and gradients, if sharded.
/// A training checks the total itself.
Transformer::Transformer(const Params& params, Context& context) : params_(params) {
  if (!context.dry_run) return;
  const double width = params.width, weights = params.layers * width * width * (4.0 + 2.0 * params.expand);
  require_memory(2.0 * weights * static_cast<double>(size_of(dtype())) / context.comm.size(),
                 fmt::format("a transformer with blocks of {:.4g} weights", weights),
                 "lower 'width' or 'layers', or use more nodes", context);
}

void Transformer::fit_statistics(train::Dataset& training, Context& context) {
  const std::int64_t first[] = {0};
  const auto sample = training.read(first).front();
  length_ = field_of(*sample, params_.input).elements();
  if (length_ < 2)
    throw KeyError(
        "transformer.input.bytes", "input",
        fmt::format(
            "field '{}' has {} bytes per sample; a transformer predicts all but the first and needs two or more",
            params_.input, length_));
  has_floor_ = sample->fields.find(params_.floor) != sample->fields.end();
  has_answers_ = sample->fields.find(params_.answers) != sample->fields.end();
  if (params_.learn == Learn::answers && !has_answers_)
    throw KeyError(
        "transformer.loss_on", "loss_on",
        fmt::format("loss_on: answers needs a field '{}' that marks them, which the data set lacks; take data "
                    "that have one (type "
                    "recall), name theirs with answers, or remove loss_on",
                    params_.answers));
  const auto seen = static_cast<double>(places());
  if (params_.attention.type == train::AttentionParams::Type::softmax)
    require_memory(params_.layers * params_.heads * seen * seen * static_cast<double>(size_of(dtype())),
                   fmt::format("attention between {:.4g} positions of a text", seen),
                   "take attention: {type: two_pass}, which gives the same values and does not store them", context);
}

static TransformerShape shape_of(const Transformer::Params& p, std::int64_t places) {
  return {p.layers, p.width, p.heads, p.expand * p.width, static_cast<int>(places), p.ranks};
}

std::vector<train::ParameterInfo> Transformer::parameters() const {
  const std::int64_t d = params_.width;
  const auto shape = shape_of(params_, places());
  std::vector<train::ParameterInfo> out{{"embedding.byte", {params_.causal ? 256 : 257, d}, true},
                                        {"embedding.position", {places(), d}, true}};
  const auto matrix = [&](const std::string& name, const Product& w, bool linear) {
    if (w.rank == 0) return out.push_back({name, {w.n_in, w.n_out}, true, linear});
    out.push_back({name + ".enter", {w.n_in, w.rank}, true, linear});
    out.push_back({name + ".leave", {w.rank, w.n_out}, true, linear});
  };
  for (int l = 0; l < params_.layers; ++l) {
    const auto block = fmt::format("blocks.{}.", l);
    out.push_back({block + "norm1.gain", {d}, false});
    matrix(block + "attention.qkv", shape.matrix(l, TransformerShape::qkv), true);
    matrix(block + "attention.out", shape.matrix(l, TransformerShape::out), true);
    out.push_back({block + "norm2.gain", {d}, false});
    matrix(block + "feed_forward.up", shape.matrix(l, TransformerShape::up), true);
    matrix(block + "feed_forward.down", shape.matrix(l, TransformerShape::down), true);
  }
  out.push_back({"head.gain", {d}, false});
  matrix("head.w", shape.head(256), false);
  return out;
}

std::vector<train::FactorLayer> Transformer::factor_layers() const {
  const auto shape = shape_of(params_, places());
  const auto infos = parameters();
  std::vector<train::FactorLayer> out;
  const auto add = [&](const Product& w) {
    train::FactorLayer layer;
    layer.name = infos[w.first].name;
    if (w.rank > 0) layer.name = layer.name.substr(0, layer.name.rfind('.'));
    layer.inputs = w.n_in;
    layer.outputs = w.n_out;
    layer.places = places();
    layer.outputs_first = false;
    layer.rank = w.rank;
    (w.rank > 0 ? layer.enter : layer.core) = w.first;
    if (w.rank > 0) layer.leave = w.first + 1;
    out.push_back(layer);
  };
  for (int l = 0; l < params_.layers; ++l)
    for (const auto m : {TransformerShape::qkv, TransformerShape::out, TransformerShape::up, TransformerShape::down})
      add(shape.matrix(l, m));
  add(shape.head(256));
  return out;
}

std::vector<int> Transformer::modules() const {
  const auto shape = shape_of(params_, places());
  std::vector<int> out{0};
  for (int l = 0; l < params_.layers; ++l) out.push_back(shape.first_of_block(l));
  out.push_back(shape.first_of_head());
  return out;
}

/// Gains are one; matrices of blocks have variance 1 / n_in, those that add to the sum over blocks 1 / (2 layers) of
/// that, so that it does not grow with depth; embeddings and head have deviation 0.02 (the usual of GPT-2).
void Transformer::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto infos = parameters();
  train::with_real(dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < infos.size(); ++k) {
      const auto& info = infos[k];
      if (!weights[k].data) continue;
      double deviation = info.linear ? 1.0 / std::sqrt(static_cast<double>(info.shape[0])) : 0.02;
      if (info.name.find(".out") != std::string::npos || info.name.find(".down") != std::string::npos)
        deviation /= std::sqrt(2.0 * params_.layers);
      auto* values = static_cast<T*>(weights[k].data);
      for (std::int64_t i = 0; i < weights[k].elements(); ++i)
        values[i] =
            info.shape.size() == 1
                ? T(1)
                : static_cast<T>(deviation *
                                 Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(i), k).normal(0));
    }
  });
  features_.clear();
  if (features_needed() == 0) return;
  for (int l = 0; l < params_.layers; ++l) {
    const auto drawn = train::random_features(seed, static_cast<std::uint64_t>(l), *params_.attention.features,
                                              params_.width / params_.heads);
    features_.insert(features_.end(), drawn.begin(), drawn.end());
  }
}

std::size_t Transformer::features_needed() const {
  if (params_.attention.type != train::AttentionParams::Type::favor) return 0;
  return static_cast<std::size_t>(params_.layers) * static_cast<std::size_t>(*params_.attention.features) *
         static_cast<std::size_t>(params_.width / params_.heads);
}

std::vector<double> Transformer::answers_of(std::span<const train::SamplePtr> samples) const {
  const auto marked = static_cast<std::size_t>(length_) - 1, each = static_cast<std::size_t>(places());
  const auto marks = marks_in(samples, params_.answers, length_ - 1);
  std::vector<double> out(samples.size() * each);
  for (std::size_t s = 0; s < samples.size(); ++s)  // the first byte is no answer
    std::copy_n(&marks[s * marked], marked, &out[s * each + each - marked]);
  return out;
}

/// A separate random stream (core/parallel/random.hpp).
static constexpr auto masks = static_cast<Stream>(12);

/// Marks a fraction `share` of a text's positions, at least one.
static void hide(std::span<double> places, double share, std::uint64_t seed, std::uint64_t id, std::uint64_t step) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(places.size())));
  for (std::size_t k = 0; k < count; ++k) {
    const Random4 random(seed, masks, id, step * places.size() + k);
    const auto left = static_cast<double>(places.size() - k);
    std::swap(order[k], order[k + static_cast<std::size_t>(random.uniform(0) * left)]);
    places[order[k]] = 1.0;
  }
}

std::vector<double> Transformer::learnt(std::span<const train::SamplePtr> samples, std::uint64_t seed,
                                        std::int64_t step) const {
  if (params_.learn == Learn::answers) return answers_of(samples);
  if (params_.causal) return {};
  const auto each = static_cast<std::size_t>(places());
  std::vector<double> out(samples.size() * each, 0.0);
  for (std::size_t s = 0; s < samples.size(); ++s)
    hide(std::span(out).subspan(s * each, each), params_.masked, seed, static_cast<std::uint64_t>(samples[s]->id),
         static_cast<std::uint64_t>(step));
  return out;
}

/// Weights of positions in a sample's loss, given the marks of those that count: their sum is one for each sample.
static std::vector<double> weighted(std::vector<double> marks, std::int64_t places) {
  for (auto at = marks.begin(); at != marks.end(); at += places) {
    const double share = 1.0 / static_cast<double>(std::count(at, at + places, 1.0));
    std::for_each(at, at + places, [&](double& x) { x *= share; });
  }
  return marks;
}

void Transformer::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const double> term_weights, std::span<const TensorRef> gradients,
                           std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  const auto bytes = bytes_in(samples, params_.input, length_);
  const auto marks = learnt(samples, seed_, step_);
  const auto counted = weighted(marks, places());
  train::with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, places()), params_, weights, features_);
    const auto losses = pass.forward(bytes, static_cast<int>(samples.size()), ready,
                                     params_.causal ? std::span<const double>{} : marks);
    terms[0].sum += counted.empty() ? std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(places())
                                    : std::inner_product(losses.begin(), losses.end(), counted.begin(), 0.0);
    terms[0].count += static_cast<double>(samples.size());
    pass.backward(term_weights[0], counted, gradients, ready);
  });
}

std::vector<train::TermInfo> Transformer::metrics() const {
  std::vector<train::TermInfo> out = terms();
  if (has_floor_ && params_.causal) out.push_back({"above_floor", "", train::TermInfo::Report::mean});
  if (judges_answers()) out.push_back({"answers_right", "", train::TermInfo::Report::mean});
  return out;
}

/// Sum of x over the marked positions, and their number; `marks` is empty if all count.
static train::TermSum sum_of(std::span<const double> x, std::span<const double> marks) {
  if (marks.empty()) return {std::accumulate(x.begin(), x.end(), 0.0), static_cast<double>(x.size())};
  return {std::inner_product(x.begin(), x.end(), marks.begin(), 0.0), std::accumulate(marks.begin(), marks.end(), 0.0)};
}

static void add(train::TermSum& to, double sum, double count) { to.sum += sum, to.count += count; }

void Transformer::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<train::TermSum> metrics) {
  if (!samples.empty()) evaluate_by_module(samples, weights, {}, metrics, {});
}

void Transformer::evaluate_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                     const train::ReadyCallback& ready, std::span<train::TermSum> metrics,
                                     std::span<train::TermSum>) {
  const auto bytes = bytes_in(samples, params_.input, length_);
  const auto each = static_cast<std::size_t>(places()), next = static_cast<std::size_t>(length_) - each;
  const auto answers = judges_answers() ? answers_of(samples) : std::vector<double>{};
  const auto counted = learnt(samples, 1, 0);
  train::with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, places()), params_, weights, features_, coded_);
    const auto losses = sum_of(pass.forward(bytes, static_cast<int>(samples.size()), ready,
                                            params_.causal ? std::span<const double>{} : counted),
                               counted);
    std::size_t at = 0;
    add(metrics[at++], losses.sum, losses.count);
    if (has_floor_ && params_.causal) {
      std::vector<double> least(samples.size() * each);
      for (std::size_t s = 0; s < samples.size(); ++s)
        train::read_numbers(field_of(*samples[s], params_.floor), least.data() + s * each);
      add(metrics[at++], losses.sum - sum_of(least, counted).sum, losses.count);
    }
    if (answers.empty()) return;
    const auto said = pass.likeliest();
    double right = 0.0;
    for (std::size_t k = 0; k < said.size(); ++k)
      right += said[k] == bytes[k + next * (k / each + 1)] ? answers[k] : 0.0;
    add(metrics[at], right, std::accumulate(answers.begin(), answers.end(), 0.0));
  });
}

std::vector<Citation> Transformer::citations() const {
  std::vector<Citation> out = {{"vaswani2017", R"(@inproceedings{vaswani2017,
  author = {Vaswani, Ashish and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones, Llion and Gomez, Aidan N. and Kaiser, {\L}ukasz and Polosukhin, Illia},
  title = {Attention Is All You Need},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {30}, year = {2017}
})"},
                               {"zhang2019rms", R"(@inproceedings{zhang2019rms,
  author = {Zhang, Biao and Sennrich, Rico},
  title = {Root Mean Square Layer Normalization},
  booktitle = {Advances in Neural Information Processing Systems}, volume = {32}, year = {2019}
})"}};
  if (!params_.causal)
    out.push_back({"devlin2019", R"(@inproceedings{devlin2019,
  author = {Devlin, Jacob and Chang, Ming-Wei and Lee, Kenton and Toutanova, Kristina},
  title = {{BERT}: Pre-training of Deep Bidirectional Transformers for Language Understanding},
  booktitle = {Proceedings of NAACL-HLT}, year = {2019}, pages = {4171--4186}, doi = {10.18653/v1/N19-1423}
})"});
  if (params_.linear.weights == LinearWeights::ternary)
    out.push_back({"ma2024bitnet", R"(@misc{ma2024bitnet,
  author = {Ma, Shuming and Wang, Hongyu and Ma, Lingxiao and Wang, Lei and Wang, Wenhui and Huang, Shaohan and Dong, Li and Wang, Ruiping and Xue, Jilong and Wei, Furu},
  title = {The Era of 1-bit {LLMs}: All Large Language Models are in 1.58 Bits},
  year = {2024}, eprint = {2402.17764}, archiveprefix = {arXiv}
})"});
  if (params_.attention.type != train::AttentionParams::Type::softmax)
    out.push_back(citation_of(params_.attention.type));
  return out;
}

std::string Transformer::state() const {
  nlohmann::json out{{"length", length_}, {"has_floor", has_floor_}};
  if (has_answers_) out["has_answers"] = true;
  if (!features_.empty()) out["features"] = features_;
  return out.dump();
}

void Transformer::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  json.at("length").get_to(length_);
  json.at("has_floor").get_to(has_floor_);
  has_answers_ = json.value("has_answers", false);
  features_ = json.value("features", std::vector<double>{});
  if (features_needed() == 0) features_.clear();
  if (features_.size() != features_needed())
    throw InputError(
        fmt::format("the model holds {} values of random features, but attention: {{type: favor, features: {}}} needs "
                    "{}; give the attention that the model was trained with",
                    features_.size(), *params_.attention.features, features_needed()));
}

}  // namespace cambium::sequence
