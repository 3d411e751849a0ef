#include "plugins/kinetic/fields/strip_solver.hpp"

#include <mpi.h>

#include <algorithm>

#include "core/base/counts.hpp"

namespace cambium::kinetic {

/// MPI tag, distinct from those of cells and ghosts.
static constexpr int line_tag = 91;

static void send(const Comm& comm, const std::vector<double>& values, int to) {
  MPI_Send(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, to, line_tag, comm.handle());
}

static std::vector<double> received(const Comm& comm, std::size_t size, int from) {
  std::vector<double> out(size);
  MPI_Recv(out.data(), static_cast<int>(size), MPI_DOUBLE, from, line_tag, comm.handle(), MPI_STATUS_IGNORE);
  return out;
}

StripSolver::StripSolver(const Nodes& nodes) : strips_(nodes.strips), line_(nodes.line) {
  lower_ = below() ? line_ : 0;
  upper_ = above() ? line_ : 0;
  const auto size = nodes.pinned.size();
  for (std::size_t k = size - at(upper_); k < size; ++k) left_to_next_.push_back(nodes.pinned[k]);
  auto shared = assemble(nodes);
  inner_.factorize();
  eliminate_inner(shared);
  eliminate_lines(shared);
}

/// Makes the band of the inner nodes and their couplings, and returns the stiffness of the shared ones, [node][node].
std::vector<double> StripSolver::assemble(const Nodes& nodes) {
  const int all = static_cast<int>(nodes.pinned.size()), count = all - lower_ - upper_, shared = lower_ + upper_;
  const int local = static_cast<int>(nodes.element.nodes.size());
  std::vector<double> out(at(shared) * at(shared), 0.0);
  const auto is_inner = [&](int k) { return k >= lower_ && k < all - upper_; };
  const auto of_shared = [&](int k) { return k < lower_ ? k : k - count; };
  const auto for_each_pair = [&](const auto& visit) {
    for (std::size_t cell = 0; cell < nodes.number.size(); cell += at(local))
      for (int i = 0; i < local; ++i)
        for (int j = 0; j < local; ++j) {
          const int a = nodes.number[cell + at(i)], b = nodes.number[cell + at(j)];
          if (!nodes.pinned[at(a)] && !nodes.pinned[at(b)]) visit(a, b, nodes.element.stiffness[at(i * local + j)]);
        }
  };
  int band = 0;
  for_each_pair([&](int a, int b, double) {
    if (is_inner(a) && is_inner(b)) band = std::max(band, a - b);
  });
  inner_ = Banded(count, band);
  for_each_pair([&](int a, int b, double value) {
    if (is_inner(a) && is_inner(b)) {
      if (b <= a) inner_.at(a - lower_, b - lower_) += value;
    } else if (!is_inner(a) && !is_inner(b)) {
      out[at(of_shared(a) * shared + of_shared(b))] += value;
    } else if (!is_inner(a)) {
      couplings_.push_back({of_shared(a), b - lower_, value});
    }
  });
  for (int k = 0; k < all; ++k) {
    if (!nodes.pinned[at(k)]) continue;
    if (is_inner(k)) inner_.at(k - lower_, k - lower_) = 1.0;
    if (k < lower_) out[at(k * shared + k)] = 1.0;
  }
  return out;
}

void StripSolver::add_to_shared(double factor, const std::vector<double>& inner, std::vector<double>& shared) const {
  for (const auto& c : couplings_) shared[at(c.shared)] += factor * c.value * inner[at(c.inner)];
}

void StripSolver::add_to_inner(double factor, const std::vector<double>& shared, std::vector<double>& inner) const {
  for (const auto& c : couplings_) inner[at(c.inner)] += factor * c.value * shared[at(c.shared)];
}

/// Schur complement: subtracts the contribution of the inner nodes from the stiffness of the shared nodes.
void StripSolver::eliminate_inner(std::vector<double>& shared) const {
  const int n = lower_ + upper_;
  std::vector<double> unit(at(n), 0.0), row(at(n)), inner;
  for (int k = 0; k < n; ++k) {
    inner.assign(at(inner_.size()), 0.0);
    unit[at(k)] = 1.0;
    add_to_inner(1.0, unit, inner);
    unit[at(k)] = 0.0;
    inner_.solve(inner);
    row.assign(at(n), 0.0);
    add_to_shared(1.0, inner, row);
    for (int j = 0; j < n; ++j) shared[at(k * n + j)] -= row[at(j)];
  }
}

/// From the first strip to the last: the block of the lower line, from both its strips, and what the upper one has
/// left.
void StripSolver::eliminate_lines(const std::vector<double>& shared) {
  const int n = lower_ + upper_;
  std::vector<double> left(at(upper_) * at(upper_));
  for (int a = 0; a < upper_; ++a)
    for (int b = 0; b < upper_; ++b) left[at(a * upper_ + b)] = shared[at((lower_ + a) * n + lower_ + b)];
  if (below()) {
    const auto others = received(*strips_, at(line_) * at(line_), strips_->rank() - 1);
    block_ = Banded(line_, line_ - 1);
    for (int a = 0; a < line_; ++a)
      for (int b = 0; b <= a; ++b) block_.at(a, b) = shared[at(a * n + b)] + others[at(a * line_ + b)];
    block_.factorize();
    for (int a = 0; a < lower_; ++a)
      for (int b = 0; b < upper_; ++b) across_.push_back(shared[at(a * n + lower_ + b)]);
    carried_.resize(across_.size());
    std::vector<double> column(at(line_));
    for (int b = 0; b < upper_; ++b) {
      for (int a = 0; a < line_; ++a) column[at(a)] = across_[at(a * upper_ + b)];
      block_.solve(column);
      for (int a = 0; a < line_; ++a) carried_[at(a * upper_ + b)] = column[at(a)];
      for (int c = 0; c < upper_; ++c)
        for (int a = 0; a < line_; ++a) left[at(c * upper_ + b)] -= across_[at(a * upper_ + c)] * column[at(a)];
    }
  }
  if (above()) send(*strips_, left, strips_->rank() + 1);
}

/// Replaces this strip's contributions to the loads of the shared nodes by the solution there.
void StripSolver::join_lines(std::vector<double>& shared) const {
  std::vector<double> low(shared.begin(), shared.begin() + lower_), high(shared.begin() + lower_, shared.end());
  if (below()) {
    const auto others = received(*strips_, low.size(), strips_->rank() - 1);
    for (std::size_t a = 0; a < low.size(); ++a) low[a] += others[a];
    block_.solve(low);
  }
  if (above()) {
    for (int b = 0; b < upper_; ++b) {
      if (left_to_next_[at(b)]) high[at(b)] = 0.0;
      for (int a = 0; a < lower_; ++a) high[at(b)] -= across_[at(a * upper_ + b)] * low[at(a)];
    }
    send(*strips_, high, strips_->rank() + 1);
    high = received(*strips_, high.size(), strips_->rank() + 1);
    for (int a = 0; a < lower_; ++a)
      for (int b = 0; b < upper_; ++b) low[at(a)] -= carried_[at(a * upper_ + b)] * high[at(b)];
  }
  if (below()) send(*strips_, low, strips_->rank() - 1);
  std::copy(high.begin(), high.end(), std::copy(low.begin(), low.end(), shared.begin()));
}

void StripSolver::solve(std::vector<double>& right) const {
  if (lower_ + upper_ == 0) return inner_.solve(right);
  const auto first = right.begin() + lower_, last = right.end() - upper_;
  std::vector<double> inner(first, last), shared(right.begin(), first);
  shared.insert(shared.end(), last, right.end());
  auto alone = inner;
  inner_.solve(alone);
  add_to_shared(-1.0, alone, shared);
  join_lines(shared);
  add_to_inner(-1.0, shared, inner);
  inner_.solve(inner);
  std::copy(inner.begin(), inner.end(), first);
  std::copy_n(shared.begin(), lower_, right.begin());
  std::copy_n(shared.begin() + lower_, upper_, last);
}

}  // namespace cambium::kinetic
