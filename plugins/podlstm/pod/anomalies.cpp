// Background of a field before the decomposition: climatology of the year, trend, standard deviation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/cf/calendar.hpp"
#include "plugins/podlstm/pod/field.hpp"

namespace cambium::podlstm {

void AnomalyKeys::describe(deck::Describe<AnomalyKeys>& d) {
  d("harmonics", &AnomalyKeys::harmonics,
    "harmonics of the year in the climatology that is taken off, as the times resolve them; 0: the mean alone")
      .at_least(0)
      .def(0);
  d("years", &AnomalyKeys::years,
    "first and last year of the climatology (mean, harmonics, trend); default: the training snapshots")
      .example("[1982, 1989]")
      .def({});
  d("detrend", &AnomalyKeys::detrend, "take off the linear trend of each cell").def(false);
  d("standardise", &AnomalyKeys::standardise, "divide each cell by its standard deviation, so that all count alike")
      .def(false);
  d.check([](const AnomalyKeys& k) {
    return k.years.empty() || (k.years.size() == 2 && k.years[0] <= k.years[1])
               ? ""
               : "years: give the first and the last year, such as [1982, 1989]";
  });
}

namespace {

/// Above it, less than half of the digits of a field in float32 would be left in the coefficients.
constexpr double largest_condition = 1e4;

/// Of the columns scaled to length 1.
double condition_number(const Matrix& a) {
  Matrix gram = product(a, a, Op::transposed);
  std::vector<double> length;
  for (std::int64_t i = 0; i < gram.rows; ++i) length.push_back(std::sqrt(gram(i, i)));
  for (std::int64_t i = 0; i < gram.rows; ++i)
    for (std::int64_t j = 0; j < gram.rows; ++j) gram(i, j) /= length[i] * length[j];
  const auto values = symmetric_eigen(std::move(gram)).values;
  return values.back() > 0.0 ? std::sqrt(values.front() / values.back()) : std::numeric_limits<double>::infinity();
}

/// KeyError for harmonics that a least-squares fit to these days would not determine, and would give all the same.
void require_resolved(int harmonics, const std::vector<double>& days, double period) {
  std::vector<double> steps;
  for (std::size_t k = 1; k < days.size(); ++k) steps.push_back(days[k] - days[k - 1]);
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  const double usual = steps[steps.size() / 2], span = days.back() - days.front() + usual;
  const double cycle = 2.002 * usual;  // of a cycle of two snapshots, one of sine and cosine may be zero at all of them
  if (period / harmonics < cycle)
    throw KeyError(
        "pod.anomalies.resolution", "harmonics",
        fmt::format("harmonics: {} of a year of {} days have cycles down to {} days, but the climatology has "
                    "a snapshot every {} days, and a cycle takes more than two; give {} at most",
                    harmonics, number_text(period), number_text(period / harmonics), number_text(usual),
                    std::floor(period / cycle)));
  if (span < 0.75 * period)
    throw KeyError("pod.anomalies.span", "harmonics",
                   fmt::format("harmonics: the snapshots of the climatology span {} of the {} days of a year; give a "
                               "year of snapshots, or harmonics: 0",
                               number_text(span), number_text(period)));
}

}  // namespace

double Field::period() const { return io::cf::days_per_year(time_unit_.calendar); }

void Field::take_off(const AnomalyKeys& keys) {
  anomalies_ = keys;
  reference_.clear();
  if (!keys.years.empty() && !time_unit_.has_date())
    throw KeyError("pod.anomalies.dates", "years", "years: the times of the field are no dates; leave years out");
  if (keys.harmonics > 0 && !(time_unit_.seconds > 0.0))
    throw KeyError("pod.anomalies.unit", "harmonics",
                   fmt::format("harmonics: times are in '{}', of which a year has no known number; set harmonics: 0",
                               time_unit_.text));
  for (std::int64_t t = 0; t < snapshots(); ++t) {
    if (keys.years.empty() && t >= training_) break;
    if (!keys.years.empty()) {
      const auto year = io::cf::date_of(time_unit_.day_number_after(day(t)), time_unit_.calendar).year;
      if (year < keys.years[0] || year > keys.years[1]) continue;
    }
    reference_.push_back(t);
  }
  fit_waves();
}

void Field::fit_waves() {
  const AnomalyKeys& keys = anomalies_;
  const std::int64_t terms = 1 + 2 * keys.harmonics + (keys.detrend ? 1 : 0);
  if (std::ssize(reference_) <= terms)
    throw KeyError("pod.anomalies.few", keys.years.empty() ? "harmonics" : "years",
                   fmt::format("anomalies: {} snapshots of the climatology are too few for {} coefficients; give other "
                               "years, fewer harmonics or more snapshots",
                               reference_.size(), terms));
  trend_from_ = 0.0;
  for (auto t : reference_) trend_from_ += day(t) / static_cast<double>(reference_.size());
  waves_ = Matrix(snapshots(), terms);
  for (std::int64_t t = 0; t < snapshots(); ++t) {
    waves_(t, 0) = 1.0;
    for (int k = 1; k <= keys.harmonics; ++k) {
      const double angle = 2.0 * constants::pi * k * day(t) / period();
      waves_(t, 2 * k - 1) = std::cos(angle);
      waves_(t, 2 * k) = std::sin(angle);
    }
    if (keys.detrend) waves_(t, terms - 1) = day(t) - trend_from_;
  }
  if (keys.harmonics > 0) {
    std::vector<double> days;
    for (auto t : reference_) days.push_back(day(t));
    require_resolved(keys.harmonics, days, period());
  }
  Matrix seen(std::ssize(reference_), terms), unit(seen.rows, seen.rows);
  for (std::int64_t i = 0; i < seen.rows; ++i) {
    std::copy_n(waves_.row(reference_[static_cast<std::size_t>(i)]), terms, seen.row(i));
    unit(i, i) = 1.0;
  }
  if (const double condition = condition_number(seen); keys.harmonics > 0 && condition > largest_condition)
    throw KeyError("pod.anomalies.condition", "harmonics",
                   fmt::format("harmonics: the seasons of the {} snapshots of the climatology do not determine {} "
                               "harmonics (condition number {:.1e}); give fewer, or snapshots of all seasons",
                               reference_.size(), keys.harmonics, condition));
  solver_ = least_squares(std::move(seen), std::move(unit));
}

/// Fits mean, climatology, trend and norm of a block; its values become anomalies that still include the mean.
void Field::fit_background(CellBlock& block) const {
  const std::int64_t n = block.size();
  const auto cells = static_cast<std::size_t>(n);
  block.mean.assign(cells, 0.0);
  if (solver_.rows == 0 || (solver_.rows == 1 && anomalies_.years.empty())) {
    for (std::int64_t t = 0; t < training_; ++t)
      for (std::int64_t i = 0; i < n; ++i) block.mean[i] += block.values[t * n + i];
    for (double& m : block.mean) m /= static_cast<double>(training_);
  } else {
    Matrix values(std::ssize(reference_), n);
    for (std::int64_t r = 0; r < values.rows; ++r)
      std::copy_n(block.values.data() + reference_[static_cast<std::size_t>(r)] * n, n, values.row(r));
    Matrix factors = product(solver_, values);
    std::copy_n(factors.row(0), n, block.mean.data());
    const std::int64_t waves = 2 * anomalies_.harmonics;
    block.year.assign(factors.row(0) + n, factors.row(0) + (1 + waves) * n);
    if (anomalies_.detrend) block.trend.assign(factors.row(1 + waves), factors.row(1 + waves) + n);
    std::fill_n(factors.row(0), n, 0.0);  // the mean stays
    const Matrix background = product(waves_, factors);
    for (std::size_t i = 0; i < block.values.size(); ++i) block.values[i] -= background.a[i];
  }
  if (!anomalies_.standardise) return;
  block.norm.assign(cells, 0.0);
  for (std::int64_t t = 0; t < training_; ++t)
    for (std::int64_t i = 0; i < n; ++i) block.norm[i] += std::pow(block.values[t * n + i] - block.mean[i], 2);
  for (std::size_t i = 0; i < cells; ++i) {
    block.norm[i] = std::sqrt(block.norm[i] / static_cast<double>(training_));
    if (!(block.norm[i] > 1e-12 * std::abs(block.mean[i]))) block.norm[i] = 1.0;  // a constant cell
  }
  for (std::int64_t t = 0; t < snapshots(); ++t)
    for (std::size_t i = 0; i < cells; ++i) {
      double& x = block.values[static_cast<std::size_t>(t * n) + i];
      x = block.mean[i] + (x - block.mean[i]) / block.norm[i];
    }
}

}  // namespace cambium::podlstm
