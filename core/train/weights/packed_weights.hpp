#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/train/kinds/buffer.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

/// Byte layout of a flat layout with the matrices of linear layers (ParameterInfo::linear) packed on grids, tensor
/// after tensor in the layout's order, and all others in float32; padding takes no bytes. Every matrix has its own
/// grid. Parts may begin and end at multiples of four elements, and at the ends of tensors.
class PackedWeights {
 public:
  /// `grid` determines the kind of all grids. The layout must outlive it.
  PackedWeights(const FlatLayout& layout, const Grid& grid);

  /// Offset in bytes of this element of the layout.
  std::int64_t byte_of(std::int64_t element) const;

  /// Sets the steps of the grids from the mean magnitude of each matrix: equal to it for ternary grids, `range` times
  /// it / 127 for 8 bits.
  void fix_grids(const FlatBuffer& whole, double range);
  /// The same for tensor k only, given its values.
  void fix_grid(std::size_t k, std::span<const float> values, double range);
  /// Steps of the grids of linear tensors, in the network's order.
  std::vector<double> steps() const;
  void set_steps(std::span<const double> steps);

  /// Converts elements [begin, end) of the layout from or to their bytes; padding is zero.
  void unpack(std::span<const std::byte> from, std::int64_t begin, std::int64_t end, float* to) const;
  /// Rounds as DirectTensors does, by (seed, tensor, step, element), or to nearest. Returns how many values on grids
  /// changed.
  std::int64_t pack(const float* from, std::int64_t begin, std::int64_t end, std::uint64_t seed, std::int64_t step,
                    bool nearest, std::span<std::byte> to) const;

  std::int64_t linear_numbers() const { return linear_numbers_; }
  int limit() const { return grids_.front().limit; }
  double bits() const { return grids_.front().ternary() ? 2.0 : 8.0; }

 private:
  struct Piece {
    std::size_t tensor;
    std::int64_t first, begin, count;  ///< element of the tensor; element of the part; number of elements
    std::size_t byte, bytes;           ///< within the part
  };
  template <class F>
  void each_piece(std::int64_t begin, std::int64_t end, F&& f) const;
  std::int64_t tensor_bytes(std::size_t k, std::int64_t n) const;

  const FlatLayout& layout_;
  std::vector<Grid> grids_;          ///< by tensor
  std::vector<std::size_t> order_;   ///< tensors in the order of the layout
  std::vector<std::int64_t> first_;  ///< first byte of each of these tensors, and the end
  std::int64_t linear_numbers_ = 0;
};

}  // namespace cambium::train
