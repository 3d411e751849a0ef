#include "plugins/podlstm/forecast/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/text.hpp"

namespace cambium::podlstm {

double crps_normal(double mean, double deviation, double truth) {
  if (deviation <= 0.0) return std::abs(truth - mean);
  const double z = (truth - mean) / deviation;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * constants::pi);
  const double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
  return deviation * (z * (2.0 * below - 1.0) + 2.0 * density - 1.0 / std::sqrt(constants::pi));
}

double crps_ensemble(const std::vector<double>& sorted, double truth) {
  const auto members = static_cast<double>(sorted.size());
  double error = 0.0, pairs = 0.0;  // pairs: sum over i < j of x_j - x_i
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    error += std::abs(sorted[i] - truth);
    pairs += (2.0 * static_cast<double>(i) - members + 1.0) * sorted[i];
  }
  return error / members - pairs / (members * (members - 1.0));
}

double quantile(const std::vector<double>& sorted, double p) {
  const auto members = static_cast<double>(sorted.size());
  const double place = std::clamp(p * (members + 1.0) - 1.0, 0.0, members - 1.0);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Matrix error_by_lead(const Matrix& truth, const Matrix& forecast, std::int64_t modes) {
  Matrix out(truth.cols / modes, modes);
  for (std::int64_t i = 0; i < truth.rows; ++i)
    for (std::int64_t j = 0; j < truth.cols; ++j) out.a[j] += std::pow(truth(i, j) - forecast(i, j), 2);
  for (double& x : out.a) x = std::sqrt(x / static_cast<double>(truth.rows));
  return out;
}

namespace {

/// Converts sums of squares to root mean squares, other sums to means.
void finish(Verification& v, double count) {
  for (auto* sums : {&v.crps, &v.coverage})
    for (double& x : *sums) x /= count;
  for (auto* squares : {&v.spread, &v.error})
    for (double& x : *squares) x = std::sqrt(x / count);
}

Verification empty(const std::string& name, std::int64_t leads) {
  const std::vector<double> none(static_cast<std::size_t>(leads), 0.0);
  return {name, none, none, none, none};
}

}  // namespace

Verification verify_normal(const std::string& name, const Matrix& truth, const Matrix& mean, const Matrix& deviation,
                           const std::vector<double>& scale) {
  constexpr double edge = 1.6448536269514722;  // of the central 90 % of a normal distribution, in standard deviations
  Verification out = empty(name, deviation.rows);
  for (std::int64_t i = 0; i < truth.rows; ++i)
    for (std::int64_t j = 0; j < truth.cols; ++j) {
      const auto lead = static_cast<std::size_t>(j / deviation.cols),
                 mode = static_cast<std::size_t>(j % deviation.cols);
      const double s = deviation.a[static_cast<std::size_t>(j)], error = truth(i, j) - mean(i, j), unit = scale[mode];
      out.crps[lead] += crps_normal(mean(i, j), s, truth(i, j)) / unit;
      out.spread[lead] += s * s / (unit * unit);
      out.error[lead] += error * error / (unit * unit);
      out.coverage[lead] += std::abs(error) <= edge * s ? 1.0 : 0.0;
    }
  finish(out, static_cast<double>(truth.rows * deviation.cols));
  return out;
}

Verification verify_ensemble(const std::string& name, const Matrix& truth, const std::vector<Matrix>& members,
                             const std::vector<double>& scale) {
  const auto modes = std::ssize(scale);
  const auto count = static_cast<double>(members.size());
  Verification out = empty(name, truth.cols / modes);
  std::vector<double> values(members.size());
  for (std::int64_t i = 0; i < truth.rows; ++i)
    for (std::int64_t j = 0; j < truth.cols; ++j) {
      const auto lead = static_cast<std::size_t>(j / modes);
      const double y = truth(i, j), unit = scale[static_cast<std::size_t>(j % modes)];
      double mean = 0.0, square = 0.0;
      for (std::size_t e = 0; e < values.size(); ++e) mean += (values[e] = members[e](i, j)) / count;
      for (double x : values) square += (x - mean) * (x - mean) / (count - 1.0);
      std::sort(values.begin(), values.end());
      out.crps[lead] += crps_ensemble(values, y) / unit;
      out.spread[lead] += square / (unit * unit);
      out.error[lead] += (y - mean) * (y - mean) / (unit * unit);
      out.coverage[lead] += y >= quantile(values, 0.05) && y <= quantile(values, 0.95) ? 1.0 : 0.0;
    }
  finish(out, static_cast<double>(truth.rows * modes));
  return out;
}

std::vector<double> anomaly_correlation(const Matrix& truth, const Matrix& forecast, const Matrix& climatology) {
  std::vector<double> out;
  for (std::int64_t h = 0; h < truth.cols; ++h) {
    double both = 0.0, one = 0.0, other = 0.0;
    for (std::int64_t i = 0; i < truth.rows; ++i) {
      const double a = truth(i, h) - climatology(i, h), b = forecast(i, h) - climatology(i, h);
      both += a * b, one += a * a, other += b * b;
    }
    out.push_back(one > 0.0 && other > 0.0 ? both / std::sqrt(one * other) : 0.0);
  }
  return out;
}

std::vector<std::string> comparison_text(const Comparison& c) {
  std::vector<std::string> out;
  const auto& last = c.of.back();
  out.push_back(fmt::format("CRPS of {} by lead [{}]; spread, error and coverage of {}", c.what, c.unit, last.name));
  std::string head = fmt::format("{:>6}", "lead");
  for (const auto& v : c.of) head += fmt::format("{:>21}", v.name);
  out.push_back(head + fmt::format("{:>14}{:>12}{}", "spread/error", "in 90 % [%]",
                                   c.correlation.empty() ? "" : "   correlation"));
  for (std::size_t h = 0; h < last.crps.size(); ++h) {
    std::string line = fmt::format("{:>6}", h + 1);
    for (const auto& v : c.of) line += fmt::format("{:>21.4g}", v.crps[h]);
    line += fmt::format("{:>14.3f}{:>12.1f}", last.spread[h] / last.error[h], 100.0 * last.coverage[h]);
    out.push_back(c.correlation.empty() ? line : line + fmt::format("{:>14.3f}", c.correlation[h]));
  }
  return out;
}

std::string comparison_csv(const std::vector<Comparison>& of) {
  std::string out = "of,forecast,lead,crps,spread,error,coverage_90\n";
  for (const auto& c : of)
    for (const auto& v : c.of)
      for (std::size_t h = 0; h < v.crps.size(); ++h)
        out += fmt::format("{},{},{},{},{},{},{}\n", c.what, v.name, h + 1, number_text(v.crps[h]),
                           number_text(v.spread[h]), number_text(v.error[h]), number_text(v.coverage[h]));
  return out;
}

}  // namespace cambium::podlstm
