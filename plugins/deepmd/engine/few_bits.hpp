#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/deepmd/engine/engine.hpp"

namespace cambium::deepmd {

/// Weights of the energy networks' hidden layers in few bits.
struct FewBits {
  enum class Weights { binary, ternary };
  /// decoded: the numbers that the bits mean, multiplied like any others; tables: core/lowp/binary_coding.hpp.
  enum class Products { decoded, tables };
  /// Configurations whose atoms' products are kept as near as can be to those in full; labels do not matter.
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

/// Form of an engine's energy networks.
struct FewBitsReport {
  std::int64_t matrices = 0, numbers = 0;  ///< coded
  std::int64_t bytes = 0, bytes_full = 0;  ///< of them as they are held, and as they were
  double bits = 0.0;                       ///< per weight, scales and padding included, signs counted once
  std::int64_t rows = 0;                   ///< atoms that they were fitted to
  std::string text;                        ///< for the log
};

/// A network in few bits: the weights that the bits mean, and the bits where products are to use them.
struct CodedNetwork {
  Network meant;
  std::vector<lowp::BinaryCodedMatrix> coded;  ///< by layer, without rows where the layer stays as it is
};

/// Codes the hidden layers of at least 32 inputs and 16 outputs. With rows of `inputs` (double, net.in() wide) layer by
/// layer as lowp::calibrated says, biases taking up what means change; the last layer's, too, so that the mean energy
/// stays.
CodedNetwork coded_network(const Network& net, const FewBits& what, const std::vector<double>& inputs);

/// Puts the energy networks of `engine` into few bits. InputError when all layers are too small, when tables meet
/// float64 or a device, or when there is nothing to calibrate with. Frames take the frame and atomic parameters that
/// the engine has.
FewBitsReport set_few_bits(Engine& engine, const FewBits& what, EnginePrecision precision);

}  // namespace cambium::deepmd
