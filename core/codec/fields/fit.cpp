#include "core/codec/fields/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/codec/fields/fit_hidden.hpp"
#include "core/codec/fields/fit_linear.hpp"

namespace cambium::lowp {
namespace {

/// Linear stages may take this fraction of the time, at the lowest speed of current CPUs.
constexpr double operations_a_second = 2e9, linear_share = 0.25, least_gain_of_hidden = 1.0;
constexpr std::size_t fewest_values = 512;

double mean_square(const std::vector<float>& missing) {
  double sum = 0.0;
  for (float m : missing) sum += static_cast<double>(m) * static_cast<double>(m);
  return missing.empty() ? 0.0 : sum / static_cast<double>(missing.size());
}

double decibel(double before, double after) {
  return before > 0 && after > 0 ? 10.0 * std::log10(before / after) : 0.0;
}

void require_sound(const FitSettings& s) {
  if (s.groups < 1 || s.groups > EnhancerStage::most_groups)
    throw InputError(
        fmt::format("an enhancer has {} groups; give 1 to {}, for example 10", s.groups, EnhancerStage::most_groups));
  if (!(s.seconds > 0.0) || !std::isfinite(s.seconds))
    throw InputError(
        fmt::format("an enhancer has {} s to be fitted; give a positive time, for example 10 s", s.seconds));
}

/// Multiplications of a linear stage: sums of products of all sources' neighbours over a sample, corrections of all.
double operations_of(std::int64_t elements, double unknowns, double work) {
  const double sums = 0.5 * unknowns * unknowns * static_cast<double>(elements);
  return std::min(sums, work) + unknowns * static_cast<double>(elements);
}

}  // namespace

template <class T>
Enhancer fit_enhancer(std::span<const T> original, std::span<const T> decoded, const FieldShape& shape, double bound,
                      std::span<const HelpingField<T>> helping, const FitSettings& settings, std::size_t stream_bytes,
                      double slope, EnhancerReport& report) {
  require_sound(settings);
  const auto begin = std::chrono::steady_clock::now();
  Enhancer out;
  out.helpers = static_cast<std::uint8_t>(helping.size());
  out.slope = static_cast<float>(slope);
  Correction<T> correction(decoded, shape, bound, helping);
  const double before = mean_square(correction.missing(original));
  double now = before;
  const double work = operations_a_second * linear_share * settings.seconds;
  const int groups = original.size() < fewest_values ? 1 : settings.groups;
  // In four dimensions 5 neighbours along each are 625: too many weights to pay off.
  const bool many = std::count_if(shape.extent.begin(), shape.extent.end(), [](auto n) { return n > 1; }) > 3;
  for (const int reach : {many ? 1 : 2, 1}) {
    const auto stage = fit_linear_stage(original, correction, shape, reach, groups, work);
    Correction<T> next = correction;
    const auto sources = next.sources(reach);
    next.add(stage, sources);
    report.operations += operations_of(shape.elements, static_cast<double>(sources.size()) * sources[0].taps(), work);
    const double then = mean_square(next.missing(original));
    ByteWriter bytes;
    stage.put(bytes);
    // The first stage is evaluated with its exceptions, by the encoder.
    const double worth =
        slope * std::log1p(static_cast<double>(bytes.bytes().size()) / static_cast<double>(stream_bytes));
    if (!out.stages.empty() && decibel(now, then) < worth) break;
    out.stages.push_back(stage);
    correction = std::move(next);
    now = then;
  }
  report.linear_gain = decibel(before, now);
  if (settings.network == FitSettings::Network::convolution) {
    report.tried_hidden = true;
    const auto end = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                 std::chrono::duration<double>(settings.seconds));
    const auto stage = fit_hidden_stage(original, correction, shape, out.stages.front(), end);
    correction.add(stage, correction.sources(stage.reach));
    const double then = mean_square(correction.missing(original));
    report.kept_hidden = decibel(now, then) >= least_gain_of_hidden;
    if (report.kept_hidden) {
      out.stages.push_back(stage);
      now = then;
    }
  }
  report.gain = decibel(before, now);
  report.weight_bytes = out.bytes().size();
  return out;
}

template <class T>
double probed_gain(std::span<const T> original, std::span<const T> decoded, const FieldShape& shape, double bound,
                   std::span<const HelpingField<T>> helping, int groups, EnhancerReport& report) {
  constexpr std::size_t fewest = 1 << 16;
  constexpr double sample = 1 << 14;
  if (original.size() < fewest) return std::numeric_limits<double>::infinity();
  Correction<T> correction(decoded, shape, bound, helping);
  const double before = mean_square(correction.missing(original));
  const auto sources = correction.sources(1);
  const auto unknowns = static_cast<double>(sources.size()) * sources[0].taps();
  const double work = 0.5 * unknowns * unknowns * sample;
  const auto stage = fit_linear_stage(original, correction, shape, 1, groups, work);
  correction.add(stage, sources);
  report.operations += operations_of(shape.elements, unknowns, work);
  return decibel(before, mean_square(correction.missing(original)));
}

#define CAMBIUM_FIT_OF(T)                                                                                      \
  template Enhancer fit_enhancer<T>(std::span<const T>, std::span<const T>, const FieldShape&, double,         \
                                    std::span<const HelpingField<T>>, const FitSettings&, std::size_t, double, \
                                    EnhancerReport&);                                                          \
  template double probed_gain<T>(std::span<const T>, std::span<const T>, const FieldShape&, double,            \
                                 std::span<const HelpingField<T>>, int, EnhancerReport&);
CAMBIUM_FIT_OF(float)
CAMBIUM_FIT_OF(double)
#undef CAMBIUM_FIT_OF

}  // namespace cambium::lowp
