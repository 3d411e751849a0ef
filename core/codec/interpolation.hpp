#pragma once
#include <cstdint>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/codec/quantizer.hpp"
#include "core/codec/shape.hpp"

namespace cambium::lowp {

/// Factor by which bounds of coarse levels, on which finer ones build, are tighter: one of a list, the first of which
/// is usual. From `with_anchors` on, the coarsest levels are almost exact, which pays if little else has to be stored;
/// blocks of a field are too small to show it.
struct LevelBounds {
  static constexpr int choices = 7, with_anchors = 5;
  std::uint8_t choice = 0;
};

/// Prediction by interpolation from coarse to fine, after SZ3 (Liang et al., IEEE Trans. Big Data 2023): the points
/// between those of a grid of spacing 2s are predicted from reconstructed values, which completes the grid of spacing
/// s. A point between others in several dimensions takes a weighted mean over these dimensions, with the weights for
/// which the codes of the errors on this field are expected to be shortest; linear or cubic by least squares. Coarse
/// levels have tighter bounds.
class InterpolationPlan {
 public:
  struct Between {
    std::uint8_t cubic = 0;  ///< bit d: four values along dimension d, else two
    float weight[4] = {0, 0, 0, 0};
  };
  struct Level {
    std::int64_t spacing = 1;
    Between between[16];  ///< by the set of dimensions (bits) along which a point is between others
  };

  /// From the field itself; `bound` is the absolute error bound of the finest level.
  template <class T>
  InterpolationPlan(const T* field, const FieldShape& shape, double bound, LevelBounds levels = {});
  /// `whole_weights`: as streams of former versions hold them, four bytes each.
  InterpolationPlan(ByteReader& in, const FieldShape& shape, LevelBounds levels, bool whole_weights);
  void put(ByteWriter& out) const;

  const std::vector<Level>& levels() const { return levels_; }
  /// Other bounds of the levels, with the same weights.
  void set_levels(LevelBounds levels) { bounds_ = levels; }
  /// Error bound of level k, counted from the coarsest.
  double level_bound(std::size_t k, double bound) const;

 private:
  InterpolationPlan(const FieldShape& shape, LevelBounds levels);
  bool used(const Level& level, unsigned set) const;

  FieldShape shape_;
  LevelBounds bounds_;
  std::vector<Level> levels_;
};

/// Replaces `field` by its decoded values and appends codes and exceptions to `out`.
template <class T>
void interpolate_encode(T* field, const FieldShape& shape, const InterpolationPlan& plan, double bound,
                        Quantized<T>& out);

/// Fills `field`; DamagedStream unless `in` holds exactly the encoded data.
template <class T>
void interpolate_decode(const Quantized<T>& in, const FieldShape& shape, const InterpolationPlan& plan, double bound,
                        T* field);

}  // namespace cambium::lowp
