// Linear forecasts by normal equations or least squares: the baselines for networks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "plugins/podlstm/forecast/forecaster.hpp"

namespace cambium::podlstm {

std::vector<std::int64_t> FitData::times() const {
  std::vector<std::int64_t> out;
  for (std::int64_t t = 0; t < rows; ++t)
    if (t < hole_first || t >= hole_last) out.push_back(t);
  return out;
}

Stretch FitData::seen() const {
  const auto all = times();
  Stretch out{Matrix(std::ssize(all), stretch.a.cols), {}};
  for (std::int64_t i = 0; i < out.a.rows; ++i) {
    const std::int64_t t = all[i];
    std::copy_n(stretch.a.row(t), out.a.cols, out.a.row(i));
    out.days.push_back(stretch.days[t]);
  }
  return out;
}

MinMax MinMax::of(const Matrix& a) {
  MinMax out;
  for (std::int64_t k = 0; k < a.cols; ++k) {
    double low = a(0, k), high = a(0, k);
    for (std::int64_t t = 0; t < a.rows; ++t) {
      low = std::min(low, a(t, k));
      high = std::max(high, a(t, k));
    }
    if (!(high > low))
      throw KeyError("forecast.series.constant", "series",
                     fmt::format("mode {} of the series never changes; leave it out (fewer modes)", k + 1));
    out.low.push_back(low);
    out.width.push_back(high - low);
  }
  return out;
}

Matrix MinMax::apply(const Matrix& a) const {
  Matrix out = a;
  for (std::int64_t t = 0; t < a.rows; ++t)
    for (std::int64_t k = 0; k < a.cols; ++k) out(t, k) = (a(t, k) - low[k]) / width[k];
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
    const double angle = 2.0 * constants::pi * days[t] / period;
    out(t, 0) = 1.0;
    for (int k = 1; k <= order; ++k) {
      out(t, 2 * k - 1) = std::cos(k * angle);
      out(t, 2 * k) = std::sin(k * angle);
    }
  }
  return out;
}

namespace {

using Starts = std::vector<std::int64_t>;

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
        std::copy_n(s.a.row(starts[i] + shape.past - 1), s.a.cols, out.row(i) + h * s.a.cols);
    return out;
  }
};

class Harmonics : public Forecaster {
 public:
  Harmonics(int order, double period) : order_(order), period_(period) {}
  std::string name() const override { return fmt::format("harmonics ({})", order_); }
  void fit(const FitData& d) override {
    const Stretch seen = d.seen();
    factors_ = least_squares(calendar(seen.days, order_, period_), seen.a);
  }
  Matrix of(const std::vector<double>& days) const { return product(calendar(days, order_, period_), factors_); }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    return targets(of(s.days), starts, shape);
  }
  void write(io::Group& g) const {
    write_matrix(g, "factors", factors_);
    g.set_attribute("order", order_);
    g.set_attribute("period", period_);
  }
  static Harmonics read(const io::Group& g) {
    Harmonics out(g.attribute<int>("order"), g.attribute<double>("period"));
    out.factors_ = read_matrix(g, "factors");
    return out;
  }

 private:
  int order_;
  double period_;
  Matrix factors_;
};

/// Ridge regression of all outputs on all inputs, with unpenalised intercepts.
class Ridge {
 public:
  void fit(const Matrix& x, const Matrix& y, double penalty) {
    x_mean_ = column_means(x);
    y_mean_ = column_means(y);
    const Matrix xc = centred(x, x_mean_), yc = centred(y, y_mean_);
    Matrix normal = product(xc, xc, Op::transposed);
    for (std::int64_t k = 0; k < normal.rows; ++k) normal(k, k) += penalty;
    factors_ = solve_positive(std::move(normal), product(xc, yc, Op::transposed));
  }
  Matrix predict(const Matrix& x) const {
    Matrix out = product(centred(x, x_mean_), factors_);
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = 0; j < out.cols; ++j) out(i, j) += y_mean_[j];
    return out;
  }
  void write(io::Group& g) const {
    write_matrix(g, "ridge", factors_);
    g.write("input_mean", x_mean_);
    g.write("output_mean", y_mean_);
  }
  static Ridge read(const io::Group& g) {
    Ridge out;
    out.factors_ = read_matrix(g, "ridge");
    out.x_mean_ = g.read<std::vector<double>>("input_mean");
    out.y_mean_ = g.read<std::vector<double>>("output_mean");
    return out;
  }

 private:
  static std::vector<double> column_means(const Matrix& a) {
    std::vector<double> out(a.cols, 0.0);
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.cols; ++j) out[j] += a(i, j) / static_cast<double>(a.rows);
    return out;
  }
  static Matrix centred(Matrix a, const std::vector<double>& mean) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t j = 0; j < a.cols; ++j) a(i, j) -= mean[j];
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
    scale_ = MinMax::of(d.seen().a);
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

/// a(t) = c + sum_k A_k a(t - k), by least squares over consecutive times, applied recursively.
class VectorAutoregression : public Forecaster {
 public:
  explicit VectorAutoregression(int order) : order_(order) {}
  std::string name() const override { return fmt::format("VAR({})", order_); }
  void fit(const FitData& d) override {
    if (d.shape.past < order_)
      throw KeyError("forecast.var_order", "var_order",
                     fmt::format("var_order: {} times back do not fit a window of {}; lower it", order_, d.shape.past));
    scale_ = MinMax::of(d.seen().a);
    const Matrix a = scale_.apply(d.stretch.a);
    Starts starts;  // of stretches of order + 1 times without a gap
    for (std::int64_t t = 0; t + order_ < d.rows; ++t)
      if (t + order_ < d.hole_first || t >= d.hole_last) starts.push_back(t);
    Matrix x(std::ssize(starts), order_ * a.cols + 1), y(std::ssize(starts), a.cols);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const std::int64_t t = starts[i];
      std::copy_n(a.row(t), order_ * a.cols, x.row(i));
      x(i, x.cols - 1) = 1.0;
      std::copy_n(a.row(t + order_), a.cols, y.row(i));
    }
    factors_ = least_squares(std::move(x), std::move(y));
  }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    const Matrix a = scale_.apply(s.a);
    const std::int64_t m = a.cols, back = order_ * m;
    Matrix state(std::ssize(starts), back + 1), out(std::ssize(starts), shape.future * m);
    for (std::int64_t i = 0; i < state.rows; ++i) {
      std::copy_n(a.row(starts[i] + shape.past - order_), back, state.row(i));
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

/// Annual harmonics, and ridge regression of the residual, scaled by the series' own range.
class HarmonicRidge : public Forecaster {
 public:
  enum class Sees { window, last };  ///< all times of a window, or only the last one
  HarmonicRidge(int order, double period, double penalty, Sees sees = Sees::window)
      : harmonics_(order, period), penalty_(penalty), sees_(sees) {}
  std::string name() const override {
    return sees_ == Sees::last ? "harmonics + ridge (last time)" : "harmonics + ridge";
  }
  void fit(const FitData& d) override {
    harmonics_.fit(d);
    scale_ = MinMax::of(d.seen().a);
    const Matrix a = anomalies(d.stretch);
    ridge_.fit(seen(a, d.starts, d.shape), targets(a, d.starts, d.shape), penalty_);
  }
  Matrix predict(const Stretch& s, const Starts& starts, const WindowShape& shape) const override {
    Matrix out = ridge_.predict(seen(anomalies(s), starts, shape));
    for (std::int64_t i = 0; i < out.rows; ++i)
      for (std::int64_t j = 0; j < out.cols; ++j) out(i, j) *= scale_.width[j % s.a.cols];
    return plus(std::move(out), harmonics_.predict(s, starts, shape));
  }
  void write(io::Group& g) const {
    harmonics_.write(g);
    ridge_.write(g);
    g.write("width", scale_.width);
  }
  static std::unique_ptr<HarmonicRidge> read(const io::Group& g) {
    auto out = std::make_unique<HarmonicRidge>(1, 1.0, 0.0);
    out->harmonics_ = Harmonics::read(g);
    out->ridge_ = Ridge::read(g);
    out->scale_.width = g.read<std::vector<double>>("width");
    return out;
  }

 private:
  Matrix anomalies(const Stretch& s) const {
    Matrix a = minus(s.a, harmonics_.of(s.days));
    for (std::int64_t t = 0; t < a.rows; ++t)
      for (std::int64_t k = 0; k < a.cols; ++k) a(t, k) /= scale_.width[k];
    return a;
  }
  Matrix seen(const Matrix& a, Starts starts, const WindowShape& shape) const {
    if (sees_ == Sees::window) return inputs(a, starts, shape);
    for (auto& start : starts) start += shape.past - 1;
    return inputs(a, starts, {1, shape.future});
  }
  Harmonics harmonics_;
  double penalty_;
  Sees sees_ = Sees::window;
  MinMax scale_;
  Ridge ridge_;
};

}  // namespace

std::unique_ptr<Forecaster> harmonic_ridge(const BaselineOptions& o) {
  return std::make_unique<HarmonicRidge>(o.harmonics, o.period, o.anomaly_ridge);
}

std::unique_ptr<Forecaster> last_time_ridge(const BaselineOptions& o) {
  return std::make_unique<HarmonicRidge>(o.harmonics, o.period, o.last_ridge, HarmonicRidge::Sees::last);
}

void write_harmonic_ridge(const Forecaster& fitted, io::Group& group) {
  dynamic_cast<const HarmonicRidge&>(fitted).write(group);
}

std::unique_ptr<Forecaster> read_harmonic_ridge(const io::Group& group) { return HarmonicRidge::read(group); }

std::vector<std::unique_ptr<Forecaster>> baselines(const BaselineOptions& o) {
  std::vector<std::unique_ptr<Forecaster>> out;
  out.push_back(std::make_unique<Persistence>());
  out.push_back(std::make_unique<Harmonics>(o.harmonics, o.period));
  out.push_back(std::make_unique<RidgeForecast>(o.ridge));
  out.push_back(std::make_unique<VectorAutoregression>(o.var_order));
  out.push_back(harmonic_ridge(o));
  out.push_back(last_time_ridge(o));
  return out;
}

}  // namespace cambium::podlstm
