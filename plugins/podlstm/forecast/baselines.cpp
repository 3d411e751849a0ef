// Linear forecasts, all of them by normal equations or least squares: the table that every network has to beat.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "plugins/podlstm/forecast/forecaster.hpp"

namespace cambium::podlstm {

MinMax MinMax::of(const Matrix& a, std::int64_t rows) {
  MinMax out;
  for (std::int64_t k = 0; k < a.cols; ++k) {
    double low = a(0, k), high = a(0, k);
    for (std::int64_t t = 0; t < rows; ++t) low = std::min(low, a(t, k)), high = std::max(high, a(t, k));
    if (!(high > low)) throw InputError(fmt::format("mode {} of the series never changes; leave it out (fewer modes)", k + 1));
    out.low.push_back(low), out.width.push_back(high - low);
  }
  return out;
}

Matrix MinMax::apply(const Matrix& a) const {
  Matrix out = a;
  for (std::int64_t t = 0; t < a.rows; ++t)
    for (std::int64_t k = 0; k < a.cols; ++k)
      out(t, k) = (a(t, k) - low[static_cast<std::size_t>(k)]) / width[static_cast<std::size_t>(k)];
  return out;
}

void MinMax::undo(Matrix& windows) const {
  const auto modes = std::ssize(low);
  for (std::int64_t i = 0; i < windows.rows; ++i)
    for (std::int64_t j = 0; j < windows.cols; ++j) {
      const auto k = static_cast<std::size_t>(j % modes);
      windows(i, j) = low[k] + width[k] * windows(i, j);
    }
}

Matrix calendar(const std::vector<double>& days, int order, double period) {
  Matrix out(std::ssize(days), 1 + 2 * order);
  for (std::int64_t t = 0; t < out.rows; ++t) {
    const double angle = 2.0 * 3.14159265358979323846 * days[static_cast<std::size_t>(t)] / period;
    out(t, 0) = 1.0;
    for (int k = 1; k <= order; ++k) out(t, 2 * k - 1) = std::cos(k * angle), out(t, 2 * k) = std::sin(k * angle);
  }
  return out;
}

namespace {

using Starts = std::vector<std::int64_t>;

Matrix first_rows(const Matrix& a, std::int64_t rows) {
  Matrix out(rows, a.cols);
  std::copy_n(a.row(0), out.a.size(), out.a.data());
  return out;
}

Matrix minus(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.a.size(); ++i) a.a[i] -= b.a[i];
  return a;
}

Matrix plus(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.a.size(); ++i) a.a[i] += b.a[i];
  return a;
}

class Persistence : public Forecaster {
 public:
  std::string name() const override { return "persistence"; }
  void fit(const FitData&) override {}
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    Matrix out(std::ssize(starts), shape.future * s.a.cols);
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t h = 0; h < shape.future; ++h)
        std::copy_n(s.a.row(starts[static_cast<std::size_t>(i)] + shape.past - 1), s.a.cols, out.row(i) + h * s.a.cols);
    return out;
  }
};

class Harmonics : public Forecaster {
 public:
  Harmonics(int order, double period) : order_(order), period_(period) {}
  std::string name() const override { return fmt::format("harmonics ({})", order_); }
  void fit(const FitData& d) override {
    const std::vector<double> days(d.stretch.days.begin(), d.stretch.days.begin() + d.rows);
    factors_ = least_squares(calendar(days, order_, period_), first_rows(d.stretch.a, d.rows));
  }
  Matrix of(const std::vector<double>& days) const { return product(calendar(days, order_, period_), factors_); }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    return targets(of(s.days), starts, shape);
  }

 private:
  int order_;
  double period_;
  Matrix factors_;
};

/// All outputs linear in all inputs, with intercepts that are not penalised.
class Ridge {
 public:
  void fit(const Matrix& x, const Matrix& y, double penalty) {
    x_mean_ = column_means(x), y_mean_ = column_means(y);
    const Matrix xc = centred(x, x_mean_), yc = centred(y, y_mean_);
    Matrix normal = product(xc, xc, Op::transposed);
    for (std::int64_t k = 0; k < normal.rows; ++k) normal(k, k) += penalty;
    factors_ = solve_positive(std::move(normal), product(xc, yc, Op::transposed));
  }
  Matrix predict(const Matrix& x) const {
    Matrix out = product(centred(x, x_mean_), factors_);
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = 0; j < out.cols; ++j) out(i, j) += y_mean_[static_cast<std::size_t>(j)];
    return out;
  }

 private:
  static std::vector<double> column_means(const Matrix& a) {
    std::vector<double> out(static_cast<std::size_t>(a.cols), 0.0);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.cols; ++j) out[static_cast<std::size_t>(j)] += a(i, j) / static_cast<double>(a.rows);
    return out;
  }
  static Matrix centred(Matrix a, const std::vector<double>& mean) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.cols; ++j) a(i, j) -= mean[static_cast<std::size_t>(j)];
    return a;
  }
  std::vector<double> x_mean_, y_mean_;
  Matrix factors_;
};

class RidgeForecast : public Forecaster {
 public:
  explicit RidgeForecast(double penalty) : penalty_(penalty) {}
  std::string name() const override { return "ridge"; }
  void fit(const FitData& d) override {
    scale_ = MinMax::of(d.stretch.a, d.rows);
    const Matrix a = scale_.apply(d.stretch.a);
    ridge_.fit(inputs(a, d.starts, d.shape), targets(a, d.starts, d.shape), penalty_);
  }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    Matrix out = ridge_.predict(inputs(scale_.apply(s.a), starts, shape));
    scale_.undo(out);
    return out;
  }

 private:
  double penalty_;
  MinMax scale_;
  Ridge ridge_;
};

/// a(t) = c + sum_k A_k a(t - k), by least squares over consecutive times, applied again and again.
class VectorAutoregression : public Forecaster {
 public:
  explicit VectorAutoregression(int order) : order_(order) {}
  std::string name() const override { return fmt::format("VAR({})", order_); }
  void fit(const FitData& d) override {
    if (d.shape.past < order_)
      throw InputError(fmt::format("var_order: {} times back do not fit a window of {}; lower it", order_, d.shape.past));
    scale_ = MinMax::of(d.stretch.a, d.rows);
    const Matrix a = scale_.apply(d.stretch.a);
    Matrix x(d.rows - order_, order_ * a.cols + 1), y(d.rows - order_, a.cols);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      std::copy_n(a.row(i), order_ * a.cols, x.row(i));
      x(i, x.cols - 1) = 1.0;
      std::copy_n(a.row(i + order_), a.cols, y.row(i));
    }
    factors_ = least_squares(std::move(x), std::move(y));
  }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    const Matrix a = scale_.apply(s.a);
    const std::int64_t m = a.cols, back = order_ * m;
    Matrix state(std::ssize(starts), back + 1), out(std::ssize(starts), shape.future * m);
    for (std::int64_t i = 0; i < state.rows; ++i) {
      std::copy_n(a.row(starts[static_cast<std::size_t>(i)] + shape.past - order_), back, state.row(i));
      state(i, back) = 1.0;
    }
    for (std::int64_t h = 0; h < shape.future; ++h) {
      const Matrix next = product(state, factors_);
      for (std::int64_t i = 0; i < state.rows; ++i) {
        std::copy_n(next.row(i), m, out.row(i) + h * m);
        std::copy(state.row(i) + m, state.row(i) + back, state.row(i));
        std::copy_n(next.row(i), m, state.row(i) + back - m);
      }
    }
    scale_.undo(out);
    return out;
  }

 private:
  int order_;
  MinMax scale_;
  Matrix factors_;
};

/// Harmonics of the year, and ridge regression of what they leave, scaled by the series' own range.
class HarmonicRidge : public Forecaster {
 public:
  HarmonicRidge(int order, double period, double penalty) : harmonics_(order, period), penalty_(penalty) {}
  std::string name() const override { return "harmonics + ridge"; }
  void fit(const FitData& d) override {
    harmonics_.fit(d);
    scale_ = MinMax::of(d.stretch.a, d.rows);
    const Matrix a = anomalies(d.stretch);
    ridge_.fit(inputs(a, d.starts, d.shape), targets(a, d.starts, d.shape), penalty_);
  }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    Matrix out = ridge_.predict(inputs(anomalies(s), starts, shape));
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = 0; j < out.cols; ++j) out(i, j) *= scale_.width[static_cast<std::size_t>(j % s.a.cols)];
    return plus(std::move(out), harmonics_.predict(s, starts, shape));
  }

 private:
  Matrix anomalies(const Stretch& s) const {
    Matrix a = minus(s.a, harmonics_.of(s.days));
    for (std::int64_t t = 0; t < a.rows; ++t)
      for (std::int64_t k = 0; k < a.cols; ++k) a(t, k) /= scale_.width[static_cast<std::size_t>(k)];
    return a;
  }
  Harmonics harmonics_;
  double penalty_;
  MinMax scale_;
  Ridge ridge_;
};

}  // namespace

std::unique_ptr<Forecaster> harmonic_ridge(const BaselineOptions& o) {
  return std::make_unique<HarmonicRidge>(o.harmonics, o.period, o.anomaly_ridge);
}

std::vector<std::unique_ptr<Forecaster>> baselines(const BaselineOptions& o) {
  std::vector<std::unique_ptr<Forecaster>> out;
  out.push_back(std::make_unique<Persistence>());
  out.push_back(std::make_unique<Harmonics>(o.harmonics, o.period));
  out.push_back(std::make_unique<RidgeForecast>(o.ridge));
  out.push_back(std::make_unique<VectorAutoregression>(o.var_order));
  out.push_back(harmonic_ridge(o));
  return out;
}

}  // namespace cambium::podlstm
