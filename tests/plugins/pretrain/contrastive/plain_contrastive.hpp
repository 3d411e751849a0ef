#pragma once
// Contrastive losses on one process, as plainly as possible, in double: loops over pairs, no shifted exponentials but
// those of the scheme v2 itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "plugins/pretrain/contrastive/contrastive_keys.hpp"

namespace cambium::train::testing {

using Rows = std::vector<std::vector<double>>;

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

struct PlainState {
  double u = 0.0, bound = 0.0, tau = 0.0, m = 0.0, v = 0.0;
};

struct PlainResult {
  double infonce = 0.0, objective = 0.0, temperature = 0.0;
  Rows first, second;
};

class PlainContrastive {
 public:
  PlainContrastive(const ContrastiveKeys& keys, std::int64_t samples) : keys_(keys), samples_(samples) {}

  /// a, b: features of a whole batch.
  PlainResult step(const Rows& a, const Rows& b, const std::vector<std::int64_t>& ids, double tau) {
    n_ = a.size();
    PlainResult out;
    out.first.assign(n_, std::vector<double>(a[0].size(), 0.0));
    out.second = out.first;
    const std::int64_t epoch = seen_ / samples_;
    gamma_ = epoch == 0 ? 1.0 : keys_.inner_rate.at(epoch);
    for (std::size_t i = 0; i < n_; ++i) {
      anchor(a, b, i, states_[ids[i]][0], tau, epoch, out, out.first, out.second);
      anchor(b, a, i, states_[ids[i]][1], tau, epoch, out, out.second, out.first);
    }
    seen_ += static_cast<std::int64_t>(n_);
    return out;
  }
  const PlainState& state(std::int64_t id, int view) { return states_[id][view]; }

 private:
  void anchor(const Rows& x, const Rows& y, std::size_t i, PlainState& s, double tau, std::int64_t epoch,
              PlainResult& out, Rows& dx, Rows& dy) {
    using S = ContrastiveScheme;
    const bool own = keys_.scheme == S::v2;
    if (s.tau == 0.0) s.tau = keys_.first_temperature();
    const double t = own ? s.tau : tau, others = static_cast<double>(n_ - 1);
    std::vector<double> d(n_);
    double bound = s.bound, all = 1.0;
    for (std::size_t j = 0; j < n_; ++j) {
      d[j] = (dot(x[i], y[j]) - dot(x[i], y[i])) / t;
      if (own) bound = std::max(bound, d[j]);
      if (j != i) all += std::exp(d[j]);
    }
    out.infonce += 0.5 * std::log(all);
    double g = 0.0, gd = 0.0;
    for (std::size_t j = 0; j < n_; ++j)
      if (j != i) g += std::exp(d[j] - bound) / others, gd += std::exp(d[j] - bound) * d[j] / others;
    double factor = 0.0;  // of d g / d s
    if (keys_.scheme == S::infonce) {
      factor = 0.5 * others / (all * t);
      out.objective += 0.5 * std::log(all);
      out.temperature -= 0.5 * gd * others / all / t;
    } else {
      s.u *= std::exp(s.bound - bound);
      s.bound = bound;
      s.u = gamma_ < 1.0 && (s.u < 1e-35 || !std::isfinite(s.u)) ? g : (1.0 - gamma_) * s.u + gamma_ * g;
      const double u = s.u + keys_.epsilon, log_u = std::log(u) + bound;
      const double rho = own || keys_.scheme == S::v3 ? keys_.rho_or_default() : 0.0;
      factor = 0.5 / u * (keys_.scheme == S::v0 ? 1.0 / t : 1.0);
      out.objective += 0.5 * (keys_.scheme == S::v0 ? log_u : t * (log_u + rho));
      out.temperature += keys_.scheme == S::v0 ? -0.5 * gd / u / t : own ? 0.0 : 0.5 * (log_u + rho - gd / u);
      if (own) turn(s, std::clamp(log_u + rho - gd / u, -5.0, 5.0), epoch);
    }
    for (std::size_t j = 0; j < n_; ++j) {
      if (j == i) continue;
      const double c = factor * std::exp(d[j] - bound) / others;
      for (std::size_t k = 0; k < x[i].size(); ++k) {
        dx[i][k] += c * (y[j][k] - y[i][k]);
        dy[j][k] += c * x[i][k];
        dy[i][k] -= c * x[i][k];
      }
    }
  }

  void turn(PlainState& s, double gradient, std::int64_t epoch) const {
    const double b1 = epoch == 0 ? 0.0 : 0.9, b2 = epoch == 0 ? 0.0 : 0.999;
    s.m = b1 * s.m + (1.0 - b1) * gradient;
    s.v = b2 * s.v + (1.0 - b2) * gradient * gradient;
    const double e = static_cast<double>(epoch + 1);
    const double step = s.m / (1.0 - std::pow(b1, e)) / (std::sqrt(s.v / (1.0 - std::pow(b2, e))) + 1e-8);
    s.tau = std::clamp(s.tau - keys_.temperature_rate() * step, keys_.temperature.least, keys_.temperature.most);
  }

  ContrastiveKeys keys_;
  std::int64_t samples_, seen_ = 0;
  std::size_t n_ = 0;
  double gamma_ = 1.0;
  std::map<std::int64_t, std::array<PlainState, 2>> states_;
};

}  // namespace cambium::train::testing
