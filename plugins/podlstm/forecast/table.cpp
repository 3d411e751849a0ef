#include "plugins/podlstm/forecast/table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/text.hpp"

namespace cambium::podlstm {

std::vector<Split> SplitOptions::splits(std::int64_t windows, const WindowShape& shape, Protocol which) const {
  const std::int64_t between = gap.value_or(shape.length() - 1);
  if (which == Protocol::paper) return {random_split(windows, validation, seed, shape)};
  if (folds > 1) return fold_splits(windows, folds, between, shape);
  return {blocked_split(windows, validation, between, shape)};
}

std::vector<std::int64_t> validation_windows(const std::vector<Split>& splits) {
  std::vector<std::int64_t> out;
  for (const auto& s : splits) out.insert(out.end(), s.validation.begin(), s.validation.end());
  return out;
}

Matrix forecast_left_out(Forecaster& method, const Stretch& s, const std::vector<Split>& splits,
                         const WindowShape& shape) {
  Matrix out(0, shape.future * s.a.cols);
  for (const auto& split : splits) {
    method.fit({s, shape, split});
    const Matrix part = method.predict(s, split.validation, shape);
    out.a.insert(out.a.end(), part.a.begin(), part.a.end());
    out.rows += part.rows;
  }
  return out;
}

std::vector<double> rmse_by_lead(const Series& series, const Matrix& truth, const Matrix& forecast,
                                 const WindowShape& shape) {
  if (series.weight <= 0.0) return {};
  const std::int64_t m = series.modes();
  std::vector<double> out;
  for (std::int64_t h = 0; h < shape.future; ++h) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < truth.rows; ++i) {
      for (std::int64_t k = 0; k < m; ++k) sum += std::pow(truth(i, h * m + k) - forecast(i, h * m + k), 2);
      if (!series.left_out.empty()) sum += series.left_out[i + shape.past + h];
    }
    out.push_back(std::sqrt(sum / (series.weight * static_cast<double>(truth.rows))));
  }
  return out;
}

namespace {

double validation_r2(Forecaster& method, const Stretch& s, const std::vector<Split>& splits, const WindowShape& shape) {
  return score(targets(s.a, validation_windows(splits), shape), forecast_left_out(method, s, splits, shape), s.a.cols)
      .r2;
}

}  // namespace

double choose_last_ridge(BaselineOptions options, const Series& series, const WindowShape& shape,
                         const SplitOptions& split) {
  const auto splits = split.splits(window_count(series.train, shape, "training"), shape, Protocol::blocked);
  double best = -1e300, chosen = options.last_ridge;
  for (double penalty : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
    options.last_ridge = penalty;
    const double r2 = validation_r2(*last_time_ridge(options), series.train, splits, shape);
    if (r2 > best) {
      best = r2;
      chosen = penalty;
    }
  }
  return chosen;
}

TableRow evaluate(Forecaster& method, const Series& series, const WindowShape& shape, const SplitOptions& options) {
  const std::int64_t n = window_count(series.train, shape, "training"),
                     tests = window_count(series.test, shape, "test");
  TableRow row;
  row.name = method.name();
  row.blocked = validation_r2(method, series.train, options.splits(n, shape, Protocol::blocked), shape);
  row.paper = validation_r2(method, series.train, options.splits(n, shape, Protocol::paper), shape);
  const auto all = all_starts(n), test = all_starts(tests);
  method.fit({series.train, shape, series.train.times(), all});
  row.fit = score(targets(series.train.a, all, shape), method.predict(series.train, all, shape), series.modes()).r2;
  row.forecast = method.predict(series.test, test, shape);
  const Matrix truth = targets(series.test.a, test, shape);
  row.test = score(truth, row.forecast, series.modes());
  row.rmse = rmse_by_lead(series, truth, row.forecast, shape);
  return row;
}

std::vector<std::string> table_text(const std::vector<TableRow>& rows, const std::string& unit) {
  std::vector<std::string> out;
  const bool rmse = !rows.empty() && !rows.front().rmse.empty();
  out.push_back(fmt::format("{:<32}{:>8}{:>9}{:>9}{:>8}{:>9}{:>9}{}", "R2", "train", "blocked", "random", "differ",
                            "test", "by var.", rmse ? fmt::format("   RMSE [{}], first and last lead", unit) : ""));
  auto optional = [](const std::optional<double>& x) { return x ? fmt::format("{:.4f}", *x) : std::string("-"); };
  for (const auto& r : rows)
    out.push_back(fmt::format(
        "{:<32}{:>8}{:>9}{:>9}{:>8}{:>9.4f}{:>9.4f}{}", r.name, optional(r.fit), optional(r.blocked), optional(r.paper),
        r.blocked && r.paper ? fmt::format("{:+.3f}", *r.paper - *r.blocked) : "-", r.test.r2, r.test.variance_weighted,
        rmse ? fmt::format("   {:.5g} {:.5g}", r.rmse.front(), r.rmse.back()) : ""));
  return out;
}

std::string table_csv(const std::vector<TableRow>& rows, std::int64_t modes, std::int64_t leads) {
  std::string out = "method,train_r2,blocked_r2,random_r2,test_r2,test_r2_variance_weighted";
  for (std::int64_t k = 0; k < modes; ++k) out += fmt::format(",test_r2_mode_{}", k + 1);
  for (std::int64_t h = 0; h < leads; ++h) out += fmt::format(",test_r2_lead_{}", h + 1);
  for (std::int64_t h = 0; h < leads; ++h) out += fmt::format(",rmse_lead_{}", h + 1);
  out += "\n";
  for (const auto& r : rows) {
    out += fmt::format("{},{},{},{},{},{}", r.name, r.fit ? number_text(*r.fit) : "",
                       r.blocked ? number_text(*r.blocked) : "", r.paper ? number_text(*r.paper) : "",
                       number_text(r.test.r2), number_text(r.test.variance_weighted));
    for (double x : r.test.by_mode) out += fmt::format(",{}", number_text(x));
    for (double x : r.test.by_lead) out += fmt::format(",{}", number_text(x));
    for (std::int64_t h = 0; h < leads; ++h) out += fmt::format(",{}", r.rmse.empty() ? "" : number_text(r.rmse[h]));
    out += "\n";
  }
  return out;
}

}  // namespace cambium::podlstm
