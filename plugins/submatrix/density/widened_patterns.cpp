// The part of density_matrix() that gives block columns of Hamiltonians of neighbours the rows to which D reaches.
// Where H and S fall off, blocks below eps say where a submatrix may end. Where they end before anything is that small,
// eps leaves nothing out and says nothing: then the pattern is taken from powers of H, as far as D goes.
#include <algorithm>
#include <cmath>

#include "plugins/submatrix/density/density_step.hpp"
#include "plugins/submatrix/density/ends.hpp"

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

/// Collective: the squares of what eps leaves out of own columns of the matrices of the input, on the diagonal of a
/// matrix of one row for each block, so that ranks can ask for it. False where no column on any rank can end before D
/// does, and with groups, which are the other way to larger submatrices.
bool DensityStep::note_ends() {
  if (system_.bonds || options_.make_solver || options_.eps <= 0.0 || options_.groups.by != GroupBy::none) return false;
  const double eps = options_.eps;
  if (!block_layout_) block_layout_ = layout_of_blocks(*system_.layout);
  left_out_.emplace(block_layout_);
  bool any = false;
  for (int column : hamiltonian_->columns()) {
    const std::vector<int> kept = unique(own_index(column, eps).blocks);
    double squares = squares_outside(system_.hamiltonian.column(column), kept, eps);
    if (options_.form == Form::local) squares += squares_outside(system_.overlap.column(column), kept, eps);
    left_out_->start_column(column);
    left_out_->add_block(column, &squares);
    any |= may_end(squares, eps);
  }
  left_out_->finish();
  return context_.comm.max(any ? 1 : 0) > 0;
}

/// Of each wanted column of a submatrix how far D reaches, by its blocks.
void DensityStep::note_density(std::size_t group, const PrincipalIndex& index, double mu,
                               const std::vector<double>& density, const std::vector<double>& weighted) {
  density_norms_[group].clear();
  int first = 0;
  for (int column : groups_[group]) {
    const int width = system_.layout->size(column);
    density_norms_[group].push_back(reaching(index, spectra_[group], mu, density, weighted, first, width));
    first += width;
  }
}

/// Collective: the columns of own submatrices that end before D does, or were widened because of that, each with the
/// rows of its submatrix.
std::vector<Growing> DensityStep::columns_that_end() {
  const double eps = options_.eps;
  std::vector<int> columns, rows;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PrincipalIndex index = group_index(g, eps);
    columns.insert(columns.end(), groups_[g].begin(), groups_[g].end());
    rows.insert(rows.end(), index.blocks.begin(), index.blocks.end());
  }
  const ColumnSet left_out = fetch_columns(*left_out_, system_.ranges, unique(std::move(columns)), WantedRows::all,
                                           context_.comm, result_.bytes);
  const ColumnSet coupling = couplings(unique(std::move(rows)));
  std::vector<char> inside(static_cast<std::size_t>(system_.layout->blocks()), 0);
  std::vector<Growing> out;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PrincipalIndex index = group_index(g, eps);
    for (std::size_t k = 0; k < groups_[g].size(); ++k) {
      const int column = groups_[g][k];
      const double left = *left_out(column).block(0);
      if (!may_end(left, eps)) continue;
      const std::vector<double>& norms = density_norms_[g][k];
      Growing growing = started(column, coupling(column), eps);
      const bool widened = own_rows(column).size() > growing.rows.size();
      if (!widened && !ends(left, squares_across(index, norms, coupling, eps, inside))) continue;
      growing.rows = unique(index.blocks);
      judge_rows(growing, index, norms, coupling, {eps, share_of_estimate});
      growing.at_limit = !growing.front.empty() && index.dimension() >= most_functions;
      if (growing.at_limit) growing.front.clear();
      out.push_back(std::move(growing));
    }
  }
  return out;
}

/// Rows that belong to a column by the pattern.
std::vector<int> DensityStep::own_rows(int column) const {
  return principal_index(*group_columns_, *system_.layout, {&column, 1}, options_.eps).blocks;
}

/// Collective: one round of widening. Each adds rows as far as D is likely to reach; when there is none to add, those
/// to which it does not reach leave again. False when nothing was done.
bool DensityStep::widen_patterns(int round) {
  const auto timer = context_.timing.scope("columns");
  if (!coupling_) note_couplings();
  std::vector<Growing> growing = columns_that_end();
  for (int k = 0; k < first_hops + round; ++k) {
    std::vector<int> rows;
    for (const auto& g : growing)
      for (const auto& [row, density] : g.front) rows.push_back(row);
    const ColumnSet coupling = couplings(unique(std::move(rows)));
    for (auto& g : growing) hop(g, coupling, {options_.eps, share_of_estimate});
  }
  const bool grew = round < most_rounds && merge_patterns(growing, false);
  if (!grew && !pattern_) return ends_ = false;
  if (!grew) {
    trimmed_ = merge_patterns(growing, true);
    const auto limited = std::count_if(growing.begin(), growing.end(), [round](const Growing& g) {
      return g.at_limit || (round == most_rounds && !g.front.empty());
    });
    widened_ = static_cast<int>(context_.comm.sum(std::ssize(growing))),
    at_limit_ = static_cast<int>(context_.comm.sum(limited));
  }
  group_solver_.reset();
  prepare_columns();
  return true;
}

/// Collective: column, row and largest eps at which the row belongs to the column, for own columns, from those who
/// solved them. D is symmetric, and so are the patterns. What hops added belongs at `least`.
std::vector<double> DensityStep::exchanged_rows(const std::vector<Growing>& growing, double least) {
  const Comm& comm = context_.comm;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<double>> to(ranks);
  const auto add = [&](int column, int row, double reach) {
    auto& list = to[static_cast<std::size_t>(system_.ranges.owner(column))];
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
    sent.push_back(static_cast<int>(list.size())), send_at.push_back(send_at.back() + sent.back());
    out.insert(out.end(), list.begin(), list.end());
  }
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm.handle());
  for (int n : received) receive_at.push_back(receive_at.back() + n);
  std::vector<double> in(static_cast<std::size_t>(receive_at.back()));
  MPI_Alltoallv(out.data(), sent.data(), send_at.data(), MPI_DOUBLE, in.data(), received.data(), receive_at.data(),
                MPI_DOUBLE, comm.handle());
  result_.bytes += static_cast<std::int64_t>(in.size() * sizeof(double));
  return in;
}

/// Collective: adds the rows of `growing` to the pattern. Unless `last` none leaves it, so that widening ends; then the
/// pattern is that of H and of the rows to which D reaches, down to a tenth of eps, for the submatrices that judge the
/// result. False when on no rank one was new.
bool DensityStep::merge_patterns(const std::vector<Growing>& growing, bool last) {
  const BlockColumns& before = last ? *hamiltonian_ : pattern();
  std::map<int, std::map<int, double>> rows;
  for (int column : before.columns()) {
    const BlockColumn c = before.column(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e) rows[column].emplace(c.rows[e], c.norms[e]);
  }
  bool grew = false;
  const std::vector<double> in = exchanged_rows(growing, last ? 0.1 * options_.eps : options_.eps);
  for (std::size_t k = 0; k < in.size(); k += 3) {
    const int column = static_cast<int>(in[k]), row = static_cast<int>(in[k + 1]);
    double& reach = rows[column][row];
    grew |= row != column && reach < options_.eps;
    reach = std::max(reach, in[k + 2]);
  }
  if (!last && context_.comm.max(grew ? 1 : 0) == 0) return false;
  BlockColumns merged(block_layout_);
  for (const auto& [column, reach] : rows) {
    merged.start_column(column);
    for (const auto& [row, value] : reach) merged.add_block(row, &value);
  }
  merged.finish();
  pattern_ = std::move(merged);
  return true;
}

}  // namespace cambium::submatrix
