#include "plugins/podlstm/forecast/member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/optimizers/adam.hpp"

namespace cambium::podlstm {

namespace {

double deviation(const Matrix& a, std::int64_t k) {
  double mean = 0.0, square = 0.0;
  for (std::int64_t t = 0; t < a.rows; ++t) mean += a(t, k) / static_cast<double>(a.rows);
  for (std::int64_t t = 0; t < a.rows; ++t) square += std::pow(a(t, k) - mean, 2) / static_cast<double>(a.rows);
  return std::sqrt(square);
}

}  // namespace

Preparation::Preparation(const MemberOptions& options, const FitData& data) : options_(options) {
  const Stretch seen = data.seen();
  const auto m = static_cast<std::size_t>(seen.a.cols);
  if (options.inputs == Inputs::raw) {
    MinMax scale = MinMax::of(seen.a);
    shift_ = std::move(scale.low);
    scale_ = std::move(scale.width);
    unit_ = scale_;
    return;
  }
  factors_ = least_squares(calendar(seen.days, options.harmonics, options.period), seen.a);
  shift_.assign(m, 0.0);
  scale_.assign(m, 1.0);
  const Matrix rest = scaled(seen);
  for (std::size_t k = 0; k < m; ++k) {
    double square = 0.0;
    for (std::int64_t t = 0; t < rest.rows; ++t) square += std::pow(rest(t, static_cast<std::int64_t>(k)), 2);
    scale_[k] = std::sqrt(square / static_cast<double>(rest.rows));
  }
  unit_ = scale_;
  if (options.inputs == Inputs::anomalies) return;
  for (std::size_t k = 0; k < m; ++k)
    unit_[k] = deviation(seen.a, static_cast<std::int64_t>(k));  // weights outputs as in R2
  if (options.inverse_model)
    linear_ = std::make_unique<LinearInverseModel>(*options.inverse_model);
  else
    linear_ = harmonic_ridge(options.linear);
  linear_->fit(data);
}

Preparation::Preparation(const MemberOptions& options, const io::Group& group) : options_(options) {
  shift_ = group.read<std::vector<double>>("shift");
  scale_ = group.read<std::vector<double>>("scale");
  unit_ = group.read<std::vector<double>>("unit");
  if (group.exists("factors")) factors_ = read_matrix(group, "factors");
  if (group.exists("linear")) linear_ = read_harmonic_ridge(group.group("linear"));
}

void Preparation::write(io::Group& group) const {
  group.write("shift", shift_);
  group.write("scale", scale_);
  group.write("unit", unit_);
  if (factors_.rows > 0) write_matrix(group, "factors", factors_);
  if (!linear_) return;
  auto linear = group.create_group("linear");
  write_harmonic_ridge(*linear_, linear);
}

Matrix Preparation::scaled(const Stretch& s) const {
  Matrix out = s.a;
  if (options_.inputs != Inputs::raw) {
    const Matrix year = product(calendar(s.days, options_.harmonics, options_.period), factors_);
    for (std::size_t i = 0; i < out.a.size(); ++i) out.a[i] -= year.a[i];
  }
  for (std::int64_t t = 0; t < out.rows; ++t)
    for (std::int64_t k = 0; k < out.cols; ++k) out(t, k) = (out(t, k) - shift_[k]) / scale_[k];
  return out;
}

Matrix Preparation::features(const Stretch& s) const {
  const Matrix a = scaled(s), year = calendar(s.days, options_.calendar, options_.period);
  Matrix out(a.rows, a.cols + 2 * options_.calendar);
  for (std::int64_t t = 0; t < a.rows; ++t) {
    std::copy_n(a.row(t), a.cols, out.row(t));
    std::copy_n(year.row(t) + 1, 2 * options_.calendar, out.row(t) + a.cols);
  }
  return out;
}

Matrix Preparation::offset(const Stretch& s, const Starts& starts, const WindowShape& shape) const {
  if (linear_) return linear_->predict(s, starts, shape);
  if (options_.inputs == Inputs::anomalies)
    return targets(product(calendar(s.days, options_.harmonics, options_.period), factors_), starts, shape);
  Matrix out(std::ssize(starts), shape.future * s.a.cols);
  for (std::size_t j = 0; j < out.a.size(); ++j) out.a[j] = shift_[j % shift_.size()];
  return out;
}

Matrix Preparation::goals(const Stretch& s, const Starts& starts, const WindowShape& shape) const {
  Matrix out = targets(s.a, starts, shape);
  const Matrix zero = offset(s, starts, shape);
  for (std::size_t j = 0; j < out.a.size(); ++j) out.a[j] = (out.a[j] - zero.a[j]) / unit_[j % unit_.size()];
  return out;
}

void Preparation::undo(Matrix& windows, const Stretch& s, const Starts& starts, const WindowShape& shape) const {
  const Matrix zero = offset(s, starts, shape);
  for (std::size_t j = 0; j < windows.a.size(); ++j) windows.a[j] = zero.a[j] + unit_[j % unit_.size()] * windows.a[j];
}

namespace {

std::vector<float> to_float(const Matrix& a) { return {a.a.begin(), a.a.end()}; }

/// Windows as samples of the training layer, as views of two shared arrays.
std::vector<train::SamplePtr> samples_of(const Matrix& x, const Matrix& y, const WindowShape& shape) {
  auto arrays = std::make_shared<std::pair<std::vector<float>, std::vector<float>>>(to_float(x), to_float(y));
  std::vector<train::SamplePtr> out;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    auto s = std::make_shared<train::Sample>();
    s->id = i;
    s->fields["window"] = io::tensor_of(arrays->first.data() + i * x.cols, {shape.past, x.cols / shape.past});
    s->fields["target"] = io::tensor_of(arrays->second.data() + i * y.cols, {shape.future, y.cols / shape.future});
    s->storage = arrays;
    s->bytes = (x.cols + y.cols) * 4;
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace

struct Member::Training {
  std::vector<train::SamplePtr> samples;
  train::FlatBuffer gradients;
  train::AdamW optimizer;
  std::vector<train::FlatBuffer> states;
  std::int64_t step = 0;
  int epoch = 0;
};

Member::Member(const MemberOptions& options, std::uint64_t seed, Context& context)
    : options_(options), seed_(seed), context_(context) {}
Member::~Member() = default;
Member::Member(Member&&) noexcept = default;

void Member::build(const WindowShape& shape, std::int64_t modes) {
  network_ =
      std::make_unique<StackedLstm>(options_.network, shape.past, modes + 2 * options_.calendar, shape.future, modes);
  layout_ = std::make_unique<train::FlatLayout>(network_->parameters(), std::int64_t{1} << 40);
  weights_ = train::FlatBuffer(*layout_, DType::f32);
}

void Member::start(const FitData& data) {
  preparation_ = std::make_shared<Preparation>(options_, data);
  build(data.shape, data.stretch.a.cols);
  network_->initialise(weights_.views(), seed_);
  if (options_.inputs == Inputs::residual)
    for (std::size_t k = 0; k < layout_->tensors().size(); ++k)
      if (network_->parameters()[k].name.starts_with("head.w"))
        std::fill_n(static_cast<float*>(weights_.views()[k].data), weights_.views()[k].elements(), 0.0f);
  train::AdamW::Params adam;
  adam.weight_decay = options_.weight_decay;
  training_.reset(new Training{samples_of(inputs(preparation_->features(data.stretch), data.starts, data.shape),
                                          preparation_->goals(data.stretch, data.starts, data.shape), data.shape),
                               train::FlatBuffer(*layout_, DType::f32),
                               train::AdamW(adam, context_),
                               {}});
  training_->states = train::make_states(training_->optimizer, *layout_, DType::f32);
}

void Member::train_epoch() {
  Training& t = *training_;
  const auto weights = weights_.views(), gradients = t.gradients.views();
  const auto n = std::ssize(t.samples);
  const auto order = train::epoch_order(seed_, t.epoch++, n);
  train::TermSum loss;
  for (std::int64_t first = 0; first < n; first += options_.batch) {
    std::vector<train::SamplePtr> batch;
    for (std::int64_t i = first; i < std::min(n, first + options_.batch); ++i) batch.push_back(t.samples[order[i]]);
    t.gradients.zero();
    const double weight = 1.0 / static_cast<double>(batch.size());
    network_->gradient(batch, weights, {&weight, 1}, gradients, {&loss, 1}, {});
    t.optimizer.step({weights_, t.gradients, t.states, options_.rate, ++t.step});
  }
  if (!std::isfinite(loss.sum))
    throw NumericalError(fmt::format("the loss of a network is not finite in epoch {}", t.epoch));
}

void Member::fit(const FitData& data) {
  start(data);
  for (int epoch = 0; epoch < options_.epochs; ++epoch) train_epoch();
  training_.reset();
}

void Member::restore(std::shared_ptr<const Preparation> preparation, const WindowShape& shape, std::int64_t modes,
                     std::span<const float> weights) {
  preparation_ = std::move(preparation);
  build(shape, modes);
  if (std::ssize(weights) != layout_->parameters())
    throw InputError(
        fmt::format("a stored network has {} weights, its genome requires {}", weights.size(), layout_->parameters()));
  for (const auto& view : weights_.views()) {
    std::copy_n(weights.begin(), view.elements(), static_cast<float*>(view.data));
    weights = weights.subspan(view.elements());
  }
}

std::vector<float> Member::weights() const {
  std::vector<float> out;
  for (const auto& view : weights_.views()) {
    const float* w = static_cast<const float*>(view.data);
    out.insert(out.end(), w, w + view.elements());
  }
  return out;
}

Matrix Member::predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const {
  const auto x = to_float(inputs(preparation_->features(s), starts, shape));
  Matrix out(std::ssize(starts), shape.future * s.a.cols);
  const auto y = network_->predict(x.data(), out.rows, weights_.views());
  out.a.assign(y.begin(), y.end());
  preparation_->undo(out, s, starts, shape);
  return out;
}

}  // namespace cambium::podlstm
