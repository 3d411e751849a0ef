#include "plugins/superres/networks/plane_network.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "plugins/superres/networks/flow_planes.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

constexpr std::size_t flow_count = 4;  ///< p, b, u, w

}  // namespace

void PlaneNetwork::fit_statistics(train::Dataset& training, Context&) {
  scaling_.fit(training);
  require_forecasts(keys_, scaling_, training);
  make_sizes();
}

void PlaneNetwork::restore(const std::string& state) {
  scaling_.restore(state);
  make_sizes();
}

void PlaneNetwork::make_sizes() {
  const auto& g = scaling_.grid;
  const std::array<std::int64_t, 3> ratio = scaling_.forecasts ? std::array<std::int64_t, 3>{1, 1, 1} : keys_.ratio;
  const auto fine = refined_nodes({g[0], g[1], g[2]}, ratio, scaling_.wraps);
  sizes_.points = {static_cast<int>(fine[1]), static_cast<int>(fine[2])};
  sizes_.inputs = static_cast<int>(flow_count * static_cast<std::size_t>(g[0])) + (keys_.height ? 1 : 0);
  sizes_.outputs = static_cast<int>(flow_count) * (scaling_.forecasts ? 1 : static_cast<int>(fine[0]));
  sizes_.wraps = scaling_.wraps;
  sizes_.ends_at_points = !scaling_.forecasts;
  make(sizes_);
}

std::vector<int> PlaneNetwork::modules() const { return keys_.push_forward > 0 ? std::vector<int>{} : layer_modules(); }

template <>
std::unique_ptr<PlaneLayers<double>> PlaneNetwork::layers(std::span<const TensorRef> weights) const {
  return layers_f64(weights);
}
template <>
std::unique_ptr<PlaneLayers<float>> PlaneNetwork::layers(std::span<const TensorRef> weights) const {
  return layers_f32(weights);
}

std::vector<double> PlaneNetwork::scaled_coarse(const train::Sample& sample) const {
  const TensorRef& coarse = train::field_of(sample, "coarse");
  if (coarse.rank == 4) scaling_.require_coarse({coarse.shape[1], coarse.shape[2], coarse.shape[3]});
  std::vector<double> out(
      static_cast<std::size_t>(flow_count * scaling_.grid[0] * scaling_.grid[1] * scaling_.grid[2]));
  train::read_field<double>(sample, "coarse", out);
  const std::size_t each = out.size() / flow_count;
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = (out[k] - scaling_.mean[k / each]) / scaling_.deviation[k / each];
  return out;
}

PlaneNetwork::Frames PlaneNetwork::frames_of(std::span<const train::SamplePtr> samples) const {
  Frames out;
  for (const auto& sample : samples) {
    const auto one = scaled_coarse(*sample);
    out.values.insert(out.values.end(), one.begin(), one.end());
  }
  out.later.assign(samples.size(), 0);
  return out;
}

template <class T>
std::vector<T> PlaneNetwork::planes(std::span<const train::SamplePtr> samples, const Frames& frames) const {
  const auto& g = scaling_.grid;
  const std::size_t each = frames.values.size() / samples.size(), n = nodes();
  std::vector<T> out;
  out.reserve(samples.size() * static_cast<std::size_t>(sizes_.inputs) * n);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto own = std::span(frames.values).subspan(s * each, each);
    if (scaling_.forecasts)
      out.insert(out.end(), own.begin(), own.end());
    else
      append_enlarged<T>(own, {g[1], g[2]}, {keys_.ratio[1], keys_.ratio[2]}, scaling_.wraps, out);
    if (keys_.height) append_heights<T>(*samples[s], sizes_.points, out);
  }
  return out;
}

/// Applies forecasts until each sample's input is advanced by the number drawn for it.
template <class T>
void PlaneNetwork::push_forward(std::span<const train::SamplePtr> samples, PlaneLayers<T>& layers,
                                Frames& frames) const {
  std::vector<int> goal;
  for (const auto& sample : samples) goal.push_back(forecasts_before(moment_, sample->id, keys_.push_forward));
  const int most = *std::max_element(goal.begin(), goal.end());
  const std::size_t each = frames.values.size() / samples.size(), outputs = flow_count * nodes();
  for (int round = 0; round < most; ++round) {
    const auto& y = layers.forward(planes<T>(samples, frames), static_cast<int>(samples.size()), {});
    for (std::size_t s = 0; s < samples.size(); ++s) {
      if (goal[s] <= round) continue;
      const auto own = std::span(frames.values).subspan(s * each, each);
      const auto next = answer<T>(*samples[s], own, y.data() + s * outputs);
      advance_frames(own, next);
      frames.later[s] = round + 1;
    }
  }
}

template <class T>
std::vector<double> PlaneNetwork::answer(const train::Sample& sample, std::span<const double> frames,
                                         const T* y) const {
  if (!scaling_.forecasts) {
    auto out =
        at_points<T>(refined(cells_of(sample, scaling_), keys_.ratio), sample, std::span(y, nodes() * sizes_.outputs));
    if (!keys_.interpolate) return out;
    const auto base = at_points<double>(cells_of(sample, scaling_), sample, frames);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += base[k];
    return out;
  }
  const std::size_t n = nodes(), each = frames.size() / flow_count;
  std::vector<double> out(flow_count * n);
  for (std::size_t f = 0; f < flow_count; ++f)
    for (std::size_t k = 0; k < n; ++k)
      out[f * n + k] = scaling_.change[f] * static_cast<double>(y[f * n + k]) +
                       (keys_.interpolate ? frames[(f + 1) * each - n + k] : 0.0);
  return out;
}

std::vector<double> PlaneNetwork::truth(const train::Sample& sample, int later) const {
  const TensorRef& field = train::field_of(sample, scaling_.forecasts ? "future" : "values");
  std::vector<double> all(static_cast<std::size_t>(field.elements()));
  train::read_numbers(field, all.data());
  const std::size_t n = nodes();
  std::vector<double> out(scaling_.forecasts ? flow_count * n : all.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::size_t f = scaling_.forecasts ? k / n : k % flow_count;
    const std::size_t at =
        scaling_.forecasts ? f * (all.size() / flow_count) + static_cast<std::size_t>(later) * n + k % n : k;
    out[k] = (all[at] - scaling_.mean[f]) / scaling_.deviation[f];
  }
  return out;
}

template <class T>
void PlaneNetwork::spread(const train::Sample& sample, std::span<const double> by_answer, T* by_output) const {
  if (!scaling_.forecasts)
    return spread_from_points<T>(refined(cells_of(sample, scaling_), keys_.ratio), sample, by_answer,
                                 std::span(by_output, nodes() * sizes_.outputs));
  for (std::size_t k = 0; k < by_answer.size(); ++k)
    by_output[k] = static_cast<T>(by_answer[k] * scaling_.change[k / nodes()]);
}

void PlaneNetwork::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<const double> term_weights, std::span<const TensorRef> gradients,
                            std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  train::with_real(dtype(), [&]<class T>() {
    auto frames = frames_of(samples);
    const std::size_t each = frames.values.size() / samples.size();
    for (std::size_t s = 0; s < samples.size(); ++s)
      add_noise(moment_, samples[s]->id, keys_.noise, std::span(frames.values).subspan(s * each, each));
    const auto made = layers<T>(weights);
    if (keys_.push_forward > 0) push_forward<T>(samples, *made, frames);
    const auto& y = made->forward(planes<T>(samples, frames), static_cast<int>(samples.size()), ready);
    const std::size_t outputs = y.size() / samples.size();
    std::vector<T> by_output(y.size(), T(0));
    for (std::size_t s = 0; s < samples.size(); ++s) {
      auto off = answer<T>(*samples[s], std::span(frames.values).subspan(s * each, each), y.data() + s * outputs);
      const auto right = truth(*samples[s], frames.later[s]);
      const double count = static_cast<double>(off.size());
      double sum = 0.0;
      for (std::size_t k = 0; k < off.size(); ++k) {
        const double d = off[k] - right[k];
        sum += keys_.loss == PlaneKeys::Loss::l1 ? std::fabs(d) : d * d;
        off[k] = term_weights[0] / count * (keys_.loss == PlaneKeys::Loss::l1 ? (d > 0.0) - (d < 0.0) : 2.0 * d);
      }
      terms[0].sum += sum / count;
      terms[0].count += 1.0;
      spread<T>(*samples[s], off, by_output.data() + s * outputs);
    }
    made->backward(std::move(by_output), gradients, ready);
  });
}

template <class F>
void PlaneNetwork::each_answer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                               const train::ReadyCallback& ready, const F& tell) const {
  train::with_real(dtype(), [&]<class T>() {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto one = samples.subspan(s, 1);
      const auto frames = frames_of(one);
      const auto made = layers<T>(weights);
      const auto& y = made->forward(planes<T>(one, frames), 1, ready);
      tell(s, answer<T>(*samples[s], frames.values, y.data()));
    }
  });
}

void PlaneNetwork::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<train::TermSum> metrics) {
  evaluate_by_module(samples, weights, {}, metrics, {});
}

void PlaneNetwork::evaluate_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                      const train::ReadyCallback& ready, std::span<train::TermSum> metrics,
                                      std::span<train::TermSum> loss) {
  evaluated_ = {};
  each_answer(samples, weights, ready, [&](std::size_t s, const std::vector<double>& found) {
    const auto right = truth(*samples[s], 0);
    double sum = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double d = found[k] - right[k];
      sum += keys_.loss == PlaneKeys::Loss::l1 ? std::fabs(d) : d * d;
      squares += d * d;
    }
    const double count = static_cast<double>(found.size());
    evaluated_.sum += sum / count;
    evaluated_.count += 1.0;
    metrics[1].sum += squares;
    metrics[1].count += count;
  });
  metrics[0].sum += evaluated_.sum;
  metrics[0].count += evaluated_.count;
  if (!loss.empty()) add_loss(samples, weights, loss);
}

/// Without noise and preceding forecasts: the metric `error`.
void PlaneNetwork::add_loss(std::span<const train::SamplePtr>, std::span<const TensorRef>,
                            std::span<train::TermSum> terms) {
  train::add_terms({&evaluated_, 1}, terms);
}

std::vector<train::FieldInfo> PlaneNetwork::outputs() const {
  if (!scaling_.forecasts) return {{"fields", "", {-1, std::ssize(flow_fields)}, DType::f64}};
  return {{"fields", "", {std::ssize(flow_fields), scaling_.grid[1], scaling_.grid[2]}, DType::f64}};
}

void PlaneNetwork::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                         std::span<const TensorRef> outputs) {
  infer_by_module(samples, weights, {}, outputs);
}

void PlaneNetwork::infer_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                   const train::ReadyCallback& ready, std::span<const TensorRef> outputs) {
  const TensorRef& to = outputs[0];
  each_answer(samples, weights, ready, [&](std::size_t s, const std::vector<double>& found) {
    write_fields_of(found, scaling_, to, static_cast<std::int64_t>(s));
  });
}

}  // namespace cambium::superres
