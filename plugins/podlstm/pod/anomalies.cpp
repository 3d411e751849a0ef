// Background of a field before the decomposition: climatology of the year, trend, standard deviation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/cf/calendar.hpp"
#include "plugins/podlstm/pod/field.hpp"

namespace cambium::podlstm {

void AnomalyKeys::describe(deck::Describe<AnomalyKeys>& d) {
  d("harmonics", &AnomalyKeys::harmonics,
    "harmonics of the year in the climatology that is taken off; 0: the mean alone")
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

double Field::period() const { return io::cf::days_per_year(time_unit_.calendar); }

void Field::take_off(const AnomalyKeys& keys) {
  anomalies_ = keys;
  reference_.clear();
  if (!keys.years.empty() && !time_unit_.has_date())
    throw KeyError("pod.anomalies.dates", "years", "years: the times of the field are no dates; leave years out");
  for (std::int64_t t = 0; t < snapshots(); ++t) {
    if (keys.years.empty() && t >= training_) break;
    if (!keys.years.empty()) {
      const auto number = time_unit_.day + static_cast<std::int64_t>(std::floor(day(t)));
      const auto year = io::cf::date_of(number, time_unit_.calendar).year;
      if (year < keys.years[0] || year > keys.years[1]) continue;
    }
    reference_.push_back(t);
  }
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
  Matrix seen(std::ssize(reference_), terms), unit(seen.rows, seen.rows);
  for (std::int64_t i = 0; i < seen.rows; ++i) {
    std::copy_n(waves_.row(reference_[static_cast<std::size_t>(i)]), terms, seen.row(i));
    unit(i, i) = 1.0;
  }
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
