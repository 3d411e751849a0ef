#include "plugins/podlstm/forecast/ensemble_members.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel/random.hpp"

namespace cambium::podlstm {

namespace {

/// Square root S, S S^T = A, of a positive semidefinite A: eigenvectors times roots of eigenvalues.
Matrix root_of(const Matrix& a) {
  const Eigen eigen = symmetric_eigen(a);
  Matrix out = eigen.vectors;
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t k = 0; k < out.cols; ++k)
      out(i, k) *= std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(k)]));
  return out;
}

}  // namespace

std::vector<Matrix> noise_members(const LinearInverseModel& model, std::int64_t members, std::int64_t windows,
                                  std::int64_t leads, std::uint64_t seed) {
  const std::int64_t m = model.modes();
  const Matrix step = model.propagator(1.0), root = root_of(model.error_covariance(1.0));
  std::vector<Matrix> out(static_cast<std::size_t>(members), Matrix(windows, leads * m));
  for (std::int64_t e = 0; e < members; ++e) {
    Matrix x(windows, m), noise(windows, m);
    for (std::int64_t h = 0; h < leads; ++h) {
      for (std::int64_t w = 0; w < windows; ++w)
        for (std::int64_t k = 0; k < m; ++k) {
          const auto number = static_cast<std::uint64_t>((e * leads + h) * m + k);
          noise(w, k) = Random4(seed, stream("podlstm.lim_noise"), static_cast<std::uint64_t>(w), number).normal(0);
        }
      x = product(x, step, Op::none, Op::transposed);
      const Matrix push = product(noise, root, Op::none, Op::transposed);
      for (std::size_t i = 0; i < x.a.size(); ++i) x.a[i] += push.a[i];
      for (std::int64_t w = 0; w < windows; ++w)
        for (std::int64_t k = 0; k < m; ++k)
          out[static_cast<std::size_t>(e)](w, h * m + k) = model.scale()[static_cast<std::size_t>(k)] * x(w, k);
    }
  }
  return out;
}

Matrix noise_deviation(const LinearInverseModel& model, std::int64_t leads) {
  Matrix out(leads, model.modes());
  for (std::int64_t h = 0; h < leads; ++h) {
    const Matrix covariance = model.error_covariance(static_cast<double>(h + 1));
    for (std::int64_t k = 0; k < out.cols; ++k)
      out(h, k) = model.scale()[static_cast<std::size_t>(k)] * std::sqrt(std::max(0.0, covariance(k, k)));
  }
  return out;
}

Matrix spread_factors(const LimOptions& options, const Matrix& forecast, const Stretch& s,
                      const std::vector<Split>& splits, const WindowShape& shape) {
  Matrix out(shape.future, s.a.cols);
  std::int64_t row = 0;
  for (const auto& split : splits) {
    LinearInverseModel model(options);
    model.fit({s, shape, split});
    const Matrix deviation = noise_deviation(model, shape.future), truth = targets(s.a, split.validation, shape);
    for (std::int64_t i = 0; i < truth.rows; ++i, ++row)
      for (std::int64_t j = 0; j < truth.cols; ++j) {
        const double size = deviation.a[static_cast<std::size_t>(j)], error = truth(i, j) - forecast(row, j);
        out.a[static_cast<std::size_t>(j)] += size > 0.0 ? error * error / (size * size) : 1.0;
      }
  }
  for (double& x : out.a) x = std::sqrt(x / static_cast<double>(row));
  return out;
}

std::vector<Matrix> around(const Matrix& mean, std::vector<Matrix> deviations, const Matrix& factors) {
  for (auto& member : deviations)
    for (std::size_t i = 0; i < member.a.size(); ++i)
      member.a[i] = mean.a[i] + factors.a[i % factors.a.size()] * member.a[i];
  return deviations;
}

}  // namespace cambium::podlstm
