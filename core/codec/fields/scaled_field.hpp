#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/codec/shape.hpp"

namespace cambium::lowp {

/// Decoded field as input of an enhancer: single precision, in units of the error bound, zero in the middle of its
/// range, with a border that repeats the outermost values. Non-finite values are zero here.
class ScaledField {
 public:
  static constexpr int lanes = 8;  ///< values read at once for a row of a neighbourhood

  /// `reach`: neighbours on each side along every dimension longer than one, at most 3. `bound`: absolute.
  template <class T>
  ScaledField(const T* field, const FieldShape& shape, double bound, int reach);

  int reach() const { return reach_; }
  /// Values of a neighbourhood, the middle one too, row by row.
  int taps() const { return static_cast<int>(rows_.size()) * row_length_; }
  int row_length() const { return row_length_; }
  /// Offsets of the rows of a neighbourhood from its middle.
  const std::vector<std::int64_t>& rows() const { return rows_; }
  /// Those of them that are at most one step from the middle along every dimension.
  const std::vector<std::int64_t>& nearest_rows() const { return nearest_rows_; }
  /// Index of the middle among the taps.
  int middle() const { return taps() / 2; }
  /// Address of an element; the last dimension has stride one.
  const float* at(const std::array<std::int64_t, FieldShape::dimensions>& index) const {
    const float* p = values_.data() + origin_;
    for (int d = 0; d < FieldShape::dimensions; ++d) p += index[d] * stride_[d];
    return p;
  }

  /// visit(number of its first element, index of it along every dimension, number of elements) for every row.
  template <class Visit>
  static void for_each_row(const FieldShape& shape, Visit&& visit) {
    std::array<std::int64_t, FieldShape::dimensions> i{};
    std::int64_t element = 0;
    for (i[0] = 0; i[0] < shape.extent[0]; ++i[0])
      for (i[1] = 0; i[1] < shape.extent[1]; ++i[1])
        for (i[2] = 0; i[2] < shape.extent[2]; ++i[2], element += shape.extent[3]) visit(element, i, shape.extent[3]);
  }

 private:
  int reach_, row_length_;
  std::array<std::int64_t, FieldShape::dimensions> stride_{};
  std::int64_t origin_ = 0;
  std::vector<std::int64_t> rows_, nearest_rows_;
  std::vector<float> values_;
};

}  // namespace cambium::lowp
