#include "plugins/podlstm/forecast/member.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/h5.hpp"
#include "core/train/batch_plan.hpp"
#include "core/train/optimize/adam.hpp"

namespace cambium::podlstm {

Preparation::Preparation(const MemberOptions& options, const Stretch& s, std::int64_t rows) : options_(options) {
  const auto m = static_cast<std::size_t>(s.a.cols);
  if (options.inputs == Inputs::raw) {
    MinMax scale = MinMax::of(s.a, rows);
    shift_ = std::move(scale.low), scale_ = std::move(scale.width);
    return;
  }
  Matrix a(rows, s.a.cols);
  std::copy_n(s.a.row(0), a.a.size(), a.a.data());
  factors_ = least_squares(calendar({s.days.begin(), s.days.begin() + rows}, options.harmonics, options.period), std::move(a));
  shift_.assign(m, 0.0), scale_.assign(m, 1.0);
  const Matrix rest = outputs(s);
  for (std::size_t k = 0; k < m; ++k) {
    double square = 0.0;
    for (std::int64_t t = 0; t < rows; ++t) square += std::pow(rest(t, static_cast<std::int64_t>(k)), 2);
    scale_[k] = std::sqrt(square / static_cast<double>(rows));
  }
}

Matrix Preparation::outputs(const Stretch& s) const {
  Matrix out = s.a;
  if (options_.inputs == Inputs::anomalies) {
    const Matrix year = product(calendar(s.days, options_.harmonics, options_.period), factors_);
    for (std::size_t i = 0; i < out.a.size(); ++i) out.a[i] -= year.a[i];
  }
  for (std::int64_t t = 0; t < out.rows; ++t)
    for (std::int64_t k = 0; k < out.cols; ++k)
      out(t, k) = (out(t, k) - shift_[static_cast<std::size_t>(k)]) / scale_[static_cast<std::size_t>(k)];
  return out;
}

Matrix Preparation::features(const Stretch& s) const {
  const Matrix a = outputs(s), year = calendar(s.days, options_.calendar, options_.period);
  Matrix out(a.rows, a.cols + 2 * options_.calendar);
  for (std::int64_t t = 0; t < a.rows; ++t) {
    std::copy_n(a.row(t), a.cols, out.row(t));
    std::copy_n(year.row(t) + 1, 2 * options_.calendar, out.row(t) + a.cols);
  }
  return out;
}

void Preparation::undo(Matrix& windows, const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const {
  const std::int64_t m = s.a.cols;
  for (std::int64_t i = 0; i < windows.rows; ++i)
    for (std::int64_t j = 0; j < windows.cols; ++j)
      windows(i, j) = shift_[static_cast<std::size_t>(j % m)] + scale_[static_cast<std::size_t>(j % m)] * windows(i, j);
  if (options_.inputs == Inputs::raw) return;
  const Matrix year = targets(product(calendar(s.days, options_.harmonics, options_.period), factors_), starts, shape);
  for (std::size_t i = 0; i < windows.a.size(); ++i) windows.a[i] += year.a[i];
}

namespace {

std::vector<float> to_float(const Matrix& a) { return {a.a.begin(), a.a.end()}; }

/// Windows as samples of the training layer; they point into two shared arrays.
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

void Member::train(const FitData& data, const AfterEpoch& after) {
  preparation_ = std::make_unique<Preparation>(options_, data.stretch, data.rows);
  const Matrix features = preparation_->features(data.stretch);
  const auto all = samples_of(inputs(features, data.starts, data.shape),
                              targets(preparation_->outputs(data.stretch), data.starts, data.shape), data.shape);
  network_ = std::make_unique<StackedLstm>(options_.network, data.shape.past, features.cols, data.shape.future, data.stretch.a.cols);
  layout_ = std::make_unique<train::FlatLayout>(network_->parameters(), std::int64_t{1} << 40);
  weights_ = train::FlatBuffer(*layout_, DType::f32);
  train::FlatBuffer gradients(*layout_, DType::f32);
  network_->initialise(weights_.views(), seed_);
  train::AdamW::Params adam;
  adam.weight_decay = options_.weight_decay;
  train::AdamW optimizer(adam, context_);
  auto states = train::make_states(optimizer, *layout_, DType::f32);
  const auto weight_views = weights_.views(), gradient_views = gradients.views();
  const auto n = std::ssize(all);
  std::int64_t step = 0;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    const auto order = train::epoch_order(seed_, epoch, n);
    train::TermSum loss;
    for (std::int64_t first = 0; first < n; first += options_.batch) {
      std::vector<train::SamplePtr> batch;
      for (std::int64_t i = first; i < std::min(n, first + options_.batch); ++i) batch.push_back(all[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
      gradients.zero();
      const double weight = 1.0 / static_cast<double>(batch.size());
      network_->gradient(batch, weight_views, {&weight, 1}, gradient_views, {&loss, 1}, {});
      optimizer.step({weights_, gradients, states, options_.rate, ++step});
    }
    if (!std::isfinite(loss.sum)) throw NumericalError(fmt::format("the loss of a network is not finite in epoch {}", epoch + 1));
    if (after && !after(epoch + 1, *this)) break;
  }
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
