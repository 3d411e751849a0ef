#include "core/numerics/panel.hpp"
#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/columns/block_panel.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

template <class T>
void check_panels(int rows, int n, int k, double tolerance) {
  std::mt19937 engine(static_cast<unsigned>(rows + 100 * n + 10000 * k));
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const int ld = padded<T>(n);
  AlignedBuffer<T> a(static_cast<std::size_t>(k * ld)), c(static_cast<std::size_t>(rows * ld));
  std::fill_n(a.data(), k * ld, T(0));
  std::fill_n(c.data(), rows * ld, T(0));
  std::vector<T> x(rows * k);
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) a[p * ld + j] = static_cast<T>(uniform(engine));
  for (auto& value : x) value = static_cast<T>(uniform(engine));
  panel_product(rows, n, k, x.data(), k, a.data(), ld, c.data(), ld);
  double worst = 0.0;
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int p = 0; p < k; ++p) sum += static_cast<double>(x[r * k + p]) * static_cast<double>(a[p * ld + j]);
      worst = std::max(worst, std::abs(sum - static_cast<double>(c[r * ld + j])));
    }
  CHECK(worst < tolerance * k);
  std::vector<T> g(k * rows);
  panel_dots(k, rows, n, a.data(), ld, c.data(), ld, g.data());
  worst = 0.0;
  for (int p = 0; p < k; ++p)
    for (int r = 0; r < rows; ++r) {
      double sum = 0.0;
      for (int j = 0; j < n; ++j) sum += static_cast<double>(a[p * ld + j]) * static_cast<double>(c[r * ld + j]);
      worst = std::max(worst, std::abs(sum - static_cast<double>(g[p * rows + r])));
    }
  CHECK(worst < tolerance * n * k);
}

}  // namespace

TEST_CASE("panel products and scalar products against plain loops") {
  for (int rows : {1, 2, 4, 5, 6, 7, 13, 23})
    for (int n : {1, 7, 16, 33, 130})
      for (int k : {1, 3, 8, 50}) {
        check_panels<double>(rows, n, k, 1e-15);
        check_panels<float>(rows, n, k, 1e-6);
      }
}

TEST_CASE("Z M Z against plain loops, whole and on a pattern") {
  const World world;
  const Chain chain(14);
  const MatrixSystem system = chain.system(world.comm);
  std::int64_t bytes = 0;
  double flops = 0.0;
  const BlockColumns all =
      congruence(system.overlap, system.hamiltonian, system.ranges, world.comm, {0.0, 0.0, {}}, bytes, flops);
  const BlockColumns some = congruence(system.overlap, system.hamiltonian, system.ranges, world.comm,
                                       {0.0, 0.0,
                                        [](int column) {
                                          return std::vector<int>{std::max(0, column - 1), std::max(0, column - 1) + 1};
                                        }},
                                       bytes, flops);
  const auto s = [&](int a, int i, int b, int j) { return chain.overlap(a, i, b, j); };
  double worst = 0.0;
  for (int c : all.columns()) {
    CHECK(std::ssize(all.column(c).rows) == 14);
    CHECK(std::ssize(some.column(c).rows) == 2);
    for (int r = 0; r < 14; ++r)
      for (int i = 0; i < chain.size(r); ++i)
        for (int j = 0; j < chain.size(c); ++j) {
          double sum = 0.0;
          for (int p = 0; p < 14; ++p)
            for (int k = 0; k < chain.size(p); ++k)
              for (int q = 0; q < 14; ++q)
                for (int l = 0; l < chain.size(q); ++l)
                  sum += s(r, i, p, k) * chain.hamiltonian(p, k, q, l) * s(q, l, c, j);
          worst = std::max(worst, std::abs(sum - all.block(r, c)[i * chain.size(c) + j]));
          const double* block = some.block(r, c);
          if (block) worst = std::max(worst, std::abs(sum - block[i * chain.size(c) + j]));
        }
  }
  CHECK(worst < 1e-13);
}

TEST_CASE("blocks wider than a register") {
  const BlockLayout layout({23, 5});
  BlockPanel x(layout), y(layout);
  x.clear(23);
  y.clear(23);
  std::vector<double> values(5 * 23), a(23 * 5);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = std::sin(1.0 + static_cast<double>(k));
    a[k] = std::cos(static_cast<double>(k));
  }
  x.set(1, values.data());
  y.add_product(0, a.data(), 1, x);
  std::vector<double> out(23 * 23);
  y.copy(0, out.data());
  for (std::size_t i = 0; i < 23; ++i)
    for (std::size_t j = 0; j < 23; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 5; ++k) sum += a[i * 5 + k] * values[k * 23 + j];
      CHECK(out[i * 23 + j] == Approx(sum).margin(1e-13));
    }
}
