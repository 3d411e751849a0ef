#include "core/codec/fields/fit_hidden.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::lowp {
namespace {

constexpr int channels = HiddenLayer::channels, batch = 64;
using Clock = std::chrono::steady_clock;

/// SplitMix64 (Steele, Lea, Flood 2014): a number for every counter.
std::uint64_t scattered(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
float uniform(std::uint64_t counter) { return static_cast<float>(scattered(counter) >> 40) * 0x1p-24f - 0.5f; }

/// Weights with their gradient and the two means that Adam keeps.
struct Adam {
  std::vector<float> w, gradient, mean, square;
  explicit Adam(std::size_t n) : w(n), gradient(n, 0.0f), mean(n, 0.0f), square(n, 0.0f) {}

  void step(float rate, int number) {
    const float a = 1.0f / (1.0f - std::pow(0.9f, static_cast<float>(number)));
    const float b = 1.0f / (1.0f - std::pow(0.999f, static_cast<float>(number)));
    for (std::size_t k = 0; k < w.size(); ++k) {
      const float g = gradient[k] / batch;
      mean[k] += 0.1f * (g - mean[k]);
      square[k] += 0.001f * (g * g - square[k]);
      w[k] -= rate * a * mean[k] / (std::sqrt(b * square[k]) + 1e-8f);
      gradient[k] = 0.0f;
    }
  }
};

/// The values of one group, each with its address in the scaled field and its missing correction.
struct Sample {
  std::vector<const float*> place;
  std::vector<float> missing;
};

class Training {
 public:
  Training(std::vector<std::int64_t> offsets, std::uint64_t id)
      : offsets_(std::move(offsets)), in_(offsets_.size() * channels), out_(channels), id_(id << 40) {
    const float width = std::sqrt(6.0f / static_cast<float>(offsets_.size()));
    for (std::size_t k = 0; k < in_.w.size(); ++k) in_.w[k] = width * uniform(id_ + k);
    // Channels begin small: the first correction is nearly none.
    for (std::size_t c = 0; c < channels; ++c) out_.w[c] = 0.1f * uniform(id_ + in_.w.size() + c);
    x_.resize(offsets_.size());
  }

  void one_batch(const Sample& sample, int number, float rate) {
    for (int b = 0; b < batch; ++b) {
      const auto draw = scattered(id_ + (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(number) * batch + b);
      const auto k = static_cast<std::size_t>(draw % sample.place.size());
      one_value(sample.place[k], sample.missing[k]);
    }
    in_.step(rate, number + 1);
    out_.step(rate, number + 1);
  }
  HiddenLayer layer() const { return {in_.w, out_.w}; }

 private:
  /// Adds the gradient of half the squared error of one value.
  void one_value(const float* place, float missing) {
    const std::size_t taps = offsets_.size(), middle = taps / 2;
    for (std::size_t t = 0; t < taps; ++t) x_[t] = HiddenLayer::input(place[offsets_[t]] - *place);
    x_[middle] = 1.0f;
    float sum[channels] = {};
    for (std::size_t t = 0; t < taps; ++t)
      for (int c = 0; c < channels; ++c) sum[c] += in_.w[t * channels + static_cast<std::size_t>(c)] * x_[t];
    float result = 0.0f;
    for (int c = 0; c < channels; ++c) result += out_.w[c] * HiddenLayer::rectified(sum[c]);
    const float error = result - missing;
    float back[channels];
    for (int c = 0; c < channels; ++c) {
      out_.gradient[c] += error * HiddenLayer::rectified(sum[c]);
      back[c] = error * out_.w[c] * (sum[c] > 0.0f ? 1.0f : 0.1f);
    }
    for (std::size_t t = 0; t < taps; ++t)
      for (int c = 0; c < channels; ++c) in_.gradient[t * channels + static_cast<std::size_t>(c)] += back[c] * x_[t];
  }

  std::vector<std::int64_t> offsets_;
  Adam in_, out_;
  std::uint64_t id_;
  std::vector<float> x_;
};

}  // namespace

template <class T>
EnhancerStage fit_hidden_stage(std::span<const T> original, const Correction<T>& correction, const FieldShape& shape,
                               const EnhancerStage& like, Clock::time_point end) {
  const auto scaled = correction.sources(1);
  const auto offsets = nearest_taps(scaled[0]);
  EnhancerStage stage;
  stage.reach = 1;
  stage.edges = like.edges;
  const auto group = groups_of<T>(correction.field(), stage.edges);
  const auto missing = correction.missing(original);
  std::vector<Sample> samples(stage.groups());
  ScaledField::for_each_row(shape, [&](std::int64_t first, const auto& index, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      const auto element = static_cast<std::size_t>(first + k);
      samples[group[element]].place.push_back(scaled[0].at(index) + k);
      samples[group[element]].missing.push_back(missing[element]);
    }
  });
  const auto begin = Clock::now();
  const double share = std::chrono::duration<double>(end - begin).count() / stage.groups();
  constexpr int most_batches = 20000;
  for (std::size_t g = 0; g < samples.size(); ++g) {
    Training training(offsets, g);
    const double before = share * static_cast<double>(g);
    for (int number = 0; number < most_batches && !samples[g].place.empty(); ++number) {
      const double spent = (std::chrono::duration<double>(Clock::now() - begin).count() - before) / share;
      if (!(share > 0.0 && spent < 1.0)) break;
      const double left = 1.0 - std::max(spent, static_cast<double>(number) / most_batches);
      training.one_batch(samples[g], number, static_cast<float>(5e-3 * left));
    }
    stage.hidden.push_back(training.layer());
    stage.linear.push_back(
        {0.0f, std::vector<std::int8_t>(scaled.size() * static_cast<std::size_t>(scaled[0].taps()), 0)});
  }
  return stage;
}

#define CAMBIUM_FIT_HIDDEN_OF(T)                                                                          \
  template EnhancerStage fit_hidden_stage<T>(std::span<const T>, const Correction<T>&, const FieldShape&, \
                                             const EnhancerStage&, Clock::time_point);
CAMBIUM_FIT_HIDDEN_OF(float)
CAMBIUM_FIT_HIDDEN_OF(double)
#undef CAMBIUM_FIT_HIDDEN_OF

}  // namespace cambium::lowp
