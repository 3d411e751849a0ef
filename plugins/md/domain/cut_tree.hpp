#pragma once
#include <span>
#include <string>
#include <vector>

namespace cambium {

/// A box in fractional coordinates: low <= s < high.
struct FractionalBox {
  double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
};

/// The periodic cell cut by planes into one box per rank (recursive bisection: Berger and Bokhari, IEEE Trans. Comput.
/// C-36, 570 (1987)). The ranks [first, last) share a box; a plane gives what lies below it to the lower half of them,
/// and so on until each has its own. One plane for every rank but the first, so any number of ranks.
class CutTree {
 public:
  struct Plane {
    int direction = 0;  ///< 0, 1, 2: along a, b, c
    double at = 0.0;    ///< fractional coordinate, which itself is above
  };

  /// Boxes of ranks that all planes cut in a direction of `Plane()`; to be set by plane().
  explicit CutTree(int ranks) : planes_(static_cast<std::size_t>(ranks)) {}
  /// From numbers(). Throws InputError, whose text says of `source` that it is damaged, where they are no tree.
  static CutTree of(std::span<const double> numbers, int ranks, const std::string& source);
  /// Direction and place of each plane, in the order of the ranks above them: 2 (ranks - 1) values.
  std::vector<double> numbers() const;

  int ranks() const { return static_cast<int>(planes_.size()); }
  /// First rank of the upper half of [first, last).
  static int middle(int first, int last) { return first + (last - first) / 2; }
  /// The plane whose upper part begins with rank `upper`, 1 to ranks() - 1.
  Plane& plane(int upper) { return planes_[upper]; }
  const Plane& plane(int upper) const { return planes_[upper]; }
  bool cuts(int direction) const;

  /// Whose box holds the fractional coordinates s, normally in [0, 1).
  int rank_of(const double s[3]) const;
  FractionalBox box_of(int rank) const;
  /// The ranks, rising, whose boxes overlap or touch `place`, which may lie partly outside of the cell.
  void find(const FractionalBox& place, std::vector<int>& ranks) const;

 private:
  std::vector<Plane> planes_;  ///< the first one is not used
};

}  // namespace cambium
