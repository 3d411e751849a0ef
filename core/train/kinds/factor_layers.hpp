#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cambium::train {

/// A layer that supports low-rank factorisation: a matrix as the product of two factors, a convolution as a convolution
/// with fewer channels between two matrices (Tucker, Psychometrika 31, 279 (1966); Kim et al., ICLR 2016).
struct FactorLayer {
  std::string name;
  std::int64_t inputs = 0, outputs = 0;  ///< of the unfactored layer: features, or channels
  std::int64_t taps = 1;                 ///< entries of a kernel; a matrix has one
  std::int64_t places = 1;               ///< positions at which one sample applies it
  bool outputs_first = true;             ///< weight layout: [outputs][inputs][taps], else [inputs][outputs]
  std::int64_t rank = 0;                 ///< width between the factors; 0: not factored
  // Indices of parameters, -1 for none. An unfactored layer has only the core, a product of matrices has no core; a
  // factor of a convolution is omitted where it would not reduce the channels.
  int enter = -1, core = -1, leave = -1, bias = -1;
  int between = -1;  ///< fixed parameters between two factors

  bool convolution() const { return taps > 1; }
  /// Multiplications per sample with this rank (0: not factored).
  std::int64_t multiplications(std::int64_t with_rank) const {
    if (with_rank == 0) return places * taps * inputs * outputs;
    if (!convolution()) return places * with_rank * (inputs + outputs);
    const auto in = with_rank < inputs ? with_rank : inputs, out = with_rank < outputs ? with_rank : outputs;
    return places * (taps * in * out + (in < inputs ? in * inputs : 0) + (out < outputs ? out * outputs : 0));
  }
};

/// Interface of a network whose key `factor_ranks` has one entry per layer, 0 for an unfactored one. It only lists
/// these layers; everything else about low rank is in core/train/low_rank.
class HasFactors {
 public:
  virtual ~HasFactors() = default;
  /// In the order of `factor_ranks`; valid once the network knows its sizes.
  virtual std::vector<FactorLayer> factor_layers() const = 0;
  /// A key that holds a width (or a list of widths), kept a multiple of `multiple` when it is reduced; a width of 0 is
  /// kept.
  struct WidthKey {
    std::string key;
    std::int64_t multiple = 1;
    std::vector<std::int64_t> widths = {};  ///< the network's own, for a list that the deck may leave empty
  };
  /// Keys that make the network smaller when all are reduced alike: the baseline for low-rank networks.
  virtual std::vector<WidthKey> width_keys() const = 0;
};

/// Error message for the key `factor_ranks` of a network with `layers` layers (if the deck determines them); empty if
/// valid.
std::string ranks_problem(std::span<const std::int64_t> ranks, std::optional<std::size_t> layers);

}  // namespace cambium::train
