#include "plugins/pretrain/networks/field_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/pretrain/networks/field_batch.hpp"

namespace cambium::pretrain {

using torch::Tensor;
using train::TermInfo;
using train::TorchBatch;

void FieldEncoder::ParameterEncoder::describe(deck::Describe<ParameterEncoder>& d) {
  d("hidden", &ParameterEncoder::hidden, "widths of the layers between parameters and vector")
      .at_most(1e6)
      .def({64, 64});
}

void FieldEncoder::Params::describe(deck::Describe<Params>& d) {
  d("channels", &Params::channels, "number of channels after each halving of the axes")
      .at_most(65536)
      .def({16, 32, 64});
  d("transformer", &Params::transformer, "vision transformer: self-attention between patches, instead of convolutions")
      .example("{patch: [4, 4]}");
  d("width", &Params::width, "embedding dimension of a field").at_least(2).def(64);
  d("pool", &Params::pool, "mean over all cells at the end, or every cell with weights of its own")
      .options({{"mean", Pool::mean}, {"cells", Pool::cells}})
      .def(Pool::mean);
  d("positive", &Params::partner,
    "positive pair of a field: another view of itself (augment), the other field of its sample (pair_offset, "
    "split_halves), or the parameters of its run")
      .options({{"view", Partner::view}, {"field", Partner::field}, {"parameters", Partner::parameters}})
      .formerly("partner")
      .def(Partner::view);
  d("shared", &Params::shared, "shared encoder for a field and its positive; false: one encoder each").def(true);
  d("parameter_encoder", &Params::parameter_encoder, "encoder layers of the parameters, with positive: parameters");
  d("augment", &Params::augment, "data augmentation: random transformations, drawn at every step");
  d("loss", &Params::loss, "contrastive loss");
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) -> std::string {
    if (p.channels.empty()) return "'channels' names no stage";
    if (p.partner == Partner::view && p.augment.nothing())
      return "a field and an unchanged copy of it teach nothing; give 'augment', or another 'positive'";
    if (p.pool == Pool::cells && !p.augment.crop.empty())
      return "pool: cells reads full fields, but 'augment.crop' crops them; take pool: mean, or remove the crop";
    return "";
  });
}

FieldEncoder::FieldEncoder(const Params& params, Context& context)
    : TorchNetwork(params.precision), params_(params), context_(context) {}

void FieldEncoder::make_loss() {
  require_fitting(params_.augment, scales_.shape);
  if (params_.transformer)
    for (const auto& shape : {scales_.shape, augmented_shape(params_.augment, scales_.shape)})
      require_fitting(*params_.transformer, shape);
  loss_ = std::make_unique<train::ContrastiveLoss>(params_.loss, samples_, context_.comm);
}

void FieldEncoder::fit_statistics(train::Dataset& training, Context&) {
  scales_ = Scales::of(training);
  samples_ = training.size();
  const auto fields = training.fields();
  const auto has = [&](const char* name) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
  };
  if (params_.partner == Partner::field && !has("partner"))
    throw KeyError("field_encoder.partner.field", "positive",
                   "positive is field, but the samples have none; give the data set 'pair_offset' (field_archive) or "
                   "'split_halves' (images)");
  if (params_.partner == Partner::parameters && !has("parameters"))
    throw KeyError("field_encoder.partner.parameters", "positive",
                   "positive is parameters, but the data set has none; give it 'parameters', one value for each run");
  make_loss();
}

std::string FieldEncoder::state() const {
  return nlohmann::json{{"scales", nlohmann::json::parse(scales_.text())}, {"samples", samples_}}.dump();
}

void FieldEncoder::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  scales_ = Scales::from(in.at("scales").dump());
  in.at("samples").get_to(samples_);
  make_loss();
}

std::shared_ptr<torch::nn::Module> FieldEncoder::build() {
  EncoderShape shape;
  shape.trunk = {scales_.shape.channels, scales_.shape.cells,        scales_.shape.periodic, params_.channels,
                 params_.width,          params_.pool == Pool::mean, params_.transformer};
  shape.shared = params_.shared;
  shape.hidden = params_.parameter_encoder.hidden;
  shape.parameters = parameters_count();
  shape.temperature = params_.loss.learns_one_temperature();
  return module_ = std::make_shared<EncoderModule>(shape);
}

/// The unit of the temperature weight makes an optimizer step `rate` times as large as for other weights.
void FieldEncoder::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                           std::uint64_t seed) const {
  if (info.name == "temperature")
    return train::fill_constant(weights, params_.loss.first_temperature() / params_.loss.temperature_rate());
  TorchNetwork::initial(info, index, weights, seed);
}

namespace {

Tensor scaled_parameters(const Tensor& parameters, const Scales& scales, torch::Dtype real) {
  std::vector<Tensor> columns;
  for (std::size_t p = 0; p < scales.parameters.size(); ++p) {
    const auto& scale = scales.parameters[p];
    Tensor column = parameters.select(1, static_cast<std::int64_t>(p)).to(torch::kFloat64);
    if (scale.logarithm) column = torch::log10(column.clamp_min(1e-300));
    columns.push_back((column - scale.mean) / scale.deviation);
  }
  return torch::stack(columns, 1).to(real);
}

}  // namespace

FieldEncoder::Pair FieldEncoder::pair(const TorchBatch& batch, std::int64_t step, bool changed) {
  const FieldView view{changed ? &params_.augment : nullptr, seed_, step};
  const Tensor field = fields_of(batch, "field", 0, view, scales_, real());
  if (params_.partner == Partner::parameters)
    return {module_->fields(field, false),
            module_->parameters_of(scaled_parameters(batch.stored("parameters"), scales_, real()))};
  const Tensor partner =
      fields_of(batch, params_.partner == Partner::field ? "partner" : "field", 1, view, scales_, real());
  if (!params_.shared) return {module_->fields(field, false), module_->fields(partner, true)};
  const Tensor both = module_->fields(torch::cat({field, partner}), false);  // one call per operator
  return {both.narrow(0, 0, batch.size()), both.narrow(0, batch.size(), batch.size())};
}

/// Derivatives of the loss over all ranks, which Torch propagates to the weights.
template <class T>
std::vector<train::TorchNetwork::Term> FieldEncoder::loss_of(const Pair& pair, const std::vector<std::int64_t>& ids) {
  const Tensor first = pair.first.contiguous(), second = pair.second.contiguous();
  const auto span = [](const Tensor& x) {
    return std::span<const T>(x.data_ptr<T>(), static_cast<std::size_t>(x.numel()));
  };
  const auto& bounds = params_.loss.temperature;
  const Tensor& learnt = module_->temperature();
  const double unit = params_.loss.temperature_rate();
  const double raw = learnt.defined() ? learnt.item<double>() * unit : params_.loss.first_temperature();
  const double temperature = std::clamp(raw, bounds.least, bounds.most);
  auto result = loss_->compute(train::TwoViews<T>{span(first), span(second), params_.width, ids}, temperature);
  const auto tensor = [&](std::vector<T>& values) {
    return torch::from_blob(values.data(), first.sizes(), torch::TensorOptions().dtype(first.dtype())).clone();
  };
  Tensor sum = (first * tensor(result.first)).sum() + (second * tensor(result.second)).sum();
  const auto n = static_cast<double>(ids.size());
  if (learnt.defined()) {
    // Penalty for values out of bounds; each rank adds it for its samples, with the same excess on all ranks.
    constexpr double spring = 1e4;
    sum = sum + (learnt * ((result.temperature + spring * n * (raw - temperature)) * unit)).sum();
  }
  const auto value = [&](double x) { return torch::full({}, x, first.options().requires_grad(false)); };
  return {{sum - sum.detach() + value(result.infonce), n},
          {value(result.objective), n},
          {value(result.mean_temperature), n}};
}

std::vector<train::TorchNetwork::Term> FieldEncoder::loss(const TorchBatch& batch) {
  const Pair both = pair(batch, step_, true);
  return real() == torch::kFloat64 ? loss_of<double>(both, batch.ids()) : loss_of<float>(both, batch.ids());
}

std::vector<TermInfo> FieldEncoder::terms() const {
  return {{"infonce", "", TermInfo::Report::mean},
          {"objective", "", TermInfo::Report::mean},
          {"temperature", "", TermInfo::Report::mean}};
}

std::vector<TermInfo> FieldEncoder::metrics() const {
  return {{"wrong", "", TermInfo::Report::mean}, {"place", "", TermInfo::Report::mean}};
}

/// Ranks of positives among those of all samples, which are distributed over MPI ranks.
void FieldEncoder::begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) {
  constexpr std::int64_t at_once = 64;
  const std::int64_t n = data.size(), ranks = context_.comm.size(), width = params_.width;
  std::vector<double> all(2 * n * width, 0.0), ids(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t from = context_.comm.rank() * at_once; from < n; from += ranks * at_once) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t k = from; k < std::min(n, from + at_once); ++k) numbers.push_back(k);
    const auto samples = data.read(numbers);
    with_weights(weights, [&] {
      const auto both = pair(TorchBatch(samples, real()), 0, params_.partner == Partner::view);
      const auto copy = [&](const Tensor& x, std::int64_t half) {
        const Tensor y = x.to(torch::kFloat64).contiguous();
        std::copy_n(y.data_ptr<double>(), y.numel(), all.data() + (half * n + from) * width);
      };
      copy(both.first, 0);
      copy(both.second, 1);
    });
    for (std::size_t k = 0; k < samples.size(); ++k)
      ids[static_cast<std::size_t>(from) + k] = static_cast<double>(samples[k]->id);
  }
  context_.comm.sum(all);
  context_.comm.sum(ids);
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const Tensor rows = torch::from_blob(all.data(), {2, n, width}, options);
  const Tensor similar = rows[0].matmul(rows[1].t());
  constexpr double rounding = 1e-12;
  const Tensor own = similar.diagonal().unsqueeze(1);
  const Tensor above = (similar > own + rounding).sum(1), within = (similar >= own - rounding).sum(1);
  places_.clear();
  for (std::int64_t k = 0; k < n; ++k) {
    const auto before = static_cast<double>(above[k].item<std::int64_t>());
    const double equal = static_cast<double>(within[k].item<std::int64_t>()) - before;
    places_.push_back({static_cast<std::int64_t>(ids[k]), 1.0 + before + 0.5 * (equal - 1.0),
                       before > 0.0 ? 1.0 : 1.0 - 1.0 / equal});
  }
  std::sort(places_.begin(), places_.end(), [](const Placed& a, const Placed& b) { return a.sample < b.sample; });
}

std::vector<train::TorchNetwork::Term> FieldEncoder::measure(const TorchBatch& batch) {
  double wrong = 0.0, sum = 0.0;
  for (const auto id : batch.ids()) {
    const auto found = std::lower_bound(places_.begin(), places_.end(), id,
                                        [](const Placed& a, std::int64_t sample) { return a.sample < sample; });
    if (found == places_.end() || found->sample != id)
      throw InternalError("an encoder has no result for a sample of the batch");
    wrong += found->wrong;
    sum += found->place;
  }
  const auto n = static_cast<double>(batch.size());
  return {{torch::full({}, wrong, torch::kFloat64), n}, {torch::full({}, sum, torch::kFloat64), n}};
}

std::vector<train::FieldInfo> FieldEncoder::outputs() const {
  std::vector<train::FieldInfo> out{{"vector", "", {params_.width}, DType::f64}};
  if (params_.partner != Partner::view) out.push_back({"partner", "", {params_.width}, DType::f64});
  return out;
}

std::vector<Tensor> FieldEncoder::predict(const TorchBatch& batch) {
  const auto& fields = batch.samples().front()->fields;
  const bool known = params_.partner == Partner::field ? fields.contains("partner") : fields.contains("parameters");
  if (params_.partner != Partner::view && known) {
    const auto both = pair(batch, 0, false);
    return {both.first, both.second};
  }
  const Tensor first = module_->fields(fields_of(batch, "field", 0, {}, scales_, real()), false);
  if (params_.partner == Partner::view) return {first};
  return {first, torch::zeros_like(first)};
}

std::vector<double> FieldEncoder::vectors_of(std::span<const double> parameters, std::span<const TensorRef> weights) {
  std::vector<double> out;
  with_weights(weights, [&] {
    const auto rows = std::ssize(parameters) / parameters_count();
    const Tensor in = torch::tensor(std::vector<double>(parameters.begin(), parameters.end()), torch::kFloat64);
    const auto scaled = scaled_parameters(in.reshape({rows, parameters_count()}), scales_, real());
    const Tensor vectors = module_->parameters_of(scaled).to(torch::kFloat64).contiguous();
    out.assign(vectors.data_ptr<double>(), vectors.data_ptr<double>() + vectors.numel());
  });
  return out;
}

std::vector<std::string> FieldEncoder::report() const {
  auto out = TorchNetwork::report();
  if (module_ && !module_->slower().empty()) out.push_back(module_->slower());
  for (const auto& row : loss_->traffic().rows())
    out.push_back(
        fmt::format("contrastive loss: {} calls handed over {} B of {}", row.calls, row.bytes, row.collective));
  return out;
}

std::vector<Citation> FieldEncoder::citations() const {
  std::vector<Citation> out{{"oord2018", R"(@article{oord2018,
  author = {van den Oord, Aaron and Li, Yazhe and Vinyals, Oriol},
  title = {Representation Learning with Contrastive Predictive Coding},
  journal = {arXiv:1807.03748}, year = {2018}
})"}};
  if (params_.loss.keeps_estimates())
    out.push_back({"wei2024", R"(@article{wei2024,
  author = {Wei, Xiyuan and Ye, Fanjiang and Yonay, Ori and Chen, Xingyu and Sun, Baixi and Tao, Dingwen and Yang, Tianbao},
  title = {{FastCLIP}: A Suite of Optimization Techniques to Accelerate {CLIP} Training with Limited Resources},
  journal = {arXiv:2407.01445}, year = {2024}
})"});
  if (params_.transformer)
    for (auto& citation : TransformerKeys::citations()) out.push_back(std::move(citation));
  return out;
}

}  // namespace cambium::pretrain
