// Every solver against the full eigendecomposition of the same submatrix.
#include "plugins/submatrix/columns/block_lanczos.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

const MatrixFunction step = [](double x) { return occupation(x, 0.0, 0.0); };

/// A dense symmetric matrix with a gap at 0 as a block matrix on one rank: blocks of 4.
struct Gapped {
  World world{MPI_COMM_SELF};
  std::shared_ptr<const BlockLayout> layout;
  BlockColumns matrix;
  std::vector<double> dense;
  int n;

  /// `one_path`: blocks see their neighbours through one function each, so that most directions of a Krylov block
  /// vanish.
  explicit Gapped(int blocks, double coupling = 0.15, bool one_path = false)
      : layout(std::make_shared<const BlockLayout>(std::vector<int>(blocks, 4))), matrix(layout), n(4 * blocks) {
    dense = random_symmetric(n, 5);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        auto& x = dense[i * n + j];
        x *= coupling * std::exp(-0.4 * std::abs(i / 4 - j / 4));
        if (one_path && i / 4 != j / 4) x = std::abs(i / 4 - j / 4) == 1 && i % 4 == 0 && j % 4 == 0 ? 0.7 : 0.0;
        if (i == j) x += i % 4 < 2 ? -1.0 : 1.0;
      }
    for (int c = 0; c < blocks; ++c) {
      matrix.start_column(c);
      for (int r = 0; r < blocks; ++r) {
        double* block = matrix.add_block(r);
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 4; ++j) block[i * 4 + j] = dense[(4 * r + i) * n + 4 * c + j];
      }
    }
    matrix.finish();
  }

  /// Largest difference of the block column of f(A) from the dense one, and of the trace.
  double worst(ColumnSolver& solver, int column, const MatrixFunction& f) {
    std::int64_t bytes = 0;
    const ColumnSet set =
        fetch_columns(matrix, ColumnRanges{{0, layout->blocks()}}, {}, WantedRows::all, world.comm, bytes);
    const double trace = solver.decompose(principal_index(matrix, column, 0.0), set, 0.0, f).trace(f);
    std::vector<double> out;
    solver.column(f, out);
    const Dense exact = dense_eigen(dense, n);
    double difference = 0.0, exact_trace = 0.0;
    for (int i = 0; i < n; ++i)
      for (int q = 0; q < 4; ++q) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j)
          sum += exact.vector[i * n + j] * exact.vector[(4 * column + q) * n + j] * f(exact.value[j]);
        difference = std::max(difference, std::abs(sum - out[i * 4 + q]));
        if (i == 4 * column + q) exact_trace += sum;
      }
    return std::max(difference, std::abs(trace - exact_trace));
  }
};

}  // namespace

TEST_CASE("diagonalisation is exact") {
  Gapped sample(12);
  const auto solver = make_diagonaliser(12);
  CHECK(sample.worst(*solver, 0, step) < 1e-12);
  CHECK(sample.worst(*solver, 7, [](double x) { return occupation(x, 0.1, 0.05); }) < 1e-12);
}

TEST_CASE("directions that vanish from Krylov blocks fill no space: Lanczos goes on to the end of a chain") {
  Gapped sample(14, 0.15, true);
  const auto narrow_gap = [](double x) { return occupation(x, 0.0, 0.02); };
  for (int column : {0, 6}) {
    KrylovOptions options;
    options.tolerance = 1e-12;
    const auto wide = make_lanczos<double>(14, options);
    CHECK(sample.worst(*wide, column, narrow_gap) < 1e-10);
    CHECK(!wide->report().fell_back);
    CHECK(wide->report().steps > (column == 0 ? 14 : 8));
    options.tolerance = 1e-5;
    CHECK(sample.worst(*make_lanczos<float>(14, options), column, narrow_gap) < 1e-4);
  }
}

TEST_CASE("sign iterations, each precision to what it can") {
  Gapped sample(12);
  for (bool pade : {false, true}) {
    CHECK(sample.worst(*make_sign_iteration(12, pade, Precision::float64, 0.0), 5, step) < 1e-8);
    CHECK(sample.worst(*make_sign_iteration(12, pade, Precision::float32, 0.0), 5, step) < 1e-4);
    const double low = sample.worst(*make_sign_iteration(12, pade, Precision::bfloat16, 0.0), 5, step);
    CHECK(low < 0.1);
    CHECK(low > 1e-4);
  }
}

TEST_CASE("block Lanczos keeps its own tolerance, for every function") {
  Gapped sample(40);
  for (double tolerance : {1e-2, 1e-4, 1e-8}) {
    KrylovOptions options;
    options.tolerance = tolerance;
    options.first = 3;
    options.step = 1;
    const auto solver = make_lanczos<double>(40, options);
    CHECK(sample.worst(*solver, 11, step) < tolerance);
    CHECK(solver->report().steps < 40);
    CHECK(sample.worst(*solver, 39, [](double x) { return occupation(x, 0.0, 0.02); }) < tolerance);
  }
  KrylovOptions options;
  options.tolerance = 1e-5;
  CHECK(sample.worst(*make_lanczos<float>(40, options), 11, step) < 3e-5);
}

TEST_CASE("a Krylov space that is exhausted gives the exact answer") {
  KrylovOptions options;
  options.tolerance = 0.0;
  SECTION("small submatrix") {
    Gapped sample(5);
    CHECK(sample.worst(*make_lanczos<double>(5, options), 2, step) < 1e-12);
    CHECK(sample.worst(*make_lanczos<float>(5, options), 2, step) < 1e-5);
  }
  SECTION("one block") {
    Gapped sample(1);
    CHECK(sample.worst(*make_lanczos<double>(1, options), 0, step) < 1e-12);
  }
  SECTION("blocks that do not see each other") {
    Gapped sample(9, 0.0);
    CHECK(sample.worst(*make_lanczos<double>(9, options), 4, step) < 1e-13);
  }
}

TEST_CASE("a Krylov space that nearly fills the submatrix keeps an orthogonal basis and the right trace") {
  // Rows of the next block lose nearly all of their length, one after the other, where little of the space is left.
  double trace_error = 0.0, orthogonal = 0.0;
  for (int n = 9; n < 40; ++n)
    for (int width = 2; width < 6; ++width)
      for (double fall : {0.4, 1.5, 3.0}) {
        auto dense = random_symmetric(n, static_cast<unsigned>(n + 100 * width));
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            auto& x = dense[i * n + j];
            x = 0.3 * x * std::exp(-fall * std::abs(i - j)) + (i == j ? (i % 2 == 0 ? -1.0 : 1.0) : 0.0);
          }
        const int ld = 48, centre = (n - width) / 2;
        AlignedBuffer<double> a(static_cast<std::size_t>(n * ld));
        std::fill_n(a.data(), n * ld, 0.0);
        for (int i = 0; i < n; ++i) std::copy_n(dense.data() + i * n, n, a.data() + i * ld);
        BlockLanczos<double> lanczos;
        lanczos.start(a.data(), n, ld, centre, width);
        lanczos.extend(60);
        REQUIRE(lanczos.exhausted());
        const int k = lanczos.projected_rows();
        std::vector<double> t(k * k), unit(static_cast<std::size_t>(width * k)),
            basis(static_cast<std::size_t>(k * ld));
        for (int p = 0; p < k; p += width) {
          std::fill(unit.begin(), unit.end(), 0.0);
          const int here = std::min(width, k - p);
          for (int q = 0; q < here; ++q) unit[q * k + p + q] = 1.0;
          AlignedBuffer<double> rows(static_cast<std::size_t>(width * ld));
          lanczos.combine(unit.data(), rows.data());
          std::copy_n(rows.data(), here * ld, basis.data() + p * ld);
        }
        for (int p = 0; p < k; ++p)
          for (int q = 0; q < p; ++q) {
            double dot = 0.0;
            for (int i = 0; i < n; ++i) dot += basis[p * ld + i] * basis[q * ld + i];
            orthogonal = std::max(orthogonal, std::abs(dot));
          }
        lanczos.projected(t.data());
        const Dense krylov = dense_eigen(t, k), exact = dense_eigen(dense, n);
        double found = 0.0, wanted = 0.0;
        for (int q = 0; q < width; ++q) {
          for (int j = 0; j < k; ++j) found += std::pow(krylov.vector[q * k + j], 2) * step(krylov.value[j]);
          for (int j = 0; j < n; ++j) wanted += std::pow(exact.vector[(centre + q) * n + j], 2) * step(exact.value[j]);
        }
        trace_error = std::max(trace_error, std::abs(found - wanted));
      }
  INFO("trace off by " << trace_error << ", basis not orthogonal by " << orthogonal);
  CHECK(orthogonal < 1e-12);
  CHECK(trace_error < 1e-12);
}

TEST_CASE("a solver takes a wider block after a narrow one") {
  Gapped sample(30);
  const int n = sample.n, ld = 128;
  AlignedBuffer<double> a(static_cast<std::size_t>(n * ld));
  std::fill_n(a.data(), n * ld, 0.0);
  for (int i = 0; i < n; ++i) std::copy_n(sample.dense.data() + i * n, n, a.data() + i * ld);
  BlockLanczos<double> reused, fresh;
  reused.start(a.data(), n, ld, 3, 1);
  reused.extend(2);
  for (auto* lanczos : {&reused, &fresh}) {
    lanczos->start(a.data(), n, ld, 0, 24);
    lanczos->extend(3);
  }
  const auto k = static_cast<std::size_t>(fresh.projected_rows());
  std::vector<double> one(k * k), other(k * k);
  reused.projected(one.data());
  fresh.projected(other.data());
  CHECK(one == other);
}

TEST_CASE("the basis stays orthogonal and the projected matrix is that of A") {
  Gapped sample(30);
  const int n = sample.n, ld = 128;
  AlignedBuffer<double> a(static_cast<std::size_t>(n * ld));
  std::fill_n(a.data(), n * ld, 0.0);
  for (int i = 0; i < n; ++i) std::copy_n(sample.dense.data() + i * n, n, a.data() + i * ld);
  BlockLanczos<double> lanczos;
  lanczos.start(a.data(), n, ld, 8, 4);
  lanczos.extend(3);
  lanczos.extend(14);
  const int k = lanczos.projected_rows();
  REQUIRE(k == 56);
  std::vector<double> basis(k * ld), t(static_cast<std::size_t>(k * k)), unit(static_cast<std::size_t>(4 * k), 0.0);
  for (int p = 0; p < k; p += 4) {
    std::fill(unit.begin(), unit.end(), 0.0);
    for (int q = 0; q < 4; ++q) unit[q * k + p + q] = 1.0;
    AlignedBuffer<double> rows(static_cast<std::size_t>(4 * ld));
    lanczos.combine(unit.data(), rows.data());
    std::copy_n(rows.data(), 4 * ld, basis.data() + p * ld);
  }
  lanczos.projected(t.data());
  double orthogonal = 0.0, projected = 0.0;
  for (int p = 0; p < k; ++p)
    for (int q = 0; q < k; ++q) {
      double dot = 0.0, form = 0.0;
      for (int i = 0; i < n; ++i) {
        dot += basis[p * ld + i] * basis[q * ld + i];
        for (int j = 0; j < n; ++j) form += basis[p * ld + i] * a[i * ld + j] * basis[q * ld + j];
      }
      orthogonal = std::max(orthogonal, std::abs(dot - (p == q)));
      projected = std::max(projected, std::abs(form - t[p * k + q]));
    }
  CHECK(orthogonal < 1e-13);
  CHECK(projected < 1e-12);
}
