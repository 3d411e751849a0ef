#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "core/base/text.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/train/run/error_tables.hpp"

namespace cambium::train {

namespace {

constexpr std::size_t most_lines = 12;  ///< per quantity in the summary; the file contains all
constexpr std::size_t ranges = 5;

/// One component of a quantity, sorted by reference.
struct Sides {
  std::vector<double> reference, predicted;
};

Sides component_of(const io::ParityQuantity& q, std::size_t component) {
  Sides out;
  for (std::size_t k = component; k < q.reference.size(); k += q.width()) {
    out.reference.push_back(q.reference[k]);
    out.predicted.push_back(q.predicted[k]);
  }
  return out;
}

Sides sorted(const Sides& sides) {
  std::vector<std::size_t> order(sides.reference.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sides.reference[a] < sides.reference[b]; });
  Sides out;
  for (const auto k : order) {
    out.reference.push_back(sides.reference[k]);
    out.predicted.push_back(sides.predicted[k]);
  }
  return out;
}

std::string row(const io::ParityQuantity& q, const std::string& component, double from, double to,
                const RegressionErrors& e) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", io::csv_cell(q.name), io::csv_cell(component),
                     io::csv_cell(q.unit), number_text(from), number_text(to), e.count, number_text(e.rmse),
                     number_text(e.mae), number_text(e.bias), number_text(e.largest), number_text(e.r2));
}

/// The entire component first, then each fifth.
std::string rows_of(const io::ParityQuantity& q, const std::string& component, const Sides& sides) {
  const Sides by_size = sorted(sides);
  const std::size_t n = by_size.reference.size();
  std::string out = row(q, component, by_size.reference.front(), by_size.reference.back(),
                        regression_errors(by_size.reference, by_size.predicted));
  for (std::size_t r = 0; n >= 2 * ranges && r < ranges; ++r) {
    const std::size_t first = n * r / ranges, end = n * (r + 1) / ranges;
    out += row(q, component, by_size.reference[first], by_size.reference[end - 1],
               regression_errors(std::span(by_size.reference).subspan(first, end - first),
                                 std::span(by_size.predicted).subspan(first, end - first)));
  }
  return out;
}

std::string line(const std::string& name, const RegressionErrors& e, const std::string& unit) {
  return fmt::format("  {:<24}{:>14.6g}{:>14.6g}{:>14.6g}{:>10.4f} {}", name, e.rmse, e.mae, e.bias, e.r2, unit);
}

void add_results(ErrorTables& out, const std::string& name, const RegressionErrors& e, const std::string& unit) {
  const std::string key = key_of(name);
  out.results.push_back(in_table("mae_" + key, "MAE: " + name, e.mae));
  out.results.back().unit = unit;
  out.results.push_back(in_table("bias_" + key, "bias: " + name, e.bias));
  out.results.back().unit = unit;
  if (std::isfinite(e.r2)) out.results.push_back(in_table("r2_" + key, "R2: " + name, e.r2));
}

/// Sum of the squared deviations from the mean; exactly 0 if all values are equal.
double spread_of(std::span<const double> values) {
  if (std::all_of(values.begin(), values.end(), [&](double x) { return x == values[0]; })) return 0.0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double out = 0.0;
  for (const double x : values) out += (x - mean) * (x - mean);
  return out;
}

/// Errors of all components together. The deviations in r2 are those from the mean of each component: columns of a
/// table differ by far more from each other than any of them varies.
RegressionErrors joint_errors(const io::ParityQuantity& q) {
  auto out = regression_errors(q.reference, q.predicted);
  if (q.components.size() < 2) return out;
  double spread = 0.0;
  for (std::size_t c = 0; c < q.width(); ++c) spread += spread_of(component_of(q, c).reference);
  out.r2 = spread == 0.0 ? std::numeric_limits<double>::quiet_NaN()
                         : 1.0 - out.rmse * out.rmse * static_cast<double>(out.count) / spread;
  return out;
}

}  // namespace

RegressionErrors regression_errors(std::span<const double> reference, std::span<const double> predicted) {
  RegressionErrors out;
  out.count = std::ssize(reference);
  if (reference.empty()) return out;
  const auto n = static_cast<double>(reference.size());
  double squares = 0.0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    const double error = predicted[k] - reference[k];
    squares += error * error;
    out.mae += std::abs(error) / n;
    out.bias += error / n;
    out.largest = std::max(out.largest, std::abs(error));
  }
  out.rmse = std::sqrt(squares / n);
  const double spread = spread_of(reference);
  out.r2 = spread == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 1.0 - squares / spread;
  return out;
}

ErrorTables write_regression_tables(std::span<const io::ParityQuantity> quantities, const std::string& folder) {
  ErrorTables out;
  std::string text = "quantity,component,unit,from,to,count,rmse,mae,bias,largest,r2\n";
  for (const auto& q : quantities) {
    if (q.rows() == 0) continue;
    const auto all = joint_errors(q);
    out.lines.push_back(fmt::format("  {:<24}{:>14}{:>14}{:>14}{:>10}", "", "RMSE", "MAE", "bias", "R2"));
    if (q.components.empty()) text += rows_of(q, "", component_of(q, 0));
    for (std::size_t c = 0; c < q.components.size(); ++c) {
      const std::string name = fmt::format("{} {}", q.name, q.components[c]);
      const Sides sides = component_of(q, c);
      text += rows_of(q, q.components[c], sides);
      if (q.components.size() > most_lines) continue;
      const auto errors = regression_errors(sides.reference, sides.predicted);
      out.lines.push_back(line(name, errors, q.unit));
      add_results(out, name, errors, q.unit);
    }
    const auto [least, most] = std::minmax_element(q.reference.begin(), q.reference.end());
    if (!q.components.empty()) text += row(q, "all", *least, *most, all);
    out.lines.push_back(line(q.name + (q.components.empty() ? "" : ", all"), all, q.unit));
    if (q.components.size() > most_lines)
      out.lines.push_back(fmt::format("  errors.csv has each of the {} components", q.components.size()));
    add_results(out, q.name, all, q.unit);
  }
  io::write_file_atomically((std::filesystem::path(folder) / "errors.csv").string(), text);
  out.files = {"errors.csv"};
  return out;
}

}  // namespace cambium::train
