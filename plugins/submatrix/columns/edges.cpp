#include "plugins/submatrix/columns/edges.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/numerics/panel.hpp"

namespace cambium::submatrix {

namespace {

using Block = std::array<double, 16>;

Block product(const Block& a, const Block& b) {
  Block out{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t j = 0; j < 4; ++j) out[4 * i + j] += a[4 * i + k] * b[4 * k + j];
  return out;
}

/// The blocks of P H P: list p holds every block (q, p) of the block column p.
class Saturated : public Submatrix<double> {
 public:
  explicit Saturated(const BondGraph& bonds) : bonds_(bonds), place_(static_cast<std::size_t>(bonds.atoms()), -1) {}

  void gather(const PrincipalIndex& index, const ColumnSet& columns, double eps) override {
    n_ = index.dimension();
    ld_ = padded<double>(n_);
    for (std::size_t p = 0; p < index.blocks.size(); ++p) place_[index.blocks[p]] = static_cast<int>(p);
    project_edges(index);
    columns_.assign(index.blocks.size(), {});
    for (std::size_t q = 0; q < index.blocks.size(); ++q) {
      const BlockColumn c = columns(index.blocks[q]);
      for (std::size_t e = 0; e < c.rows.size() && c.rows[e] <= index.blocks[q]; ++e) {
        const int p = place_[c.rows[e]];
        if (p >= 0 && c.norms[e] >= eps && c.norms[e] > 0.0) add_block(static_cast<std::size_t>(p), q, c.block(e));
      }
    }
    for (int block : index.blocks) place_[block] = -1;
  }

  double* a() override {
    double* out = dense_.reserve(static_cast<std::size_t>(n_) * static_cast<std::size_t>(ld_));
    std::fill_n(out, static_cast<std::size_t>(n_) * static_cast<std::size_t>(ld_), 0.0);
    for (std::size_t p = 0; p < columns_.size(); ++p)
      for (const auto& [q, block] : columns_[p])
        for (std::size_t i = 0; i < 4; ++i)
          for (std::size_t j = 0; j < 4; ++j)
            out[(4 * q + i) * static_cast<std::size_t>(ld_) + 4 * p + j] = block[4 * i + j];
    return out;
  }
  int ld() const override { return ld_; }

  void multiply(int width, const double* x, double* y) override {
    for (int w = 0; w < width; ++w)
      std::fill(y + static_cast<std::ptrdiff_t>(w) * ld_ + n_, y + static_cast<std::ptrdiff_t>(w + 1) * ld_, 0.0);
    for (int first = 0; first < width; first += 4) {  // blocks are read once for four rows
      const double* in[4];
      for (int w = 0; w < 4; ++w) in[w] = x + static_cast<std::ptrdiff_t>(std::min(first + w, width - 1)) * ld_;
      for (std::size_t p = 0; p < columns_.size(); ++p) {
        double sum[4][4] = {};
        for (const auto& [q, block] : columns_[p])
          for (std::size_t w = 0; w < 4; ++w)
            for (std::size_t j = 0; j < 4; ++j)
              for (std::size_t i = 0; i < 4; ++i) sum[w][i] += block[4 * j + i] * in[w][4 * q + j];
        for (int w = 0; w < std::min(4, width - first); ++w)
          std::copy_n(sum[w], 4, y + static_cast<std::ptrdiff_t>(first + w) * ld_ + 4 * static_cast<std::ptrdiff_t>(p));
      }
    }
  }
  double multiply_flops() const override {
    double blocks = 0.0;
    for (const auto& column : columns_) blocks += static_cast<double>(column.size());
    return 32.0 * blocks;
  }

 private:
  struct Entry {
    std::size_t row;
    Block block;
  };

  /// Projectors of the atoms with a bond that leaves the submatrix; never of the atom whose column is wanted.
  void project_edges(const PrincipalIndex& index) {
    edge_.assign(index.blocks.size(), false);
    projector_.resize(index.blocks.size());
    for (std::size_t p = 0; p < index.blocks.size(); ++p) {
      outward_.clear();
      const auto atom = static_cast<std::size_t>(index.blocks[p]);
      for (int e = bonds_.first[atom]; e < bonds_.first[atom + 1]; ++e)
        if (place_[bonds_.other[e]] < 0)
          outward_.insert(outward_.end(), bonds_.direction.begin() + 3 * e, bonds_.direction.begin() + 3 * e + 3);
      if (outward_.empty() || index.blocks[p] == index.column) continue;
      edge_[p] = true;
      hybrid_projector(outward_, projector_[p].data());
    }
  }

  void add_block(std::size_t p, std::size_t q, const double* values) {
    Block block;
    std::copy_n(values, 16, block.begin());
    if (edge_[p]) block = product(projector_[p], block);
    if (edge_[q]) block = product(block, projector_[q]);
    Block mirror;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) mirror[4 * j + i] = block[4 * i + j];
    if (p == q) {
      for (std::size_t k = 0; k < 16; ++k) block[k] = 0.5 * (block[k] + mirror[k]);
      columns_[p].push_back({q, block});
      return;
    }
    columns_[q].push_back({p, block});
    columns_[p].push_back({q, mirror});
  }

  const BondGraph& bonds_;
  std::vector<int> place_;  ///< of a block among those of the submatrix, -1 elsewhere
  std::vector<bool> edge_;
  std::vector<Block> projector_;
  std::vector<double> outward_;
  std::vector<std::vector<Entry>> columns_;
  AlignedBuffer<double> dense_;
  int n_ = 0, ld_ = 0;
};

}  // namespace

void hybrid_projector(const std::vector<double>& directions, double* projector) {
  std::vector<std::array<double, 4>> basis;  // orthonormal: neighbours of a distorted atom are not at 109 degrees
  for (std::size_t k = 0; k + 2 < directions.size(); k += 3) {
    const double p = std::sqrt(0.75);
    std::array<double, 4> h{0.5, p * directions[k], p * directions[k + 1], p * directions[k + 2]};
    for (const auto& b : basis) {
      double dot = 0.0;
      for (std::size_t i = 0; i < 4; ++i) dot += b[i] * h[i];
      for (std::size_t i = 0; i < 4; ++i) h[i] -= dot * b[i];
    }
    double norm = 0.0;
    for (double c : h) norm += c * c;
    if (norm < 1e-3) continue;  // a fifth bond: nothing is left to take out
    for (double& c : h) c /= std::sqrt(norm);
    basis.push_back(h);
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      projector[4 * i + j] = i == j ? 1.0 : 0.0;
      for (const auto& b : basis) projector[4 * i + j] -= b[i] * b[j];
    }
}

std::unique_ptr<ColumnSolver> make_saturated_lanczos(const BondGraph& bonds, const KrylovOptions& options) {
  return make_lanczos<double>(std::make_unique<Saturated>(bonds), options);
}

std::unique_ptr<ColumnSolver> make_saturated_diagonaliser(const BondGraph& bonds) {
  return make_diagonaliser(std::make_unique<Saturated>(bonds));
}

}  // namespace cambium::submatrix
