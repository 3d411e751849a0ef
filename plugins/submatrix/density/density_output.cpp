#include "plugins/submatrix/density/density_output.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/blocks/symmetrise.hpp"
#include "plugins/submatrix/columns/block_panel.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/submatrices/ends.hpp"

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

/// D is wanted where the Hamiltonian, the overlap or the orthogonalised Hamiltonian has a block of norm >= eps.
std::vector<int> output_rows(const DensityJob& job, const BlockColumns& matrix, int column) {
  std::vector<int> rows;
  add_rows(matrix, column, job.options.eps, rows);
  add_rows(job.system.hamiltonian, column, job.options.eps, rows);
  add_rows(job.system.overlap, column, job.options.eps, rows);
  return unique(std::move(rows));
}

}  // namespace

void sum_up(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions) {
  const auto& spectra = solutions.spectra();
  auto& result = job.result;
  const double mu = result.mu, kt = job.options.kt;
  double sums[2][3] = {};
  for (std::size_t g = 0; g < spectra.size(); ++g) {
    const Spectrum& spectrum = spectra[g];
    double* own = sums[patterns.groups()[g].front() % job.system.channels];
    own[0] += spectrum.trace([mu, kt](double x) { return occupation(x, mu, kt); });
    own[1] += spectrum.trace([mu, kt](double x) { return x * occupation(x, mu, kt); });
    if (kt <= 0.0) continue;
    own[2] += spectrum.trace([mu, kt](double x) {
      const double f = occupation(x, mu, kt), g = 1.0 - f;
      return kt * ((f > 0.0 ? f * std::log(f) : 0.0) + (g > 0.0 ? g * std::log(g) : 0.0));
    });
  }
  for (std::size_t s = 0; s < 2; ++s) {
    job.context.comm.sum(sums[s]);
    result.electrons = (result.channel_electrons[s] = 2.0 * sums[s][0]) + (s == 0 ? 0.0 : result.electrons);
    result.energy = (result.channel_energy[s] = 2.0 * sums[s][1]) + (s == 0 ? 0.0 : result.energy);
    result.entropy_term = (result.channel_entropy[s] = 2.0 * sums[s][2]) + (s == 0 ? 0.0 : result.entropy_term);
  }
}

void transform_back(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions,
                    const BlockColumns* root) {
  const auto timer = job.context.timing.scope("density");
  const auto& options = job.options;
  auto& result = job.result;
  const auto rows = [&](int column) { return output_rows(job, patterns.matrix(), column); };
  const auto in_basis = [&](const std::vector<std::vector<double>>& values) {
    const BlockColumns orthogonal = symmetrised(from_columns(patterns.rows(), job.system.layout, options.eps, values),
                                                job.system.ranges, job.context.comm, result.bytes);
    if (!root) return patterns.widened() ? cut_to(orthogonal, rows) : orthogonal;
    const CongruenceOptions congruent{options.prune * options.eps, 0.0, rows};
    return congruence(*root, orthogonal, job.system.ranges, job.context.comm, congruent, result.bytes, result.flops);
  };
  result.density = in_basis(solutions.values());
  if (options.energy_weighted) result.energy_weighted = in_basis(solutions.weighted());
}

double idempotency_error(const DensityJob& job, const SubmatrixPatterns& patterns, const ColumnSolutions& solutions,
                         const std::vector<int>& drawn) {
  const BlockColumns d =
      symmetrised(from_columns(patterns.rows(), job.system.layout, job.options.eps, solutions.values()),
                  job.system.ranges, job.context.comm, job.result.bytes);
  std::vector<int> mine, needed;
  for (int column : drawn)
    if (job.owns(column)) {
      mine.push_back(column);
      const auto rows = d.column(column).rows;
      needed.insert(needed.end(), rows.begin(), rows.end());
    }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  const bool local = job.options.form == Form::local;  // there D S D = D
  const ColumnSet s = fetch_columns(job.system.overlap, job.system.ranges, local ? needed : std::vector<int>{},
                                    WantedRows::all, job.context.comm, job.result.bytes);
  if (local) needed = rows_of(needed, s, job.system.layout->blocks());
  const ColumnSet set =
      fetch_columns(d, job.system.ranges, needed, WantedRows::all, job.context.comm, job.result.bytes);
  BlockPanel x(*job.system.layout), y(*job.system.layout), z(*job.system.layout);
  const auto multiply = [](const ColumnSet& matrix, const BlockPanel& in, BlockPanel& out) {
    for (int k : in.blocks()) {
      const BlockColumn c = matrix(k);
      for (std::size_t e = 0; e < c.rows.size(); ++e) out.add_product(c.rows[e], c.block(e), k, in);
    }
  };
  double sum = 0.0;
  for (int column : mine) {
    x.clear(job.system.layout->size(column));
    y.clear(job.system.layout->size(column));
    z.clear(job.system.layout->size(column));
    const BlockColumn c = d.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) x.set(c.rows[e], c.block(e));
    if (local) multiply(s, x, z);
    multiply(set, local ? z : x, y);
    for (int row : y.blocks()) {
      const double *left = y.at(row), *right = x.has(row) ? x.at(row) : nullptr;
      for (int k = 0; k < job.system.layout->size(row) * y.stride(); ++k) {
        const double difference = left[k] - (right ? right[k] : 0.0);
        sum += difference * difference;
      }
    }
  }
  return std::sqrt(job.context.comm.sum(sum) / static_cast<double>(drawn.size()));
}

}  // namespace cambium::submatrix
