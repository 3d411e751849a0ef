#pragma once
// Random Hamiltonians and overlaps with a gap, and their exact energies.
#include <numeric>

#include "core/parallel/random.hpp"
#include "tests/plugins/submatrix/samples.hpp"

namespace cambium::submatrix::test {

/// Levels of H c = e S c; all of H and S row-major. Empty when S is not positive definite.
inline std::vector<double> generalised_levels(std::vector<double> h, std::vector<double> s, int n) {
  std::vector<double> value(n), work(static_cast<std::size_t>(40 * n));
  const int type = 1, size = static_cast<int>(work.size());
  int info = 0;
  dsygv_(&type, "N", "L", &n, h.data(), &n, s.data(), &n, value.data(), work.data(), &size, &info);
  if (info != 0) value.clear();
  return value;
}

/// Blocks on a lattice in one, two or three dimensions, displaced at random; elements are random and fall off
/// exponentially with the distance, up to a range. Everything about a system follows from its seed.
class RandomSystem {
 public:
  explicit RandomSystem(std::uint64_t seed) : seed_(seed) {
    for (attempt_ = 0; attempt_ < 200; ++attempt_) {
      make();
      const auto n = static_cast<std::size_t>(layout_->dimension());
      levels_ = generalised_levels(h_, s_, static_cast<int>(n));
      std::vector<double> one(n * n, 0.0);
      for (std::size_t i = 0; i < n; ++i) one[i * n + i] = 1.0;
      if (levels_.empty() || levels_[pairs()] - levels_[pairs() - 1] < least_gap_) continue;
      if (orthogonal_ || generalised_levels(s_, one, static_cast<int>(n)).front() > 0.05) return;
    }
    levels_.clear();
  }

  /// In [low, high), a number of its own for every `what`.
  double draw(std::uint64_t what, double low, double high) const {
    return low +
           (high - low) * Random4(seed_, Stream::test, what, 1000 + static_cast<std::uint64_t>(attempt_)).uniform(0);
  }
  bool orthogonal() const { return orthogonal_; }
  int blocks() const { return layout_->blocks(); }
  std::size_t pairs() const { return pairs_; }
  double electrons() const { return 2.0 * static_cast<double>(pairs_); }
  const std::vector<double>& levels() const { return levels_; }
  double gap() const { return levels_[pairs_] - levels_[pairs_ - 1]; }
  /// Of the exact levels at the number of electrons.
  double band_energy() const {
    return 2.0 * std::accumulate(levels_.begin(), levels_.begin() + static_cast<std::ptrdiff_t>(pairs_), 0.0);
  }

  MatrixSystem system(const Comm& comm) const {
    MatrixSystem out{layout_,
                     ColumnRanges::balanced(std::vector<double>(blocks(), 1.0), comm.size()),
                     BlockColumns(layout_),
                     BlockColumns(layout_),
                     blocks(),
                     electrons(),
                     {},
                     {},
                     "random",
                     {}};
    const auto fill = [&](const std::vector<double>& dense, BlockColumns& matrix) {
      const auto n = layout_->dimension();
      for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
        matrix.start_column(b);
        for (int a = 0; a < blocks(); ++a) {
          if (a != b && distance(a, b) > range_) continue;
          double* block = matrix.add_block(a);
          for (int i = 0; i < layout_->size(a); ++i)
            for (int j = 0; j < layout_->size(b); ++j)
              block[i * layout_->size(b) + j] = dense[(layout_->offset(a) + i) * n + layout_->offset(b) + j];
        }
      }
      matrix.finish();
    };
    fill(h_, out.hamiltonian);
    fill(s_, out.overlap);
    return out;
  }

 private:
  double distance(int a, int b) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) sum += (x_[a][k] - x_[b][k]) * (x_[a][k] - x_[b][k]);
    return std::sqrt(sum);
  }
  void make() {
    const int dimensions = 1 + static_cast<int>(draw(1, 0.0, 3.0)),
              side = dimensions == 1   ? static_cast<int>(draw(2, 20.0, 90.0))
                     : dimensions == 2 ? static_cast<int>(draw(2, 4.0, 9.0))
                                       : static_cast<int>(draw(2, 3.0, 5.0));
    x_.clear();
    pairs_ = 0;
    std::vector<int> sizes;
    const int most = 1 + static_cast<int>(draw(3, 0.0, 3.0));
    const double displaced = draw(4, 0.0, 0.3);
    const int all = dimensions == 1 ? side : dimensions == 2 ? side * side : side * side * side;
    for (int b = 0; b < all; ++b) {
      const int at[3] = {b % side, b / side % side, b / (side * side)};
      auto& x = x_.emplace_back();
      for (std::size_t k = 0; k < 3; ++k)
        x[k] = at[k] + (static_cast<int>(k) < dimensions
                            ? displaced * draw(1000 + static_cast<std::uint64_t>(3 * b) + k, -1.0, 1.0)
                            : 0.0);
      sizes.push_back(1 + static_cast<int>(draw(100000 + static_cast<std::uint64_t>(b), 0.0, most)));
    }
    layout_ = std::make_shared<const BlockLayout>(sizes);
    orthogonal_ = draw(5, 0.0, 1.0) < 0.5;
    range_ = draw(6, 1.2, 6.0);
    least_gap_ = draw(7, 0.05, 0.2);
    const double decay = draw(8, 0.3, 1.2), coupling = draw(9, 0.03, 0.25) / dimensions,
                 overlap = orthogonal_ ? 0.0 : draw(10, 0.02, 0.2) / dimensions, disorder = draw(11, 0.0, 0.2);
    const auto n = static_cast<std::size_t>(layout_->dimension());
    h_.assign(n * n, 0.0);
    s_.assign(n * n, 0.0);
    for (int a = 0; a < all; ++a)
      for (int b = 0; b <= a; ++b) {
        if (a != b && distance(a, b) > range_) continue;
        const double fall = a == b ? 1.0 : std::exp(-(distance(a, b) - 1.0) / decay);
        for (int i = 0; i < sizes[a]; ++i)
          for (int j = 0; j < sizes[b]; ++j) {
            const auto row = static_cast<std::size_t>(layout_->offset(a) + i),
                       column = static_cast<std::size_t>(layout_->offset(b) + j);
            if (column > row) continue;
            const std::uint64_t element = 1000000 + 2 * (row * n + column);
            double h = coupling * fall * draw(element, -1.0, 1.0),
                   s = a == b ? 0.0 : overlap * fall * draw(element + 1, -1.0, 1.0);
            if (row == column) {
              const bool occupied = sizes[a] == 1 ? a % 2 == 0 : i == 0;
              pairs_ += occupied ? 1 : 0;
              h = (occupied ? -0.5 : 0.3 + 0.2 * i) + disorder * draw(element, -1.0, 1.0);
              s = 1.0;
            }
            h_[row * n + column] = h_[column * n + row] = h;
            s_[row * n + column] = s_[column * n + row] = s;
          }
      }
  }

  std::uint64_t seed_;
  int attempt_ = 0;
  std::shared_ptr<const BlockLayout> layout_;
  std::vector<std::array<double, 3>> x_;
  std::vector<double> h_, s_, levels_;
  std::size_t pairs_ = 0;
  double range_ = 0.0, least_gap_ = 0.0;
  bool orthogonal_ = false;
};

}  // namespace cambium::submatrix::test
