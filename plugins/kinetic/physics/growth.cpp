#include "plugins/kinetic/physics/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "plugins/kinetic/physics/peaks.hpp"

namespace cambium::kinetic {

namespace {

using Values = std::vector<double>;

/// Samples of the window, in order of time; `beside`: number of samples added at each end, for a peak that is the
/// window's first or last sample.
void take_window(const Values& time, const Values& energy, const GrowthParams& window, int beside, Values& t,
                 Values& w) {
  const auto first = std::lower_bound(time.begin(), time.end(), window.from) - time.begin();
  const auto end = std::upper_bound(time.begin(), time.end(), window.to) - time.begin();
  const auto last = std::min<std::ptrdiff_t>(end + beside, std::ssize(time));
  for (auto k = std::max<std::ptrdiff_t>(0, first - beside); k < last; ++k)
    if (energy[k] > 0.0) {
      t.push_back(time[k]);
      w.push_back(energy[k]);
    }
}

void compare_halves(const Values& t, const Values& y, bool correlated, GrowthFit::Result& r) {
  const auto half = static_cast<std::ptrdiff_t>(t.size() / 2);
  if (half < 3) return;
  const Line early = line_through({t.begin(), t.begin() + half}, {y.begin(), y.begin() + half}, correlated);
  const Line late = line_through({t.begin() + half, t.end()}, {y.begin() + half, y.end()}, correlated);
  r.early = 0.5 * early.slope;
  r.late = 0.5 * late.slope;
  r.halves_error = 0.5 * std::hypot(early.error, late.error);
}

void find_frequency(const WavePeaks& wave, const Values& t, GrowthFit::Result& r) {
  Values number, distance;
  for (const auto& peak : wave.peaks) number.push_back(peak.number);
  const Line line = line_through(t, number, false);
  r.omega = constants::pi * line.slope;
  r.omega_error = constants::pi * line.error;  // the energy peaks twice a period
  double mean = 0.0, square = 0.0;
  for (std::size_t k = 1; k < t.size(); ++k) distance.push_back((t[k] - t[k - 1]) / (number[k] - number[k - 1]));
  for (const double d : distance) mean += d / static_cast<double>(distance.size());
  for (const double d : distance) square += (d - mean) * (d - mean) / static_cast<double>(distance.size());
  r.scatter = std::sqrt(square) / mean;
  r.other = wave.other;
}

}  // namespace

GrowthFit::Result GrowthFit::fit() const {
  const bool wave = params_.oscillating;
  Values t, y;
  take_window(time_, energy_, params_, wave ? 1 : 0, t, y);
  WavePeaks peaks;
  if (wave) {
    peaks = peaks_of_wave(t, y);
    t.clear();
    y.clear();
    for (const auto& peak : peaks.peaks) {
      t.push_back(peak.time);
      y.push_back(peak.height);
    }
  } else {
    for (double& energy : y) energy = std::log(energy);
  }
  Result r;
  r.points = static_cast<int>(t.size());
  if (t.size() < 2 || t.back() <= t.front()) return r;
  const Line line = line_through(t, y, !wave);
  r.found = true;
  r.gamma = 0.5 * line.slope;
  r.gamma_error = 0.5 * line.error;
  r.residual = 0.5 * line.residual;
  r.explained = line.explained;
  r.from = t.front();
  r.to = t.back();
  compare_halves(t, y, !wave, r);
  if (wave) find_frequency(peaks, t, r);
  return r;
}

std::string GrowthFit::excuse(const Result& r) const {
  if (r.found) return {};
  return fmt::format("growth rate: no fit, {} {} of the field energy in the window", r.points,
                     params_.oscillating ? "peaks" : "samples");
}

std::vector<cambium::Result> GrowthFit::results(const Result& r) const {
  if (!r.found) return {};
  const bool errors = r.points > 2;  // a line through two points has none
  const std::string head = "growth rate of the field: ";
  std::vector<cambium::Result> out{{"gamma", head + "gamma", r.gamma}};
  if (errors) out[0].uncertainty = r.gamma_error;
  if (params_.oscillating) {
    out.push_back({"omega", head + "omega", r.omega});
    if (errors) out[1].uncertainty = r.omega_error;
  }
  out.back().remark =
      fmt::format("{} {} from t = {:.4g} to {:.4g}", r.points, params_.oscillating ? "peaks" : "samples", r.from, r.to);
  if (!errors) return out;
  const std::string fit = "fit of the growth rate: ";
  out.push_back(
      {.key = "residual", .label = fit + "residual", .value = r.residual, .remark = "of log amplitude", .digits = 2});
  out.push_back({.key = "r_squared", .label = fit + "r_squared", .value = r.explained, .digits = 4});
  return out;
}

std::string GrowthFit::doubts(const Result& r) const {
  if (!r.found) return {};
  std::vector<std::string> all;
  const double drift = std::abs(r.early - r.late);
  if (params_.oscillating && r.points < 4) all.push_back(fmt::format("it rests on {} peaks", r.points));
  if (params_.oscillating && r.scatter > 0.15)
    all.push_back(fmt::format("the distance of its peaks scatters by {:.0f} %", 100.0 * r.scatter));
  if (params_.oscillating && r.other > 0.5)
    all.push_back(fmt::format("the energy oscillates at another frequency, too, with {:.0f} % of the amplitude",
                              100.0 * r.other));
  if (drift > 3.0 * r.halves_error && drift > 0.1 * std::max(std::abs(r.early), std::abs(r.late)) &&
      0.25 * drift * (r.to - r.from) > 0.05)
    all.push_back(
        fmt::format("gamma is {:.4g} in the first half of the window and {:.4g} in the second", r.early, r.late));
  if (r.points > 3 && r.explained < 0.5 && r.residual > 0.1)
    all.push_back(
        fmt::format("log amplitude scatters by {:.2g} about the line, which explains {:.0f} % of its variance",
                    r.residual, 100.0 * std::max(0.0, r.explained)));
  if (all.empty()) return {};
  return fmt::format(
      "growth rate: the window may hold noise, a transient, saturation or a recurrence instead of one {}: {}; choose "
      "'start_time' and 'end_time' about the part that is one, and inspect the energy in thermo.csv",
      params_.oscillating ? "wave" : "exponential", join(all, "; "));
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
