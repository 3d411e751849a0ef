#include "core/train/data/augment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "core/deck/about_key.hpp"
#include "core/parallel/random.hpp"
#include "core/train/data/augment_check.hpp"

namespace cambium::train {

using Type = AugmentKeys::Type;
using namespace detail;

namespace {

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
  bool applied = true;
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
  constexpr std::uint64_t whether = 100;  // above the axes
  const bool by_axis = keys.type == Type::flip;
  Draw out;
  out.applied = by_axis || uniform(whether) < keys.probability.value_or(1.0);
  out.seed = own;
  for (std::size_t k = 0; k < keys.axes.size(); ++k) {
    out.flip[k] = by_axis && uniform(k) < keys.probability.value_or(0.5);
    out.shift[k] = uniform(k);
  }
  if (keys.type == Type::rotate90) out.quarters = static_cast<int>(4.0 * uniform(0));
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
void move_field(const AugmentKeys& keys, const Draw& drawn, std::span<const std::int64_t> shortest,
                const FieldInfo& info, Sample& sample, Editable& memory) {
  std::vector<std::byte>& from = own(sample, memory, info.name);
  TensorRef& field = sample.fields.find(info.name)->second;
  std::vector<std::size_t> axes;
  for (const int axis : keys.axes) axes.push_back(static_cast<std::size_t>(axis_of(axis, info)));
  std::array<std::int64_t, 6> shift{};
  for (std::size_t k = 0; k < axes.size() && keys.type == Type::roll; ++k) {
    const auto units = static_cast<std::int64_t>(drawn.shift[k] * static_cast<double>(shortest[k]));
    shift[axes[k]] = units * (field.shape[axes[k]] / shortest[k]);
  }
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

}  // namespace

Augment::Augment(std::vector<AugmentKeys> keys, std::span<const FieldInfo> fields, std::uint64_t seed) : seed_(seed) {
  for (auto& entry : keys) {
    deck::about_key("train.augment", fmt::format("augment[{}]", entries_.size()),
                    [&] { require_valid(entry, fields); });
    std::vector<Components> vectors;
    for (const auto& vector : entry.vectors) {
      auto& components = vectors.emplace_back();
      for (const auto& text : vector) {
        const Component component = *parsed(text);
        components.emplace_back(component.field,
                                positions_of(component, field_named(component.field, fields, "vectors").shape));
      }
    }
    auto shortest = deck::about_key("train.augment", fmt::format("augment[{}]", entries_.size()),
                                    [&] { return shortest_lengths(entry, fields); });
    entries_.push_back({std::move(entry), std::move(shortest), std::move(vectors)});
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
    const auto& [keys, shortest, vectors] = entries_[number];
    const Draw drawn = draw(keys, seed_, sample->id, step, number);
    if (!drawn.applied) continue;
    for (std::size_t k = 0; k < keys.fields.size(); ++k) {
      const auto& field = out->fields.find(keys.fields[k])->second;
      if (moves(keys.type)) {
        const FieldInfo info{keys.fields[k], "", {field.shape, field.shape + field.rank}, field.dtype};
        move_field(keys, drawn, shortest, info, *out, *memory);
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
