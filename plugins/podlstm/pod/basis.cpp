#include "plugins/podlstm/pod/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::podlstm {

namespace {

/// Sums of one pass over the cells of all ranks.
struct Sums {
  std::vector<double> squared;  ///< by snapshot
  double weight = 0.0;
  std::int64_t cells = 0;
};

void add(const CellBlock& block, Sums& sums) {
  const std::int64_t n = block.size();
  for (std::size_t t = 0; t < sums.squared.size(); ++t)
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = block.values[t * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
      sums.squared[t] += x * x;
    }
  for (double r : block.root_weight) sums.weight += r * r;
  sums.cells += n;
}

/// The leading eigenpairs of C = S^T W S over the training snapshots; columns are eigenvectors.
struct Pairs {
  std::vector<double> values;
  Matrix vectors;
  double residual = 0.0;
};

Pairs leading(Eigen eigen, std::int64_t modes) {
  Pairs out{{eigen.values.begin(), eigen.values.begin() + modes}, Matrix(eigen.vectors.rows, modes), 0.0};
  for (std::int64_t i = 0; i < eigen.vectors.rows; ++i)
    for (std::int64_t k = 0; k < modes; ++k) out.vectors(i, k) = eigen.vectors(i, k);
  return out;
}

/// Method of snapshots: one pass accumulates the small Gram matrix.
Pairs by_snapshots(Field& field, const BasisOptions& options, Sums& sums, const Comm& comm) {
  const std::int64_t n = field.training();
  Matrix gram(n, n);
  field.for_each_block([&](const CellBlock& b) {
    add(b, sums);
    multiply(Op::none, Op::transposed, n, n, b.size(), b.values.data(), b.size(), b.values.data(), b.size(), 1.0,
             gram.a.data(), n);
  });
  comm.sum(gram.a);
  return leading(symmetric_eigen(std::move(gram)), options.modes);
}

/// C Z in one pass, without forming C.
Matrix apply_gram(Field& field, const Matrix& z, Sums* sums, const Comm& comm) {
  Matrix out(z.rows, z.cols);
  std::vector<double> projected;
  field.for_each_block([&](const CellBlock& b) {
    if (sums) add(b, *sums);
    projected.assign(z.cols * b.size(), 0.0);
    multiply(Op::transposed, Op::none, z.cols, b.size(), z.rows, z.a.data(), z.cols, b.values.data(), b.size(), 0.0,
             projected.data(), b.size());
    multiply(Op::none, Op::transposed, z.rows, z.cols, b.size(), b.values.data(), b.size(), projected.data(), b.size(),
             1.0, out.a.data(), z.cols);
  });
  comm.sum(out.a);
  return out;
}

/// Largest |C v - theta v| / theta of the requested Ritz pairs v = Z y.
double ritz_residual(const Matrix& cz, const Matrix& z, const Eigen& small, std::int64_t modes) {
  const Matrix cv = product(cz, small.vectors), v = product(z, small.vectors);
  double worst = 0.0;
  for (std::int64_t k = 0; k < modes; ++k) {
    const double theta = small.values[k];
    double r = 0.0;
    for (std::int64_t i = 0; i < v.rows; ++i) r += std::pow(cv(i, k) - theta * v(i, k), 2);
    worst = std::max(worst, std::sqrt(r) / theta);
  }
  return worst;
}

/// Randomized subspace iteration (Halko, Martinsson and Tropp 2011, section 4.5) on C, with a Rayleigh-Ritz step in
/// each pass.
Pairs by_random_subspace(Field& field, const BasisOptions& options, Sums& sums, Context& context, bool& converged) {
  const std::int64_t n = field.training(), p = std::min(n, options.modes + options.oversampling);
  Matrix z(n, p);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < p; ++k)
      z(i, k) = Random4(context.seed, Stream::pod_sketch, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k))
                    .normal(0);
  z = orthonormal_columns(z);
  Pairs out;
  converged = false;
  for (int pass = 0; pass < options.most_passes && !converged; ++pass) {
    const Matrix cz = apply_gram(field, z, pass == 0 ? &sums : nullptr, context.comm);
    Matrix h = product(z, cz, Op::transposed);
    for (std::int64_t i = 0; i < p; ++i)
      for (std::int64_t j = 0; j < i; ++j) h(i, j) = h(j, i) = 0.5 * (h(i, j) + h(j, i));
    Eigen small = symmetric_eigen(std::move(h));
    const double residual = ritz_residual(cz, z, small, options.modes);
    converged = residual <= options.tolerance || p == n;
    small.vectors = product(z, small.vectors);
    out = leading(std::move(small), options.modes);
    out.residual = residual;
    z = orthonormal_columns(cz);
  }
  return out;
}

void require_energy(const Pairs& pairs, const std::vector<double>& squared, std::int64_t training) {
  double total = 0.0;
  for (std::int64_t t = 0; t < training; ++t) total += squared[t];
  const auto modes = std::ssize(pairs.values);
  for (std::int64_t k = 0; k < modes; ++k)
    if (!(pairs.values[k] > 1e-13 * total)) {
      if (k == 0)
        throw InputError(
            "the training snapshots are all the same, so there are no modes; name another array, or more snapshots");
      throw KeyError(
          "pod.modes.directions", "modes",
          fmt::format(
              "modes: {} requested, but the training snapshots vary in {} direction(s) only; request at most {}", modes,
              k, k));
    }
}

/// Makes the extreme coefficient of largest magnitude positive in each mode.
void fix_signs(Matrix& vectors) {
  for (std::int64_t k = 0; k < vectors.cols; ++k) {
    double extreme = 0.0;
    for (std::int64_t i = 0; i < vectors.rows; ++i)
      if (std::abs(vectors(i, k)) > std::abs(extreme) * (1.0 + 1e-6)) extreme = vectors(i, k);
    if (extreme < 0.0)
      for (std::int64_t i = 0; i < vectors.rows; ++i) vectors(i, k) = -vectors(i, k);
  }
}

/// Concatenates rows of blocks of cells.
Matrix side_by_side(const std::vector<std::vector<double>>& blocks, std::int64_t rows, std::int64_t cells) {
  Matrix out(rows, cells);
  std::int64_t from = 0;
  for (const auto& block : blocks) {
    if (rows == 0) break;
    const auto n = std::ssize(block) / rows;
    for (std::int64_t k = 0; k < rows; ++k) std::copy_n(block.data() + k * n, n, out.row(k) + from);
    from += n;
  }
  return out;
}

/// Modes of this rank's cells, before the final orthonormalisation: psi = S v / sigma, weighted by sqrt(w).
void fill_modes(Field& field, const Pairs& pairs, Basis& basis, std::vector<double>& root_weight) {
  const std::int64_t r = pairs.vectors.cols, n = field.training(), all = field.snapshots();
  std::vector<std::vector<double>> parts, years;
  basis.coefficients = Matrix(all, r);
  field.for_each_block([&](const CellBlock& b) {
    auto& psi = parts.emplace_back(static_cast<std::size_t>(r * b.size()));
    multiply(Op::transposed, Op::none, r, b.size(), n, pairs.vectors.a.data(), r, b.values.data(), b.size(), 0.0,
             psi.data(), b.size());
    for (std::int64_t k = 0; k < r; ++k)
      for (std::int64_t i = 0; i < b.size(); ++i) psi[k * b.size() + i] /= std::sqrt(pairs.values[k]);
    multiply(Op::none, Op::transposed, all, r, b.size(), b.values.data(), b.size(), psi.data(), b.size(), 1.0,
             basis.coefficients.a.data(), r);
    basis.index.insert(basis.index.end(), b.cells.begin(), b.cells.end());
    basis.mean.insert(basis.mean.end(), b.mean.begin(), b.mean.end());
    basis.norm.insert(basis.norm.end(), b.norm.begin(), b.norm.end());
    basis.trend.insert(basis.trend.end(), b.trend.begin(), b.trend.end());
    years.push_back(b.year);
    root_weight.insert(root_weight.end(), b.root_weight.begin(), b.root_weight.end());
    for (std::int64_t i = 0; i < b.size(); ++i) {
      double sum = 0.0;
      for (std::int64_t t = 0; t < n; ++t) sum += std::pow(b.values[t * b.size() + i], 2);
      basis.rest.push_back(sum);
    }
  });
  basis.modes = side_by_side(parts, r, std::ssize(basis.index));
  basis.year = side_by_side(years, 2 * field.anomalies().harmonics, std::ssize(basis.index));
}

Matrix gram_of_modes(const Basis& basis, const Comm& comm) {
  Matrix gram = product(basis.modes, basis.modes, Op::none, Op::transposed);
  comm.sum(gram.a);
  return gram;
}

/// Removes rounding errors of orthonormality: with L L^T the Gram matrix of the modes, psi and a become L^-1 psi and
/// L^-1 a.
void orthonormalise(Basis& basis, const Comm& comm) {
  const Matrix lower = cholesky(gram_of_modes(basis, comm));
  solve_lower(lower, basis.modes.a.data(), basis.modes.cols);
  Matrix rows(basis.coefficients.cols, basis.coefficients.rows);
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t t = 0; t < rows.cols; ++t) rows(i, t) = basis.coefficients(t, i);
  solve_lower(lower, rows.a.data(), rows.cols);
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t t = 0; t < rows.cols; ++t) basis.coefficients(t, i) = rows(i, t);
  const Matrix gram = gram_of_modes(basis, comm);
  for (std::int64_t i = 0; i < gram.rows; ++i)
    for (std::int64_t j = 0; j < gram.cols; ++j)
      basis.orthonormality = std::max(basis.orthonormality, std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)));
}

/// Modes in physical units and the residual variance of each cell.
void finish(Basis& basis, const std::vector<double>& root_weight, std::int64_t training) {
  for (std::int64_t i = 0; i < basis.modes.cols; ++i) {
    const double root = root_weight[i], inverse = root > 1e-12 ? 1.0 / root : 0.0;
    double explained = 0.0;
    for (std::int64_t k = 0; k < basis.modes.rows; ++k) {
      explained += std::pow(basis.modes(k, i), 2) * basis.energy[k];
      basis.modes(k, i) *= inverse;
    }
    double& rest = basis.rest[i];
    rest = std::max(0.0, rest - explained) * inverse * inverse / static_cast<double>(training);
  }
}

}  // namespace

double Basis::truncation(std::int64_t first, std::int64_t last) const {
  double sum = 0.0;
  for (std::int64_t t = first; t < last; ++t) {
    sum += squared[t];
    for (std::int64_t k = 0; k < coefficients.cols; ++k) sum -= coefficients(t, k) * coefficients(t, k);
  }
  return std::sqrt(std::max(0.0, sum) / (weight * static_cast<double>(last - first)));
}

std::vector<double> Basis::sampling_errors(std::int64_t training) const {
  std::vector<double> out;
  for (std::int64_t k = 0; k < coefficients.cols; ++k) {
    double square = 0.0, next = 0.0, mean = 0.0;
    for (std::int64_t t = 0; t < training; ++t) mean += coefficients(t, k) / static_cast<double>(training);
    for (std::int64_t t = 0; t < training; ++t) {
      square += std::pow(coefficients(t, k) - mean, 2);
      if (t > 0) next += (coefficients(t, k) - mean) * (coefficients(t - 1, k) - mean);
    }
    const double r = square > 0.0 ? next / square : 0.0;
    const double independent = static_cast<double>(training) * (1.0 - r * r) / (1.0 + r * r);
    out.push_back(std::sqrt(2.0 / std::max(1.0, independent)));
  }
  return out;
}

void require_snapshots(std::int64_t modes, const Field& field) {
  if (modes > field.training())
    throw KeyError(
        "pod.modes.snapshots", "modes",
        fmt::format(
            "modes: {} requested, but there are only {} training snapshots; request at most {} or add snapshots", modes,
            field.training(), field.training()));
}

Basis compute_basis(Field& field, const BasisOptions& options, Context& context) {
  require_snapshots(options.modes, field);
  Sums sums;
  sums.squared.assign(field.snapshots(), 0.0);
  Basis basis;
  Pairs pairs = options.method == PodMethod::snapshots
                    ? by_snapshots(field, options, sums, context.comm)
                    : by_random_subspace(field, options, sums, context, basis.converged);
  context.comm.sum(sums.squared);
  basis.squared = sums.squared;
  basis.weight = context.comm.sum(sums.weight);
  basis.cells = context.comm.sum(sums.cells);
  field.require_cells(basis.cells);
  require_energy(pairs, basis.squared, field.training());
  fix_signs(pairs.vectors);
  std::vector<double> root_weight;
  fill_modes(field, pairs, basis, root_weight);
  context.comm.sum(basis.coefficients.a);
  orthonormalise(basis, context.comm);
  basis.residual = pairs.residual;
  for (std::int64_t t = 0; t < field.training(); ++t) basis.total_energy += basis.squared[t];
  basis.energy.assign(options.modes, 0.0);
  for (std::int64_t t = 0; t < field.training(); ++t)
    for (std::int64_t k = 0; k < options.modes; ++k) basis.energy[k] += std::pow(basis.coefficients(t, k), 2);
  finish(basis, root_weight, field.training());
  return basis;
}

}  // namespace cambium::podlstm
