#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/deepmd/engine/engine.hpp"

namespace cambium::deepmd {

/// Low-bit quantisation of the weights of the energy networks' hidden layers.
struct FewBits {
  enum class Weights { binary, ternary };
  /// decoded: the decoded values, in ordinary matrix products; tables: see core/lowp/binary_coding.hpp.
  enum class Products { decoded, tables };
  /// Configurations for calibration: on their atoms the products stay as close as possible to those in full precision;
  /// labels are not used.
  struct Calibrate {
    std::vector<std::string> systems;
    std::int64_t frames = 32;  ///< evenly spaced over all of them
    static void describe(deck::Describe<Calibrate>& d);
  };
  Weights weights = Weights::binary;
  int bits = 3;  ///< of a binary weight
  Products products = Products::decoded;
  std::optional<Calibrate> calibrate;
  static void describe(deck::Describe<FewBits>& d);
};

/// Summary of the quantisation of an engine's energy networks.
struct FewBitsReport {
  std::int64_t matrices = 0, numbers = 0;  ///< quantised
  std::int64_t bytes = 0, bytes_full = 0;  ///< of these matrices, quantised and before
  double bits = 0.0;                       ///< per weight, scales and padding included, signs counted once
  std::int64_t rows = 0;                   ///< atoms that they were calibrated on
  std::string text;                        ///< for the log
};

/// A quantised network: the decoded weights, and the codes if products use them.
struct CodedNetwork {
  Network meant;
  std::vector<lowp::BinaryCodedMatrix> coded;  ///< by layer, without rows where the layer is not quantised
};

/// Quantises the hidden layers with at least 32 inputs and 16 outputs. Given rows of `inputs` (double, net.in() wide),
/// layer by layer by lowp::calibrated, with changes of the mean absorbed by the biases, including that of the last
/// layer, so that the mean energy is preserved.
CodedNetwork coded_network(const Network& net, const FewBits& what, const std::vector<double>& inputs);

/// Quantises the energy networks of `engine`. InputError if all layers are too small, if tables are combined with
/// float64 or a device, or if there are no calibration data. Frames use the frame and atomic parameters of the engine.
FewBitsReport set_few_bits(Engine& engine, const FewBits& what, EnginePrecision precision);

}  // namespace cambium::deepmd
