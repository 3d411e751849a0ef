#include "plugins/graph/transport/conjugate_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/exact_sum.hpp"
#include "core/sparse/products.hpp"

namespace cambium::graph {

std::vector<double> ConjugateGradients::products(std::span<const double> a, std::span<const double> b) const {
  const std::size_t columns = a.size() / static_cast<std::size_t>(range_.owned());
  std::vector<ExactSum> sums(columns);
  for (std::size_t i = 0; i < a.size(); i += columns)
    for (std::size_t k = 0; k < columns; ++k) sums[k].add(a[i + k] * b[i + k]);
  ExactSum::over_ranks(sums, range_.comm());
  std::vector<double> out;
  for (const auto& sum : sums) out.push_back(sum.value());
  return out;
}

/// out = (M + s K) in, 0 for prescribed values; exchanges the neighbours' rows of `in`.
void ConjugateGradients::apply(const System& system, std::span<double> in, std::span<double> out) {
  const auto columns = std::ssize(system.scale), owned = range_.owned();
  range_.exchange(in, static_cast<int>(columns));
  sparse::multiply(*system.stiffness, {in.data(), range_.local(), columns, columns},
                   {out.data(), owned, columns, columns});
  const double* own = in.data();
  for (std::int64_t i = 0, at = 0; i < owned; ++i)
    for (std::int64_t k = 0; k < columns; ++k, ++at)
      out[at] = !system.fixed.empty() && system.fixed[i] ? 0.0 : system.mass[i] * own[at] + system.scale[k] * out[at];
}

void ConjugateGradients::prepare(const System& system, std::span<double> u, std::span<const double> b) {
  const auto columns = std::ssize(system.scale), owned = range_.owned();
  residual_.resize(owned * columns);
  image_.resize(owned * columns);
  scaled_.resize(owned * columns);
  inverse_.resize(owned * columns);
  direction_.assign(range_.local() * columns, 0.0);
  for (std::int64_t i = 0; i < owned; ++i) {
    double diagonal = 0.0;
    const auto row = system.stiffness->columns_of(i);
    for (std::size_t e = 0; e < row.size(); ++e)
      if (row[e] == i) diagonal = system.stiffness->values_of(i)[e];
    for (std::int64_t k = 0; k < columns; ++k)
      inverse_[i * columns + k] = 1.0 / (system.mass[i] + system.scale[k] * diagonal);
  }
  apply(system, u, image_);
  for (std::int64_t i = 0, at = 0; i < owned; ++i)
    for (std::int64_t k = 0; k < columns; ++k, ++at)
      residual_[at] = !system.fixed.empty() && system.fixed[i] ? 0.0 : b[at] - image_[at];
}

void ConjugateGradients::solve(const System& system, std::span<double> u, std::span<const double> b) {
  const auto columns = std::ssize(system.scale), owned = range_.owned();
  const auto scaled = [&](std::span<const double> of) -> std::span<const double> {
    for (std::size_t at = 0; at < of.size(); ++at) scaled_[at] = inverse_[at] * of[at];
    return scaled_;
  };
  prepare(system, u, b);
  auto size = products(b, scaled(b)), rest = products(residual_, scaled(residual_));
  double* own_u = u.data();
  double* own_p = direction_.data();
  std::copy(scaled_.begin(), scaled_.end(), own_p);
  for (std::int64_t k = 0; k < columns; ++k) size[k] = tolerance_ * tolerance_ * std::max(size[k], rest[k]);
  for (int step = 0;; ++step) {
    bool done = true, finite = true;
    double worst = 0.0;
    for (std::int64_t k = 0; k < columns; ++k) {
      done = done && rest[k] <= size[k];
      finite = finite && std::isfinite(rest[k]);
      if (rest[k] > size[k]) worst = std::max(worst, tolerance_ * std::sqrt(rest[k] / size[k]));
    }
    if (done) return;
    if (!finite)
      throw NumericalError(
          "conjugate gradients: the right-hand side is not finite any more; take a shorter 'timestep'");
    if (step == most)
      throw NumericalError(fmt::format(
          "conjugate gradients: the residual is {:.3g} of the right-hand side after {} steps, not {:g}; take a shorter "
          "'timestep' or a larger 'tolerance'",
          worst, step, tolerance_));
    ++steps_;
    apply(system, direction_, image_);
    const auto curvature = products({own_p, image_.size()}, image_);
    std::vector<double> length(columns), keep(columns);
    for (std::int64_t k = 0; k < columns; ++k)
      length[k] = rest[k] <= size[k] || curvature[k] <= 0.0 ? 0.0 : rest[k] / curvature[k];
    for (std::int64_t i = 0, at = 0; i < owned; ++i)
      for (std::int64_t k = 0; k < columns; ++k, ++at) {
        own_u[at] += length[k] * own_p[at];
        residual_[at] -= length[k] * image_[at];
      }
    const auto before = rest;
    rest = products(residual_, scaled(residual_));
    for (std::int64_t k = 0; k < columns; ++k) keep[k] = before[k] > 0.0 ? rest[k] / before[k] : 0.0;
    for (std::int64_t i = 0, at = 0; i < owned; ++i)
      for (std::int64_t k = 0; k < columns; ++k, ++at) own_p[at] = scaled_[at] + keep[k] * own_p[at];
  }
}

}  // namespace cambium::graph
