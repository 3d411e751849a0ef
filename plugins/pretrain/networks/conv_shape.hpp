#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace cambium::pretrain {

/// A convolution over 3 cells along each of two or three axes. Across the ends of a periodic axis it goes on at the
/// other end, elsewhere there are zeros. Channels of a cell lie next to each other: [cell][channel], the last axis
/// fastest.
struct ConvShape {
  std::vector<std::int64_t> cells, periodic;  ///< of what enters, along each axis
  std::int64_t inputs = 0, outputs = 0;       ///< channels
  std::int64_t stride = 1;                    ///< 1, or 2: every other cell gives one

  std::int64_t cells_in() const;
  std::int64_t cells_out() const;
  std::vector<std::int64_t> out() const;  ///< cells along each axis of what comes out
  std::int64_t taps() const { return cells.size() == 2 ? 9 : 27; }
  double flops() const { return 2.0 * static_cast<double>(cells_out() * taps() * inputs * outputs); }
  /// True if ConvPass computes it and its derivatives: registers are filled, and along a periodic axis every cell lies
  /// under as many others.
  bool handled() const;
};

/// Cells with one more layer around them along each axis.
class Surrounded {
 public:
  Surrounded() = default;
  Surrounded(const std::vector<std::int64_t>& cells, const std::vector<std::int64_t>& periodic);
  std::int64_t count() const { return edge_[0] * edge_[1] * edge_[2]; }
  /// Number of a cell, counted along each axis from the layer's.
  std::int64_t number(const std::array<std::int64_t, 3>& place) const {
    return (place[0] * edge_[1] + place[1]) * edge_[2] + place[2];
  }
  /// values: [cell][channel]; to: [count()][channel].
  template <class T>
  void fill(const T* values, std::int64_t channels, T* to) const;

 private:
  /// Cells that follow each other, as those do that they repeat; from -1: zeros.
  struct Stretch {
    std::int64_t from, count;
  };
  void add(std::int64_t from);

  std::array<std::int64_t, 3> edge_{1, 1, 1};
  std::vector<Stretch> stretches_;
};

/// Results that add up the same taps: result k is the sum over them of weight[tap] value[from[k] + offset of the tap].
struct Gathering {
  /// Taps one after the other, whose cells are, too.
  struct Run {
    std::int64_t weight, offset, length;
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> from, to;  ///< surrounded cells, results
  /// Between cells of four results, where that is the same for all fours that follow each other; else 0.
  std::int64_t step_of_four() const;
};

/// Outputs, from inputs.
Gathering forward_gathering(const ConvShape& shape, const Surrounded& entering);
/// The derivative by what enters, from that by what comes out: one for each way in which cells lie under others. Taps
/// are counted from the last.
std::vector<Gathering> backward_gatherings(const ConvShape& shape, const Surrounded& leaving);

}  // namespace cambium::pretrain
