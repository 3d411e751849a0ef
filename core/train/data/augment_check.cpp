#include "core/train/data/augment_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "core/base/key_error.hpp"

namespace cambium::train {

using Type = AugmentKeys::Type;
using detail::Component;

namespace {

constexpr std::pair<const char*, Type> type_names[] = {{"flip", Type::flip},
                                                       {"rotate90", Type::rotate90},
                                                       {"roll", Type::roll},
                                                       {"noise", Type::noise},
                                                       {"scale", Type::scale}};

const char* name_of(Type type) {
  for (const auto& [name, value] : type_names)
    if (value == type) return name;
  return "";
}

bool is_real(DType dtype) { return dtype == DType::f64 || dtype == DType::f32; }

/// The fixed index along each axis of an array of this shape, none for the others; negative ones count from the end.
std::array<std::optional<std::int64_t>, 6> fixed_indices(const Component& component,
                                                         std::span<const std::int64_t> shape) {
  std::array<std::optional<std::int64_t>, 6> out{};
  const std::size_t first = component.from_end ? shape.size() - component.indices.size() : 0;
  for (std::size_t k = 0; k < component.indices.size(); ++k) {
    out[first + k] = component.indices[k];
    if (out[first + k].value_or(0) < 0) *out[first + k] += shape[first + k];
  }
  return out;
}

}  // namespace

namespace detail {

bool moves(Type type) { return type == Type::flip || type == Type::rotate90 || type == Type::roll; }

std::optional<Component> parsed(std::string_view text) {
  const auto open = text.find('[');
  if (open == std::string_view::npos) return Component{std::string(text), {}, false};
  if (text.back() != ']') return {};
  Component out{std::string(text.substr(0, open)), {}, false};
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  while (true) {
    const auto comma = rest.find(',');
    std::string_view part = rest.substr(0, comma);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    std::int64_t index = -1;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (part == "..." && out.indices.empty() && !out.from_end)
      out.from_end = true;
    else if (part == ":")
      out.indices.emplace_back();
    else if (error == std::errc() && end == part.data() + part.size())
      out.indices.emplace_back(index);
    else
      return {};
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::size_t> positions_of(const Component& component, std::span<const std::int64_t> shape) {
  const auto fixed = fixed_indices(component, shape);
  std::vector<std::size_t> out{0};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t first = fixed[axis].value_or(0), last = fixed[axis] ? first + 1 : shape[axis];
    std::vector<std::size_t> next;
    for (const auto position : out)
      for (std::int64_t k = first; k < last; ++k)
        next.push_back(position * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(k));
    out = std::move(next);
  }
  return out;
}

const FieldInfo& field_named(const std::string& name, std::span<const FieldInfo> fields, const char* key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.name == name; });
  if (found != fields.end()) return *found;
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  throw KeyError("train.augment.field", key,
                 fmt::format("augment: the samples have no field '{}'; they have {}", name, fmt::join(names, ", ")));
}

int axis_of(int axis, const FieldInfo& field) {
  const int rank = static_cast<int>(field.shape.size());
  const int out = axis < 0 ? axis + rank : axis;
  if (out < 0 || out >= rank)
    throw KeyError(
        "train.augment.axis", "axes",
        fmt::format(
            "augment: there is no axis {} in '{}', whose samples have the shape [{}]; count axes from 0, without the "
            "axis of samples",
            axis, field.name, fmt::join(field.shape, ", ")));
  return out;
}

}  // namespace detail

namespace {

using namespace detail;

void require_field(const AugmentKeys& keys, const FieldInfo& field) {
  if (std::find(field.shape.begin(), field.shape.end(), -1) != field.shape.end())
    throw KeyError("train.augment.shape", "fields",
                   fmt::format("augment: '{}' differs in size from sample to sample; name other fields", field.name));
  if (!moves(keys.type)) {
    if (!is_real(field.dtype))
      throw KeyError(
          "train.augment.type", "fields",
          fmt::format(
              "augment: {} changes values, but '{}' holds integers; convert it to floating-point values, or name other "
              "fields",
              name_of(keys.type), field.name));
    return;
  }
  std::vector<int> axes;
  for (const int axis : keys.axes) axes.push_back(axis_of(axis, field));
  const auto extent = [&](std::size_t k) { return field.shape[static_cast<std::size_t>(axes[k])]; };
  if (keys.type == Type::rotate90 && (axes[0] == axes[1] || extent(0) != extent(1)))
    throw KeyError(
        "train.augment.square", "axes",
        fmt::format(
            "augment: rotate90 needs two axes of equal length, but axes {} and {} of '{}' have {} and {}; use flip",
            keys.axes[0], keys.axes[1], field.name, extent(0), extent(1)));
}

void require_component(const AugmentKeys& keys, const std::string& text, std::span<const FieldInfo> fields) {
  const auto component = parsed(text);
  if (!component)
    throw KeyError(
        "train.augment.vector", "vectors",
        fmt::format("augment: '{}' names no component; write an array (u) or a part of one (velocity[0], frames[:,2])",
                    text));
  const FieldInfo& field = field_named(component->field, fields, "vectors");
  if (std::find(keys.fields.begin(), keys.fields.end(), field.name) == keys.fields.end())
    throw KeyError("train.augment.vector", "vectors",
                   fmt::format("augment: '{}' is part of a vector, but not in 'fields'; add it there", field.name));
  if (!is_real(field.dtype))
    throw KeyError("train.augment.vector", "vectors",
                   fmt::format("augment: '{}' holds integers, which are no components of a vector", field.name));
  const std::size_t rank = field.shape.size();
  const auto missing = [&] {
    throw KeyError("train.augment.vector", "vectors",
                   fmt::format("augment: there is no '{}': samples of '{}' have the shape [{}]", text, field.name,
                               fmt::join(field.shape, ", ")));
  };
  if (component->indices.size() > rank) missing();
  const auto fixed = fixed_indices(*component, field.shape);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (fixed[axis] && (*fixed[axis] < 0 || *fixed[axis] >= field.shape[axis])) missing();
  for (const int axis : keys.axes)
    if (fixed[static_cast<std::size_t>(axis_of(axis, field))])
      throw KeyError(
          "train.augment.vector", "vectors",
          fmt::format(
              "augment: '{}' selects an index along axis {}, which 'axes' transforms; components count along another "
              "axis",
              text, axis));
}

void require_vector(const AugmentKeys& keys, const std::vector<std::string>& vector,
                    std::span<const FieldInfo> fields) {
  for (const auto& text : vector) require_component(keys, text, fields);
  const auto form = [&](const std::string& text) {
    const Component component = *parsed(text);
    const FieldInfo& field = field_named(component.field, fields, "vectors");
    return std::pair(field.dtype, positions_of(component, field.shape).size());
  };
  for (const auto& text : vector)
    if (form(text) != form(vector[0]))
      throw KeyError(
          "train.augment.vector", "vectors",
          fmt::format("augment: '{}' and '{}' differ in type or size; the components of a vector are equal arrays",
                      vector[0], text));
}

/// What stands twice would be transformed twice, which for a flip is nothing.
void require_once(const AugmentKeys& keys, const FieldInfo& field) {
  std::vector<int> axes;
  for (const int axis : keys.axes) axes.push_back(axis_of(axis, field));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    throw KeyError(
        "train.augment.twice", "axes",
        fmt::format("augment: axes [{}] of '{}' name an axis twice", fmt::join(keys.axes, ", "), field.name));
}

void require_different(std::vector<std::string> names, const char* key) {
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw KeyError("train.augment.twice", key,
                   fmt::format("augment: '{}' is listed twice in one entry; list it once", *twice));
}

/// The problem of a key that is missing where a type needs it, or given where it has no meaning.
std::string misplaced(bool given, bool needed, const char* type, const char* key) {
  if (given == needed) return {};
  return needed ? fmt::format("{} needs '{}'", type, key) : fmt::format("{} has no '{}'; remove it", type, key);
}

std::string problem_of(const AugmentKeys& keys) {
  const char* const name = name_of(keys.type);
  if (keys.fields.empty()) return "fields is empty; name the arrays to transform";
  const bool turns = keys.type == Type::flip || keys.type == Type::rotate90;
  for (const auto& problem :
       {misplaced(!keys.axes.empty(), moves(keys.type), name, "axes"),
        misplaced(!keys.vectors.empty(), turns && !keys.vectors.empty(), name, "vectors"),
        misplaced(keys.standard_deviation > 0.0, keys.type == Type::noise, name, "standard_deviation"),
        misplaced(!keys.range.empty(), keys.type == Type::scale, name, "range")})
    if (!problem.empty()) return problem;
  if (keys.axes.size() > 6) return "axes has more than 6 entries";
  if (keys.type == Type::rotate90 && keys.axes.size() != 2)
    return fmt::format("rotate90 turns a plane: it needs two axes, not {}", keys.axes.size());
  for (const auto& vector : keys.vectors)
    if (vector.size() != keys.axes.size())
      return fmt::format("each of 'vectors' needs one component for each of the {} axes, not {}", keys.axes.size(),
                         vector.size());
  if (!keys.range.empty() && (keys.range.size() != 2 || keys.range[0] > keys.range[1]))
    return "range needs two numbers, the smaller one first";
  return {};
}

}  // namespace

std::vector<std::int64_t> detail::shortest_lengths(const AugmentKeys& keys, std::span<const FieldInfo> fields) {
  std::vector<std::int64_t> out;
  const auto length = [&](const std::string& name, int axis) {
    const FieldInfo& field = field_named(name, fields, "fields");
    return field.shape[static_cast<std::size_t>(axis_of(axis, field))];
  };
  for (const int axis : keys.axes) {
    out.push_back(length(keys.fields[0], axis));
    for (const auto& name : keys.fields) out.back() = std::min(out.back(), length(name, axis));
    for (const auto& name : keys.fields)
      if (keys.type == Type::roll && length(name, axis) % std::max<std::int64_t>(1, out.back()) != 0)
        throw KeyError("train.augment.lengths", "axes",
                       fmt::format("augment: roll shifts '{}' with an array of {} cells along axis {}, but it has {}, "
                                   "which is no multiple; "
                                   "give them entries of their own",
                                   name, out.back(), axis, length(name, axis)));
  }
  return out;
}

void detail::require_valid(const AugmentKeys& keys, std::span<const FieldInfo> fields) {
  require_different(keys.fields, "fields");
  for (const auto& name : keys.fields) {
    require_field(keys, field_named(name, fields, "fields"));
    if (moves(keys.type)) require_once(keys, field_named(name, fields, "fields"));
  }
  std::vector<std::string> components;
  for (const auto& vector : keys.vectors) {
    require_vector(keys, vector, fields);
    components.insert(components.end(), vector.begin(), vector.end());
  }
  require_different(components, "vectors");
}

void AugmentKeys::describe(deck::Describe<AugmentKeys>& d) {
  d("type", &AugmentKeys::type,
    "random transformation: reversal of each of the axes (flip), quarter turns in the plane of two axes (rotate90), "
    "cyclic shift along axes, for periodic ones (roll), additive Gaussian noise (noise), common factor (scale)")
      .options({{"flip", Type::flip},
                {"rotate90", Type::rotate90},
                {"roll", Type::roll},
                {"noise", Type::noise},
                {"scale", Type::scale}});
  d("fields", &AugmentKeys::fields,
    "arrays of the samples that are transformed alike, such as an image and its labels");
  d("axes", &AugmentKeys::axes,
    "axes of a sample, counted from 0 without the axis of samples, or from -1 backwards; required by flip, rotate90 "
    "and "
    "roll")
      .def({});
  d("probability", &AugmentKeys::probability,
    "probability that a sample is transformed, for flip along each axis by itself; default: 0.5 for flip, 1 for others")
      .range(0.0, 1.0);
  d("vectors", &AugmentKeys::vectors,
    "vectors whose components flip and rotate90 change: for each one component along each of `axes`, an array (u) or "
    "an "
    "index of its first axis (velocity[0])")
      .def({});
  d("standard_deviation", &AugmentKeys::standard_deviation, "standard deviation of noise, in the unit of the array")
      .at_least(0.0)
      .def(0.0);
  d("range", &AugmentKeys::range, "smallest and largest factor of scale, drawn uniformly for each sample").def({});
  d.check(problem_of);
}

}  // namespace cambium::train
