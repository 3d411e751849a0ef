#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/pretrain/contrastive/anchors.hpp"

namespace cambium::train {

/// Coefficients of the derivative by s_ij, scale e^((s_ij - s_ii) / temperature - weight), for each anchor.
struct AnchorWeights {
  std::vector<double> inverse_temperature, weight, scale;
};

/// Exponents of these anchors; `own`: similarities with their positives.
template <class T>
Exponents<T> exponents_of(const AnchorWeights& anchors, std::span<const double> own);

/// All samples on one rank: the similarities of the second view with the first are the transpose of those of the first
/// with the second. Each is computed once, and both rows and columns are anchors. T: double or float.
template <class T>
class WholeBatch {
 public:
  /// (samples, width), unit rows, which must outlive this.
  WholeBatch(std::span<const T> first, std::span<const T> second, std::int64_t samples, std::int64_t width)
      : first_(first), second_(second), samples_(samples), width_(width) {}

  /// Sums of the samples as anchors of either view, with their temperatures. `pair`: similarities with their positives.
  std::array<std::vector<AnchorSums>, 2> look(std::span<const double> pair, std::span<const double> first_temperature,
                                              std::span<const double> second_temperature);
  /// Derivatives by both views' rows, after look(). `self`: the one by the similarity of a sample with its positive.
  void differentiate(std::span<const double> pair, const AnchorWeights& first, const AnchorWeights& second,
                     std::span<const double> self, std::span<T> by_first, std::span<T> by_second) const;

 private:
  static constexpr std::int64_t rows_at_once = 256;
  std::span<const T> row(std::int64_t k) const {
    return std::span(similarity_).subspan(k * samples_, static_cast<std::size_t>(samples_));
  }

  std::span<const T> first_, second_;
  std::int64_t samples_, width_;
  std::vector<T> similarity_;  ///< (samples of the first view, of the second), absent<T> on the diagonal
};

}  // namespace cambium::train
