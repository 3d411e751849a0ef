#include "plugins/kinetic/vlasov/growth.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"

namespace cambium::kinetic {

/// Slope of the least-squares line.
static double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0;
  const double n = static_cast<double>(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) mx += x[k] / n, my += y[k] / n;
  for (std::size_t k = 0; k < x.size(); ++k) xx += (x[k] - mx) * (x[k] - mx), xy += (x[k] - mx) * (y[k] - my);
  return xy / xx;
}

/// Place and height of the parabola through three points.
static std::pair<double, double> vertex(const double* t, const double* y) {
  const double a = (y[1] - y[0]) / (t[1] - t[0]), b = (y[2] - y[1]) / (t[2] - t[1]);
  const double curvature = (b - a) / (t[2] - t[0]);
  const double at = 0.5 * (t[0] + t[1]) - 0.5 * a / curvature;
  return {at, y[0] + a * (at - t[0]) + curvature * (at - t[0]) * (at - t[1])};
}

GrowthFit::Result GrowthFit::fit() const {
  std::vector<double> t, y;
  for (std::size_t k = 0; k < time_.size(); ++k) {
    if (time_[k] < params_.from || time_[k] > params_.to || !(energy_[k] > 0.0)) continue;
    if (!params_.oscillating) {
      t.push_back(time_[k]), y.push_back(std::log(energy_[k]));
    } else if (k > 0 && k + 1 < time_.size() && energy_[k] > energy_[k - 1] && energy_[k] >= energy_[k + 1] &&
               energy_[k - 1] > 0.0 && energy_[k + 1] > 0.0) {
      const double logs[3] = {std::log(energy_[k - 1]), std::log(energy_[k]), std::log(energy_[k + 1])};
      const auto [at, height] = vertex(&time_[k - 1], logs);
      t.push_back(at), y.push_back(height);
    }
  }
  Result r;
  r.points = static_cast<int>(t.size());
  if (t.size() < 2 || t.back() <= t.front()) return r;
  r.found = true;
  r.gamma = 0.5 * slope(t, y);
  r.from = t.front(), r.to = t.back();
  if (params_.oscillating) {  // the energy peaks twice per period
    std::vector<double> number(t.size());
    for (std::size_t k = 0; k < t.size(); ++k) number[k] = static_cast<double>(k);
    r.omega = constants::pi * slope(t, number);
  }
  return r;
}

std::string GrowthFit::line() const {
  const Result r = fit();
  if (!r.found)
    return fmt::format("growth rate: no fit, {} {} of the field energy in the window", r.points,
                       params_.oscillating ? "peaks" : "samples");
  std::string text = fmt::format("growth rate of the field: gamma = {:.6g}", r.gamma);
  if (params_.oscillating) text += fmt::format(", omega = {:.6g}", r.omega);
  return text + fmt::format(" ({} {} from t = {:.4g} to {:.4g})", r.points, params_.oscillating ? "peaks" : "samples",
                            r.from, r.to);
}

void GrowthFit::save(io::Group& group) const {
  group.write("growth/time", time_);
  group.write("growth/energy", energy_);
}

void GrowthFit::load(const io::Group& group) {
  time_ = group.read<std::vector<double>>("growth/time");
  energy_ = group.read<std::vector<double>>("growth/energy");
  if (time_.size() != energy_.size())
    throw InputError(
        fmt::format("'{}': {} times and {} energies of the fit of a growth rate; the file is damaged or was changed, "
                    "resume from another one",
                    group.file(), time_.size(), energy_.size()));
}

}  // namespace cambium::kinetic
