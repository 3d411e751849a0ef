#include "plugins/submatrix/blocks/smallest_eigenvalue.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/base/error.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "core/sparse/row_exchange.hpp"

namespace cambium::submatrix {

namespace {

using Vector = std::vector<double>;

/// Products of a distributed symmetric matrix with vectors, whose elements are distributed like its columns.
class SymmetricProduct {
 public:
  SymmetricProduct(const BlockColumns& matrix, const ColumnRanges& ranges, const Comm& comm)
      : matrix_(matrix), place_(static_cast<std::size_t>(matrix.layout().blocks()), -1) {
    for (int column : matrix.columns()) place(column);
    own_ = size_;
    find_others(ranges, comm);
  }
  /// Collective: to = matrix from, own elements of both.
  void operator()(const Vector& from, Vector& to) {
    const Vector& x = gathered(from);
    to.assign(own_, 0.0);
    for (int column : matrix_.columns()) {
      const BlockColumn c = matrix_.column(column);
      const int width = matrix_.layout().size(column);
      double* out = to.data() + place_[column];
      for (std::size_t e = 0; e < c.rows.size(); ++e) {
        const double *block = c.block(e), *in = x.data() + place_[c.rows[e]];
        const int rows = matrix_.layout().size(c.rows[e]);
        for (int i = 0; i < rows; ++i)
          for (int q = 0; q < width; ++q) out[q] += block[i * width + q] * in[i];
      }
    }
  }

 private:
  void place(int block) {
    place_[block] = static_cast<std::ptrdiff_t>(size_);
    size_ += static_cast<std::size_t>(matrix_.layout().size(block));
  }
  /// Elements of the other rows of own columns come from their owners.
  void find_others(const ColumnRanges& ranges, const Comm& comm) {
    const BlockLayout& layout = matrix_.layout();
    std::vector<int> blocks;
    for (int column : matrix_.columns())
      for (int row : matrix_.column(column).rows)
        if (place_[row] < 0) blocks.push_back(row);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    std::vector<std::int32_t> wanted;
    for (int block : blocks) {
      place(block);
      for (int i = 0; i < layout.size(block); ++i)
        wanted.push_back(static_cast<std::int32_t>(layout.offset(block) + i));
    }
    std::vector<std::int64_t> first;
    for (int begin : ranges.first) first.push_back(layout.offset(begin));
    others_ = std::make_unique<sparse::RowExchange<double>>(first, wanted, lowp::WireCodec::none, comm);
  }
  /// Own elements, then those of others.
  const Vector& gathered(const Vector& own) {
    x_.resize(size_);
    std::copy(own.begin(), own.end(), x_.begin());
    others_->begin({own.data(), others_->own_rows(), 1, 1}, {x_.data() + own_, others_->wanted_rows(), 1, 1});
    others_->finish();
    return x_;
  }

  const BlockColumns& matrix_;
  std::vector<std::ptrdiff_t> place_;  ///< of the first element of a block; -1: not here
  std::size_t size_ = 0, own_ = 0;
  std::unique_ptr<sparse::RowExchange<double>> others_;
  Vector x_;
};

/// A vector and its product with the matrix.
struct Direction {
  Vector x, ax;
};

/// The steps: the lowest vector in the space of itself, the preconditioned residual and the step before.
class Descent {
 public:
  Descent(const LowestProblem& problem, const ColumnRanges& ranges, const Comm& comm)
      : problem_(problem), comm_(comm), matrix_(problem.matrix, ranges, comm) {
    if (problem.root) root_.emplace_back(*problem.root, ranges, comm);
    if (problem.raised) raised_.emplace_back(*problem.raised, ranges, comm);
    // Quasi-random start vector, the same on any number of ranks.
    for (int column : problem.matrix.columns())
      for (int i = 0; i < problem.matrix.layout().size(column); ++i) {
        const auto at = static_cast<double>(problem.matrix.layout().offset(column) + i + 1);
        at_.x.push_back(std::fmod(at * 0.6180339887498949, 1.0) - 0.5);
      }
    apply(at_);
    scale(at_, 1.0 / std::sqrt(comm_.sum(dot(at_.x, at_.x))));
    value_ = comm_.sum(dot(at_.x, at_.ax));
  }
  double value() const { return value_; }
  int products() const { return products_; }

  /// One step; false if it cannot improve the value.
  bool step() {
    Direction w;
    w.x = at_.ax;
    add(w.x, at_.x, -value_);
    for (auto& root : root_)
      for (int k = 0; k < 2; ++k) root(w.x, work_), w.x.swap(work_);
    if (!make_orthogonal(w, {&at_})) return false;
    apply(w);
    std::vector<Direction*> space{&at_, &w};
    // Not by `last_` itself: a rank without columns has no elements of any vector, and all ranks must sum together.
    if (moved_ && make_orthogonal(last_, {&at_, &w})) space.push_back(&last_);
    minimise(space);
    return true;
  }
  /// The block that holds most of the vector, of all ranks.
  int block() const {
    struct {
      double value;
      int block;
    } mine{-1.0, 0}, all{-1.0, 0};
    std::size_t first = 0;
    for (int column : problem_.matrix.columns()) {
      double sum = 0.0;
      const auto size = static_cast<std::size_t>(problem_.matrix.layout().size(column));
      for (std::size_t i = first; i < first + size; ++i) sum += at_.x[i] * at_.x[i];
      first += size;
      if (sum > mine.value) mine = {sum, column};
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm_.handle());
    return all.block;
  }

 private:
  static double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
  static void add(Vector& to, const Vector& from, double factor) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
  }
  static void scale(Direction& d, double factor) {
    for (double& v : d.x) v *= factor;
    for (double& v : d.ax) v *= factor;
  }
  void apply(Direction& d) {
    matrix_(d.x, d.ax);
    for (auto& raised : raised_) {
      raised(d.x, work_);
      add(d.ax, work_, 1.0);
    }
    ++products_;
  }
  /// Orthogonalises and normalises; products follow if they are known. False if nothing is left.
  bool make_orthogonal(Direction& d, const std::vector<Direction*>& to) {
    const double before = comm_.sum(dot(d.x, d.x));
    for (int pass = 0; pass < 2; ++pass) {
      std::array<double, 2> overlap{};
      for (std::size_t k = 0; k < to.size(); ++k) overlap[k] = dot(to[k]->x, d.x);
      comm_.sum(std::span<double>(overlap));
      for (std::size_t k = 0; k < to.size(); ++k) {
        add(d.x, to[k]->x, -overlap[k]);
        if (!d.ax.empty()) add(d.ax, to[k]->ax, -overlap[k]);
      }
    }
    const double after = comm_.sum(dot(d.x, d.x));
    if (!(after > 1e-24 * before)) return false;
    scale(d, 1.0 / std::sqrt(after));
    return true;
  }
  void minimise(const std::vector<Direction*>& space) {
    const auto n = space.size();
    std::vector<double> a(n * n), values(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        a[i * n + j] = 0.5 * (dot(space[i]->x, space[j]->ax) + dot(space[j]->x, space[i]->ax));
    comm_.sum(std::span<double>(a));
    symmetric_eigenvectors(static_cast<int>(n), a.data(), values.data());
    Direction next;
    next.x.assign(at_.x.size(), 0.0);
    next.ax.assign(at_.x.size(), 0.0);
    for (std::size_t k = 1; k < n; ++k) {
      add(next.x, space[k]->x, a[k]);
      add(next.ax, space[k]->ax, a[k]);
    }
    Direction last = next;
    add(next.x, at_.x, a[0]);
    add(next.ax, at_.ax, a[0]);
    at_ = std::move(next);
    last_ = std::move(last);
    moved_ = true;
    const double length = comm_.sum(dot(at_.x, at_.x));
    scale(at_, 1.0 / std::sqrt(length));
    value_ = comm_.sum(dot(at_.x, at_.ax));
  }

  const LowestProblem& problem_;
  const Comm& comm_;
  SymmetricProduct matrix_;
  std::vector<SymmetricProduct> root_, raised_;  ///< none or one
  Direction at_, last_;
  bool moved_ = false;  ///< there is a step before: `last_`
  Vector work_;
  double value_ = 0.0;
  int products_ = 0;
};

}  // namespace

LowestState smallest_eigenvalue(const LowestProblem& problem, const ColumnRanges& ranges, const Comm& comm, int most) {
  constexpr int looked_back = 5;
  Descent descent(problem, ranges, comm);
  std::vector<double> values{descent.value()};
  while (descent.products() < most && descent.step()) {
    values.push_back(descent.value());
    const auto n = values.size();
    if (n > looked_back && values.back() > 0.99 * values[n - 1 - looked_back]) break;
  }
  return {descent.value(), descent.block(), descent.products()};
}

}  // namespace cambium::submatrix
