#include "core/train/data/packed_sample.hpp"

#include <cstring>
#include <new>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

constexpr std::int64_t cache_line = 64;  // bytes of a cache line

std::int64_t to_line(std::int64_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }

struct PackedHead {
  std::int64_t id, bytes, fields, size;  ///< size: of everything
};

struct PackedField {
  std::int64_t name, rank, dtype;  ///< name: characters; it follows the shape
};

std::int64_t packed_field_head(std::size_t name, int rank) {
  return to_line(static_cast<std::int64_t>(sizeof(PackedField) + name) + 8 * rank);
}

std::int64_t bytes_of_values(const TensorRef& values) { return values.elements() * size_of(values.dtype); }

}  // namespace

std::int64_t packed_field_bytes(std::size_t name, int rank, std::int64_t bytes) {
  return packed_field_head(name, rank) + to_line(bytes);
}

std::int64_t packed_head_bytes() { return to_line(sizeof(PackedHead)); }

std::int64_t packed_bytes(const Sample& sample) {
  std::int64_t bytes = packed_head_bytes();
  for (const auto& [name, values] : sample.fields)
    bytes += packed_field_bytes(name.size(), values.rank, bytes_of_values(values));
  return bytes;
}

void pack_sample(const Sample& sample, std::byte* to, std::int64_t room) {
  const PackedHead head{sample.id, sample.bytes, std::ssize(sample.fields), packed_bytes(sample)};
  if (head.size > room) throw InternalError("a sample is larger than the data set said");
  std::memcpy(to, &head, sizeof head);
  to += packed_head_bytes();
  for (const auto& [name, values] : sample.fields) {
    if (!values.contiguous() || values.space != Space::host)
      throw InternalError("only contiguous arrays in host memory are packed");
    const PackedField field{std::ssize(name), values.rank, static_cast<std::int64_t>(values.dtype)};
    std::memcpy(to, &field, sizeof field);
    const auto shape = 8 * static_cast<std::size_t>(values.rank);
    std::memcpy(to + sizeof field, values.shape, shape);
    std::memcpy(to + sizeof field + shape, name.data(), name.size());
    to += packed_field_head(name.size(), values.rank);
    if (values.elements() > 0) std::memcpy(to, values.data, static_cast<std::size_t>(bytes_of_values(values)));
    to += to_line(bytes_of_values(values));
  }
}

SamplePtr unpack_sample(const std::byte* from) {
  PackedHead head{};
  std::memcpy(&head, from, sizeof head);
  const std::shared_ptr<std::byte> memory(
      static_cast<std::byte*>(::operator new (static_cast<std::size_t>(head.size), std::align_val_t{cache_line})),
      [](std::byte* p) { ::operator delete (p, std::align_val_t{cache_line}); });
  std::memcpy(memory.get(), from, static_cast<std::size_t>(head.size));
  auto sample = std::make_shared<Sample>();
  sample->id = head.id;
  sample->bytes = head.bytes;
  std::byte* at = memory.get() + packed_head_bytes();
  for (std::int64_t k = 0; k < head.fields; ++k) {
    PackedField field{};
    std::memcpy(&field, at, sizeof field);
    TensorRef values;
    values.rank = static_cast<int>(field.rank);
    values.dtype = static_cast<DType>(field.dtype);
    std::memcpy(values.shape, at + sizeof field, 8 * static_cast<std::size_t>(field.rank));
    for (std::int64_t stride = 1, d = values.rank - 1; d >= 0; stride *= values.shape[d--]) values.stride[d] = stride;
    const std::string name(reinterpret_cast<const char*>(at + sizeof field + 8 * field.rank),
                           static_cast<std::size_t>(field.name));
    at += packed_field_head(name.size(), values.rank);
    values.data = at;
    values.is_const = true;
    at += to_line(bytes_of_values(values));
    sample->fields.emplace(name, values);
  }
  sample->storage = memory;
  return sample;
}

}  // namespace cambium::train
