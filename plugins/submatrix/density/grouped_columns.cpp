// The parts of density_matrix() that know of groups of block columns: which there are, their submatrices, and how the
// block columns come back to the ranks that own them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/submatrix/density/density_step.hpp"
#include "plugins/submatrix/density/inverse_root.hpp"
#include "plugins/submatrix/density/submatrix_cost.hpp"

namespace cambium::submatrix {

void DensityStep::choose_columns() {
  const Comm& comm = context_.comm;
  groups_.clear();
  if (options_.groups.by == GroupBy::none) {
    for (int column : hamiltonian_->columns()) groups_.push_back({column});
    group_columns_.emplace(pattern(), BlockColumns(pattern().shared_layout()));
    return;
  }
  const Grouping all = choose_groups(gathered_pattern(pattern(), options_.eps, comm), *system_.layout, system_.centres,
                                     options_.groups, submatrix_cost(options_));
  result_.groups = {all.by, all.ratio};
  const ColumnRanges ranges = ColumnRanges::balanced(all.cost, comm.size());
  std::vector<int> columns;
  for (int g = ranges.begin(comm.rank()); g < ranges.end(comm.rank()); ++g) {
    const auto& group = all.groups[static_cast<std::size_t>(g)];
    for (int s = 0; s < system_.channels; ++s) {  // channels have nothing in common, but space does not know that
      std::vector<int> own;
      for (int column : group)
        if (column % system_.channels == s) own.push_back(column);
      if (!own.empty()) groups_.push_back(std::move(own));
    }
    columns.insert(columns.end(), group.begin(), group.end());
  }
  std::sort(columns.begin(), columns.end());
  group_columns_ = fetch_columns(pattern(), system_.ranges, columns, WantedRows::all, comm, result_.bytes);
}

std::vector<int> DensityStep::needed_columns() const {
  std::vector<char> needed(static_cast<std::size_t>(system_.layout->blocks()), 0);
  const auto mark = [&](const BlockColumn& c, int column, double least) {
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= least || c.rows[e] == column) needed[static_cast<std::size_t>(c.rows[e])] = 1;
  };
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (int column : groups_[g])
      mark((*group_columns_)(column), column, options_.sample > 0 && sampled(g) ? 0.0 : options_.eps);
  for (int column : sample_)
    if (system_.ranges.owner(column) == context_.comm.rank()) mark(pattern().column(column), column, options_.eps);
  std::vector<int> out;
  for (std::size_t b = 0; b < needed.size(); ++b)
    if (needed[b]) out.push_back(static_cast<int>(b));
  return out;
}

bool DensityStep::sampled(std::size_t group) const { return drawn_.has(groups_[group].front()); }

PrincipalIndex DensityStep::own_index(int column, double eps) const {
  return principal_index(pattern(), *system_.layout, column, eps);
}

PrincipalIndex DensityStep::group_index(std::size_t group, double eps) const {
  return principal_index(*group_columns_, *system_.layout, groups_[group], eps);
}

ColumnSolver& DensityStep::group_solver(const PrincipalIndex& index) {
  const int width = index.width;
  if (options_.solver == SolverKind::lanczos && width > system_.layout->largest() &&
      2 * width * first_blocks_ > index.dimension()) {
    if (!dense_solver_) dense_solver_ = make_diagonaliser(system_.layout->blocks());
    return *dense_solver_;
  }
  if (!group_solver_ || width > solver_width_) {
    KrylovOptions options = krylov();
    // The norm of the last Krylov block adds up over the columns.
    options.tolerance *= std::sqrt(std::max(1.0, static_cast<double>(width) / system_.layout->largest()));
    group_solver_ = solver(options);
    solver_width_ = width;
  }
  return *group_solver_;
}

void DensityStep::solve_columns() {
  const auto timer = context_.timing.scope("columns");
  const auto columns = hamiltonian_->columns();
  spectra_.resize(groups_.size());
  density_norms_.assign(groups_.size(), {});
  values_.resize(columns.size());
  result_.dimensions.resize(columns.size());
  if (options_.energy_weighted) weighted_.resize(columns.size());
  const double mu = predicted_mu_, kt = options_.kt, started = wall_seconds();
  const MatrixFunction f = [mu, kt](double x) { return occupation(x, mu, kt); };
  double steps = 0.0, rows = 0.0, worst = 0.0;
  smallest_overlap_ = {1e300, 0};
  int smallest = 1000000000, largest = 0, fell_back = 0, largest_fallen = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PrincipalIndex index = group_index(g, options_.eps);
    ColumnSolver& work = group_solver(index);
    spectra_[g] = work.decompose(index, *columns_, options_.eps, f);
    store_columns(g, index, work, mu);
    rows += index.dimension();
    smallest = std::min(smallest, index.dimension()), largest = std::max(largest, index.dimension());
    steps += work.report().steps;
    worst = std::max(worst, work.report().residual);
    if (work.report().smallest_overlap < smallest_overlap_.first)
      smallest_overlap_ = {work.report().smallest_overlap, index.column};
    if (work.report().fell_back) ++fell_back, largest_fallen = std::max(largest_fallen, index.dimension());
    result_.column_flops += work.report().flops;
    progress(g + 1, started);
  }
  result_.flops += result_.column_flops;
  const Comm& comm = context_.comm;
  const double all = comm.sum(static_cast<double>(groups_.size()));
  result_.columns = {comm.sum(rows) / all,
                     comm.sum(steps) / all,
                     static_cast<int>(comm.min(smallest)),
                     comm.max(largest),
                     comm.max(worst),
                     0,
                     static_cast<int>(all),
                     static_cast<int>(comm.sum(static_cast<std::int64_t>(fell_back))),
                     comm.max(largest_fallen),
                     0,
                     0,
                     comm.max(dropped_)};
}

void DensityStep::progress(std::size_t done, double started) const {
  if (done % 64 != 0 && done != groups_.size()) return;
  const double elapsed = wall_seconds() - started, all = static_cast<double>(groups_.size()),
               d = static_cast<double>(done);
  context_.log.progress(fmt::format("submatrix {} of {} of rank 0 ({:.0f} %), {:.4g} submatrices/s, {:.0f} s left",
                                    done, groups_.size(), 100.0 * d / all, d / elapsed, elapsed / d * (all - d)));
  if (options_.progress && context_.comm.root()) options_.progress(d / all, elapsed / d * (all - d));
}

/// Cuts the block columns out of those of the group: each at the rows of its own pattern, so that D has the pattern it
/// would have without groups.
void DensityStep::store_columns(std::size_t group, const PrincipalIndex& index, ColumnSolver& solver, double mu) {
  const double kt = options_.kt;
  std::vector<double> panel[2];
  solver.column([mu, kt](double x) { return occupation(x, mu, kt); }, panel[0]);
  if (options_.energy_weighted || ends_)
    solver.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, panel[1]);
  if (ends_) note_density(group, index, mu, panel[0], panel[1]);
  int first = 0;  // of the column's rows among those wanted
  for (int column : groups_[group]) {
    const int width = system_.layout->size(column);
    const PrincipalIndex own = principal_index(*group_columns_, *system_.layout, {&column, 1}, options_.eps);
    std::vector<double> cut[2];
    for (int m = 0; m < (options_.energy_weighted ? 2 : 1); ++m)
      for (int block : own.blocks) {
        const auto at =
            static_cast<std::size_t>(std::find(index.blocks.begin(), index.blocks.end(), block) - index.blocks.begin());
        for (int i = index.start[at]; i < index.start[at + 1]; ++i)
          for (int q = 0; q < width; ++q)
            cut[m].push_back(panel[m][static_cast<std::size_t>(i * index.width + first + q)]);
      }
    first += width;
    const int k = hamiltonian_->find(column);
    if (k >= 0) {
      values_[static_cast<std::size_t>(k)] = std::move(cut[0]);
      if (options_.energy_weighted) weighted_[static_cast<std::size_t>(k)] = std::move(cut[1]);
      result_.dimensions[static_cast<std::size_t>(k)] = index.dimension();
      continue;
    }
    auto& message = solved_for_others_[column];
    message = {static_cast<double>(index.dimension())};
    for (const auto& part : cut) message.insert(message.end(), part.begin(), part.end());
  }
}

/// Columns whose occupation is not the one that they were solved for are solved again. Returns how many there are, on
/// all ranks.
int DensityStep::repeat_changed_columns() {
  const auto timer = context_.timing.scope("columns");
  const double mu = result_.mu, kt = options_.kt;
  int repeated = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    double change = 0.0;
    for (std::size_t j = 0; j < spectra_[g].node.size(); ++j)
      change += spectra_[g].weight[j] *
                std::abs(occupation(spectra_[g].node[j], mu, kt) - occupation(spectra_[g].node[j], predicted_mu_, kt));
    if (change <= 1e-12) continue;
    const PrincipalIndex index = group_index(g, options_.eps);
    ColumnSolver& work = group_solver(index);
    spectra_[g] = work.decompose(index, *columns_, options_.eps, [mu, kt](double x) { return occupation(x, mu, kt); });
    store_columns(g, index, work, mu);
    result_.flops += work.report().flops;
    repeated += static_cast<int>(groups_[g].size());
  }
  predicted_mu_ = mu;  // for which all columns now are
  repeated = static_cast<int>(context_.comm.sum(static_cast<std::int64_t>(repeated)));
  result_.columns.evaluated_twice += repeated;
  return repeated;
}

/// Block columns that were solved for other ranks go to their owners: column, number of values, dimension, D, W.
void DensityStep::return_columns() {
  if (options_.groups.by == GroupBy::none) return;
  const auto timer = context_.timing.scope("columns");
  const Comm& comm = context_.comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<int> sent(ranks, 0), received(ranks, 0), send_at(ranks, 0), receive_at(ranks, 0);
  std::vector<double> out, in;
  for (const auto& [column, values] : solved_for_others_) {  // ascending columns, so ascending owners
    out.push_back(column), out.push_back(static_cast<double>(values.size()));
    out.insert(out.end(), values.begin(), values.end());
    sent[static_cast<std::size_t>(system_.ranges.owner(column))] += static_cast<int>(values.size()) + 2;
  }
  solved_for_others_.clear();
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm.handle());
  std::partial_sum(sent.begin(), sent.end() - 1, send_at.begin() + 1);
  std::partial_sum(received.begin(), received.end() - 1, receive_at.begin() + 1);
  in.resize(static_cast<std::size_t>(receive_at.back() + received.back()));
  MPI_Alltoallv(out.data(), sent.data(), send_at.data(), MPI_DOUBLE, in.data(), received.data(), receive_at.data(),
                MPI_DOUBLE, comm.handle());
  result_.bytes += static_cast<std::int64_t>(in.size() * sizeof(double));
  for (auto p = in.cbegin(); p != in.cend();) {
    const auto k = static_cast<std::size_t>(hamiltonian_->find(static_cast<int>(p[0])));
    const auto all = static_cast<std::ptrdiff_t>(p[1]), each = (all - 1) / (options_.energy_weighted ? 2 : 1);
    result_.dimensions[k] = static_cast<int>(p[2]);
    values_[k].assign(p + 3, p + 3 + each);
    if (options_.energy_weighted) weighted_[k].assign(p + 3 + each, p + 2 + all);
    p += 2 + all;
  }
}

}  // namespace cambium::submatrix
