#include "core/train/networks/mlp/mlp_loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/train/networks/mlp/field.hpp"

namespace cambium::train {

/// (x - mean) / scale of a field of each sample, in float64, as T.
template <class T>
static void write_scaled(std::span<const SamplePtr> samples, const std::string& field, const std::vector<double>& mean,
                         const std::vector<double>& scale, T* out) {
  const std::size_t width = mean.size();
  // Lookup of a sample's field by name takes as long as `found` values.
  constexpr std::int64_t enough = 4096, found = 32;  // minimum number of values per thread
  in_shares(std::ssize(samples), 1 + enough / (found + std::ssize(mean)), [&](std::int64_t first, std::int64_t last) {
    std::vector<double> row(width);
    for (auto s = static_cast<std::size_t>(first); s < static_cast<std::size_t>(last); ++s) {
      read_field<double>(*samples[s], field, row);
      for (std::size_t k = 0; k < width; ++k) out[s * width + k] = static_cast<T>((row[k] - mean[k]) / scale[k]);
    }
  });
}

template <class T>
void write_scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling,
                         T* out) {
  write_scaled(samples, params.input, scaling.input_mean, scaling.input_scale, out);
}

template <class T>
std::vector<T> scaled_inputs(std::span<const SamplePtr> samples, const Mlp::Params& params,
                             const Mlp::Scaling& scaling) {
  std::vector<T> out(samples.size() * scaling.input_mean.size());
  write_scaled_inputs(samples, params, scaling, out.data());
  return out;
}

template <class T>
void write_targets(std::span<const SamplePtr> samples, const Mlp::Params& params, const Mlp::Scaling& scaling, T* out) {
  if (params.goal == Mlp::Goal::regression)
    return write_scaled(samples, params.target, scaling.target_mean, scaling.target_scale, out);
  for (const auto& sample : samples) *out++ = static_cast<T>(class_of(*sample, params.target, scaling.classes));
}

std::int64_t class_of(const Sample& sample, const std::string& field, std::int64_t classes) {
  const auto& tensor = field_of(sample, field);
  if (tensor.elements() != 1)
    throw InputError(
        fmt::format("sample {}: '{}' has {} values, but a class is one index, counted from 0; of probabilities or "
                    "one-hot vectors store the index of the largest",
                    sample.id, field, tensor.elements()));
  double value = 0.0;
  read_numbers(tensor, &value);
  if (value < 0.0 || value != std::floor(value))
    throw InputError(
        fmt::format("sample {}: '{}' is {}, but classes are whole numbers that count from 0; number them so", sample.id,
                    field, value));
  if (classes > 0 && value >= static_cast<double>(classes))
    throw InputError(
        fmt::format("sample {}: '{}' is the class {}, but the model was trained on classes 0 to {}; leave the sample "
                    "out, or train with "
                    "such samples",
                    sample.id, field, value, classes - 1));
  return static_cast<std::int64_t>(value);
}

/// Warns about classes below `classes` without samples.
static void say_empty(const std::set<std::int64_t>& found, std::int64_t classes, const std::string& field, Log& log) {
  const std::int64_t none = classes - std::ssize(found);
  if (none == 0) return;
  if (none == *found.begin())
    return log.warn(fmt::format(
        "field '{}': the labels go from {} to {}, but classes count from 0: the model has {} classes, and no "
        "sample is of the first {}; subtract {} from the labels if they count from there",
        field, none, classes - 1, classes, none == 1 ? "one" : std::to_string(none), none));
  std::vector<std::int64_t> first;
  for (std::int64_t k = 0; k < classes && first.size() < 5; ++k)
    if (!found.contains(k)) first.push_back(k);
  log.warn(fmt::format("field '{}': of the classes 0 to {}, {} {} no sample to learn from: {}{}", field, classes - 1,
                       none, none == 1 ? "has" : "have", fmt::join(first, ", "),
                       none > std::ssize(first) ? ", ..." : ""));
}

std::int64_t classes_in(Dataset& training, const std::string& field, Log& log) {
  constexpr std::int64_t at_once = 256;
  std::int64_t classes = 0;
  std::set<std::int64_t> found;
  for (std::int64_t at = 0; at < training.size(); at += at_once) {
    std::vector<std::int64_t> ids(std::min(at_once, training.size() - at));
    std::iota(ids.begin(), ids.end(), at);
    for (const auto& sample : training.read(ids)) found.insert(class_of(*sample, field, 0));
    classes = std::max(classes, *found.rbegin() + 1);
  }
  if (classes < 2)
    throw KeyError("mlp.classes", "target",
                   fmt::format("field '{}' names {} class; classification needs two or more", field, classes));
  constexpr std::int64_t most_classes = 100'000'000;  // limit for a model
  if (classes > most_classes)
    throw KeyError("mlp.classes.most", "target",
                   fmt::format("field '{}' names the class {}, but a model has {} classes at most; number the "
                               "classes from 0 without gaps",
                               field, classes - 1, most_classes));
  say_empty(found, classes, field, log);
  return classes;
}

template <class T>
std::vector<double> softmax(std::span<const T> row) {
  const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
  std::vector<double> out;
  double sum = 0.0;
  for (T value : row) sum += out.emplace_back(std::exp(static_cast<double>(value) - largest));
  for (double& value : out) value /= sum;
  return out;
}

/// Mean over the outputs of (y - t)^2, y and t scaled.
template <class T>
static void squared_error(const Sample& sample, std::span<const T> y, const Mlp::Params& params,
                          const Mlp::Scaling& scaling, double weight, std::span<T> by_output, TermSum& term) {
  std::vector<double> target(y.size());
  read_field<double>(sample, params.target, target);
  const double n = static_cast<double>(y.size());
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double error = static_cast<double>(y[k]) - (target[k] - scaling.target_mean[k]) / scaling.target_scale[k];
    term.sum += error * error / n;
    by_output[k] = static_cast<T>(weight * 2.0 * error / n);
  }
}

/// -sum_k q_k log p_k with q the smoothed label: 1 - s + s/K for the class, s/K for the others.
template <class T>
static void cross_entropy(const Sample& sample, std::span<const T> y, const Mlp::Params& params, double weight,
                          std::span<T> by_output, TermSum& term) {
  const auto label = static_cast<std::size_t>(class_of(sample, params.target, std::ssize(y)));
  const auto p = softmax(y);
  const double spread = params.label_smoothing / static_cast<double>(y.size());
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double q = spread + (k == label ? 1.0 - params.label_smoothing : 0.0);
    if (q > 0.0) term.sum -= q * std::log(std::max(p[k], 1e-300));
    by_output[k] = static_cast<T>(weight * (p[k] - q));
  }
  // The softmax of a row of NaNs is finite due to max(): the loss must become NaN.
  if (std::any_of(y.begin(), y.end(), [](T value) { return std::isnan(value); })) term.sum = std::nan("");
}

template <class T>
std::vector<T> loss_by_output(std::span<const SamplePtr> samples, const std::vector<T>& outputs,
                              const Mlp::Params& params, const Mlp::Scaling& scaling, double weight, TermSum& term) {
  std::vector<T> by_output(outputs.size());
  const std::size_t width = outputs.size() / samples.size();
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto y = std::span(outputs).subspan(s * width, width);
    const auto d = std::span(by_output).subspan(s * width, width);
    if (params.goal == Mlp::Goal::regression)
      squared_error<T>(*samples[s], y, params, scaling, weight, d, term);
    else
      cross_entropy<T>(*samples[s], y, params, weight, d, term);
    term.count += 1.0;
  }
  return by_output;
}

template void write_scaled_inputs(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&, double*);
template void write_scaled_inputs(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&, float*);
template void write_targets(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&, double*);
template void write_targets(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&, float*);
template std::vector<double> scaled_inputs(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&);
template std::vector<float> scaled_inputs(std::span<const SamplePtr>, const Mlp::Params&, const Mlp::Scaling&);
template std::vector<double> loss_by_output(std::span<const SamplePtr>, const std::vector<double>&, const Mlp::Params&,
                                            const Mlp::Scaling&, double, TermSum&);
template std::vector<float> loss_by_output(std::span<const SamplePtr>, const std::vector<float>&, const Mlp::Params&,
                                           const Mlp::Scaling&, double, TermSum&);
template std::vector<double> softmax(std::span<const double>);
template std::vector<double> softmax(std::span<const float>);

}  // namespace cambium::train
