#include "plugins/submatrix/submatrices/widening.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "plugins/submatrix/submatrices/ends.hpp"

namespace cambium::submatrix {

/// Sum of the squared norms of the blocks of a column that are not in its submatrix. Such a block of H counts for no
/// more than eps: H' is smaller than that there.
static double squares_outside(const BlockColumn& c, const std::vector<int>& kept, double eps) {
  double out = 0.0;
  for (std::size_t e = 0; e < c.rows.size(); ++e)
    if (!std::binary_search(kept.begin(), kept.end(), c.rows[e]))
      out += std::min(c.norms[e], eps) * std::min(c.norms[e], eps);
  return out;
}

void Widening::look() {
  const auto& options = job_.options;
  if (left_out_ || job_.system.bonds || options.make_solver || options.eps <= 0.0) return;
  const double eps = options.eps;
  left_out_.emplace(layout_of_blocks(*job_.system.layout));
  bool any = false;
  for (int column : patterns_.matrix().columns()) {
    const std::vector<int> kept = unique(patterns_.of_column(column, eps).blocks);
    const BlockColumn h = job_.system.hamiltonian.column(column);
    double squares = squares_outside(h, kept, eps), least = least_kept(h, column, eps);
    if (options.form == Form::local) {
      const BlockColumn s = job_.system.overlap.column(column);
      squares += squares_outside(s, kept, eps);
      least = std::min(least, least_kept(s, column, eps));
    }
    if (may_end(squares, least, eps))
      any = true;
    else
      squares = ended_by_eps;
    left_out_->start_column(column);
    left_out_->add_block(column, &squares);
  }
  left_out_->finish();
  reach_.set_matrices_end(job_.context.comm.max(any ? 1 : 0) > 0);
}

/// Collective: the columns of own submatrices that end before D does, or were widened because of that, each with the
/// rows of its submatrix.
std::vector<Growing> Widening::columns_that_end(const DensityNorms& density) {
  const double eps = job_.options.eps;
  const auto& groups = patterns_.groups();
  std::vector<int> columns, rows;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PrincipalIndex index = patterns_.of_group(g, eps);
    columns.insert(columns.end(), groups[g].begin(), groups[g].end());
    rows.insert(rows.end(), index.blocks.begin(), index.blocks.end());
  }
  const ColumnSet left_out = fetch_columns(*left_out_, job_.system.ranges, unique(std::move(columns)), WantedRows::all,
                                           job_.context.comm, job_.result.bytes);
  const ColumnSet coupling = couplings_.of(unique(std::move(rows)));
  std::vector<char> inside(job_.blocks(), 0);
  std::vector<Growing> out;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const PrincipalIndex index = patterns_.of_group(g, eps);
    for (std::size_t k = 0; k < groups[g].size(); ++k) {
      const int column = groups[g][k];
      const double left = *left_out(column).block(0);
      if (left >= ended_by_eps) continue;
      const std::vector<double>& norms = density[g][k];
      Growing growing = reach_.started(column, coupling(column), eps);
      const bool widened = patterns_.alone(column).blocks.size() > growing.rows.size();
      if (!widened && !ends(left, squares_across(index, norms, coupling, eps, inside))) continue;
      growing.rows = unique(index.blocks);
      reach_.judge_rows(growing, index, norms, coupling, {eps, share_of_estimate});
      growing.at_limit = !growing.front.empty() && index.dimension() >= most_functions;
      if (growing.at_limit) growing.front.clear();
      out.push_back(std::move(growing));
    }
  }
  return out;
}

bool Widening::widen(int round, const DensityNorms& density) {
  const auto timer = job_.context.timing.scope("columns");
  const ReachOptions reach{job_.options.eps, share_of_estimate};
  if (!couplings_.known()) couplings_.note();
  std::vector<Growing> growing = columns_that_end(density);
  for (int k = 0; k < first_hops + round; ++k) {
    std::vector<int> rows;
    for (const auto& g : growing)
      for (const auto& [row, norm] : g.front) rows.push_back(row);
    const ColumnSet coupling = couplings_.of(unique(std::move(rows)));
    for (auto& g : growing) reach_.hop(g, coupling, reach);
  }
  const bool grew = round < most_rounds && merge(growing, false);
  if (!grew && !patterns_.widened()) {
    reach_.set_matrices_end(false);
    return false;
  }
  if (!grew) {
    trimmed_ = merge(growing, true);
    const auto limited = std::count_if(growing.begin(), growing.end(), [round](const Growing& g) {
      return g.at_limit || (round == most_rounds && !g.front.empty());
    });
    widened_ = static_cast<int>(job_.context.comm.sum(std::ssize(growing)));
    at_limit_ = static_cast<int>(job_.context.comm.sum(limited));
  }
  return true;
}

/// Collective: column, row and largest eps at which the row belongs to the column, for own columns, from those who
/// solved them. D is symmetric, and so are the patterns. What hops added belongs at `least`.
std::vector<double> Widening::exchanged_rows(const std::vector<Growing>& growing, double least) const {
  const Comm& comm = job_.context.comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<double>> to(ranks);
  const auto add = [&](int column, int row, double reach) {
    auto& list = to[job_.system.ranges.owner(column)];
    list.insert(list.end(), {static_cast<double>(column), static_cast<double>(row), reach});
  };
  for (const auto& g : growing)
    for (int row : g.rows) {
      const auto known = g.reach.find(row);
      const double reach = known == g.reach.end() ? least : known->second;
      if (reach < least) continue;
      add(g.column, row, reach);
      if (row != g.column) add(row, g.column, reach);
    }
  std::vector<int> sent, received(ranks, 0), send_at{0}, receive_at{0};
  std::vector<double> out;
  for (const auto& list : to) {
    sent.push_back(static_cast<int>(list.size()));
    send_at.push_back(send_at.back() + sent.back());
    out.insert(out.end(), list.begin(), list.end());
  }
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm.handle());
  for (int n : received) receive_at.push_back(receive_at.back() + n);
  std::vector<double> in(receive_at.back());
  MPI_Alltoallv(out.data(), sent.data(), send_at.data(), MPI_DOUBLE, in.data(), received.data(), receive_at.data(),
                MPI_DOUBLE, comm.handle());
  job_.result.bytes += static_cast<std::int64_t>(in.size() * sizeof(double));
  return in;
}

/// Collective: adds the rows of `growing` to the pattern. Unless `last`, no row is removed, so that widening ends; with
/// it, the pattern is that of H and of the rows to which D reaches, down to a tenth of eps, for the submatrices that
/// evaluate the result. False if no rank has a new row.
bool Widening::merge(const std::vector<Growing>& growing, bool last) {
  const BlockColumns& before = last ? patterns_.matrix() : patterns_.rows();
  std::map<int, std::map<int, double>> rows;
  for (int column : before.columns()) {
    const BlockColumn c = before.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) rows[column].emplace(c.rows[e], c.norms[e]);
  }
  bool grew = false;
  const std::vector<double> in = exchanged_rows(growing, last ? 0.1 * job_.options.eps : job_.options.eps);
  for (std::size_t k = 0; k < in.size(); k += 3) {
    const int column = static_cast<int>(in[k]), row = static_cast<int>(in[k + 1]);
    double& reach = rows[column][row];
    grew |= row != column && reach < job_.options.eps;
    reach = std::max(reach, in[k + 2]);
  }
  if (!last && job_.context.comm.max(grew ? 1 : 0) == 0) return false;
  BlockColumns merged(layout_of_blocks(*job_.system.layout));
  for (const auto& [column, reach] : rows) {
    merged.start_column(column);
    for (const auto& [row, value] : reach) merged.add_block(row, &value);
  }
  merged.finish();
  patterns_.widen(std::move(merged));
  return true;
}

}  // namespace cambium::submatrix
