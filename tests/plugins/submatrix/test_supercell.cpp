// Supercells from lattice-resolved blocks: which block goes where, and the spectrum against a sum over k.
#include <complex>

#include "plugins/submatrix/matrices/cell_matrices.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Two molecules of one atom each, 1 and 2 functions; neighbours along each axis have blocks that are not symmetric.
constexpr int functions = 3;
const std::vector<Cell> positive{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, -1, 0}};

double coupling(std::size_t cell, int row, int column) {
  return 0.1 * std::sin(1.0 + 5.0 * static_cast<double>(cell) + 3.0 * row + 1.7 * column);
}
double onsite(int row, int column) { return row == column ? 1.0 * row - 1.0 : 0.05 * (row + column); }

/// M(R) of the whole cell: M(-R) is the transpose of M(R).
double element(const Cell& cell, int row, int column) {
  if (cell == Cell{0, 0, 0}) return onsite(row, column);
  for (std::size_t q = 0; q < positive.size(); ++q) {
    if (cell == positive[q]) return coupling(q, row, column);
    if (cell == Cell{-positive[q][0], -positive[q][1], -positive[q][2]}) return coupling(q, column, row);
  }
  return 0.0;
}

std::vector<Cell> cells() {
  std::vector<Cell> out{{0, 0, 0}};
  for (const Cell& c : positive) {
    out.push_back(c);
    out.push_back({-c[0], -c[1], -c[2]});
  }
  return out;
}

CellSystem crystal() {
  const CellBasis basis{.atom_functions = {1, 2}, .molecule = {0, 1}, .number = {1, 2}, .electrons = 2.0};
  std::vector<LatticeEntry> h, s;
  for (const Cell& cell : cells())
    for (int i = 0; i < functions; ++i)
      for (int j = 0; j < functions; ++j) h.push_back({cell, i, j, element(cell, i, j)});
  for (int i = 0; i < functions; ++i) s.push_back({{0, 0, 0}, i, i, 1.0});
  return make_cell(basis, h, s, BlockKind::molecule);
}

int wrap(int i, int n) { return (i % n + n) % n; }

}  // namespace

TEST_CASE("a block stands between the cells that its lattice vector joins, not the other way round") {
  const World world;
  const Cell n{3, 4, 5};
  const MatrixSystem system = supercell(crystal(), n, world.comm);
  const auto number = [&](int i, int j, int k, int b) {
    return ((wrap(i, n[0]) * n[1] + wrap(j, n[1])) * n[2] + wrap(k, n[2])) * 2 + b;
  };
  const int first[2] = {0, 1};
  double worst = 0.0, mirrored = 0.0;
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j)
      for (int k = 0; k < n[2]; ++k)
        for (const Cell& cell : cells())
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) {
              const int column = number(i + cell[0], j + cell[1], k + cell[2], b);
              if (system.ranges.owner(column) != world.comm.rank()) continue;
              const double* block = system.hamiltonian.block(number(i, j, k, a), column);
              REQUIRE(block);
              for (int p = 0; p <= a; ++p)
                for (int q = 0; q <= b; ++q) {
                  const double found = block[p * (b + 1) + q];
                  worst = std::max(worst, std::abs(found - element(cell, first[a] + p, first[b] + q)));
                  mirrored = std::max(
                      mirrored, std::abs(found - element({-cell[0], -cell[1], -cell[2]}, first[a] + p, first[b] + q)));
                }
            }
  CHECK(worst == 0.0);
  CHECK(world.comm.max(mirrored) > 0.05);  // the other sign would be seen
}

TEST_CASE("the spectrum of a supercell is that of the k points it holds") {
  World world(MPI_COMM_SELF);
  const Cell n{3, 4, 2};
  const MatrixSystem system = supercell(crystal(), n, world.comm);
  const int size = static_cast<int>(system.layout->dimension());
  std::vector<double> a(size * size, 0.0);
  for (int column : system.hamiltonian.columns()) {
    const BlockColumn c = system.hamiltonian.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      for (int i = 0; i < system.layout->size(c.rows[e]); ++i)
        for (int j = 0; j < system.layout->size(column); ++j)
          a[(system.layout->offset(c.rows[e]) + i) * size + system.layout->offset(column) + j] =
              c.block(e)[i * system.layout->size(column) + j];
  }
  const Dense dense = dense_eigen(a, size);
  // A Hermitian matrix as a real one of twice the size: every eigenvalue twice.
  std::vector<double> levels;
  for (int x = 0; x < n[0]; ++x)
    for (int y = 0; y < n[1]; ++y)
      for (int z = 0; z < n[2]; ++z) {
        std::vector<double> m(4 * functions * functions);
        for (int i = 0; i < functions; ++i)
          for (int j = 0; j < functions; ++j) {
            std::complex<double> sum = 0.0;
            for (const Cell& cell : cells())
              sum +=
                  element(cell, i, j) *
                  std::polar(1.0, 2.0 * M_PI *
                                      (1.0 * x * cell[0] / n[0] + 1.0 * y * cell[1] / n[1] + 1.0 * z * cell[2] / n[2]));
            const int w = 2 * functions;
            m[i * w + j] = m[(i + functions) * w + j + functions] = sum.real();
            m[i * w + j + functions] = -sum.imag();
            m[(i + functions) * w + j] = sum.imag();
          }
        const Dense k = dense_eigen(m, 2 * functions);
        for (std::size_t l = 0; l < k.value.size(); l += 2) levels.push_back(k.value[l]);
      }
  std::sort(levels.begin(), levels.end());
  REQUIRE(levels.size() == dense.value.size());
  double worst = 0.0;
  for (std::size_t l = 0; l < levels.size(); ++l) worst = std::max(worst, std::abs(levels[l] - dense.value[l]));
  CHECK(worst < 1e-12);
}
