#include "plugins/submatrix/density/purification.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/blocks/symmetric_product.hpp"
#include "plugins/submatrix/density/electron_check.hpp"
#include "plugins/submatrix/density/orthogonalised.hpp"
#include "plugins/submatrix/density/purification_steps.hpp"

namespace cambium::submatrix {

namespace {

/// Gershgorin's bounds of the levels of all ranks: rows of a symmetric matrix are its columns.
std::pair<double, double> level_bounds(const BlockColumns& matrix, const Comm& comm) {
  double low = 1e300, high = -1e300;
  for (int column : matrix.columns()) {
    const BlockColumn c = matrix.column(column);
    const int n = matrix.layout().size(column);
    std::vector<double> radius(static_cast<std::size_t>(n), 0.0), centre(radius);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      for (int i = 0; i < matrix.layout().size(c.rows[e]); ++i)
        for (int j = 0; j < n; ++j) {
          const double value = c.block(e)[i * n + j];
          if (c.rows[e] == column && i == j)
            centre[j] = value;
          else
            radius[j] += std::abs(value);
        }
    for (int j = 0; j < n; ++j) {
      low = std::min(low, centre[j] - radius[j]);
      high = std::max(high, centre[j] + radius[j]);
    }
  }
  return {comm.min(low), comm.max(high)};
}

class Purification {
 public:
  Purification(const MatrixSystem& system, const DensityOptions& options, Context& context)
      : result_(system.layout), job_{system, options, context, result_}, keys_(*options.purification),
        x_(system.layout) {}

  DensityResult run();

 private:
  void begin(const BlockColumns& hamiltonian);
  void iterate();
  void note_fill(const BlockColumns& matrix);
  void sum_up(const BlockColumns& hamiltonian);
  void sum_up_channels(const BlockColumns& hamiltonian);
  BlockColumns product(const BlockColumns& a, const BlockColumns& b) {
    ++report_.products;
    return symmetric_product(a, b, job_.system.ranges, job_.context.comm,
                             {job_.options.prune * keys_.threshold, keys_.threshold}, result_.bytes, result_.flops);
  }

  DensityResult result_;
  DensityJob job_;
  PurificationOptions keys_;
  BlockColumns x_;
  double occupied_ = 0.0;
  PurificationSteps steps_;
  PurificationReport report_;
};

void Purification::begin(const BlockColumns& hamiltonian) {
  const auto [low, high] = level_bounds(hamiltonian, job_.context.comm);
  const auto n = static_cast<double>(job_.system.layout->dimension());
  const double mean = trace(hamiltonian, job_.context.comm) / n;
  steps_ = PurificationSteps(keys_.polynomial, {low, high, mean}, occupied_, n);
  x_ = filtered(combination(steps_.shift(), -steps_.slope(), hamiltonian, 0.0, hamiltonian), keys_.threshold);
}

void Purification::note_fill(const BlockColumns& matrix) {
  const Comm& comm = job_.context.comm;
  report_.mean_blocks = std::max(report_.mean_blocks, static_cast<double>(comm.sum(matrix.blocks())) / job_.blocks());
  int largest = 0;
  for (int column : matrix.columns()) largest = std::max(largest, static_cast<int>(matrix.column(column).rows.size()));
  report_.largest_blocks = std::max(report_.largest_blocks, comm.max(largest));
}

void Purification::iterate() {
  const auto timer = job_.context.timing.scope("purification");
  const Comm& comm = job_.context.comm;
  for (;; ++report_.iterations) {
    const BlockColumns square = product(x_, x_);
    note_fill(square);
    const BlockColumns difference = combination(0.0, 1.0, square, -1.0, x_);
    const double error = std::sqrt(trace_of_product(difference, difference, comm));
    const Traces traces{trace(x_, comm), trace(square, comm), trace_of_product(square, x_, comm),
                        trace_of_product(square, square, comm)};
    report_.idempotency = error / std::sqrt(static_cast<double>(job_.blocks()));
    const bool ended = steps_.ended(error, keys_.threshold);
    // If states are at mu, the error does not decrease, whatever the threshold.
    constexpr double of_truncation = 20.0;
    report_.converged = ended && report_.idempotency <= of_truncation * keys_.threshold;
    if (ended || report_.iterations == keys_.most) return;
    const PurificationSteps::Next next = steps_.next(traces);
    // Every step is a polynomial of X, of X^2, or the product of one of them and a polynomial of both.
    BlockColumns factor = combination(next.one, next.x, x_, next.square, square);
    x_ = next.left == PurificationSteps::Left::none
             ? std::move(factor)
             : product(next.left == PurificationSteps::Left::x ? x_ : square, factor);
  }
}

/// Of two channels, whose block columns alternate.
void Purification::sum_up_channels(const BlockColumns& hamiltonian) {
  result_.channel_electrons = result_.channel_energy = {};
  for (int column : x_.columns()) {
    const auto channel = static_cast<std::size_t>(column % 2);
    const int n = x_.layout().size(column);
    const double* own = x_.block(column, column);
    for (int k = 0; own && k < n; ++k) result_.channel_electrons[channel] += 2.0 * own[k * (n + 1)];
    const BlockColumn h = hamiltonian.column(column);
    for (std::size_t e = 0; e < h.rows.size(); ++e)
      if (const double* block = x_.block(h.rows[e], column))
        result_.channel_energy[channel] +=
            2.0 * std::inner_product(block, block + x_.layout().size(h.rows[e]) * n, h.block(e), 0.0);
  }
  for (std::size_t s = 0; s < 2; ++s) {
    result_.channel_electrons[s] = job_.context.comm.sum(result_.channel_electrons[s]);
    result_.channel_energy[s] = job_.context.comm.sum(result_.channel_energy[s]);
  }
}

void Purification::sum_up(const BlockColumns& hamiltonian) {
  const Comm& comm = job_.context.comm;
  result_.electrons = result_.channel_electrons[0] = 2.0 * trace(x_, comm);
  result_.energy = result_.channel_energy[0] = 2.0 * trace_of_product(x_, hamiltonian, comm);
  if (job_.system.channels == 2) sum_up_channels(hamiltonian);
  result_.error.electron_defect = result_.electrons - job_.options.electrons;
  result_.error.idempotency = report_.idempotency;
  result_.mu = result_.fermi_level = steps_.level(0.5);
  const auto gap = steps_.gap();
  result_.gap_low = gap.first;
  result_.gap_high = gap.second;
  result_.columns.submatrices = 0;
  for (int column : x_.columns()) {
    int rows = 0;
    for (int row : x_.column(column).rows) rows += job_.system.layout->size(row);
    result_.dimensions.push_back(rows);
  }
  result_.purification = report_;
}

DensityResult Purification::run() {
  const auto& options = job_.options;
  check_purification(options);
  check_electrons(options.electrons, job_.system.layout->dimension(), options);
  occupied_ = std::round(0.5 * options.electrons);
  std::shared_ptr<const RootResult> root;
  if (job_.has_root()) {
    root = options.root ? options.root
                        : std::make_shared<const RootResult>(overlap_root(job_.system, options, job_.context));
    result_.root_dimension = root->mean_dimension;
    result_.root_steps = root->mean_steps;
    result_.smallest_overlap = root->smallest;
    result_.left_out = root->functions_left_out;
    result_.bytes += options.root ? 0 : root->bytes;
    result_.flops += options.root ? 0.0 : root->flops;
  }
  const BlockColumns hamiltonian = orthogonalised(job_, root.get()).matrix;
  begin(hamiltonian);
  iterate();
  sum_up(hamiltonian);
  const auto timer = job_.context.timing.scope("density");
  const auto in_basis = [&](BlockColumns orthogonal) {
    if (!root) return orthogonal;
    const CongruenceOptions congruent{options.prune * options.eps, options.eps, {}};
    return congruence(root->root, orthogonal, job_.system.ranges, job_.context.comm, congruent, result_.bytes,
                      result_.flops);
  };
  if (options.energy_weighted) result_.energy_weighted = in_basis(product(hamiltonian, x_));
  result_.density = in_basis(std::move(x_));
  return std::move(result_);
}

}  // namespace

DensityResult purified_density(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  return Purification(system, options, context).run();
}

}  // namespace cambium::submatrix
