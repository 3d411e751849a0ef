#include "core/train/networks/transformer/transformer.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "core/train/networks/transformer/transformer_pass.hpp"
#include "core/train/weights/flat/buffer.hpp"

namespace cambium::train {

void Transformer::Linear::describe(deck::Describe<Linear>& d) {
  d("weights", &Linear::weights,
    "in products: full; ternary computes with -s, 0, s, and keeps full weights that gradients change (BitNet b1.58)")
      .options({{"full", LinearWeights::full}, {"ternary", LinearWeights::ternary}})
      .def(LinearWeights::full);
  d("activations", &Linear::activations, "what is multiplied with them: full, or int8 with a scale for every position")
      .options({{"full", Activations::full}, {"int8", Activations::int8}})
      .def(Activations::full);
}

void Transformer::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "blocks of attention and feed-forward network").at_least(1).def(2);
  d("width", &Params::width, "numbers per position").at_least(1).def(128);
  d("heads", &Params::heads, "of attention").at_least(1).def(4);
  d("expand", &Params::expand, "width of the feed-forward network over `width`").at_least(1).def(4);
  d("input", &Params::input, "field of bytes that is read and predicted").def("text");
  d("floor", &Params::floor,
    "field with the least possible loss of each predicted byte in nats, where the data have one")
      .def("surprise");
  d("precision", &Params::precision,
    "of weights and products; bfloat16 rounds the factors of products, sums are float32")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}, {"bfloat16", Precision::bfloat16}})
      .def(Precision::float32);
  d("linear", &Params::linear, "bits of the products inside the blocks");
  d.check([](const Params& p) -> std::string {
    if (p.width % p.heads == 0) return {};
    return fmt::format("width {} is not a multiple of heads {}; every head takes an equal part", p.width, p.heads);
  });
}

/// The deck alone tells the weights of the blocks: two copies of them, weights and gradients, divided at best. A
/// training looks itself, with all it holds.
Transformer::Transformer(const Params& params, Context& context) : params_(params) {
  if (!context.dry_run) return;
  const double width = params.width, weights = params.layers * width * width * (4.0 + 2.0 * params.expand);
  require_memory(2.0 * weights * static_cast<double>(size_of(dtype())) / context.comm.size(),
                 fmt::format("a transformer with blocks of {:.4g} weights", weights),
                 "lower 'width' or 'layers', or use more nodes", context);
}

void Transformer::fit_statistics(Dataset& training, Context&) {
  const std::int64_t first[] = {0};
  const auto sample = training.read(first).front();
  length_ = field_of(*sample, params_.input).elements();
  if (length_ < 2)
    throw InputError(fmt::format(
        "field '{}' has {} bytes per sample; a transformer predicts all but the first and needs two or more",
        params_.input, length_));
  has_floor_ = sample->fields.find(params_.floor) != sample->fields.end();
}

static TransformerShape shape_of(const Transformer::Params& p, std::int64_t length) {
  return {p.layers, p.width, p.heads, p.expand * p.width, static_cast<int>(length) - 1};
}

std::vector<ParameterInfo> Transformer::parameters() const {
  const std::int64_t d = params_.width, hidden = d * params_.expand;
  std::vector<ParameterInfo> out{{"embedding.byte", {256, d}, true}, {"embedding.position", {length_ - 1, d}, true}};
  for (int l = 0; l < params_.layers; ++l) {
    const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
      const bool matrix = shape.size() == 2;
      out.push_back({fmt::format("blocks.{}.{}", l, name), std::move(shape), matrix, matrix});
    };
    add("norm1.gain", {d}), add("attention.qkv", {d, 3 * d}), add("attention.out", {d, d});
    add("norm2.gain", {d}), add("feed_forward.up", {d, hidden}), add("feed_forward.down", {hidden, d});
  }
  out.push_back({"head.gain", {d}, false});
  out.push_back({"head.w", {d, 256}, true});
  return out;
}

std::vector<int> Transformer::modules() const {
  const auto shape = shape_of(params_, length_);
  std::vector<int> out{0};
  for (int l = 0; l < params_.layers; ++l) out.push_back(shape.first_of_block(l));
  out.push_back(shape.first_of_head());
  return out;
}

/// Gains are one; matrices of blocks have variance 1 / n_in, those that add to the sum over blocks 1 / (2 layers) of
/// that, so that it does not grow with depth; embeddings and head have deviation 0.02 (the usual of GPT-2).
void Transformer::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto infos = parameters();
  with_real(dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < infos.size(); ++k) {
      const auto& info = infos[k];
      double deviation = info.linear ? 1.0 / std::sqrt(static_cast<double>(info.shape[0])) : 0.02;
      if (info.name.ends_with(".out") || info.name.ends_with(".down")) deviation /= std::sqrt(2.0 * params_.layers);
      auto* values = static_cast<T*>(weights[k].data);
      for (std::int64_t i = 0; i < weights[k].elements(); ++i)
        values[i] =
            info.shape.size() == 1
                ? T(1)
                : static_cast<T>(deviation *
                                 Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(i), k).normal(0));
    }
  });
}

std::vector<std::uint8_t> Transformer::bytes_of(std::span<const SamplePtr> samples) const {
  std::vector<std::uint8_t> out(samples.size() * static_cast<std::size_t>(length_));
  std::vector<double> row(static_cast<std::size_t>(length_));
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto& field = field_of(*samples[s], params_.input);
    if (field.elements() != length_)
      throw InputError(fmt::format("sample {}: field '{}' has {} bytes, the model reads {}", samples[s]->id,
                                   params_.input, field.elements(), length_));
    read_numbers(field, row.data());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row[k] != std::floor(row[k]) || row[k] < 0.0 || row[k] > 255.0)
        throw InputError(fmt::format("sample {}: '{}' must hold bytes, whole numbers from 0 to 255, but holds {}",
                                     samples[s]->id, params_.input, row[k]));
      out[s * row.size() + k] = static_cast<std::uint8_t>(row[k]);
    }
  }
  return out;
}

void Transformer::gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const double> term_weights, std::span<const TensorRef> gradients,
                           std::span<TermSum> terms, const ReadyCallback& ready) {
  const auto bytes = bytes_of(samples);
  with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, length_), params_, weights);
    const auto losses = pass.forward(bytes, static_cast<int>(samples.size()), ready);
    terms[0].sum += std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(length_ - 1);
    terms[0].count += static_cast<double>(samples.size());
    pass.backward(term_weights[0], gradients, ready);
  });
}

std::vector<TermInfo> Transformer::metrics() const {
  std::vector<TermInfo> out = terms();
  if (has_floor_) out.push_back({"above_floor", "", TermInfo::Report::mean});
  return out;
}

void Transformer::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<TermSum> metrics) {
  if (samples.empty()) return;
  const auto bytes = bytes_of(samples);
  with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, length_), params_, weights, coded_);
    const auto losses = pass.forward(bytes, static_cast<int>(samples.size()));
    const double sum = std::accumulate(losses.begin(), losses.end(), 0.0), count = static_cast<double>(losses.size());
    metrics[0].sum += sum, metrics[0].count += count;
    if (!has_floor_) return;
    std::vector<double> least(static_cast<std::size_t>(length_ - 1));
    double floor = 0.0;
    for (const auto& sample : samples) {
      read_numbers(field_of(*sample, params_.floor), least.data());
      floor += std::accumulate(least.begin(), least.end(), 0.0);
    }
    metrics[1].sum += sum - floor, metrics[1].count += count;
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
  if (params_.linear.weights == LinearWeights::ternary)
    out.push_back({"ma2024bitnet", R"(@misc{ma2024bitnet,
  author = {Ma, Shuming and Wang, Hongyu and Ma, Lingxiao and Wang, Lei and Wang, Wenhui and Huang, Shaohan and Dong, Li and Wang, Ruiping and Xue, Jilong and Wei, Furu},
  title = {The Era of 1-bit {LLMs}: All Large Language Models are in 1.58 Bits},
  year = {2024}, eprint = {2402.17764}, archiveprefix = {arXiv}
})"});
  return out;
}

std::string Transformer::state() const { return nlohmann::json{{"length", length_}, {"has_floor", has_floor_}}.dump(); }

void Transformer::restore(const std::string& state) {
  const auto json = nlohmann::json::parse(state);
  json.at("length").get_to(length_);
  json.at("has_floor").get_to(has_floor_);
}

}  // namespace cambium::train
