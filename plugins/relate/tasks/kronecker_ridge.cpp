#include <cmath>

#include "core/numerics/gemm.hpp"
#include "plugins/relate/tasks/pair_baselines.hpp"

namespace cambium::relate {

namespace {

std::vector<double> powers_of(const std::vector<double>& similarity, int power) {
  std::vector<double> out(similarity.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::pow(similarity[k], power);
  return out;
}

/// Powers of the similarities of compounds and targets.
class KroneckerKernel {
 public:
  KroneckerKernel(const PairMatrices& m, const KroneckerChoice& choice)
      : rows_(static_cast<int>(m.compounds)), columns_(static_cast<int>(m.targets)),
        a_(powers_of(m.compound_similarity, choice.compound_power)),
        b_(powers_of(m.target_similarity, choice.target_power)), half_(m.value.size()) {}
  /// y = A x B
  void apply(const std::vector<double>& x, std::vector<double>& y) {
    host_gemm<double>(false, false, rows_, columns_, rows_, 1.0, a_.data(), rows_, x.data(), columns_, 0.0,
                      half_.data(), columns_);
    host_gemm<double>(false, false, rows_, columns_, columns_, 1.0, half_.data(), columns_, b_.data(), columns_, 0.0,
                      y.data(), columns_);
  }

 private:
  int rows_, columns_;
  std::vector<double> a_, b_, half_;
};

double squared_norm(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return sum;
}

/// Predictions of a fit to the pairs of `mask`.
std::vector<double> fitted(const PairMatrices& m, const std::vector<double>& base, const std::vector<char>& mask,
                           const KroneckerChoice& choice, int steps) {
  KroneckerKernel kernel(m, choice);
  std::vector<double> r(base.size(), 0.0), x(base.size(), 0.0), q(base.size());
  for (std::size_t k = 0; k < r.size(); ++k)
    if (mask[k]) r[k] = m.value[k] - base[k];
  std::vector<double> p = r;
  const double size = squared_norm(r);
  double norm = size;
  for (int step = 0; step < steps && norm > 0.0; ++step) {
    kernel.apply(p, q);
    double slope = 0.0;
    for (std::size_t k = 0; k < q.size(); ++k) {
      q[k] = (mask[k] ? q[k] : 0.0) + choice.lambda * p[k];
      slope += p[k] * q[k];
    }
    const double length = norm / slope;
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] += length * p[k];
      r[k] -= length * q[k];
    }
    const double next = squared_norm(r);
    if (next < 1e-8 * size) break;
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = r[k] + next / norm * p[k];
    norm = next;
  }
  kernel.apply(x, q);
  for (std::size_t k = 0; k < q.size(); ++k) q[k] += base[k];
  return q;
}

}  // namespace

std::vector<double> kronecker_ridge(const PairMatrices& m, const std::vector<double>& base,
                                    const std::vector<char>& held, KroneckerChoice& choice) {
  PairMatrices inner = m;
  for (std::size_t k = 0; k < held.size(); ++k)
    if (held[k]) inner.known[k] = 0;
  const auto means = additive_means(inner);  // excluding the held-out pairs, too
  double best = -1.0;
  static constexpr int powers[][2] = {{1, 1}, {2, 4}, {4, 8}};
  for (const double lambda : {0.1, 0.3, 1.0, 3.0})
    for (const auto& power : powers) {
      KroneckerChoice tried{lambda, power[0], power[1], {}};
      tried.without_held = fitted(m, means, inner.known, tried, 60);
      double error = 0.0;
      for (std::size_t k = 0; k < held.size(); ++k)
        if (held[k] && m.known[k]) error += (m.value[k] - tried.without_held[k]) * (m.value[k] - tried.without_held[k]);
      if (best < 0.0 || error < best) {
        best = error;
        choice = std::move(tried);
      }
    }
  return fitted(m, base, m.known, choice, 300);
}

}  // namespace cambium::relate
