#include "plugins/podlstm/forecast/lim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::podlstm {

namespace {

using Complex = GeneralEigen::Complex;

/// First times t of the pairs t, t + lag without a gap in between.
std::vector<std::int64_t> pairs_of(const FitData& d, std::int64_t lag) {
  std::vector<std::int64_t> out;
  for (std::int64_t t = 0; t + lag < d.rows; ++t)
    if (t + lag < d.hole_first || t >= d.hole_last) out.push_back(t);
  return out;
}

Matrix rows_of(const Matrix& a, const std::vector<std::int64_t>& which, std::int64_t later) {
  Matrix out(std::ssize(which), a.cols);
  for (std::int64_t i = 0; i < out.rows; ++i)
    std::copy_n(a.row(which[static_cast<std::size_t>(i)] + later), a.cols, out.row(i));
  return out;
}

/// A^T B / rows.
Matrix covariance(const Matrix& a, const Matrix& b) {
  Matrix out = product(a, b, Op::transposed);
  for (double& x : out.a) x /= static_cast<double>(a.rows);
  return out;
}

/// Regression of the transposed propagator over the lag: x(t + lag)^T = x(t)^T B.
Matrix regressed(const Matrix& x, const Matrix& y, double ridge) {
  Matrix c0 = covariance(x, x), target = covariance(x, y);
  const std::int64_t m = x.cols;
  std::vector<double> own(static_cast<std::size_t>(m));
  for (std::int64_t k = 0; k < m; ++k) own[static_cast<std::size_t>(k)] = target(k, k) / c0(k, k);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = 0; k < m; ++k) target(i, k) -= c0(i, k) * own[static_cast<std::size_t>(k)];
  for (std::int64_t k = 0; k < m; ++k) c0(k, k) += ridge;
  Matrix out = solve_positive(std::move(c0), std::move(target));
  for (std::int64_t k = 0; k < m; ++k) out(k, k) += own[static_cast<std::size_t>(k)];
  return out;
}

Matrix transpose_of(const Matrix& a) {
  Matrix out(a.cols, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.cols; ++k) out(k, i) = a(i, k);
  return out;
}

double frobenius(const Matrix& a) {
  double sum = 0.0;
  for (double x : a.a) sum += x * x;
  return std::sqrt(sum);
}

double trace(const Matrix& a) {
  double sum = 0.0;
  for (std::int64_t k = 0; k < a.rows; ++k) sum += a(k, k);
  return sum;
}

void require_logarithm(const GeneralEigen& g, std::int64_t lag) {
  for (const auto& value : g.values) {
    if (value.real() <= 0.0 && std::abs(value.imag()) <= 1e-12 * std::abs(value))
      throw KeyError("forecast.lim.logarithm", "lim",
                     fmt::format("lim: the propagator over {} times has the eigenvalue {:.3g}, of which there is no "
                                 "real logarithm; give smaller lags, or fewer modes",
                                 lag, value.real()));
  }
}

/// The autocorrelation of noise is 0 within sampling errors, 1 / sqrt(pairs), and equally often negative: treat it as
/// decay within the lag, not as an oscillation.
void take_noise_for_decay(GeneralEigen& g, std::int64_t pairs) {
  constexpr double within_lag = 0.01;
  const double most = 3.0 / std::sqrt(static_cast<double>(pairs));
  for (auto& value : g.values)
    if (value.imag() == 0.0 && value.real() <= 0.0 && -value.real() < most) value = within_lag;
}

/// Decay slower than the length of the series cannot be estimated, and growth may be an artefact of sampling a slow
/// decay: limits both to a decay over that length.
void limit_decay(GeneralEigen& g, std::int64_t lag, std::int64_t times) {
  const double most = std::exp(-static_cast<double>(lag) / static_cast<double>(times));
  for (auto& value : g.values)
    if (const double size = std::abs(value); size > most) value *= most / size;
}

}  // namespace

std::string LinearInverseModel::name() const { return fmt::format("LIM (lag {})", options_.lag); }

Matrix LinearInverseModel::climatology(const std::vector<double>& days) const {
  return product(calendar(days, options_.harmonics, options_.period), factors_);
}

Matrix LinearInverseModel::standardised(const Stretch& s) const {
  const Matrix year = climatology(s.days);
  Matrix x = s.a;
  for (std::int64_t t = 0; t < x.rows; ++t)
    for (std::int64_t k = 0; k < x.cols; ++k) x(t, k) = (x(t, k) - year(t, k)) / scale_[static_cast<std::size_t>(k)];
  return x;
}

void LinearInverseModel::fit(const FitData& d) {
  const Stretch seen = d.seen();
  MinMax::of(seen.a);  // KeyError for a constant mode
  factors_ = least_squares(calendar(seen.days, options_.harmonics, options_.period), seen.a);
  scale_.assign(static_cast<std::size_t>(seen.a.cols), 1.0);
  Matrix x = standardised(seen);
  for (std::int64_t k = 0; k < x.cols; ++k) {
    double square = 0.0;
    for (std::int64_t t = 0; t < x.rows; ++t) square += x(t, k) * x(t, k);
    scale_[static_cast<std::size_t>(k)] = std::sqrt(square / static_cast<double>(x.rows));
  }
  x = standardised(seen);
  const auto pairs = pairs_of(d, options_.lag);
  if (std::ssize(pairs) <= x.cols)
    throw KeyError("forecast.lim.short", "lim",
                   fmt::format("lim: {} pairs of training times {} apart are too few for {} modes; give smaller lags, "
                               "fewer modes or a longer series",
                               pairs.size(), options_.lag, x.cols));
  const Matrix all = standardised(d.stretch);
  GeneralEigen g =
      general_eigen(transpose_of(regressed(rows_of(all, pairs, 0), rows_of(all, pairs, options_.lag), options_.ridge)));
  take_noise_for_decay(g, std::ssize(pairs));
  require_logarithm(g, options_.lag);
  limit_decay(g, options_.lag, seen.times());
  rates_ = g;
  for (auto& value : rates_.values) value = std::log(value) / static_cast<double>(options_.lag);
  find_noise(covariance(x, x));
}

/// Fluctuation-dissipation: Q = -(L C0 + C0 L^T). Sampling errors may cause negative eigenvalues, which are removed;
/// the others are scaled to the same trace, to keep the variance of the process (C. Penland and L. Matrosova, J.
/// Climate 7, 1352 (1994)).
void LinearInverseModel::find_noise(const Matrix& covariance) {
  const Matrix flow = product(dynamics(), covariance);
  Matrix q(flow.rows, flow.cols);
  for (std::int64_t i = 0; i < q.rows; ++i)
    for (std::int64_t k = 0; k < q.cols; ++k) q(i, k) = -(flow(i, k) + flow(k, i));
  const Eigen eigen = symmetric_eigen(q);
  removed_.clear();
  double kept = 0.0, total = 0.0, negative = 0.0;
  for (double value : eigen.values) {
    total += value;
    if (value < 0.0)
      removed_.push_back(value), negative -= value;
    else
      kept += value;
  }
  removed_share_ = total > 0.0 ? negative / total : 1.0;
  const double factor = kept > 0.0 ? std::max(0.0, total) / kept : 0.0;
  noise_ = Matrix(q.rows, q.cols);
  for (std::size_t e = 0; e < eigen.values.size(); ++e) {
    const auto column = static_cast<std::int64_t>(e);
    const double value = std::max(0.0, eigen.values[e]) * factor;
    for (std::int64_t i = 0; i < q.rows; ++i)
      for (std::int64_t k = 0; k < q.cols; ++k)
        noise_(i, k) += value * eigen.vectors(i, column) * eigen.vectors(k, column);
  }
}

Matrix LinearInverseModel::propagator(double lead) const {
  return rates_.of([lead](Complex rate) { return std::exp(lead * rate); });
}

Matrix LinearInverseModel::dynamics() const {
  return rates_.of([](Complex rate) { return rate; });
}

double LinearInverseModel::longest_decay() const {
  double out = 0.0;
  for (const auto& rate : rates_.values) out = std::max(out, -1.0 / rate.real());
  return out;
}

Matrix LinearInverseModel::error_covariance(double lead) const {
  // In the eigenbasis of L, Q is V^-1 Q V^-H and the integral is a factor for each pair of rates.
  const auto n = static_cast<std::size_t>(modes());
  std::vector<Complex> half(n * n), inner(n * n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) half[a * n + j] += rates_.inverse[a * n + i] * noise_.a[i * n + j];
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t j = 0; j < n; ++j) inner[a * n + b] += half[a * n + j] * std::conj(rates_.inverse[b * n + j]);
      const Complex sum = rates_.values[a] + std::conj(rates_.values[b]);
      inner[a * n + b] *= (std::exp(sum * lead) - 1.0) / sum;
    }
  Matrix out(modes(), modes());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      Complex sum = 0.0;
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
          sum += rates_.vectors[i * n + a] * inner[a * n + b] * std::conj(rates_.vectors[j * n + b]);
      out.a[i * n + j] = sum.real();
    }
  return out;
}

Matrix LinearInverseModel::predict(const Stretch& s, const std::vector<std::int64_t>& starts,
                                   const WindowShape& shape) const {
  const Matrix x = standardised(s);
  const std::int64_t m = modes();
  Matrix now(std::ssize(starts), m);
  for (std::int64_t i = 0; i < now.rows; ++i) {
    const std::int64_t start = starts[static_cast<std::size_t>(i)];
    std::copy_n(x.row(start + shape.past - 1), m, now.row(i));
  }
  Matrix out = targets(climatology(s.days), starts, shape);
  for (std::int64_t h = 0; h < shape.future; ++h) {
    const Matrix next = product(now, propagator(static_cast<double>(h + 1)), Op::none, Op::transposed);
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t k = 0; k < m; ++k) out(i, h * m + k) += scale_[static_cast<std::size_t>(k)] * next(i, k);
  }
  return out;
}

std::optional<LimChoice> choose_lim(LimOptions options, const std::vector<std::int64_t>& lags,
                                    const std::vector<double>& ridges, const Series& series, const WindowShape& shape,
                                    const SplitOptions& split) {
  const auto splits = split.splits(window_count(series.train, shape, "training"), shape, Protocol::blocked);
  const Matrix truth = targets(series.train.a, validation_windows(splits), shape);
  std::optional<LimChoice> best;
  for (auto lag : lags)
    for (double ridge : ridges) {
      options.lag = lag;
      options.ridge = ridge;
      LinearInverseModel model(options);
      try {
        const double r2 = score(truth, forecast_left_out(model, series.train, splits, shape), series.modes()).r2;
        if (!best || r2 > best->r2) best = {options, r2};
      } catch (const KeyError&) {
        continue;  // no LIM of this lag and ridge
      }
    }
  return best;
}

std::vector<TauLine> tau_test(LimOptions options, const FitData& data, std::int64_t most) {
  std::vector<TauLine> out;
  for (std::int64_t lag = 1; lag <= most; lag += lag < 4 ? 1 : lag < 8 ? 2 : 4) {
    TauLine line;
    line.lag = options.lag = lag;
    LinearInverseModel model(options);
    try {
      model.fit(data);
      line.dynamics = frobenius(model.dynamics());
      line.noise = trace(model.noise());
      line.decay = model.longest_decay();
      line.negative = model.removed().size();
      line.removed_share = model.removed_share();
    } catch (const KeyError&) {
      line.dynamics.reset();
    }
    out.push_back(line);
  }
  return out;
}

std::vector<std::string> tau_text(const std::vector<TauLine>& lines, double days) {
  std::vector<std::string> out;
  out.emplace_back(
      "tau test: L and Q by the lag they come from; equal where noise is white and dynamics linear; decays of at most "
      "the "
      "training series");
  out.push_back(fmt::format("{:>6}{:>12}{:>12}{:>18}{:>26}", "lag", "|L|", "trace Q", "longest 1/e [d]",
                            "negative eigenvalues of Q"));
  for (const auto& l : lines) {
    if (!l.dynamics) {
      out.push_back(fmt::format("{:>6}   no real logarithm", l.lag));
      continue;
    }
    out.push_back(fmt::format("{:>6}{:>12.4g}{:>12.4g}{:>18.4g}{:>12}", l.lag, *l.dynamics, *l.noise, l.decay * days,
                              l.negative) +
                  (l.negative > 0 ? fmt::format(" ({:.2g} % of the trace, removed)", 100.0 * l.removed_share) : ""));
  }
  return out;
}

}  // namespace cambium::podlstm
