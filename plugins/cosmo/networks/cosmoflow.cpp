#include "plugins/cosmo/networks/cosmoflow.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/cosmo/boxes/statistics.hpp"
#include "plugins/cosmo/boxes/turns.hpp"
#include "plugins/cosmo/networks/pooled_layer.hpp"

namespace cambium::cosmo {

using torch::Tensor;

static constexpr double slope = 0.01;            // of each ReLU below zero
static constexpr std::size_t fewest_fitted = 5;  // boxes; as infer_cosmology requires

void Cosmoflow::Params::describe(deck::Describe<Params>& d) {
  d("channels", &Params::channels,
    "number of output channels of each convolution; each halves the resolution of the box. Empty: summary statistics "
    "only, the baseline")
      .at_most(65536)
      .def({16, 32, 64});
  d("hidden", &Params::hidden, "widths of the hidden layers after the convolutions").at_most(1e6).def({128, 64});
  d("scale", &Params::scale, "scale of the tanh output, so that targets of -1 and 1 can be reached")
      .positive()
      .def(1.2);
  d("dropout", &Params::dropout, "dropout probability of each hidden layer's outputs in training")
      .range(0.0, 0.95)
      .def(0.0);
  d("augment", &Params::turn, "random rotations, reflections and translations of each box in every training step")
      .formerly("turn")
      .def(true);
  d("pool", &Params::pool,
    "pooling of the convolutions' outputs before the layers: all cells, or the mean of each channel")
      .options({{"all", Pool::all}, {"mean", Pool::mean}})
      .def(Pool::all);
  d("statistics", &Params::statistics,
    "field of spectra whose logarithms, with moments of the counts of cells and of cubes of 2 and 4, are added to the "
    "inputs of the layers; default: none")
      .def("");
  d("fit", &Params::fit,
    "initialise the layer from the statistics to the output with the ridge fit to the training set; otherwise with 0")
      .def(true);
  d("input", &Params::input, "field with the counts of a box").def("counts");
  d("target", &Params::target, "field of the regression targets, -1 to 1").def("target");
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d("factor_ranks", &Params::ranks,
    "factor ranks of the low-rank factorisations of each convolution, then of the layers and the output layer; 0 for a "
    "full matrix. A stage compress determines them")
      .formerly("ranks")
      .def({});
  d.check([](const Params& p) -> std::string {
    if (p.channels.empty() && p.statistics.empty())
      return "channels: name at least one convolution, or statistics for a network of these alone";
    for (const auto& [name, widths] : {std::pair{"channels", p.channels}, {"hidden", p.hidden}})
      for (const auto width : widths)
        if (width < 1) return fmt::format("{}: a width of {} is none; give 1 or more", name, width);
    return train::ranks_problem(p.ranks, p.channels.size() + p.hidden.size() + 1);
  });
}

void Cosmoflow::fit_statistics(train::Dataset& training, Context&) {
  std::vector<std::int64_t> box, target;
  for (const auto& field : training.fields()) {
    if (field.name == params_.input) box = field.shape;
    if (field.name == params_.target) target = field.shape;
  }
  if (box.size() != 3 || box[0] != box[1] || box[1] != box[2])
    throw InputError(fmt::format("cosmoflow reads cubes of counts; field '{}' has the shape ({})", params_.input,
                                 fmt::join(box, ", ")));
  if (target.size() != 1 || target[0] < 1)
    throw InputError(fmt::format("cosmoflow needs a row of values per box; field '{}' has the shape ({})",
                                 params_.target, fmt::join(target, ", ")));
  cells_ = box[0];
  targets_ = target[0];
  scales_ = scales_of(cells_);
  fit_spectra(training);
  if (cells_ % (std::int64_t{1} << params_.channels.size()) != 0)
    throw KeyError("cosmoflow.channels", "channels",
                   fmt::format("{} convolutions halve a box of {} cells to no whole number; list fewer channels",
                               params_.channels.size(), cells_));
}

static std::vector<double> numbers_of(const Tensor& row) {
  const Tensor whole = row.contiguous();
  return {whole.data_ptr<double>(), whole.data_ptr<double>() + whole.numel()};
}

/// Means and deviations of the statistics, and the fit to them.
void Cosmoflow::fit_spectra(train::Dataset& training) {
  statistics_mean_.clear();
  statistics_deviation_.clear();
  fit_weights_.clear();
  fit_offsets_.clear();
  if (params_.statistics.empty()) return;
  Table rows, targets;
  for (std::int64_t id = 0; id < training.size(); ++id) {
    const auto sample = training.read(std::vector<std::int64_t>{id});
    const train::TorchBatch batch(sample, real());
    rows.push_back(numbers_of(raw_statistics(batch)[0]));
    targets.push_back(numbers_of(batch.real(params_.target).flatten().to(torch::kFloat64)));
  }
  const auto n = static_cast<double>(rows.size());
  for (std::size_t k = 0; k < rows[0].size(); ++k) {
    double sum = 0.0, square = 0.0;
    for (const auto& row : rows) {
      sum += row[k];
      square += row[k] * row[k];
    }
    const double mean = sum / n, variance = square / n - mean * mean;
    statistics_mean_.push_back(mean);
    statistics_deviation_.push_back(variance > 1e-12 ? std::sqrt(variance) : 1.0);
    for (auto& row : rows) row[k] = (row[k] - mean) / statistics_deviation_[k];
  }
  if (params_.fit && rows.size() >= fewest_fitted) fit_targets(rows, targets);
}

void Cosmoflow::fit_targets(const Table& statistics, const Table& targets) {
  Table inner = targets;  // what the tanh is taken of
  for (auto& row : inner)
    for (double& y : row) y = std::atanh(std::clamp(y / params_.scale, -0.99, 0.99));
  const Ridge fit(statistics, inner);
  std::vector<double> at(statistics_mean_.size(), 0.0);
  fit_offsets_ = fit(at);
  fit_weights_.assign(at.size() * fit_offsets_.size(), 0.0);
  for (std::size_t k = 0; k < at.size(); ++k) {  // a linear function is its values at the unit vectors
    at[k] = 1.0;
    const auto values = fit(at);
    for (std::size_t t = 0; t < values.size(); ++t) fit_weights_[t * at.size() + k] = values[t] - fit_offsets_[t];
    at[k] = 0.0;
  }
}

std::shared_ptr<torch::nn::Module> Cosmoflow::build() {
  auto module = std::make_shared<torch::nn::Module>();
  train::RankLayers made(params_.ranks);
  std::int64_t before = 1, cells = cells_;
  convolutions_.clear();
  layers_.clear();
  for (const auto channels : params_.channels) {
    convolutions_.push_back(made.make({before, channels, {3, 3, 3}, {0, 0, 0}, cells * cells * cells}));
    module->register_module(fmt::format("convolution{}", convolutions_.size()), convolutions_.back());
    before = channels;
    cells /= 2;
  }
  const auto statistics = std::ssize(statistics_mean_);
  if (params_.pool == Pool::all) before *= cells * cells * cells;
  if (params_.channels.empty()) before = 0;
  before += statistics;
  auto widths = params_.hidden;
  widths.push_back(targets_);
  for (const auto width : widths) {
    layers_.push_back(made.linear(before, width));
    module->register_module(fmt::format("layer{}", layers_.size()), layers_.back());
    before = width;
  }
  if (statistics > 0) beside_ = module->register_module("beside", torch::nn::Linear(statistics, targets_));
  return module;
}

void Cosmoflow::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                        std::uint64_t seed) const {
  if (info.name.starts_with("beside.")) {
    const auto& fit = info.name == "beside.weight" ? fit_weights_ : fit_offsets_;
    return fit.empty() ? train::fill_constant(weights, 0.0) : train::fill_numbers(weights, fit);
  }
  const std::string last = fmt::format("layer{}.weight", params_.hidden.size() + 1);
  if (info.name != last) return TorchNetwork::initial(info, index, weights, seed);
  const double width = fit_weights_.empty() ? 0.1 : 0.01;
  train::fill_normal(weights, width / std::sqrt(static_cast<double>(info.shape[1])), seed, index);
}

/// (batch, n, n, n): ln((1 + counts) / 2), zero at one particle in a cell.
Tensor Cosmoflow::boxes(const train::TorchBatch& batch) const {
  return (torch::log1p(batch.real(params_.input)) - std::log(2.0)).reshape({batch.size(), cells_, cells_, cells_});
}

Tensor Cosmoflow::turned(const Tensor& boxes, const train::TorchBatch& batch) const {
  const auto ids = batch.ids();
  std::vector<Tensor> out;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const Turn turn = turn_of(seed_, ids[b], step_, cells_);
    Tensor x = boxes[b].permute({turn.axes[0], turn.axes[1], turn.axes[2]});
    std::vector<std::int64_t> mirrored;
    for (std::int64_t d = 0; d < 3; ++d)
      if (turn.mirrored[d]) mirrored.push_back(d);
    if (!mirrored.empty()) x = x.flip(mirrored);
    out.push_back(x.roll({turn.moved[0], turn.moved[1], turn.moved[2]}, {0, 1, 2}));
  }
  return torch::stack(out);
}

/// moments_at_scales() of each box, from logarithms of the precision that boxes have. counts: (batch, cells^3).
template <class T>
static Tensor moments_of_rows(const Tensor& counts, std::span<const std::int64_t> scales, std::int64_t cells) {
  std::vector<double> out;
  for (std::int64_t b = 0; b < counts.size(0); ++b) {
    const T* row = counts.data_ptr<T>() + b * counts.size(1);
    std::vector<T> now(row, row + counts.size(1)), logs;
    for (const auto edge : scales) {
      if (edge > 1) now = halved<T>(now, 2 * cells / edge);
      logs = now;
      torch::from_blob(logs.data(), {std::ssize(logs)}, counts.options()).log1p_();
      const auto moments = moments_of<T>(now, logs);
      out.insert(out.end(), moments.begin(), moments.end());
    }
  }
  return torch::tensor(out, torch::kFloat64).reshape({counts.size(0), -1});
}

Tensor Cosmoflow::raw_statistics(const train::TorchBatch& batch) const {
  const Tensor counts = batch.real(params_.input).reshape({batch.size(), -1}).contiguous();
  const Tensor moments = counts.scalar_type() == torch::kFloat64 ? moments_of_rows<double>(counts, scales_, cells_)
                                                                 : moments_of_rows<float>(counts, scales_, cells_);
  return torch::cat(
      {torch::log(batch.real(params_.statistics).flatten(1).to(torch::kFloat64).clamp_min(1e-300)), moments}, 1);
}

Tensor Cosmoflow::statistics(const train::TorchBatch& batch) const {
  const auto numbers = [](const std::vector<double>& v) { return torch::tensor(v, torch::kFloat64); };
  return ((raw_statistics(batch) - numbers(statistics_mean_)) / numbers(statistics_deviation_)).to(real());
}

Tensor Cosmoflow::dropped(const Tensor& x, const train::TorchBatch& batch, std::size_t layer) const {
  std::vector<Tensor> kept;
  for (const auto id : batch.ids())
    kept.push_back(torch::tensor(kept_answers(seed_, id, step_, layer, x.size(1), params_.dropout), torch::kFloat64));
  return x * torch::stack(kept).to(x.dtype());
}

/// A convolution, the largest of its eight and the ReLU by kernels of our own, channels last.
static Tensor pooled(const Tensor& x, const train::RankLayer& convolution) {
  if (convolution.weight().defined()) return pooled_convolution(x, convolution.weight(), convolution.bias(), slope);
  const auto [enter, core, leave] = convolution.factors();
  const Tensor in = enter.defined() ? torch::linear(x, enter.flatten(1)) : x;
  return leave.defined() ? pooled_product(in, core, leave.flatten(1), convolution.bias(), slope)
                         : pooled_convolution(in, core, convolution.bias(), slope);
}

/// (batch, cells, cells, cells) to (batch, channels, edge, edge, edge).
static Tensor convolved(Tensor x, std::span<const std::shared_ptr<train::RankLayer>> convolutions) {
  // Our kernels have no gradient of a product.
  const bool own = !torch::GradMode::is_enabled() ||
                   std::ranges::all_of(convolutions, [](const auto& c) { return c->weight().defined(); });
  if (own && x.device().is_cpu()) {
    x = x.unsqueeze(4);
    for (const auto& convolution : convolutions) x = pooled(x, *convolution);
    return x.permute({0, 4, 1, 2, 3});
  }
  x = x.unsqueeze(1);
  for (const auto& convolution : convolutions) {
    for (std::int64_t d = 2; d < 5; ++d) x = torch::cat({x.narrow(d, x.size(d) - 1, 1), x, x.narrow(d, 0, 1)}, d);
    // The largest first: what rises with its argument has the same largest, of an eighth of the cells.
    x = torch::leaky_relu(torch::max_pool3d(convolution->forward(x), 2), slope);
  }
  return x;
}

Tensor Cosmoflow::answers(Tensor x, const train::TorchBatch& batch, bool trains) {
  const Tensor seen = beside_ ? statistics(batch) : Tensor();
  if (!convolutions_.empty()) {
    x = convolved(x, convolutions_);
    x = params_.pool == Pool::mean ? x.flatten(2).mean(2) : x.flatten(1);
  }
  if (beside_) x = convolutions_.empty() ? seen : torch::cat({x, seen}, 1);
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    if (k > 0) x = torch::leaky_relu(x, slope);
    if (k > 0 && trains && params_.dropout > 0.0) x = dropped(x, batch, k);
    x = layers_[k]->forward(x);
  }
  if (beside_) x = x + beside_->forward(seen);
  return params_.scale * torch::tanh(x);
}

std::vector<train::TorchNetwork::Term> Cosmoflow::loss(const train::TorchBatch& batch) {
  const Tensor x = boxes(batch), right = batch.real(params_.target).reshape({batch.size(), targets_});
  const bool turns = params_.turn && !convolutions_.empty();  // statistics do not change
  const Tensor off = answers(turns ? turned(x, batch) : x, batch, true) - right;
  return {{(off * off).mean(1).sum(), static_cast<double>(batch.size())}};
}

std::vector<train::TorchNetwork::Term> Cosmoflow::measure(const train::TorchBatch& batch) {
  const Tensor off =
      (answers(boxes(batch), batch, false) - batch.real(params_.target).reshape({batch.size(), targets_}))
          .to(torch::kFloat64);
  const auto n = static_cast<double>(batch.size());
  const Tensor squares = (off * off).mean(1).sum();
  evaluated_ = {squares.item<double>(), n};
  return {{off.abs().mean(1).sum(), n}, {squares, n}};
}

std::vector<Tensor> Cosmoflow::predict(const train::TorchBatch& batch) { return {answers(boxes(batch), batch, false)}; }

std::vector<Citation> Cosmoflow::citations() const {
  return {
      {"mathuriya2018",
       R"(@inproceedings{mathuriya2018, author={Mathuriya, A. and others}, title={CosmoFlow: using deep learning to learn the universe at scale}, booktitle={SC18}, year={2018}})"}};
}

std::string Cosmoflow::state() const {
  return nlohmann::json{{"cells", cells_},
                        {"targets", targets_},
                        {"scales", scales_},
                        {"statistics_mean", statistics_mean_},
                        {"statistics_deviation", statistics_deviation_},
                        {"fit_weights", fit_weights_},
                        {"fit_offsets", fit_offsets_}}
      .dump();
}

void Cosmoflow::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("cells").get_to(cells_);
  in.at("targets").get_to(targets_);
  scales_ = in.value("scales", std::vector<std::int64_t>{1});  // default for models older than moments at scales
  statistics_mean_ = in.value("statistics_mean", std::vector<double>{});
  statistics_deviation_ = in.value("statistics_deviation", std::vector<double>{});
  fit_weights_ = in.value("fit_weights", std::vector<double>{});
  fit_offsets_ = in.value("fit_offsets", std::vector<double>{});
}

}  // namespace cambium::cosmo
