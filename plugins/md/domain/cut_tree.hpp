#pragma once
#include <span>
#include <string>
#include <vector>

namespace cambium::md {

/// A box in fractional coordinates: low <= s < high.
struct FractionalBox {
  double low[3] = {0, 0, 0}, high[3] = {1, 1, 1};
};

/// The periodic cell divided by planes into one box per rank (recursive bisection: Berger and Bokhari, IEEE Trans.
/// Comput. C-36, 570 (1987)). The ranks [first, last) share a box; a plane assigns the part below it to the lower half
/// of them, and so on until each has its own. One plane for every rank but the first, so any number of ranks.
class CutTree {
 public:
  struct Plane {
    int direction = 0;  ///< 0, 1, 2: along a, b, c
    double at = 0.0;    ///< fractional coordinate, which itself belongs to the upper part
  };

  /// All planes are initialised to `Plane()`; set them with plane().
  explicit CutTree(int ranks) : planes_(static_cast<std::size_t>(ranks)) {}
  /// Inverse of numbers(). Throws InputError stating that `source` is damaged if the values do not form a tree.
  static CutTree of(std::span<const double> numbers, int ranks, const std::string& source);
  /// Direction and coordinate of each plane, in the order of the ranks above them: 2 (ranks - 1) values.
  std::vector<double> numbers() const;

  int ranks() const { return static_cast<int>(planes_.size()); }
  /// First rank of the upper half of [first, last).
  static int middle(int first, int last) { return first + (last - first) / 2; }
  /// The plane whose upper part begins with rank `upper`, 1 to ranks() - 1.
  Plane& plane(int upper) { return planes_[upper]; }
  const Plane& plane(int upper) const { return planes_[upper]; }
  bool cuts(int direction) const;

  /// Rank whose box contains the fractional coordinates s, normally in [0, 1).
  int rank_of(const double s[3]) const;
  FractionalBox box_of(int rank) const;
  /// Finds the ranks, in ascending order, whose boxes overlap or touch `place`, which may be partly outside the cell.
  void find(const FractionalBox& place, std::vector<int>& ranks) const;

 private:
  std::vector<Plane> planes_;  ///< the first element is unused
};

}  // namespace cambium::md
