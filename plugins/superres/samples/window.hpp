#pragma once
#include <memory>

#include "core/train/kinds/dataset.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Inputs of this plugin's networks. Along x a window as wide as a periodic domain wraps around; its axis then ends
/// with the first node again, one period further.
///   coarse   (fields, t, x, z) float32: coarse samples
///   t, x, z  float64: their coordinates
///   points   (points, 3) float64: positions by (t, x, z) within those coordinates
///   values   (points, fields) float32: the fields there; absent for inference
inline const std::vector<std::string> flow_fields{"p", "b", "u", "w"};

/// Windows of coarse samples.
class Windows {
 public:
  /// `size` samples along t, x, z; 0 means all. InputError when there are fewer, naming `ratio`.
  Windows(FieldData coarse, std::array<int, 3> size, const std::array<double, 3>& ratio);

  const FieldData& coarse() const { return coarse_; }
  const std::array<int, 3>& size() const { return size_; }
  bool wraps() const { return coarse_.period > 0.0 && size_[1] == static_cast<int>(coarse_.nx()); }
  /// Number of possible start indices of a window along an axis: any sample along a periodic x.
  int starts(int axis) const;
  /// Coordinates of a window's nodes along one axis, unwrapped: they increase.
  std::vector<double> nodes(int axis, int start) const;
  /// Sample of a window without values. `points` are (t, x, z) each.
  train::SamplePtr sample(const std::array<int, 3>& start, std::vector<double> points, std::vector<float> values,
                          std::int64_t id) const;

 private:
  FieldData coarse_;
  std::array<int, 3> size_;
};

}  // namespace cambium::superres
