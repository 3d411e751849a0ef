#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/codec/fields/hidden_layer.hpp"
#include "core/codec/fields/scaled_field.hpp"

namespace cambium::lowp {

/// The linear network of one group of values: a weight for every tap of every source, in units of `scale`. The tap in
/// the middle of the first source holds the constant.
struct GroupWeights {
  float scale = 0.0f;
  std::vector<std::int8_t> weights;
};

/// Corrections by small networks, one per group of values. A group is an interval of values; the input of a network is
/// the differences between a value and its neighbours. Arithmetic is in single precision in a fixed order, so another
/// machine can decode the stream.
struct EnhancerStage {
  static constexpr int most_groups = 64;

  int reach = 2;                     ///< neighbours on each side, 1 or 2
  std::vector<float> edges;          ///< limits of the groups, in the unit of the field, rising; one fewer than groups
  std::vector<GroupWeights> linear;  ///< by group
  std::vector<HiddenLayer> hidden;   ///< by group; empty: linear networks only

  int groups() const { return static_cast<int>(edges.size()) + 1; }
  void put(ByteWriter& out) const;
  /// Throws DamagedStream.
  static EnhancerStage from(ByteReader& in);

  /// Corrections of all elements, in units of the bound. `groups`: of each element; `scaled`: the field and the sources
  /// that help, all of one shape and of this reach. Throws DamagedStream if the weights are for another number of
  /// dimensions or sources.
  std::vector<float> corrections(std::span<const std::uint8_t> groups, const FieldShape& shape,
                                 std::span<const ScaledField> scaled) const;
};

/// The group of each element: the number of edges that it is not below. NaN is in group 0.
template <class T>
std::vector<std::uint8_t> groups_of(std::span<const T> field, std::span<const float> edges);

}  // namespace cambium::lowp
