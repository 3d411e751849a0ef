#include "plugins/submatrix/columns/chemical_potential.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cambium::submatrix {

double occupation(double x, double mu, double kt) {
  if (kt <= 0.0) return x < mu ? 1.0 : x > mu ? 0.0 : 0.5;
  const double z = (x - mu) / kt;
  if (z > 700.0) return 0.0;
  return 1.0 / (1.0 + std::exp(z));
}

ElectronCount::ElectronCount(const std::vector<Spectrum>& columns, double kt, const Comm& comm) : kt_(kt), comm_(comm) {
  std::vector<std::pair<double, double>> states;
  for (const auto& column : columns)
    for (std::size_t j = 0; j < column.node.size(); ++j) states.emplace_back(column.node[j], column.weight[j]);
  std::sort(states.begin(), states.end());
  below_.push_back(0.0);
  for (const auto& [node, weight] : states) {
    node_.push_back(node);
    weight_.push_back(weight);
    below_.push_back(below_.back() + weight);
  }
  lowest_ = comm.min(node_.empty() ? 1e300 : node_.front());
  highest_ = comm.max(node_.empty() ? -1e300 : node_.back());
  all_ = 2.0 * comm.sum(below_.back());
}

double ElectronCount::step_count(double mu) const {
  ++evaluations_;
  const auto first = std::lower_bound(node_.begin(), node_.end(), mu), last = std::upper_bound(first, node_.end(), mu);
  const double below = below_[first - node_.begin()], at = below_[last - node_.begin()];
  return 2.0 * comm_.sum(0.5 * (below + at));
}

double ElectronCount::operator()(double mu) const {
  if (kt_ <= 0.0) return step_count(mu);
  ++evaluations_;
  double sum = 0.0;
  for (std::size_t j = 0; j < node_.size(); ++j) sum += weight_[j] * occupation(node_[j], mu, kt_);
  return 2.0 * comm_.sum(sum);
}

ElectronCount::Step ElectronCount::step_at(double x, const Bracket& bracket) const {
  ++evaluations_;
  const auto upto = [this](double y) { return std::upper_bound(node_.begin(), node_.end(), y) - node_.begin(); };
  const auto at = upto(x);
  double sums[3] = {below_[at], static_cast<double>(at - upto(bracket.low)),
                    static_cast<double>(upto(bracket.high) - at)};
  comm_.sum(sums);
  return {2.0 * sums[0], sums[1], sums[2]};
}

/// The lowest state up to which there are at least `electrons`. Bisection; from a guess, steps of growing width find
/// the first bracket. It ends at the one state that the bracket still holds.
double ElectronCount::edge(double electrons, const double* guess, double width) const {
  Bracket b{lowest_ - 1.0, highest_ + 1.0};
  if (all_ < electrons) return b.high;
  if (electrons <= 0.0) return b.low;
  double left = 2.0;
  const auto look = [&](double x) {
    const Step at = step_at(x, b);
    const bool enough = at.electrons >= electrons;
    (enough ? b.high : b.low) = x;
    left = enough ? at.left : at.right;
    return enough;
  };
  if (guess && *guess > b.low && *guess < b.high) {
    const double direction = look(*guess) ? -1.0 : 1.0;
    for (double step = width; left > 1.0; step *= 4.0) {
      const double x = *guess + direction * step;
      if (x <= b.low || x >= b.high || look(x) == (direction > 0.0)) break;
    }
  }
  for (int k = 0; k < 200 && left > 1.0 && b.high - b.low > 1e-15 * std::max(1.0, std::abs(b.high) + std::abs(b.low));
       ++k)
    look(0.5 * (b.low + b.high));
  if (left != 1.0) return 0.5 * (b.low + b.high);
  const auto last = std::upper_bound(node_.begin(), node_.end(), b.high);
  return comm_.max(last != node_.begin() && *(last - 1) > b.low ? *(last - 1) : -1e300);
}

ElectronCount::Gap ElectronCount::gap_around_count(double electrons, double weight, const Gap* start) const {
  const double width = start ? std::max(1e-3, 0.05 * std::abs(start->width())) : 0.0;
  return {edge(electrons - weight, start ? &start->low : nullptr, width),
          edge(electrons + weight, start ? &start->high : nullptr, width)};
}

std::vector<double> ElectronCount::on_grid(double low, double high, std::size_t points) const {
  ++evaluations_;
  std::vector<double> out(points);
  for (std::size_t k = 0; k < points; ++k) {
    const double x = low + (high - low) * static_cast<double>(k) / static_cast<double>(points - 1);
    out[k] = 2.0 * below_[std::upper_bound(node_.begin(), node_.end(), x) - node_.begin()];
  }
  comm_.sum(std::span<double>(out));
  return out;
}

/// The number of electrons in the plateau of the best score among those that an even grid over the states of
/// `electrons` -+ `window` shows; the score is of its points and of its number of electrons.
template <class Score>
double ElectronCount::best_plateau(double electrons, double window, double weight, const Score& score) const {
  const double low = std::max(lowest_, edge(electrons - window, nullptr, 0.0)),
               high = std::min(highest_, edge(electrons + window, nullptr, 0.0));
  constexpr std::size_t points = 4096;
  const std::vector<double> count = on_grid(low, high, points);
  const double most = 2.0 * weight + 1e-9 * electrons;  // sums over ranks differ in their last digits
  double best = -1.0, found = electrons;
  for (std::size_t i = 0, j = 0; j < points; ++j) {
    while (count[j] - count[i] > most) ++i;
    const double middle = count[(i + j) / 2], now = score(static_cast<double>(j - i), middle);
    if (now > best) {
      best = now;
      found = middle;
    }
  }
  return found;
}

ElectronCount::Gap ElectronCount::widest_gap(double electrons, double uncertainty, double weight) const {
  const double window = 20.0 * uncertainty;  // beyond it a gap would have to be 400 times as wide
  const double found = best_plateau(electrons, window, weight, [&](double width, double inside) {
    const double off = (inside - electrons) / uncertainty;
    return width / (1.0 + off * off);
  });
  return gap_around_count(found, weight);
}

ElectronCount::Gap ElectronCount::widest_within(double electrons, double window, double weight) const {
  const double found = best_plateau(electrons, window, weight, [&](double width, double inside) {
    return std::abs(inside - electrons) <= window ? width : -1.0;
  });
  return gap_around_count(found, weight);
}

double ElectronCount::mu_of(double electrons, double weight, const Gap* start) const {
  if (kt_ <= 0.0) return gap_around_count(electrons, weight, start).middle();
  Bracket b{lowest_ - 50.0 * kt_ - 1.0, highest_ + 50.0 * kt_ + 1.0};
  if (start) {
    const double guess = 0.5 * (start->low + start->high);
    const bool enough = (*this)(guess) >= electrons;
    (enough ? b.high : b.low) = guess;
    for (double step = std::max(kt_, 1e-3), x = guess + (enough ? -step : step); x > b.low && x < b.high;
         step *= 4.0, x = guess + (enough ? -step : step)) {
      const bool now = (*this)(x) >= electrons;
      (now ? b.high : b.low) = x;
      if (now != enough) break;
    }
  }
  return smooth_zero(electrons, b);
}

double ElectronCount::fermi_level(double electrons, double weight) const {
  constexpr double many = 20.0;  // times kT: the count is flat to 1e-4 of a state, and truncation moves it further
  const Gap gap = gap_around_count(electrons, weight);
  return kt_ > 0.0 && gap.width() > many * kt_ ? balanced_mu(gap) : mu_of(electrons, weight);
}

/// In a gap electrons and holes are few, so that their difference has no digits in the count. Their logarithms, each
/// relative to its nearest state, are straight lines in mu, with slopes 1/kT and -1/kT, away from the states. States
/// inside the gap, which hold less than the weight that its edges are found by, do not move mu, as for kT = 0.
double ElectronCount::balanced_mu(const Gap& gap) const {
  const double homo = gap.low, lumo = gap.high;
  const auto below = std::upper_bound(node_.begin(), node_.end(), homo) - node_.begin(),
             above = std::lower_bound(node_.begin(), node_.end(), lumo) - node_.begin();
  const auto count = static_cast<std::ptrdiff_t>(node_.size());
  if (homo < lowest_ || lumo > highest_) return gap.middle();  // nothing or everything is occupied
  const auto log_ratio = [&](double mu) {                      // of electrons to holes
    ++evaluations_;
    double sums[2] = {};
    for (std::ptrdiff_t j = above; j < count; ++j)
      sums[0] += weight_[j] * std::exp((lumo - node_[j]) / kt_) / (1.0 + std::exp((mu - node_[j]) / kt_));
    for (std::ptrdiff_t j = 0; j < below; ++j)
      sums[1] += weight_[j] * std::exp((node_[j] - homo) / kt_) / (1.0 + std::exp((node_[j] - mu) / kt_));
    comm_.sum(sums);
    return (mu - lumo) / kt_ + std::log(sums[0]) - (homo - mu) / kt_ - std::log(sums[1]);
  };
  Bracket b{homo, lumo};
  double mu = gap.middle();
  for (int k = 0; k < 100; ++k) {
    const double ratio = log_ratio(mu);
    (ratio < 0.0 ? b.low : b.high) = mu;
    double next = mu - 0.5 * kt_ * ratio;
    if (!(next > b.low && next < b.high)) next = 0.5 * (b.low + b.high);
    if (std::abs(next - mu) <= 1e-15 * std::max(1.0, std::abs(mu))) return next;
    mu = next;
  }
  return mu;
}

/// Bisection while the count is far from a straight line, then the Illinois form of regula falsi.
double ElectronCount::smooth_zero(double electrons, Bracket b) const {
  const double close = 1e-13 * electrons;
  const auto defect = [&](double x) { return (*this)(x)-electrons; };
  while (b.high - b.low > 2.0 * kt_) {
    const double middle = 0.5 * (b.low + b.high), d = defect(middle);
    if (std::abs(d) <= close) return middle;
    (d < 0.0 ? b.low : b.high) = middle;
  }
  double low = defect(b.low), high = defect(b.high);
  for (int k = 0, side = 0; k < 200; ++k) {
    double x = (b.low * high - b.high * low) / (high - low);
    if (!(x > b.low && x < b.high)) x = 0.5 * (b.low + b.high);
    const double d = defect(x);
    if (std::abs(d) <= close || b.high - b.low <= 1e-15 * std::max(1.0, std::abs(x))) return x;
    if (d < 0.0) {
      b.low = x;
      low = d;
      if (side < 0) high *= 0.5;
      side = -1;
    } else {
      b.high = x;
      high = d;
      if (side > 0) low *= 0.5;
      side = 1;
    }
  }
  return 0.5 * (b.low + b.high);
}

}  // namespace cambium::submatrix
