#pragma once
#include <vector>

#include "plugins/deepmd/training/embedding_pass.hpp"
#include "plugins/deepmd/training/hermite.hpp"
#include "plugins/deepmd/training/widened_network.hpp"

namespace cambium::deepmd {

/// One embedding network as polynomials of degree 7 in intervals of its input, for the weights of one training step.
/// Cells of width `cell` are divided into 2^level intervals each, until the estimated error of the slope is at most
/// `tolerance` times the largest slope. The table depends only on weights and cells, not on earlier tables, so that a
/// resumed run reproduces it. All computations are in double.
class EmbeddingTable {
 public:
  static constexpr double cell = 0.5;
  static constexpr int most_level = 10;

  explicit EmbeddingTable(std::span<const int> widths) : pass_(widths), width_(widths.back()) {}

  /// `cells`, in ascending order, are the indices k of [k cell, (k + 1) cell).
  template <class T>
  void build(const NetworkWeights<T>& net, std::span<const int> cells, double tolerance) {
    network_.assign(net);
    divide(cells, tolerance);
  }

  int intervals() const { return static_cast<int>(coefficients_.size()) / (Hermite::terms * width_); }
  /// First interval of the n-th cell; parts() is the number of its intervals.
  int first(std::size_t n) const { return first_[n]; }
  int parts(std::size_t n) const { return 1 << level_[n]; }
  double half_width(std::size_t n) const { return 0.5 * cell / parts(n); }
  /// terms x width: coefficients of t^j in interval k.
  const double* coefficients(int k) const { return &coefficients_[k * Hermite::terms * width_]; }

  /// Adds the weights' gradient for the adjoints of the coefficients, intervals x terms x width.
  template <class T>
  void backward(std::span<const double> adjoint, const NetworkWeights<T>& net) {
    backward_nodes(adjoint);
    network_.add_gradient_to(net);
  }

 private:
  void divide(std::span<const int> cells, double tolerance);
  void place_nodes(std::span<const int> cells);
  void interpolate();
  double largest_slope() const;
  double error(int interval, double half) const;
  void backward_nodes(std::span<const double> adjoint);

  WidenedNetwork network_;
  EmbeddingPass<double> pass_;
  int width_;
  std::vector<int> level_, first_;  ///< of every cell
  std::vector<double> x_;           ///< nodes: intervals x Hermite::nodes
  std::vector<double> half_;        ///< of every interval
  std::vector<double> coefficients_;
};

}  // namespace cambium::deepmd
