#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cambium::train {

/// A layer of a network whose weights can be a product of smaller ones: a matrix of two factors, the kernel of a
/// convolution of a kernel between fewer channels with a matrix before and one after it (Tucker, Psychometrika 31, 279
/// (1966); Kim et al., ICLR 2016).
struct FactorLayer {
  std::string name;
  std::int64_t inputs = 0, outputs = 0;  ///< of the whole layer: numbers, or channels
  std::int64_t taps = 1;                 ///< entries of a kernel; a matrix has one
  std::int64_t places = 1;               ///< at which one sample uses it
  bool outputs_first = true;             ///< how weights lie: [outputs][inputs][taps], else [inputs][outputs]
  std::int64_t rank = 0;                 ///< width between the factors; 0: the layer is whole
  // Parameters, -1 where there is none. A whole layer has the core alone, a product of matrices no core; the factors of
  // a convolution that would not be narrower than its channels are left out.
  int enter = -1, core = -1, leave = -1, bias = -1;
  int between = -1;  ///< constants between two factors

  bool convolution() const { return taps > 1; }
  /// For one sample with this rank (0: whole).
  std::int64_t multiplications(std::int64_t with_rank) const {
    if (with_rank == 0) return places * taps * inputs * outputs;
    if (!convolution()) return places * with_rank * (inputs + outputs);
    const auto in = with_rank < inputs ? with_rank : inputs, out = with_rank < outputs ? with_rank : outputs;
    return places * (taps * in * out + (in < inputs ? in * inputs : 0) + (out < outputs ? out * outputs : 0));
  }
};

/// Addition to a network whose key `factor_ranks` holds a number for each of these layers, 0 for a whole one. It says
/// which layers there are; everything else about low rank is core/train/low_rank's.
class HasFactors {
 public:
  virtual ~HasFactors() = default;
  /// In the order of `ranks`; once the network knows its sizes.
  virtual std::vector<FactorLayer> factor_layers() const = 0;
  /// A key that holds a width (or a list of them), which stays a multiple of `multiple` when it is made smaller.
  struct WidthKey {
    std::string key;
    std::int64_t multiple = 1;
  };
  /// Those that make the network smaller when all shrink alike: the baseline of its products.
  virtual std::vector<WidthKey> width_keys() const = 0;
};

/// Error in the key `factor_ranks` of a network with so many layers (where the deck alone tells them); empty where
/// nothing is.
std::string ranks_problem(std::span<const std::int64_t> ranks, std::optional<std::size_t> layers);

}  // namespace cambium::train
