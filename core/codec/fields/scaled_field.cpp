#include "core/codec/fields/scaled_field.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::lowp {
namespace {

constexpr int axes = FieldShape::dimensions;

/// The middle of the range of the finite values.
template <class T>
T middle_of(const T* field, std::int64_t n) {
  T low = std::numeric_limits<T>::infinity(), high = -low;
  for (std::int64_t k = 0; k < n; ++k)
    if (std::isfinite(field[k])) low = std::min(low, field[k]), high = std::max(high, field[k]);
  return low <= high ? low / 2 + high / 2 : T(0);
}

}  // namespace

template <class T>
ScaledField::ScaledField(const T* field, const FieldShape& shape, double bound, int reach) : reach_(reach) {
  std::array<std::int64_t, axes> border, extent;
  for (int d = 0; d < axes; ++d) {
    border[d] = shape.extent[d] > 1 ? reach : 0;
    extent[d] = shape.extent[d] + 2 * border[d];
  }
  stride_[axes - 1] = 1;
  for (int d = axes - 2; d >= 0; --d) stride_[d] = stride_[d + 1] * extent[d + 1];
  for (int d = 0; d < axes; ++d) origin_ += border[d] * stride_[d];
  row_length_ = static_cast<int>(2 * border[axes - 1] + 1);
  for (auto a = -border[0]; a <= border[0]; ++a)
    for (auto b = -border[1]; b <= border[1]; ++b)
      for (auto c = -border[2]; c <= border[2]; ++c) {
        rows_.push_back(a * stride_[0] + b * stride_[1] + c * stride_[2] - border[3]);
        if (std::max({std::abs(a), std::abs(b), std::abs(c)}) <= 1) nearest_rows_.push_back(rows_.back());
      }
  // The last row is read beyond its end.
  values_.assign(stride_[0] * extent[0] + lanes, 0.0f);
  const T middle = middle_of(field, shape.elements), inverse = static_cast<T>(1.0 / bound);
  // Keeps values far outside the range of the others finite in single precision.
  constexpr T most = T(1e30);
  float* out = values_.data();
  std::array<std::int64_t, axes> i, from;
  for (i[0] = 0; i[0] < extent[0]; ++i[0])
    for (i[1] = 0; i[1] < extent[1]; ++i[1])
      for (i[2] = 0; i[2] < extent[2]; ++i[2]) {
        const T* row = field;
        for (int d = 0; d < axes - 1; ++d) {
          from[d] = std::clamp<std::int64_t>(i[d] - border[d], 0, shape.extent[d] - 1);
          row += from[d] * shape.stride[d];
        }
        for (i[3] = 0; i[3] < extent[3]; ++i[3]) {
          const T x = row[std::clamp<std::int64_t>(i[3] - border[3], 0, shape.extent[3] - 1)];
          const T scaled = (x - middle) * inverse;
          *out++ = std::abs(scaled) < most ? static_cast<float>(scaled) : 0.0f;
        }
      }
}

template ScaledField::ScaledField(const float*, const FieldShape&, double, int);
template ScaledField::ScaledField(const double*, const FieldShape&, double, int);

}  // namespace cambium::lowp
