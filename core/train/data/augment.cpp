#include "core/train/data/augment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::train {

using Type = AugmentKeys::Type;

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

bool moves(Type type) { return type == Type::flip || type == Type::rotate90 || type == Type::roll; }

/// A component of a vector: a field ("u"), or a part of one in the notation of numpy ("velocity[0]", "frames[:,2]",
/// "velocity[...,0]").
struct Component {
  std::string field;
  std::vector<std::optional<std::int64_t>>
      indices;  ///< of the first axes, or of the last ones after "..."; none for ":"
  bool from_end = false;
};

/// Absent if the text is none.
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
    else if (error == std::errc() && end == part.data() + part.size() && index >= 0)
      out.indices.emplace_back(index);
    else
      return {};
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

/// The fixed index along each axis of an array of this rank, none for the others.
std::array<std::optional<std::int64_t>, 6> fixed_indices(const Component& component, std::size_t rank) {
  std::array<std::optional<std::int64_t>, 6> out{};
  const std::size_t first = component.from_end ? rank - component.indices.size() : 0;
  for (std::size_t k = 0; k < component.indices.size(); ++k) out[first + k] = component.indices[k];
  return out;
}

/// Positions of the component's values in a contiguous array of this shape.
std::vector<std::size_t> positions_of(const Component& component, std::span<const std::int64_t> shape) {
  const auto fixed = fixed_indices(component, shape.size());
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

bool is_real(DType dtype) { return dtype == DType::f64 || dtype == DType::f32; }

[[noreturn]] void refuse(const char* id, const char* key, const std::string& problem) {
  throw KeyError(std::string("train.augment.") + id, std::string("augment.") + key, "augment: " + problem);
}

const FieldInfo& field_named(const std::string& name, std::span<const FieldInfo> fields, const char* key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.name == name; });
  if (found != fields.end()) return *found;
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field.name);
  refuse("field", key, fmt::format("the samples have no field '{}'; they have {}", name, fmt::join(names, ", ")));
}

/// The axis counted from the first one; negative ones count from the last.
int axis_of(int axis, const FieldInfo& field) {
  const int rank = static_cast<int>(field.shape.size());
  const int out = axis < 0 ? axis + rank : axis;
  if (out < 0 || out >= rank)
    refuse("axis", "axes",
           fmt::format("there is no axis {} in '{}', whose samples have the shape [{}]; count axes from 0, without the "
                       "axis of samples",
                       axis, field.name, fmt::join(field.shape, ", ")));
  return out;
}

void require_field(const AugmentKeys& keys, const FieldInfo& field) {
  if (std::find(field.shape.begin(), field.shape.end(), -1) != field.shape.end())
    refuse("shape", "fields", fmt::format("'{}' differs in size from sample to sample; name other fields", field.name));
  if (!moves(keys.type)) {
    if (!is_real(field.dtype))
      refuse(
          "type", "fields",
          fmt::format("{} changes values, but '{}' holds integers; convert it to floating-point values, or name other "
                      "fields",
                      name_of(keys.type), field.name));
    return;
  }
  std::vector<int> axes;
  for (const int axis : keys.axes) axes.push_back(axis_of(axis, field));
  const auto extent = [&](std::size_t k) { return field.shape[static_cast<std::size_t>(axes[k])]; };
  if (keys.type == Type::rotate90 && (axes[0] == axes[1] || extent(0) != extent(1)))
    refuse("square", "axes",
           fmt::format("rotate90 needs two axes of equal length, but axes {} and {} of '{}' have {} and {}; use flip",
                       keys.axes[0], keys.axes[1], field.name, extent(0), extent(1)));
}

void require_component(const AugmentKeys& keys, const std::string& text, std::span<const FieldInfo> fields) {
  const auto component = parsed(text);
  if (!component)
    refuse(
        "vector", "vectors",
        fmt::format("'{}' names no component; write an array (u) or a part of one (velocity[0], frames[:,2])", text));
  const FieldInfo& field = field_named(component->field, fields, "vectors");
  if (std::find(keys.fields.begin(), keys.fields.end(), field.name) == keys.fields.end())
    refuse("vector", "vectors", fmt::format("'{}' is part of a vector, but not in 'fields'; add it there", field.name));
  if (!is_real(field.dtype))
    refuse("vector", "vectors", fmt::format("'{}' holds integers, which are no components of a vector", field.name));
  const std::size_t rank = field.shape.size();
  const auto missing = [&] {
    refuse("vector", "vectors",
           fmt::format("there is no '{}': samples of '{}' have the shape [{}]", text, field.name,
                       fmt::join(field.shape, ", ")));
  };
  if (component->indices.size() > rank) missing();
  const auto fixed = fixed_indices(*component, rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (fixed[axis] && *fixed[axis] >= field.shape[axis]) missing();
  for (const int axis : keys.axes)
    if (fixed[static_cast<std::size_t>(axis_of(axis, field))])
      refuse("vector", "vectors",
             fmt::format("'{}' selects an index along axis {}, which 'axes' transforms; components count along another "
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
      refuse("vector", "vectors",
             fmt::format("'{}' and '{}' differ in type or size; the components of a vector are equal arrays", vector[0],
                         text));
}

void require_valid(const AugmentKeys& keys, std::span<const FieldInfo> fields) {
  for (const auto& name : keys.fields) require_field(keys, field_named(name, fields, "fields"));
  for (const auto& vector : keys.vectors) require_vector(keys, vector, fields);
}

/// Memory of a transformed sample: the arrays that are its own, and the sample that holds the others.
struct Editable {
  SamplePtr original;
  std::map<std::string, std::vector<std::byte>> arrays;
};

/// A contiguous copy of an array.
std::vector<std::byte> packed_bytes(const TensorRef& from) {
  const auto size = static_cast<std::size_t>(size_of(from.dtype));
  std::vector<std::byte> out(static_cast<std::size_t>(from.elements()) * size);
  const auto* base = static_cast<const std::byte*>(from.data);
  if (from.contiguous()) {
    if (!out.empty()) std::memcpy(out.data(), base, out.size());
    return out;
  }
  std::array<std::int64_t, 6> at{};
  for (std::size_t k = 0; k < out.size(); k += size) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < from.rank; ++axis) offset += at[static_cast<std::size_t>(axis)] * from.stride[axis];
    std::memcpy(out.data() + k, base + offset * static_cast<std::int64_t>(size), size);
    for (int axis = from.rank - 1; axis >= 0 && ++at[static_cast<std::size_t>(axis)] == from.shape[axis]; --axis)
      at[static_cast<std::size_t>(axis)] = 0;
  }
  return out;
}

/// Makes a field of `sample` contiguous and its own; returns its memory.
std::vector<std::byte>& own(Sample& sample, Editable& memory, const std::string& name) {
  TensorRef& field = sample.fields.find(name)->second;
  const auto [at, fresh] = memory.arrays.try_emplace(name);
  if (!fresh) return at->second;
  at->second = packed_bytes(field);
  std::int64_t stride = 1;
  for (int k = field.rank - 1; k >= 0; --k) {
    field.stride[k] = stride;
    stride *= field.shape[k];
  }
  field.data = at->second.data();
  field.is_const = false;
  return at->second;
}

/// Random choices of a transformation for one sample: the same for all fields.
struct Draw {
  std::array<bool, 6> flip{};     ///< of each of `axes`
  std::array<double, 6> shift{};  ///< of each of `axes`, as a fraction of its length
  int quarters = 0;               ///< quarter turns
  double factor = 1.0;
  std::uint64_t seed = 0;  ///< of noise
};

Draw draw(const AugmentKeys& keys, std::uint64_t seed, std::int64_t id, std::int64_t step, std::size_t entry) {
  const Random4 key(seed, stream("train.augment"), static_cast<std::uint64_t>(id), static_cast<std::uint64_t>(step));
  const std::uint64_t own = key.bits[0] | (static_cast<std::uint64_t>(key.bits[1]) << 32);
  const auto uniform = [&](std::uint64_t k) {
    return Random4(own, stream("train.augment_choice"), entry, k).uniform(0);
  };
  Draw out;
  out.seed = own;
  for (std::size_t k = 0; k < keys.axes.size(); ++k) {
    out.flip[k] = uniform(k) < keys.probability;
    out.shift[k] = uniform(k);
  }
  out.quarters = static_cast<int>(4.0 * uniform(0));
  if (!keys.range.empty()) out.factor = keys.range[0] + (keys.range[1] - keys.range[0]) * uniform(0);
  return out;
}

/// Copies a block of `size` bytes; blocks of one value are the frequent ones.
void copy_block(std::byte* to, const std::byte* from, std::size_t size) {
  switch (size) {
    case 1:
      *to = *from;
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, size);
  }
}

/// Fills `to` so that element x is element source(x) of `from`, both contiguous with the shape of `field`. Axes after
/// `last` are not transformed: blocks along them are copied.
template <class Source>
void permute(const TensorRef& field, int last, const std::byte* from, std::byte* to, const Source& source) {
  const auto block = static_cast<std::size_t>(field.stride[last] * size_of(field.dtype));
  const std::int64_t blocks = block == 0 ? 0 : field.elements() / field.stride[last];
  std::array<std::int64_t, 6> at{};
  for (std::int64_t k = 0; k < blocks; ++k) {
    const auto where = source(at);
    std::int64_t offset = 0;
    for (int axis = 0; axis <= last; ++axis) offset += where[static_cast<std::size_t>(axis)] * field.stride[axis];
    copy_block(to + static_cast<std::size_t>(k) * block, from + static_cast<std::size_t>(offset * size_of(field.dtype)),
               block);
    for (int axis = last; axis >= 0 && ++at[static_cast<std::size_t>(axis)] == field.shape[axis]; --axis)
      at[static_cast<std::size_t>(axis)] = 0;
  }
}

/// Flips, turns and shifts of one field.
void move_field(const AugmentKeys& keys, const Draw& drawn, const FieldInfo& info, Sample& sample, Editable& memory) {
  std::vector<std::byte>& from = own(sample, memory, info.name);
  TensorRef& field = sample.fields.find(info.name)->second;
  std::vector<std::size_t> axes;
  for (const int axis : keys.axes) axes.push_back(static_cast<std::size_t>(axis_of(axis, info)));
  std::array<std::int64_t, 6> shift{};
  for (std::size_t k = 0; k < axes.size(); ++k)
    shift[axes[k]] = static_cast<std::int64_t>(drawn.shift[k] * static_cast<double>(field.shape[axes[k]]));
  std::vector<std::byte> to(from.size());
  const int last = static_cast<int>(*std::max_element(axes.begin(), axes.end()));
  permute(field, last, from.data(), to.data(), [&](std::array<std::int64_t, 6> at) {
    for (std::size_t k = 0; k < axes.size() && keys.type == Type::flip; ++k)
      if (drawn.flip[k]) at[axes[k]] = field.shape[axes[k]] - 1 - at[axes[k]];
    for (std::size_t k = 0; k < axes.size() && keys.type == Type::roll; ++k)
      at[axes[k]] = (at[axes[k]] + shift[axes[k]]) % field.shape[axes[k]];
    for (int turn = 0; turn < drawn.quarters && keys.type == Type::rotate90; ++turn)
      at = [&](std::array<std::int64_t, 6> x) {  // from the first of the two axes towards the second
        const std::int64_t first = x[axes[0]];
        x[axes[0]] = x[axes[1]];
        x[axes[1]] = field.shape[axes[1]] - 1 - first;
        return x;
      }(at);
    return at;
  });
  from = std::move(to);
  field.data = from.data();
}

using Components = std::vector<std::pair<std::string, std::vector<std::size_t>>>;

/// Turns the components of a vector whose positions have been moved.
template <class T>
void turn_vector(const AugmentKeys& keys, const Draw& drawn, const Components& vector, Sample& sample) {
  std::vector<T*> values;
  for (const auto& [field, positions] : vector)
    values.push_back(static_cast<T*>(sample.fields.find(field)->second.data));
  for (std::size_t k = 0; k < vector.size() && keys.type == Type::flip; ++k)
    if (drawn.flip[k])
      for (const auto position : vector[k].second) values[k][position] = -values[k][position];
  for (int turn = 0; turn < drawn.quarters && keys.type == Type::rotate90; ++turn)
    for (std::size_t j = 0; j < vector[0].second.size(); ++j) {
      T &first = values[0][vector[0].second[j]], &second = values[1][vector[1].second[j]];
      first = -std::exchange(second, first);
    }
}

/// Noise and factors of one field.
template <class T>
void change_values(const AugmentKeys& keys, const Draw& drawn, std::size_t entry, std::size_t number,
                   std::span<T> values) {
  if (keys.type == Type::scale) {
    for (T& value : values) value *= static_cast<T>(drawn.factor);
    return;
  }
  for (std::size_t k = 0; k < values.size(); k += 4) {
    const Random4 random(drawn.seed, stream("train.augment_noise"), k / 4, (entry << 32) | number);
    for (std::size_t j = k; j < std::min(k + 4, values.size()); ++j)
      values[j] += static_cast<T>(keys.standard_deviation * random.normal(static_cast<int>(j - k)));
  }
}

/// Calls f.operator()<T>() for the floating-point type.
template <class F>
void with_type(DType dtype, const F& f) {
  dtype == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
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
  d("probability", &AugmentKeys::probability, "probability of a flip, for each axis").range(0.0, 1.0).def(0.5);
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

Augment::Augment(std::vector<AugmentKeys> keys, std::span<const FieldInfo> fields, std::uint64_t seed) : seed_(seed) {
  for (auto& entry : keys) {
    require_valid(entry, fields);
    std::vector<Components> vectors;
    for (const auto& vector : entry.vectors) {
      auto& components = vectors.emplace_back();
      for (const auto& text : vector) {
        const Component component = *parsed(text);
        components.emplace_back(component.field,
                                positions_of(component, field_named(component.field, fields, "vectors").shape));
      }
    }
    entries_.push_back({std::move(entry), std::move(vectors)});
  }
}

void Augment::apply(Batch& batch) const {
  if (empty()) return;
  for (auto& slice : batch.slices)
    for (auto& sample : slice) sample = apply(sample, batch.step);
}

SamplePtr Augment::apply(const SamplePtr& sample, std::int64_t step) const {
  auto out = std::make_shared<Sample>(*sample);
  auto memory = std::make_shared<Editable>(Editable{sample, {}});
  for (std::size_t number = 0; number < entries_.size(); ++number) {
    const auto& [keys, vectors] = entries_[number];
    const Draw drawn = draw(keys, seed_, sample->id, step, number);
    for (std::size_t k = 0; k < keys.fields.size(); ++k) {
      const auto& field = out->fields.find(keys.fields[k])->second;
      if (moves(keys.type)) {
        const FieldInfo info{keys.fields[k], "", {field.shape, field.shape + field.rank}, field.dtype};
        move_field(keys, drawn, info, *out, *memory);
        continue;
      }
      own(*out, *memory, keys.fields[k]);
      with_type(field.dtype, [&]<class T>() {
        change_values(keys, drawn, number, k,
                      std::span(static_cast<T*>(field.data), static_cast<std::size_t>(field.elements())));
      });
    }
    for (const auto& vector : vectors)
      with_type(out->fields.find(vector[0].first)->second.dtype,
                [&]<class T>() { turn_vector<T>(keys, drawn, vector, *out); });
  }
  out->storage = std::move(memory);
  return out;
}

}  // namespace cambium::train
