#include "plugins/kinetic/physics/peaks.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

#include "core/base/constants.hpp"

namespace cambium::kinetic {

namespace {

using Values = std::vector<double>;

/// Position and height of the vertex of the parabola through three points.
Peak vertex(const double* t, const double* y) {
  const double a = (y[1] - y[0]) / (t[1] - t[0]), b = (y[2] - y[1]) / (t[2] - t[1]);
  const double curvature = (b - a) / (t[2] - t[0]);
  const double at = 0.5 * (t[0] + t[1]) - 0.5 * a / curvature;
  return {at, y[0] + a * (at - t[0]) + curvature * (at - t[0]) * (at - t[1])};
}

std::vector<Peak> maxima_of(const Values& t, const Values& w) {
  std::vector<Peak> out;
  for (std::size_t k = 1; k + 1 < t.size(); ++k) {
    if (!(w[k] > w[k - 1] && w[k] >= w[k + 1])) continue;
    const double logs[3] = {std::log(w[k - 1]), std::log(w[k]), std::log(w[k + 1])};
    out.push_back(vertex(&t[k - 1], logs));
  }
  return out;
}

double rate_of(const std::vector<Peak>& peaks) {
  Values t, y;
  for (const auto& peak : peaks) {
    t.push_back(peak.time);
    y.push_back(peak.height);
  }
  return line_through(t, y, false).slope;
}

/// Means over equal parts of the time; 0 in parts without a sample.
Values means_of_parts(const Values& t, const Values& w, int parts) {
  Values sum(parts, 0.0), count(parts, 0.0);
  for (std::size_t k = 0; k < t.size(); ++k) {
    const int part = std::min(parts - 1, static_cast<int>((t[k] - t.front()) / (t.back() - t.front()) * parts));
    sum[part] += w[k];
    count[part] += 1.0;
  }
  for (int p = 0; p < parts; ++p) sum[p] = count[p] > 0.0 ? sum[p] / count[p] : 0.0;
  return sum;
}

/// Divides w by the course of its means over eight parts of the time, then over 16 and 32, while these differ by more
/// than an order of magnitude: what falls to a floor or comes back would otherwise look like one long swing.
void level(const Values& t, Values& w, std::size_t maxima) {
  for (int parts = 8; parts <= 32 && maxima >= 2 * static_cast<std::size_t>(parts); parts *= 2) {
    const Values mean = means_of_parts(t, w, parts);
    Values sorted = mean;
    std::sort(sorted.begin(), sorted.end());
    const double middle = 0.5 * (sorted[parts / 2 - 1] + sorted[parts / 2]);
    if (!(sorted.front() > 0.0) || (sorted.back() < 8.0 * middle && middle < 8.0 * sorted.front())) return;
    for (std::size_t k = 0; k < t.size(); ++k) {
      const double at = (t[k] - t.front()) / (t.back() - t.front()) * parts - 0.5;
      const int left = std::clamp(static_cast<int>(std::floor(at)), 0, parts - 2);
      const double share = std::clamp(at - left, 0.0, 1.0);
      w[k] /= std::exp((1.0 - share) * std::log(mean[left]) + share * std::log(mean[left + 1]));
    }
  }
}

/// w on equal cells of the time, without its straight line and faded out at both ends.
Values faded_course(const Values& t, const Values& w, int cells) {
  Values course = means_of_parts(t, w, cells);
  std::vector<int> known;
  for (int c = 0; c < cells; ++c)
    if (course[c] > 0.0) known.push_back(c);
  for (std::size_t k = 0; k + 1 < known.size(); ++k)
    for (int c = known[k] + 1; c < known[k + 1]; ++c)
      course[c] =
          course[known[k]] + (course[known[k + 1]] - course[known[k]]) * (c - known[k]) / (known[k + 1] - known[k]);
  double mean = 0.0, moment = 0.0, square = 0.0;
  for (int c = 0; c < cells; ++c) {
    const double from_middle = c + 0.5 - 0.5 * cells;
    mean += course[c] / cells;
    moment += from_middle * course[c];
    square += from_middle * from_middle;
  }
  for (int c = 0; c < cells; ++c) {
    const double fade = std::sin(constants::pi * (c + 0.5) / cells);
    course[c] = (course[c] - mean - moment / square * (c + 0.5 - 0.5 * cells)) * fade * fade;
  }
  return course;
}

/// Amplitude at a frequency, in cycles over all cells.
double amplitude(const Values& course, double cycles) {
  const std::complex<double> turn = std::polar(1.0, -2.0 * constants::pi * cycles / static_cast<double>(course.size()));
  std::complex<double> phase = 1.0, sum = 0.0;
  for (const double value : course) {
    sum += value * phase;
    phase *= turn;
  }
  return std::abs(sum);
}

/// Fills spacing and other from w, whose amplitude is about constant.
void find_spacing(const Values& t, const Values& w, std::size_t maxima, WavePeaks& out) {
  const std::size_t most = std::min<std::size_t>(maxima, 3000);
  const Values course = faded_course(t, w, static_cast<int>(std::clamp<std::size_t>(8 * most, 256, 16384)));
  const double step = most > 250 ? 0.25 : 0.125, last = 1.2 * static_cast<double>(most) + 1.0;
  Values found;
  for (double cycles = 1.0; cycles <= last; cycles += step) found.push_back(amplitude(course, cycles));
  const auto best = static_cast<std::size_t>(std::max_element(found.begin(), found.end()) - found.begin());
  out.spacing = (t.back() - t.front()) / (1.0 + step * static_cast<double>(best));
  out.other = 0.0;
  for (std::size_t k = 0; k < found.size(); ++k)
    if (step * std::abs(static_cast<double>(k) - static_cast<double>(best)) > 2.0 && found[best] > 0.0)
      out.other = std::max(out.other, found[k] / found[best]);
}

/// The highest maxima, none nearer to a higher one than 0.6 spacings, in order of time.
std::vector<Peak> highest(const std::vector<Peak>& maxima, double rate, double spacing) {
  std::vector<std::size_t> order(maxima.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto above = [&](std::size_t k) { return maxima[k].height - rate * maxima[k].time; };
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return above(a) > above(b); });
  std::vector<Peak> out;
  for (const auto k : order) {
    const auto after = std::lower_bound(out.begin(), out.end(), maxima[k].time,
                                        [](const Peak& p, double time) { return p.time < time; });
    const bool free_after = after == out.end() || after->time - maxima[k].time > 0.6 * spacing;
    const bool free_before = after == out.begin() || maxima[k].time - (after - 1)->time > 0.6 * spacing;
    if (free_after && free_before) out.insert(after, maxima[k]);
  }
  return out;
}

/// Parabola through log w, weighted by `weight`, about x = 0: a + b x + c x^2. False where there are too few samples.
bool parabola(const Values& t, const Values& w, const Values& weight, double at, double reach, double* abc) {
  double s[5] = {}, y[3] = {};
  int samples = 0;
  for (auto k = static_cast<std::size_t>(std::lower_bound(t.begin(), t.end(), at - reach) - t.begin());
       k < t.size() && t[k] <= at + reach; ++k, ++samples) {
    const double x = (t[k] - at) / reach, value = std::log(w[k]);
    double power = weight[k];
    for (int n = 0; n < 5; ++n, power *= x) {
      s[n] += power;
      if (n < 3) y[n] += power * value;
    }
  }
  if (samples < 5) return false;
  const auto det = [](double a, double b, double c, double d, double e, double f, double g, double h, double i) {
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  };
  const double all = det(s[0], s[1], s[2], s[1], s[2], s[3], s[2], s[3], s[4]);
  abc[0] = det(y[0], s[1], s[2], y[1], s[2], s[3], y[2], s[3], s[4]) / all;
  abc[1] = det(s[0], y[0], s[2], s[1], y[1], s[3], s[2], y[2], s[4]) / all / reach;
  abc[2] = det(s[0], s[1], y[0], s[1], s[2], y[1], s[2], s[3], y[2]) / all / (reach * reach);
  return std::isfinite(abc[0]) && std::isfinite(abc[1]) && abc[2] < 0.0;
}

/// For peaks under a ripple, those of the wave itself; one that begins or ends outside of the samples is left out.
std::vector<Peak> without_ripple(std::vector<Peak> peaks, const Values& t, const Values& w, const Values& weight,
                                 double spacing) {
  const double reach = 0.25 * spacing;
  std::vector<Peak> out;
  for (auto peak : peaks) {
    if (peak.time - reach < t.front() || peak.time + reach > t.back()) continue;
    double abc[3];
    for (int pass = 0; pass < 3 && parabola(t, w, weight, peak.time, reach, abc); ++pass) {
      const double shift = -0.5 * abc[1] / abc[2];
      if (std::abs(shift) > reach) break;
      peak.time += shift;
      peak.height = abc[0] - 0.25 * abc[1] * abc[1] / abc[2];
    }
    out.push_back(peak);
  }
  return out;
}

/// True if the energy falls to a tenth or less of the lower one between all neighbouring maxima. There the field
/// changes its sign, so that each maximum is a half period, also where a constant part of the field makes every other
/// one lower.
bool are_half_periods(const std::vector<Peak>& maxima, const Values& t, const Values& w) {
  for (std::size_t k = 1; k < maxima.size(); ++k) {
    const auto from = std::lower_bound(t.begin(), t.end(), maxima[k - 1].time) - t.begin();
    const auto to = std::upper_bound(t.begin(), t.end(), maxima[k].time) - t.begin();
    if (from >= to) return false;
    const double least = *std::min_element(w.begin() + from, w.begin() + to);
    if (!(least <= 0.1 * std::exp(std::min(maxima[k - 1].height, maxima[k].height)))) return false;
  }
  return true;
}

}  // namespace

WavePeaks peaks_of_wave(const Values& t, const Values& w) {
  WavePeaks out;
  const auto maxima = maxima_of(t, w);
  out.peaks = maxima;
  for (std::size_t k = 0; k < maxima.size(); ++k) out.peaks[k].number = static_cast<int>(k);
  if (maxima.size() < 3) return out;
  if (are_half_periods(maxima, t, w)) {
    out.spacing = (maxima.back().time - maxima.front().time) / static_cast<double>(maxima.size() - 1);
    return out;
  }
  for (int pass = 0; pass < 3; ++pass) {
    if (out.peaks.size() < 2) return out;
    const double rate = rate_of(out.peaks), middle = 0.5 * (t.front() + t.back());
    Values steady(w.size());
    for (std::size_t k = 0; k < t.size(); ++k) steady[k] = w[k] * std::exp(-rate * (t[k] - middle));
    level(t, steady, maxima.size());
    const double top = *std::max_element(steady.begin(), steady.end());
    for (double& value : steady) value /= top;
    find_spacing(t, steady, maxima.size(), out);
    out.peaks = highest(maxima, rate, out.spacing);
    if (out.peaks.size() < maxima.size()) out.peaks = without_ripple(out.peaks, t, w, steady, out.spacing);
  }
  for (std::size_t k = 0; k < out.peaks.size(); ++k)
    out.peaks[k].number =
        k == 0
            ? 0
            : out.peaks[k - 1].number +
                  std::max(1, static_cast<int>(std::lround((out.peaks[k].time - out.peaks[k - 1].time) / out.spacing)));
  return out;
}

Line line_through(const Values& x, const Values& y, bool correlated) {
  Line line;
  const double n = static_cast<double>(x.size());
  double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    mx += x[k] / n;
    my += y[k] / n;
  }
  for (std::size_t k = 0; k < x.size(); ++k) {
    xx += (x[k] - mx) * (x[k] - mx);
    xy += (x[k] - mx) * (y[k] - my);
    yy += (y[k] - my) * (y[k] - my);
  }
  line.slope = xy / xx;
  double squares = 0.0, neighbours = 0.0, before = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double off = y[k] - my - line.slope * (x[k] - mx);
    squares += off * off;
    neighbours += off * before;
    before = off;
  }
  line.residual = std::sqrt(squares / n);
  line.explained = yy > 0.0 ? 1.0 - squares / yy : 1.0;
  if (x.size() < 3) return line;
  double repeats = 1.0;
  if (correlated && squares > 0.0) {
    const double r = std::clamp(neighbours / squares, 0.0, 1.0);
    repeats = std::min((1.0 + r) / std::max(1.0 - r, 1e-12), n / 3.0);
  }
  line.error = std::sqrt(std::max(1.0, repeats) * squares / (n - 2.0) / xx);
  return line;
}

}  // namespace cambium::kinetic
