#include "plugins/submatrix/matrices/k_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

bool is_real(const BlochPoint& point) {
  return std::all_of(point.k.begin(), point.k.end(),
                     [](double k) { return std::abs(2.0 * k - std::round(2.0 * k)) < 1e-10; });
}

/// How the points are held: each as a real matrix of once or twice its size, so that every state counts the same.
struct Held {
  std::vector<int> size;  ///< of each point: 1 or 2
  int copies = 1;         ///< of the full zone
};

Held held(const std::vector<BlochPoint>& points) {
  double unit = std::numeric_limits<double>::infinity();
  for (const auto& point : points) unit = std::min(unit, is_real(point) ? point.weight : 0.5 * point.weight);
  Held out;
  double sum = 0.0;
  for (const auto& point : points) {
    const double share = point.weight / unit;
    const int size = std::abs(share - 1.0) < 1e-9 && is_real(point) ? 1 : 2;
    if (std::abs(share - size) > 1e-9)
      throw InputError(fmt::format(
          "k_points: the weight {:.6g} of the point ({:g} {:g} {:g}) does not go with {:.6g} of others; all "
          "points of a grid must count the same: give a grid, or a list that has a point and its negative "
          "once with twice the weight of one that is its own negative",
          point.weight, point.k[0], point.k[1], point.k[2], unit));
    out.size.push_back(size);
    sum += size;
  }
  out.copies = static_cast<int>(sum);
  return out;
}

/// One block column of a matrix at one point.
void assemble_at(const CellMatrix& matrix, const BlockLayout& cell, const BlochPoint& point, int size, int first,
                 int own, BlockColumns& out) {
  std::vector<const CellMatrix::Term*> terms;
  for (const auto& term : matrix.column(own)) terms.push_back(&term);
  std::stable_sort(terms.begin(), terms.end(), [](const auto* a, const auto* b) { return a->row < b->row; });
  out.start_column(first + own);
  const int width = cell.size(own);
  double* block = nullptr;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const auto& term = *terms[t];
    if (t == 0 || term.row != terms[t - 1]->row) block = out.add_block(first + term.row);
    const double angle =
        2.0 * constants::pi * (point.k[0] * term.cell[0] + point.k[1] * term.cell[1] + point.k[2] * term.cell[2]);
    const double cosine = size == 1 ? std::round(std::cos(angle)) : std::cos(angle), sine = std::sin(angle);
    const double* values = matrix.values(term);
    for (int i = 0; i < cell.size(term.row); ++i)
      for (int j = 0; j < width; ++j) {
        const double value = values[i * width + j];
        if (size == 1) {
          block[i * width + j] += cosine * value;
          continue;
        }
        double* at = block + 2 * (2 * i * width + j);
        at[0] += cosine * value;
        at[1] -= sine * value;
        at[2 * width] += sine * value;
        at[2 * width + 1] += cosine * value;
      }
  }
}

}  // namespace

MatrixSystem at_k_points(const CellSystem& cell, const std::vector<BlochPoint>& points, const Comm& comm) {
  if (cell.hamiltonian_down)
    throw InputError("k_points are for matrices without spin; leave out K_down, or take a supercell");
  const Held how = held(points);
  const int blocks = cell.layout->blocks();
  std::vector<int> sizes;
  std::vector<double> cost;
  for (int size : how.size)
    for (int b = 0; b < blocks; ++b) {
      sizes.push_back(size * cell.layout->size(b));
      const auto terms = static_cast<double>(cell.overlap->column(b).size());
      cost.push_back(terms * terms * sizes.back() * size);
    }
  auto layout = std::make_shared<const BlockLayout>(std::move(sizes));
  MatrixSystem out{
      layout, ColumnRanges::balanced(cost, comm.size()), BlockColumns(layout), BlockColumns(layout), 0, 0.0, {}, {}, {},
      {}};
  for (int column = out.ranges.begin(comm.rank()); column < out.ranges.end(comm.rank()); ++column) {
    const auto p = static_cast<std::size_t>(column / blocks);
    const int first = column / blocks * blocks;
    assemble_at(*cell.hamiltonian, *cell.layout, points[p], how.size[p], first, column % blocks, out.hamiltonian);
    assemble_at(*cell.overlap, *cell.layout, points[p], how.size[p], first, column % blocks, out.overlap);
  }
  out.hamiltonian.finish();
  out.overlap.finish();
  out.atoms = cell.atoms;
  out.electrons = cell.electrons;
  out.block_atoms = cell.block_atoms;
  out.notes = cell.notes;
  out.copies = how.copies;
  out.complex = std::count(how.size.begin(), how.size.end(), 2) > 0;
  out.k_points = points;
  return out;
}

}  // namespace cambium::submatrix
