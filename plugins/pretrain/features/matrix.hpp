#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::pretrain {

/// A row-major matrix of doubles.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
  Matrix() = default;
  Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c), 0.0) {}
  std::span<double> row(std::int64_t k) { return std::span(values).subspan(at(k), static_cast<std::size_t>(columns)); }
  std::span<const double> row(std::int64_t k) const {
    return std::span(values).subspan(at(k), static_cast<std::size_t>(columns));
  }
  double& operator()(std::int64_t r, std::int64_t c) { return values[at(r) + static_cast<std::size_t>(c)]; }
  double operator()(std::int64_t r, std::int64_t c) const { return values[at(r) + static_cast<std::size_t>(c)]; }
  bool empty() const { return values.empty(); }

 private:
  std::size_t at(std::int64_t r) const { return static_cast<std::size_t>(r * columns); }
};

/// a b, a^T b and a b^T by BLAS.
Matrix product(const Matrix& a, const Matrix& b);
Matrix product_of_transposed(const Matrix& a, const Matrix& b);
Matrix product_with_transposed(const Matrix& a, const Matrix& b);

std::vector<double> column_means(const Matrix& a);
/// a minus the row `shift`, from each of its rows.
Matrix minus(const Matrix& a, std::span<const double> shift);
/// Rows normalised to length 1; zero rows stay.
Matrix unit_rows(Matrix a);
/// Standardises columns to mean 0 and standard deviation 1 over the rows of `of`; constant ones become 0.
Matrix standardised(const Matrix& a, const Matrix& of);
/// The rows with these indices.
Matrix rows_of(const Matrix& a, std::span<const std::int64_t> rows);

}  // namespace cambium::pretrain
