#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace cambium::pretrain {

/// A convolution over 3 cells along each of two or three axes. Padding is circular along periodic axes and zero along
/// others. Channels last: [cell][channel], the last axis fastest.
struct ConvShape {
  std::vector<std::int64_t> cells, periodic;  ///< of the input, along each axis
  std::int64_t inputs = 0, outputs = 0;       ///< channels
  std::int64_t stride = 1;                    ///< 1, or 2 to halve the axes

  std::int64_t cells_in() const;
  std::int64_t cells_out() const;
  std::vector<std::int64_t> out() const;  ///< cells of the output along each axis
  std::int64_t taps() const { return cells.size() == 2 ? 9 : 27; }
  double flops() const { return 2.0 * static_cast<double>(cells_out() * taps() * inputs * outputs); }
  /// True if ConvPass supports it and its derivatives: channels fill registers, and along a periodic axis every input
  /// cell contributes to the same number of output cells.
  bool handled() const;
};

/// Cells padded by one layer along each axis.
class Surrounded {
 public:
  Surrounded() = default;
  Surrounded(const std::vector<std::int64_t>& cells, const std::vector<std::int64_t>& periodic);
  std::int64_t count() const { return edge_[0] * edge_[1] * edge_[2]; }
  /// Index of a cell, whose coordinates start in the padding layer.
  std::int64_t number(const std::array<std::int64_t, 3>& place) const {
    return (place[0] * edge_[1] + place[1]) * edge_[2] + place[2];
  }
  /// values: [cell][channel]; to: [count()][channel].
  template <class T>
  void fill(const T* values, std::int64_t channels, T* to) const;

 private:
  /// Consecutive cells with consecutive source cells; from -1: zeros.
  struct Stretch {
    std::int64_t from, count;
  };
  void add(std::int64_t from);

  std::array<std::int64_t, 3> edge_{1, 1, 1};
  std::vector<Stretch> stretches_;
};

/// Results with the same taps: result k is the sum over them of weight[tap] value[from[k] + offset of the tap].
struct Gathering {
  /// Consecutive taps with consecutive cells.
  struct Run {
    std::int64_t weight, offset, length;
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> from, to;  ///< padded cells, results
  /// Distance between the cells of four consecutive results, if equal for all groups of four; else 0.
  std::int64_t step_of_four() const;
};

/// Outputs, from inputs.
Gathering forward_gathering(const ConvShape& shape, const Surrounded& entering);
/// Derivatives by the input, from those by the output: one gathering for each pattern of outputs over a cell. Taps are
/// counted from the last.
std::vector<Gathering> backward_gatherings(const ConvShape& shape, const Surrounded& leaving);

}  // namespace cambium::pretrain
