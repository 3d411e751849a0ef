// The last parts of a density_matrix(): back to the basis of the input, and what may be wrong with the result.
#include <algorithm>
#include <cmath>

#include "core/sparse/block_panel.hpp"
#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/blocks/symmetrise.hpp"
#include "plugins/submatrix/density/density_step.hpp"

namespace cambium::submatrix {

namespace {

BlockColumns from_columns(const BlockColumns& pattern, const std::shared_ptr<const BlockLayout>& layout, double eps,
                          const std::vector<std::vector<double>>& values) {
  BlockColumns out(layout);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const PrincipalIndex index = principal_index(pattern, *layout, pattern.columns()[k], eps);
    out.start_column(index.column);
    for (std::size_t p = 0; p < index.blocks.size(); ++p)
      out.add_block(index.blocks[p], values[k].data() + index.start[p] * index.width);
  }
  out.finish();
  return out;
}

/// The blocks in `rows` of each column.
template <class Rows>
BlockColumns cut_to(const BlockColumns& matrix, const Rows& rows) {
  BlockColumns out(matrix.shared_layout());
  for (int column : matrix.columns()) {
    out.start_column(column);
    for (int row : rows(column))
      if (const double* block = matrix.block(row, column)) out.add_block(row, block);
  }
  out.finish();
  return out;
}

void add_rows(const BlockColumns& matrix, int column, double eps, std::vector<int>& out) {
  const BlockColumn c = matrix.column(column);
  for (std::size_t e = 0; e < c.rows.size(); ++e)
    if (c.norms[e] >= eps || c.rows[e] == column) out.push_back(c.rows[e]);
}

}  // namespace

/// D is wanted where the Hamiltonian, the overlap or the orthogonalised Hamiltonian has a block of norm >= eps.
std::vector<int> DensityStep::output_rows(int column) const {
  std::vector<int> rows;
  add_rows(*hamiltonian_, column, options_.eps, rows);
  add_rows(system_.hamiltonian, column, options_.eps, rows);
  add_rows(system_.overlap, column, options_.eps, rows);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

void DensityStep::transform_back() {
  const auto timer = context_.timing.scope("density");
  const auto in_basis = [this](const std::vector<std::vector<double>>& values) {
    const BlockColumns orthogonal = symmetrised(from_columns(pattern(), system_.layout, options_.eps, values),
                                                system_.ranges, context_.comm, result_.bytes);
    if (options_.orthogonal || options_.form == Form::local)
      return pattern_ ? cut_to(orthogonal, [this](int column) { return output_rows(column); }) : orthogonal;
    const CongruenceOptions options{options_.prune * options_.eps, 0.0,
                                    [this](int column) { return output_rows(column); }};
    return congruence(*root_, orthogonal, system_.ranges, context_.comm, options, result_.bytes, result_.flops);
  };
  result_.density = in_basis(values_);
  if (options_.energy_weighted) result_.energy_weighted = in_basis(weighted_);
}

void DensityStep::estimate_idempotency() {
  const BlockColumns d = symmetrised(from_columns(pattern(), system_.layout, options_.eps, values_), system_.ranges,
                                     context_.comm, result_.bytes);
  std::vector<int> mine, needed;
  for (int column : drawn_.drawn())
    if (system_.ranges.owner(column) == context_.comm.rank()) {
      mine.push_back(column);
      const auto rows = d.column(column).rows;
      needed.insert(needed.end(), rows.begin(), rows.end());
    }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  const bool local = options_.form == Form::local;  // there D S D = D
  const ColumnSet s = fetch_columns(system_.overlap, system_.ranges, local ? needed : std::vector<int>{},
                                    WantedRows::all, context_.comm, result_.bytes);
  if (local) needed = rows_of(needed, s, system_.layout->blocks());
  const ColumnSet set = fetch_columns(d, system_.ranges, needed, WantedRows::all, context_.comm, result_.bytes);
  BlockPanel x(*system_.layout), y(*system_.layout), z(*system_.layout);
  const auto multiply = [](const ColumnSet& matrix, const BlockPanel& in, BlockPanel& out) {
    for (int k : in.blocks()) {
      const BlockColumn c = matrix(k);
      for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_product(c.rows[e], c.block(e), k, in);
    }
  };
  double sum = 0.0;
  for (int column : mine) {
    x.clear(system_.layout->size(column));
    y.clear(system_.layout->size(column));
    z.clear(system_.layout->size(column));
    const BlockColumn c = d.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) x.set(c.rows[e], c.block(e));
    if (local) multiply(s, x, z);
    multiply(set, local ? z : x, y);
    for (int row : y.blocks()) {
      const double *left = y.at(row), *right = x.has(row) ? x.at(row) : nullptr;
      for (int k = 0; k < system_.layout->size(row) * y.stride(); ++k) {
        const double difference = left[k] - (right ? right[k] : 0.0);
        sum += difference * difference;
      }
    }
  }
  result_.error.idempotency = std::sqrt(context_.comm.sum(sum) / static_cast<double>(drawn_.drawn().size()));
}

}  // namespace cambium::submatrix
