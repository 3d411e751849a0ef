#include "core/train/networks/transformer/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/parallel/memory.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/attention/random_features.hpp"
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
  d("answers", &Params::answers,
    "field with 1 for each predicted byte that is an answer and 0 for the others, where the data have one: the metric "
    "answers_right is the share of them that is predicted")
      .def("answer");
  d("learn", &Params::learn, "whose cross entropy is the loss: that of every_byte, or of answers alone")
      .options({{"every_byte", Learn::every_byte}, {"answers", Learn::answers}})
      .def(Learn::every_byte);
  d("attention", &Params::attention, "how the places of a text see each other");
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

void Transformer::fit_statistics(Dataset& training, Context& context) {
  const std::int64_t first[] = {0};
  const auto sample = training.read(first).front();
  length_ = field_of(*sample, params_.input).elements();
  if (length_ < 2)
    throw InputError(fmt::format(
        "field '{}' has {} bytes per sample; a transformer predicts all but the first and needs two or more",
        params_.input, length_));
  has_floor_ = sample->fields.find(params_.floor) != sample->fields.end();
  has_answers_ = sample->fields.find(params_.answers) != sample->fields.end();
  if (params_.learn == Learn::answers && !has_answers_)
    throw InputError(fmt::format(
        "learn: answers needs a field '{}' that marks them, which the data set lacks; take data that have one (type "
        "recall), name theirs with answers, or remove learn",
        params_.answers));
  const double places = static_cast<double>(length_ - 1);
  if (params_.attention.type == AttentionParams::Type::softmax)
    require_memory(params_.layers * params_.heads * places * places * static_cast<double>(size_of(dtype())),
                   fmt::format("attention between {:.4g} places of a text", places),
                   "take attention: {type: two_pass}, which gives the same numbers and does not keep them", context);
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
  features_.clear();
  if (features_needed() == 0) return;
  for (int l = 0; l < params_.layers; ++l) {
    const auto drawn = random_features(seed, static_cast<std::uint64_t>(l), *params_.attention.features,
                                       params_.width / params_.heads);
    features_.insert(features_.end(), drawn.begin(), drawn.end());
  }
}

std::size_t Transformer::features_needed() const {
  if (params_.attention.type != AttentionParams::Type::favor) return 0;
  return static_cast<std::size_t>(params_.layers) * static_cast<std::size_t>(*params_.attention.features) *
         static_cast<std::size_t>(params_.width / params_.heads);
}

std::vector<double> Transformer::answers_of(std::span<const SamplePtr> samples) const {
  const auto places = static_cast<std::size_t>(length_) - 1;
  std::vector<double> out(samples.size() * places);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto& field = field_of(*samples[s], params_.answers);
    const auto marks = std::span(out).subspan(s * places, places);
    if (field.elements() != length_ - 1)
      throw InputError(fmt::format("sample {}: field '{}' marks {} bytes, but the model predicts {}, all but the first",
                                   samples[s]->id, params_.answers, field.elements(), length_ - 1));
    read_numbers(field, marks.data());
    const auto wrong = std::find_if(marks.begin(), marks.end(), [](double x) { return x != 0.0 && x != 1.0; });
    if (wrong != marks.end())
      throw InputError(fmt::format("sample {}: '{}' must be 1 for an answer and 0 elsewhere, but holds {}",
                                   samples[s]->id, params_.answers, *wrong));
    if (std::count(marks.begin(), marks.end(), 1.0) == 0)
      throw InputError(
          fmt::format("sample {}: '{}' marks no byte; every text needs an answer", samples[s]->id, params_.answers));
  }
  return out;
}

std::vector<double> Transformer::places_of(std::span<const SamplePtr> samples) const {
  if (params_.learn == Learn::every_byte) return {};
  auto out = answers_of(samples);
  const auto places = static_cast<std::ptrdiff_t>(length_) - 1;
  for (auto at = out.begin(); at != out.end(); at += places) {
    const double share = 1.0 / static_cast<double>(std::count(at, at + places, 1.0));
    std::for_each(at, at + places, [&](double& x) { x *= share; });
  }
  return out;
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
  const auto places = places_of(samples);
  with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, length_), params_, weights, features_);
    const auto losses = pass.forward(bytes, static_cast<int>(samples.size()), ready);
    terms[0].sum += places.empty()
                        ? std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(length_ - 1)
                        : std::inner_product(losses.begin(), losses.end(), places.begin(), 0.0);
    terms[0].count += static_cast<double>(samples.size());
    pass.backward(term_weights[0], places, gradients, ready);
  });
}

std::vector<TermInfo> Transformer::metrics() const {
  std::vector<TermInfo> out = terms();
  if (has_floor_) out.push_back({"above_floor", "", TermInfo::Report::mean});
  if (has_answers_) out.push_back({"answers_right", "", TermInfo::Report::mean});
  return out;
}

/// Sum of x over the places that count, and how many these are; `marks` is empty where all do.
static TermSum sum_of(std::span<const double> x, std::span<const double> marks) {
  if (marks.empty()) return {std::accumulate(x.begin(), x.end(), 0.0), static_cast<double>(x.size())};
  return {std::inner_product(x.begin(), x.end(), marks.begin(), 0.0), std::accumulate(marks.begin(), marks.end(), 0.0)};
}

static void add(TermSum& to, double sum, double count) { to.sum += sum, to.count += count; }

void Transformer::evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<TermSum> metrics) {
  if (samples.empty()) return;
  const auto bytes = bytes_of(samples);
  const auto places = static_cast<std::size_t>(length_) - 1;
  const auto answers = has_answers_ ? answers_of(samples) : std::vector<double>{};
  const std::span<const double> counted = params_.learn == Learn::answers ? answers : std::span<const double>{};
  with_real(dtype(), [&]<class T>() {
    TransformerPass<T> pass(shape_of(params_, length_), params_, weights, features_, coded_);
    const auto losses = sum_of(pass.forward(bytes, static_cast<int>(samples.size())), counted);
    std::size_t at = 0;
    add(metrics[at++], losses.sum, losses.count);
    if (has_floor_) {
      std::vector<double> least(samples.size() * places);
      for (std::size_t s = 0; s < samples.size(); ++s)
        read_numbers(field_of(*samples[s], params_.floor), least.data() + s * places);
      add(metrics[at++], losses.sum - sum_of(least, counted).sum, losses.count);
    }
    if (!has_answers_) return;
    const auto said = pass.likeliest();
    double right = 0.0;
    for (std::size_t k = 0; k < said.size(); ++k) right += said[k] == bytes[k + k / places + 1] ? answers[k] : 0.0;
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
  if (params_.linear.weights == LinearWeights::ternary)
    out.push_back({"ma2024bitnet", R"(@misc{ma2024bitnet,
  author = {Ma, Shuming and Wang, Hongyu and Ma, Lingxiao and Wang, Lei and Wang, Wenhui and Huang, Shaohan and Dong, Li and Wang, Ruiping and Xue, Jilong and Wei, Furu},
  title = {The Era of 1-bit {LLMs}: All Large Language Models are in 1.58 Bits},
  year = {2024}, eprint = {2402.17764}, archiveprefix = {arXiv}
})"});
  if (params_.attention.type != AttentionParams::Type::softmax) out.push_back(citation_of(params_.attention.type));
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
    throw InputError(fmt::format(
        "the model holds {} numbers of random features, but attention: {{type: favor, features: {}}} needs {}; give "
        "the attention that the model was trained with",
        features_.size(), *params_.attention.features, features_needed()));
}

}  // namespace cambium::train
