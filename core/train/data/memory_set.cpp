#include "core/train/data/memory_set.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/base/error.hpp"

namespace cambium::train {

namespace {

std::size_t bytes_of(const FieldInfo& field) {
  std::int64_t n = size_of(field.dtype);
  for (const auto extent : field.shape) n *= extent;
  return static_cast<std::size_t>(n + 63) / 64 * 64;
}

/// Copies one sample of an array with any strides to contiguous memory.
void copy_row(const TensorRef& array, std::int64_t row, char* out) {
  const std::int64_t size = size_of(array.dtype);
  std::int64_t count = 1, index[6] = {};
  for (int k = 1; k < array.rank; ++k) count *= array.shape[k];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t offset = row * array.stride[0];
    for (int k = 1; k < array.rank; ++k) offset += index[k] * array.stride[k];
    std::memcpy(out + n * size, static_cast<const char*>(array.data) + offset * size, static_cast<std::size_t>(size));
    for (int k = array.rank - 1; k >= 1 && ++index[k] == array.shape[k]; --k) index[k] = 0;
  }
}

}  // namespace

std::size_t MemorySet::sample_bytes() const {
  std::size_t bytes = 0;
  for (const auto& field : fields_) bytes += bytes_of(field);
  return bytes;
}

SamplePtr MemorySet::sample_from(const std::vector<char>& bytes, std::size_t at, std::int64_t id) const {
  auto memory = std::make_shared<std::vector<char>>(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                                                    bytes.begin() + static_cast<std::ptrdiff_t>(at + sample_bytes()));
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  std::size_t offset = 0;
  for (const auto& field : fields_) {
    TensorRef t;
    t.data = memory->data() + offset;
    t.dtype = field.dtype;
    for (const auto extent : field.shape) t.shape[t.rank++] = extent;
    for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
    sample->fields.emplace(field.name, t);
    offset += bytes_of(field);
  }
  sample->bytes = static_cast<std::int64_t>(offset);
  sample->storage = memory;
  return sample;
}

MemorySet::MemorySet(std::span<const HostArray> arrays) {
  if (arrays.empty()) throw InputError("no arrays were given; pass at least one per field of the model");
  const std::int64_t rows = arrays.front().values.rank > 0 ? arrays.front().values.shape[0] : 0;
  for (const auto& array : arrays) {
    const TensorRef& t = array.values;
    if (t.rank < 1 || t.rank > 6 || t.space != Space::host)
      throw InputError(
          fmt::format("array '{}' has rank {}; pass host memory with 1 to 6 axes, the first of which counts samples",
                      array.name, t.rank));
    if (t.shape[0] != rows)
      throw InputError(
          fmt::format("array '{}' holds {} samples, but '{}' holds {}; the first axis counts the same samples",
                      array.name, t.shape[0], arrays.front().name, rows));
    if (!t.data && t.elements() > 0)
      throw InputError(fmt::format("array '{}' has no memory (a null pointer)", array.name));
    fields_.push_back({array.name, array.unit, {t.shape + 1, t.shape + t.rank}, t.dtype});
  }
  std::vector<char> bytes(sample_bytes());
  for (std::int64_t row = 0; row < rows; ++row) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < arrays.size(); at += bytes_of(fields_[k++]))
      copy_row(arrays[k].values, row, bytes.data() + at);
    samples_.push_back(sample_from(bytes, 0, row));
  }
}

MemorySet MemorySet::gathered(const MemorySet& own, const Comm& comm) {
  MemorySet out;
  out.fields_ = own.fields_;
  const std::size_t size = own.sample_bytes();
  const auto counts = comm.all_gather(own.size());
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::string bytes;
    if (rank == comm.rank())
      for (const auto& sample : own.samples_)
        bytes.append(static_cast<const char*>(sample->fields.at(own.fields_[0].name).data), size);
    comm.broadcast(bytes, rank);
    const std::vector<char> memory(bytes.begin(), bytes.end());
    for (std::int64_t k = 0; k < counts[rank]; ++k)
      out.samples_.push_back(out.sample_from(memory, static_cast<std::size_t>(k) * size, std::ssize(out.samples_)));
  }
  return out;
}

std::vector<SamplePtr> MemorySet::read(std::span<const std::int64_t> ids) {
  std::vector<SamplePtr> out;
  for (const auto id : ids) out.push_back(samples_.at(id));
  return out;
}

}  // namespace cambium::train
