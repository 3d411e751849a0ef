#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/train/data/augment.hpp"

/// What the keys of an augmentation name in the samples, and whether they fit them.
namespace cambium::train::detail {

/// True for a transformation of positions, false for one of values.
bool moves(AugmentKeys::Type type);

/// A component of a vector: a field ("u"), or a part of one in the notation of numpy ("velocity[0]", "frames[:,2]",
/// "velocity[...,0]").
struct Component {
  std::string field;
  std::vector<std::optional<std::int64_t>>
      indices;  ///< of the first axes, or of the last ones after "..."; none for ":"
  bool from_end = false;
};

/// Absent if the text names no component.
std::optional<Component> parsed(std::string_view text);
/// Positions of the component's values in a contiguous array of this shape.
std::vector<std::size_t> positions_of(const Component& component, std::span<const std::int64_t> shape);

/// KeyError about KEY if there is no field of this name.
const FieldInfo& field_named(const std::string& name, std::span<const FieldInfo> fields, const char* key);
/// The axis counted from the first one; negative ones count from the last. KeyError if the field lacks it.
int axis_of(int axis, const FieldInfo& field);

/// For each axis the length of the shortest array. Shifts are multiples of its cells, so that arrays of different
/// resolution stay aligned. KeyError if one is no multiple of the shortest.
std::vector<std::int64_t> shortest_lengths(const AugmentKeys& keys, std::span<const FieldInfo> fields);

/// KeyError if an entry does not fit the fields of the samples.
void require_valid(const AugmentKeys& keys, std::span<const FieldInfo> fields);

}  // namespace cambium::train::detail
