#include "core/train/low_rank/pass_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"

namespace cambium::train {
namespace {

double fastest_quarter(std::vector<double> times) {
  const auto count = std::max<std::ptrdiff_t>(1, std::ssize(times) / 4);
  std::partial_sort(times.begin(), times.begin() + count, times.end());
  return std::accumulate(times.begin(), times.begin() + count, 0.0) / static_cast<double>(count);
}

/// Interquartile range relative to the median.
double middle_half(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t quarter) { return values[quarter * (values.size() - 1) / 4]; };
  return (at(3) - at(1)) / at(2);
}

/// A pass as simulations make it, or else an evaluation of the samples.
TimedPass pass_of(Network& network, std::span<const TensorRef> weights, std::span<const SamplePtr> samples) {
  std::function<void()> pass;
  if (auto* factors = network.traits().factors) pass = factors->simulation_pass(samples, weights);
  if (!pass)
    pass = [&network, weights, samples] {
      std::vector<TermSum> metrics(network.metrics().size());
      network.evaluate(samples, weights, metrics);
    };
  return [pass] {
    const auto begin = std::chrono::steady_clock::now();
    pass();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
}

}  // namespace

PassTimes pass_times(const TimedPass& one, const TimedPass& other) {
  constexpr double enough = 0.1, calm = 0.05;           // s of each; interquartile range of the ratios
  constexpr int fewest = 8, most = 200, disturbed = 3;  // runs; factor on their number if they disagree
  one();
  other();  // allocates buffers
  std::vector<double> first, second, shares;
  double spent = 0.0;
  const auto more = [&](int turns) {
    if (turns < fewest || (turns < most && spent < enough)) return true;
    return turns < disturbed * fewest && middle_half(shares) > calm;
  };
  for (int turn = 0; more(turn); ++turn) {
    const bool swapped = turn % 2 == 1;
    const double before = swapped ? other() : one(), after = swapped ? one() : other();
    first.push_back(swapped ? after : before);
    second.push_back(swapped ? before : after);
    shares.push_back(second.back() / first.back());
    spent += first.back();
  }
  PassTimes out;
  out.seconds = *std::min_element(first.begin(), first.end());
  out.share = fastest_quarter(second) / fastest_quarter(first);
  out.error = middle_half(shares) * out.share / std::sqrt(static_cast<double>(shares.size()));
  return out;
}

PassTimes pass_times(Network& one, FlatBuffer& its, Network& other, FlatBuffer& its_own,
                     std::span<const SamplePtr> samples) {
  const auto a = its.views(), b = its_own.views();
  return pass_times(pass_of(one, a, samples), pass_of(other, b, samples));
}

}  // namespace cambium::train
