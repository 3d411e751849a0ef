#include "plugins/podlstm/tasks/probabilistic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cambium::podlstm {

void IndexKeys::describe(deck::Describe<IndexKeys>& d) {
  d("name", &IndexKeys::name, "name of the index").example("nino34");
  d("lat", &IndexKeys::lat, "southern and northern bound of the box, degrees").example("[-5, 5]");
  d("lon", &IndexKeys::lon, "western and eastern bound of the box, degrees").example("[190, 240]");
  d.check([](const IndexKeys& k) -> std::string {
    if (k.lat.size() != 2 || k.lon.size() != 2)
      return "lat and lon: give two bounds each, such as lat: [-5, 5], lon: [190, 240]";
    return k.lat[0] < k.lat[1] ? "" : "lat: give the southern bound first";
  });
}

ProbabilisticChoice choose_probabilistic(const LimChoice& lim, const std::optional<ResidualKeys>& keys,
                                         const Series& series, const WindowShape& shape, const SplitOptions& split,
                                         Context& context) {
  const auto splits = split.splits(window_count(series.train, shape, "training"), shape, Protocol::blocked);
  ProbabilisticChoice out{lim, keys, {}, {}};
  if (keys) {
    out.residual = choose_residual(*keys, lim.options, series.train, splits, shape, context);
    context.log.info(
        fmt::format("{} networks on the residual of the LIM: {} epochs, {:.0f} % of their correction, "
                    "chosen by validation, R2 {:.4f} (LIM {:.4f})",
                    keys->networks, out.residual.epochs, 100.0 * out.residual.share, out.residual.r2, lim.r2));
  } else {
    LinearInverseModel model(lim.options);
    out.residual.forecast = forecast_left_out(model, series.train, splits, shape);
    out.residual.r2 = lim.r2;
  }
  out.factors = spread_factors(lim.options, out.residual.forecast, series.train, splits, shape);
  const auto [least, most] = std::minmax_element(out.factors.a.begin(), out.factors.a.end());
  context.log.info(fmt::format(
      "spread: noise of the LIM times {:.2f} to {:.2f} by lead and mode, from errors in validation", *least, *most));
  return out;
}

ProbabilisticForecast::ProbabilisticForecast(const ProbabilisticChoice& choice, const Series& series,
                                             const WindowShape& shape, std::int64_t members, Context& context)
    : choice_(choice), series_(series), shape_(shape), members_(members), context_(context),
      forecast_(choice.keys ? LimForecast(choice.lim.options, *choice.keys, choice.residual, context)
                            : LimForecast(choice.lim.options, context)) {
  forecast_.fit({series.train, shape, series.train.times(), all_starts(window_count(series.train, shape, "training"))});
}

std::vector<Matrix> ProbabilisticForecast::members(const Stretch& s, const std::vector<std::int64_t>& starts,
                                                   std::uint64_t seed, Matrix& mean) const {
  std::vector<Matrix> differences;
  mean = forecast_.predict(s, starts, shape_, differences);
  auto out = around(mean, noise_members(model(), members_, mean.rows, shape_.future, seed), choice_.factors);
  for (std::size_t e = 0; e < out.size(); ++e)
    for (std::size_t i = 0; i < mean.a.size(); ++i) out[e].a[i] += differences[e % differences.size()].a[i];
  return out;
}

/// Persistence: the last value of every window at all leads, or its anomaly.
Matrix ProbabilisticForecast::issued(const Stretch& s, const std::vector<std::int64_t>& starts, bool anomalies) const {
  const Matrix year = model().climatology(s.days);
  const std::int64_t m = s.a.cols;
  Matrix out(std::ssize(starts), shape_.future * m);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    const std::int64_t last = starts[static_cast<std::size_t>(i)] + shape_.past - 1;
    for (std::int64_t j = 0; j < out.cols; ++j) {
      const std::int64_t k = j % m;
      out(i, j) = s.a(last, k) + (anomalies ? year(last + 1 + j / m, k) - year(last, k) : 0.0);
    }
  }
  return out;
}

std::vector<ProbabilisticForecast::Beside> ProbabilisticForecast::rivals(const std::vector<std::int64_t>& train,
                                                                         const std::vector<std::int64_t>& test) const {
  const auto year = [&](const Stretch& s, const std::vector<std::int64_t>& starts) {
    return targets(model().climatology(s.days), starts, shape_);
  };
  return {{"climatology", year(series_.test, test), year(series_.train, train)},
          {"persistence", issued(series_.test, test, false), issued(series_.train, train, false)},
          {"anomaly persistence", issued(series_.test, test, true), issued(series_.train, train, true)}};
}

TableRow ProbabilisticForecast::test(const std::vector<BoxMean>& indices, std::vector<Comparison>& comparisons) const {
  const auto train = all_starts(window_count(series_.train, shape_, "training")),
             starts = all_starts(window_count(series_.test, shape_, "test"));
  const Matrix truth = targets(series_.test.a, starts, shape_), fitted = targets(series_.train.a, train, shape_);
  const std::int64_t m = series_.modes();
  TableRow row;
  row.name = name() + " ensemble";
  row.blocked = choice_.residual.r2;
  const auto ensemble = members(series_.test, starts, context_.seed, row.forecast);
  row.test = score(truth, row.forecast, m);
  row.rmse = rmse_by_lead(series_, truth, row.forecast, shape_);
  row.spread = row.lower = row.upper = Matrix(truth.rows, truth.cols);
  std::vector<double> values(ensemble.size());
  for (std::size_t i = 0; i < truth.a.size(); ++i) {
    double mean = 0.0, square = 0.0;
    for (std::size_t e = 0; e < values.size(); ++e) mean += (values[e] = ensemble[e].a[i]);
    mean /= static_cast<double>(values.size());
    for (double x : values) square += (x - mean) * (x - mean);
    row.spread.a[i] = std::sqrt(square / static_cast<double>(values.size() - 1));
    std::sort(values.begin(), values.end());
    row.lower.a[i] = quantile(values, 0.05);
    row.upper.a[i] = quantile(values, 0.95);
  }
  Comparison modes{"modes", "standard deviations of their anomalies", {}, {}};
  for (const auto& beside : rivals(train, starts))
    modes.of.push_back(
        verify_normal(beside.name, truth, beside.test, error_by_lead(fitted, beside.train, m), model().scale()));
  modes.of.push_back(verify_normal("noise of the LIM", truth, model().predict(series_.test, starts, shape_),
                                   noise_deviation(model(), shape_.future), model().scale()));
  modes.of.push_back(verify_ensemble(name(), truth, ensemble, model().scale()));
  comparisons.push_back(std::move(modes));
  for (const auto& index : indices) comparisons.push_back(of_index(index, starts, ensemble, row.forecast));
  return row;
}

namespace {

/// An index from coefficients, (windows, leads); its background is that of the valid day, or of the day of issue.
Matrix indexed(const BoxMean& index, const Matrix& a, const Stretch& s, const std::vector<std::int64_t>& starts,
               const WindowShape& shape, bool day_of_issue = false) {
  const std::int64_t m = a.cols / shape.future;
  Matrix out(a.rows, shape.future);
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t h = 0; h < out.cols; ++h) {
      const std::int64_t last = starts[static_cast<std::size_t>(i)] + shape.past - 1;
      out(i, h) = index.of(a.row(i) + h * m, s.days[static_cast<std::size_t>(day_of_issue ? last : last + 1 + h)]);
    }
  return out;
}

}  // namespace

Comparison ProbabilisticForecast::of_index(const BoxMean& index, const std::vector<std::int64_t>& test,
                                           const std::vector<Matrix>& members, const Matrix& mean) const {
  const auto train = all_starts(window_count(series_.train, shape_, "training"));
  const auto on_test = [&](const Matrix& a, bool issue = false) {
    return indexed(index, a, series_.test, test, shape_, issue);
  };
  const auto on_train = [&](const Matrix& a, bool issue = false) {
    return indexed(index, a, series_.train, train, shape_, issue);
  };
  const Matrix truth = on_test(targets(series_.test.a, test, shape_)),
               fitted = on_train(targets(series_.train.a, train, shape_));
  Comparison out{index.name, index.unit.empty() ? "1" : index.unit, {}, {}};
  Matrix climatology;
  for (const auto& beside : rivals(train, test)) {
    const bool issue = beside.name == "persistence";
    const Matrix forecast = on_test(beside.test, issue);
    if (beside.name == "climatology") climatology = forecast;
    out.of.push_back(
        verify_normal(beside.name, truth, forecast, error_by_lead(fitted, on_train(beside.train, issue), 1), {1.0}));
  }
  std::vector<Matrix> of_members;
  for (const auto& member : members) of_members.push_back(on_test(member));
  out.of.push_back(verify_ensemble(name(), truth, of_members, {1.0}));
  out.correlation = anomaly_correlation(truth, on_test(mean), climatology);
  return out;
}

}  // namespace cambium::podlstm
