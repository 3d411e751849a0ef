#include "plugins/submatrix/density/column_solutions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plugins/submatrix/columns/chemical_potential.hpp"

namespace cambium::submatrix {

void ColumnSolutions::solve() {
  const auto timer = job_.context.timing.scope("columns");
  const auto columns = patterns_.matrix().columns();
  for_others_.clear();  // groups may have changed since they were solved
  const std::size_t groups = patterns_.groups().size();
  spectra_.resize(groups);
  density_norms_.assign(groups, {});
  values_.resize(columns.size());
  job_.result.dimensions.resize(columns.size());
  if (job_.options.energy_weighted) weighted_.resize(columns.size());
  const double mu = solvers_.mu(), kt = job_.options.kt, started = wall_seconds();
  const MatrixFunction f = [mu, kt](double x) { return occupation(x, mu, kt); };
  double steps = 0.0, rows = 0.0, worst = 0.0, own_flops = 0.0;
  smallest_overlap_ = {1e300, 0};
  int smallest = 1000000000, largest = 0, fell_back = 0, largest_fallen = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    const PrincipalIndex index = patterns_.of_group(g, job_.options.eps);
    ColumnSolver& work = solvers_.of(index);
    spectra_[g] = work.decompose(index, patterns_.columns(), job_.options.eps, f);
    store(g, index, work, mu);
    rows += index.dimension();
    smallest = std::min(smallest, index.dimension());
    largest = std::max(largest, index.dimension());
    steps += work.report().steps;
    worst = std::max(worst, work.report().residual);
    if (work.report().smallest_overlap < smallest_overlap_.first)
      smallest_overlap_ = {work.report().smallest_overlap, index.column};
    if (work.report().fell_back) ++fell_back, largest_fallen = std::max(largest_fallen, index.dimension());
    own_flops += work.report().flops;
    progress(g + 1, started);
  }
  job_.result.column_flops += own_flops;
  job_.result.flops += own_flops;
  const Comm& comm = job_.context.comm;
  const double all = comm.sum(static_cast<double>(groups));
  job_.result.columns = {comm.sum(rows) / all,
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
                         0.0};
}

void ColumnSolutions::progress(std::size_t done, double started) const {
  if (done % 64 != 0 && done != patterns_.groups().size()) return;
  const double elapsed = wall_seconds() - started, all = static_cast<double>(patterns_.groups().size()),
               d = static_cast<double>(done);
  job_.context.log.progress(fmt::format("submatrix {} of {} of rank 0 ({:.0f} %), {:.4g} submatrices/s, {:.0f} s left",
                                        done, patterns_.groups().size(), 100.0 * d / all, d / elapsed,
                                        elapsed / d * (all - d)));
  if (job_.options.progress && job_.context.comm.root()) job_.options.progress(d / all, elapsed / d * (all - d));
}

/// Cuts the block columns out of those of the group: each at the rows of its own pattern, so that D has the pattern it
/// would have without groups.
void ColumnSolutions::store(std::size_t group, const PrincipalIndex& index, ColumnSolver& solver, double mu) {
  const double kt = job_.options.kt;
  std::vector<double> panel[2];
  solver.column([mu, kt](double x) { return occupation(x, mu, kt); }, panel[0]);
  if (job_.options.energy_weighted || reach_.matrices_end())
    solver.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, panel[1]);
  if (reach_.matrices_end()) note_norms(group, index, mu, panel[0], panel[1]);
  int first = 0;  // of the column's rows among those wanted
  for (int column : patterns_.groups()[group]) {
    const int width = job_.system.layout->size(column);
    const PrincipalIndex own = patterns_.alone(column);
    std::vector<double> cut[2];
    for (int m = 0; m < (job_.options.energy_weighted ? 2 : 1); ++m)
      for (int block : own.blocks) {
        const auto at =
            static_cast<std::size_t>(std::find(index.blocks.begin(), index.blocks.end(), block) - index.blocks.begin());
        for (int i = index.start[at]; i < index.start[at + 1]; ++i)
          for (int q = 0; q < width; ++q) cut[m].push_back(panel[m][i * index.width + first + q]);
      }
    first += width;
    const int k = patterns_.matrix().find(column);
    if (k >= 0) {
      values_[k] = std::move(cut[0]);
      if (job_.options.energy_weighted) weighted_[k] = std::move(cut[1]);
      job_.result.dimensions[k] = index.dimension();
      continue;
    }
    auto& message = for_others_[column];
    message = {static_cast<double>(index.dimension())};
    for (const auto& part : cut) message.insert(message.end(), part.begin(), part.end());
  }
}

/// For each wanted column of a submatrix how far D reaches, by its blocks.
void ColumnSolutions::note_norms(std::size_t group, const PrincipalIndex& index, double mu,
                                 const std::vector<double>& density, const std::vector<double>& weighted) {
  density_norms_[group].clear();
  int first = 0;
  for (int column : patterns_.groups()[group]) {
    const int width = job_.system.layout->size(column);
    density_norms_[group].push_back(reach_.norms(index, spectra_[group], mu, density, weighted, first, width));
    first += width;
  }
}

int ColumnSolutions::repeat_changed() {
  const auto timer = job_.context.timing.scope("columns");
  const double mu = job_.result.mu, kt = job_.options.kt;
  int repeated = 0;
  for (std::size_t g = 0; g < patterns_.groups().size(); ++g) {
    double change = 0.0;
    for (std::size_t j = 0; j < spectra_[g].node.size(); ++j)
      change += spectra_[g].weight[j] *
                std::abs(occupation(spectra_[g].node[j], mu, kt) - occupation(spectra_[g].node[j], solvers_.mu(), kt));
    if (change <= 1e-12) continue;
    const PrincipalIndex index = patterns_.of_group(g, job_.options.eps);
    ColumnSolver& work = solvers_.of(index);
    spectra_[g] = work.decompose(index, patterns_.columns(), job_.options.eps,
                                 [mu, kt](double x) { return occupation(x, mu, kt); });
    store(g, index, work, mu);
    job_.result.flops += work.report().flops;
    repeated += static_cast<int>(patterns_.groups()[g].size());
  }
  solvers_.set_mu(mu);  // for which all columns now are
  repeated = static_cast<int>(job_.context.comm.sum(static_cast<std::int64_t>(repeated)));
  job_.result.columns.evaluated_twice += repeated;
  return repeated;
}

/// Messages: column, number of values, dimension, D, W.
void ColumnSolutions::return_to_owners() {
  if (!patterns_.moved()) return;
  const auto timer = job_.context.timing.scope("columns");
  const Comm& comm = job_.context.comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<int> sent(ranks, 0), received(ranks, 0), send_at(ranks, 0), receive_at(ranks, 0);
  std::vector<double> out, in;
  for (const auto& [column, values] : for_others_) {  // ascending columns, so ascending owners
    out.push_back(column);
    out.push_back(static_cast<double>(values.size()));
    out.insert(out.end(), values.begin(), values.end());
    sent[job_.system.ranges.owner(column)] += static_cast<int>(values.size()) + 2;
  }
  for_others_.clear();
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm.handle());
  std::partial_sum(sent.begin(), sent.end() - 1, send_at.begin() + 1);
  std::partial_sum(received.begin(), received.end() - 1, receive_at.begin() + 1);
  in.resize(receive_at.back() + received.back());
  MPI_Alltoallv(out.data(), sent.data(), send_at.data(), MPI_DOUBLE, in.data(), received.data(), receive_at.data(),
                MPI_DOUBLE, comm.handle());
  job_.result.bytes += static_cast<std::int64_t>(in.size() * sizeof(double));
  for (auto p = in.cbegin(); p != in.cend();) {
    const auto k = static_cast<std::size_t>(patterns_.matrix().find(static_cast<int>(p[0])));
    const auto all = static_cast<std::ptrdiff_t>(p[1]), each = (all - 1) / (job_.options.energy_weighted ? 2 : 1);
    job_.result.dimensions[k] = static_cast<int>(p[2]);
    values_[k].assign(p + 3, p + 3 + each);
    if (job_.options.energy_weighted) weighted_[k].assign(p + 3 + each, p + 2 + all);
    p += 2 + all;
  }
}

}  // namespace cambium::submatrix
