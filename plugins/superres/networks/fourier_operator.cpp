#include "plugins/superres/networks/fourier_operator.hpp"

#include <fmt/format.h>

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

void FourierOperator::Params::describe(deck::Describe<Params>& d) {
  d("width", &Params::width, "number of channels of the Fourier layers").at_least(1).def(32);
  d("layers", &Params::layers, "number of Fourier layers").at_least(1).def(4);
  d("hidden", &Params::hidden, "number of channels in the projection to the output").at_least(1).def(64);
  d("modes", &Params::modes,
    "number of Fourier modes kept along x (of each sign of the wave number) and along z, counted over the period that "
    "'ends' makes")
      .def({16, 16});
  d("ends", &Params::ends,
    "continuation of the fields beyond walls, which makes them periodic for the transform: mirror (even; the modes are "
    "cosines) or zeros (padding). A periodic x needs none")
      .options({{"mirror", Continuation::mirror}, {"zeros", Continuation::zeros}})
      .def(Continuation::mirror);
  d("padding", &Params::padding, "ends: zeros: number of zeros over the number of points, rounded up")
      .range(0.0, 4.0)
      .def(0.25);
  d("height", &Params::height, "the height above the lower plate is one more input").def(true);
  d("ratio", &Params::ratio, "crops: cells of the output per coarse cell along t, x and z").def({2, 4, 4});
  d("interpolate", &Params::interpolate,
    "residual learning: the network's output is added to the linear interpolation of coarse samples (crops) or to the "
    "last frame (snapshots)")
      .def(true);
  describe_forecast_training(d);
  d("loss", &Params::loss, "loss function").options({{"l1", Loss::l1}, {"l2", Loss::l2}}).def(Loss::l1);
  d("precision", &Params::precision,
    "floating-point precision of weights and products; Fourier transforms are in float64")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
  d.check([](const Params& p) {
    for (auto r : p.ratio)
      if (r < 1) return "'ratio' must be at least 1 along every axis";
    return p.modes[0] < 1 || p.modes[1] < 1 ? "'modes' must keep at least 1 along x and along z" : "";
  });
}

void FourierOperator::fit_statistics(train::Dataset& training, Context&) {
  scaling_.fit(training);
  require_forecasts(params_, scaling_, training);
  make_shape();
}

void FourierOperator::restore(const std::string& state) {
  scaling_.restore(state);
  make_shape();
}

void FourierOperator::make_shape() {
  const auto& g = scaling_.grid;
  const std::array<std::int64_t, 3> ratio = scaling_.forecasts ? std::array<std::int64_t, 3>{1, 1, 1} : params_.ratio;
  const auto fine = refined_nodes({g[0], g[1], g[2]}, ratio, scaling_.wraps);
  shape_.grid.points = {static_cast<int>(fine[1]), static_cast<int>(fine[2])};
  shape_.grid.modes = params_.modes;
  const bool of_nodes = !scaling_.forecasts && params_.ends == Continuation::mirror;
  const Continuation ends = of_nodes ? Continuation::mirror_nodes : params_.ends;
  shape_.grid.ends = {scaling_.wraps ? Continuation::periodic : ends, ends};
  shape_.grid.padding = params_.padding;
  shape_.inputs = static_cast<int>(flow_count * static_cast<std::size_t>(g[0])) + (params_.height ? 1 : 0);
  shape_.outputs = static_cast<int>(flow_count) * (scaling_.forecasts ? 1 : static_cast<int>(fine[0]));
  shape_.width = params_.width;
  shape_.layers = params_.layers;
  shape_.hidden = params_.hidden;
  require_transformable(shape_.grid);
  transform_ = std::make_unique<SpectralTransform>(shape_.grid);
}

void FourierOperator::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  initialise_fourier(shape_, weights, seed, params_.interpolate);
}

std::vector<int> FourierOperator::modules() const {
  return params_.push_forward > 0 ? std::vector<int>{} : fourier_modules(shape_);
}

std::vector<double> FourierOperator::scaled_coarse(const train::Sample& sample) const {
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

FourierOperator::Frames FourierOperator::frames_of(std::span<const train::SamplePtr> samples) const {
  Frames out;
  for (const auto& sample : samples) {
    const auto one = scaled_coarse(*sample);
    out.values.insert(out.values.end(), one.begin(), one.end());
  }
  out.later.assign(samples.size(), 0);
  return out;
}

template <class T>
std::vector<T> FourierOperator::planes(std::span<const train::SamplePtr> samples, const Frames& frames) const {
  const auto& g = scaling_.grid;
  const std::size_t each = frames.values.size() / samples.size(), n = nodes();
  std::vector<T> out;
  out.reserve(samples.size() * static_cast<std::size_t>(shape_.inputs) * n);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto own = std::span(frames.values).subspan(s * each, each);
    if (scaling_.forecasts)
      out.insert(out.end(), own.begin(), own.end());
    else
      append_enlarged<T>(own, {g[1], g[2]}, {params_.ratio[1], params_.ratio[2]}, scaling_.wraps, out);
    if (params_.height) append_heights<T>(*samples[s], shape_.grid.points, out);
  }
  return out;
}

/// One forecast after the other, until each sample's input is as many of them further on as was drawn for it.
template <class T>
void FourierOperator::push_forward(std::span<const train::SamplePtr> samples, FourierLayers<T>& layers,
                                   Frames& frames) const {
  std::vector<int> goal;
  for (const auto& sample : samples) goal.push_back(forecasts_before(moment_, sample->id, params_.push_forward));
  const int most = *std::max_element(goal.begin(), goal.end());
  const std::size_t each = frames.values.size() / samples.size(), outputs = flow_count * nodes();
  for (int round = 0; round < most; ++round) {
    const auto& y = layers.forward(planes<T>(samples, frames), static_cast<int>(samples.size()));
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
std::vector<double> FourierOperator::answer(const train::Sample& sample, std::span<const double> frames,
                                            const T* y) const {
  if (!scaling_.forecasts) {
    auto out = at_points<T>(refined(cells_of(sample, scaling_), params_.ratio), sample,
                            std::span(y, nodes() * shape_.outputs));
    if (!params_.interpolate) return out;
    const auto base = at_points<double>(cells_of(sample, scaling_), sample, frames);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += base[k];
    return out;
  }
  const std::size_t n = nodes(), each = frames.size() / flow_count;
  std::vector<double> out(flow_count * n);
  for (std::size_t f = 0; f < flow_count; ++f)
    for (std::size_t k = 0; k < n; ++k)
      out[f * n + k] = scaling_.change[f] * static_cast<double>(y[f * n + k]) +
                       (params_.interpolate ? frames[(f + 1) * each - n + k] : 0.0);
  return out;
}

std::vector<double> FourierOperator::truth(const train::Sample& sample, int later) const {
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
void FourierOperator::spread(const train::Sample& sample, std::span<const double> by_answer, T* by_output) const {
  if (!scaling_.forecasts)
    return spread_from_points<T>(refined(cells_of(sample, scaling_), params_.ratio), sample, by_answer,
                                 std::span(by_output, nodes() * shape_.outputs));
  for (std::size_t k = 0; k < by_answer.size(); ++k)
    by_output[k] = static_cast<T>(by_answer[k] * scaling_.change[k / nodes()]);
}

void FourierOperator::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                               std::span<const double> term_weights, std::span<const TensorRef> gradients,
                               std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  train::with_real(dtype(), [&]<class T>() {
    auto frames = frames_of(samples);
    const std::size_t each = frames.values.size() / samples.size();
    for (std::size_t s = 0; s < samples.size(); ++s)
      add_noise(moment_, samples[s]->id, params_.noise, std::span(frames.values).subspan(s * each, each));
    FourierLayers<T> layers(shape_, *transform_, weights);
    if (params_.push_forward > 0) push_forward<T>(samples, layers, frames);
    const auto& y = layers.forward(planes<T>(samples, frames), static_cast<int>(samples.size()), ready);
    const std::size_t outputs = y.size() / samples.size();
    std::vector<T> by_output(y.size(), T(0));
    for (std::size_t s = 0; s < samples.size(); ++s) {
      auto off = answer<T>(*samples[s], std::span(frames.values).subspan(s * each, each), y.data() + s * outputs);
      const auto right = truth(*samples[s], frames.later[s]);
      const double count = static_cast<double>(off.size());
      double sum = 0.0;
      for (std::size_t k = 0; k < off.size(); ++k) {
        const double d = off[k] - right[k];
        sum += params_.loss == Loss::l1 ? std::fabs(d) : d * d;
        off[k] = term_weights[0] / count * (params_.loss == Loss::l1 ? (d > 0.0) - (d < 0.0) : 2.0 * d);
      }
      terms[0].sum += sum / count;
      terms[0].count += 1.0;
      spread<T>(*samples[s], off, by_output.data() + s * outputs);
    }
    layers.backward(std::move(by_output), gradients, ready);
  });
}

template <class F>
void FourierOperator::each_answer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                  const F& tell) const {
  train::with_real(dtype(), [&]<class T>() {
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const auto one = samples.subspan(s, 1);
      const auto frames = frames_of(one);
      FourierLayers<T> layers(shape_, *transform_, weights);
      const auto& y = layers.forward(planes<T>(one, frames), 1);
      tell(s, answer<T>(*samples[s], frames.values, y.data()));
    }
  });
}

void FourierOperator::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                               std::span<train::TermSum> metrics) {
  each_answer(samples, weights, [&](std::size_t s, const std::vector<double>& found) {
    const auto right = truth(*samples[s], 0);
    double sum = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double d = found[k] - right[k];
      sum += params_.loss == Loss::l1 ? std::fabs(d) : d * d;
      squares += d * d;
    }
    const double count = static_cast<double>(found.size());
    metrics[0].sum += sum / count;
    metrics[0].count += 1.0;
    metrics[1].sum += squares;
    metrics[1].count += count;
  });
}

std::vector<train::FieldInfo> FourierOperator::outputs() const {
  if (!scaling_.forecasts) return {{"fields", "", {-1, std::ssize(flow_fields)}, DType::f64}};
  return {{"fields", "", {std::ssize(flow_fields), scaling_.grid[1], scaling_.grid[2]}, DType::f64}};
}

void FourierOperator::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                            std::span<const TensorRef> outputs) {
  const TensorRef& to = outputs[0];
  each_answer(samples, weights, [&](std::size_t s, const std::vector<double>& found) {
    write_fields_of(found, scaling_, to, static_cast<std::int64_t>(s));
  });
}

std::vector<Citation> FourierOperator::citations() const {
  return {{"li2021fourier", R"(@inproceedings{li2021fourier,
  author = {Li, Zongyi and Kovachki, Nikola and Azizzadenesheli, Kamyar and Liu, Burigede and Bhattacharya, Kaushik and Stuart, Andrew and Anandkumar, Anima},
  title = {Fourier Neural Operator for Parametric Partial Differential Equations},
  booktitle = {International Conference on Learning Representations},
  year = {2021}, eprint = {2010.08895}, archivePrefix = {arXiv}
})"}};
}

}  // namespace cambium::superres
