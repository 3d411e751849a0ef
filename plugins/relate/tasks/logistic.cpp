#include "plugins/relate/tasks/logistic.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "plugins/relate/datasets/streams.hpp"
#include "plugins/relate/tasks/scores.hpp"

namespace cambium::relate {

namespace {

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// Differences of x and gradient in one step.
struct Pair {
  std::vector<double> s, y;
  double rho = 0.0;
};

/// -H g, by Nocedal's two-loop recursion.
std::vector<double> direction_of(const std::deque<Pair>& pairs, const std::vector<double>& g) {
  std::vector<double> q = g, alpha(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    alpha[k] = pairs[k].rho * inner(pairs[k].s, q);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] -= alpha[k] * pairs[k].y[i];
  }
  if (!pairs.empty()) {
    const double scale = 1.0 / (pairs.back().rho * inner(pairs.back().y, pairs.back().y));
    for (double& value : q) value *= scale;
  }
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const double beta = pairs[k].rho * inner(pairs[k].y, q);
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += (alpha[k] - beta) * pairs[k].s[i];
  }
  for (double& value : q) value = -value;
  return q;
}

}  // namespace

std::vector<double> minimise(std::vector<double> x,
                             const std::function<double(const std::vector<double>&, std::vector<double>&)>& gradient,
                             int steps) {
  constexpr std::size_t kept = 10;
  std::vector<double> g(x.size()), next_g(x.size());
  double value = gradient(x, g);
  std::deque<Pair> pairs;
  for (int step = 0; step < steps; ++step) {
    auto d = direction_of(pairs, g);
    double slope = inner(d, g);
    if (!(slope < -1e-14 * (1.0 + std::abs(value)))) break;
    double length = pairs.empty() ? std::min(1.0, 1.0 / std::sqrt(inner(g, g))) : 1.0, next = 0.0;
    std::vector<double> to(x.size());
    for (int halved = 0; halved < 40; ++halved, length *= 0.5) {
      for (std::size_t k = 0; k < x.size(); ++k) to[k] = x[k] + length * d[k];
      next = gradient(to, next_g);
      if (next <= value + 1e-4 * length * slope) break;
    }
    if (!(next < value)) break;
    Pair pair{to, next_g};
    for (std::size_t k = 0; k < x.size(); ++k) {
      pair.s[k] -= x[k];
      pair.y[k] -= g[k];
    }
    const double curvature = inner(pair.s, pair.y), gained = value - next;
    x = std::move(to);
    g = next_g;
    value = next;
    if (curvature > 1e-300) {
      pair.rho = 1.0 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kept) pairs.pop_front();
    }
    if (gained < 1e-10 * (1.0 + std::abs(value))) break;
  }
  return x;
}

double LogisticRegression::score(const RecordSet& records, std::int64_t record, const std::vector<double>& w) const {
  double out = w.back();
  const std::size_t numbers = mean_.size();
  for (std::size_t k = 0; k < numbers; ++k)
    out += w[k] * scale_[k] * (records.number[static_cast<std::size_t>(record) * numbers + k] - mean_[k]);
  for (std::size_t c = 0; c < first_.size(); ++c)
    for (const auto row : records.bag_of(record, c)) out += w[first_[c] + row];
  return out;
}

std::vector<double> LogisticRegression::fit(const RecordSet& records, const std::vector<std::int64_t>& chosen,
                                            double lambda) const {
  const double share = 1.0 / static_cast<double>(chosen.size());
  const auto gradient = [&](const std::vector<double>& w, std::vector<double>& g) {
    double value = 0.0;
    for (std::size_t k = 0; k < w.size(); ++k) {
      const bool punished = k + 1 < w.size();
      g[k] = punished ? lambda * w[k] : 0.0;
      if (punished) value += 0.5 * lambda * w[k] * w[k];
    }
    for (const auto r : chosen) {
      const double x = score(records, r, w), y = records.answers[r];
      value += share * (std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) - y * x);
      const double by = share * (1.0 / (1.0 + std::exp(-x)) - y);
      for (std::size_t k = 0; k < mean_.size(); ++k)
        g[k] += by * scale_[k] * (records.number[static_cast<std::size_t>(r) * mean_.size() + k] - mean_[k]);
      for (std::size_t c = 0; c < first_.size(); ++c)
        for (const auto row : records.bag_of(r, c)) g[first_[c] + row] += by;
      g.back() += by;
    }
    return value;
  };
  return minimise(std::vector<double>(count_, 0.0), gradient, 300);
}

LogisticRegression::LogisticRegression(const RecordSet& training) {
  const std::size_t numbers = training.numbers.size();
  const double n = static_cast<double>(training.size());
  for (std::size_t k = 0; k < numbers; ++k) {
    double sum = 0.0, squares = 0.0;
    for (std::int64_t r = 0; r < training.size(); ++r) {
      const double x = training.number[static_cast<std::size_t>(r) * numbers + k];
      sum += x;
      squares += x * x;
    }
    mean_.push_back(sum / n);
    const double deviation = std::sqrt(std::max(squares / n - sum * sum / n / n, 0.0));
    scale_.push_back(deviation > 1e-9 ? 1.0 / deviation : 1.0);
  }
  std::int64_t next = static_cast<std::int64_t>(numbers);
  for (const auto& column : training.columns) {
    first_.push_back(next);
    next += column.rows;
  }
  count_ = static_cast<std::size_t>(next + 1);
  std::vector<std::int64_t> all, most, rest;
  for (std::int64_t r = 0; r < training.size(); ++r) {
    all.push_back(r);
    const bool held = Random4(1, fold_stream, static_cast<std::uint64_t>(r), 99).uniform(0) < 0.2;
    (held ? rest : most).push_back(r);
  }
  double best = -1.0;
  std::vector<double> truth;
  for (const auto r : rest) truth.push_back(training.answers[r]);
  for (const double lambda : {1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1}) {
    const auto weights = fit(training, most, lambda);
    std::vector<double> scores;
    for (const auto r : rest) scores.push_back(score(training, r, weights));
    const double area = area_under_curve(truth, scores, 0.5);
    if (best < 0.0 || area > best) {
      best = area;
      lambda_ = lambda;
    }
  }
  weights_ = fit(training, all, lambda_);
}

std::vector<double> LogisticRegression::probabilities(const RecordSet& records) const {
  std::vector<double> out;
  for (std::int64_t r = 0; r < records.size(); ++r) out.push_back(1.0 / (1.0 + std::exp(-score(records, r, weights_))));
  return out;
}

}  // namespace cambium::relate
