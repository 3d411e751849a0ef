#include "core/train/networks/torch/torch_batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"

namespace cambium::train {

torch::Dtype torch_type(DType type) {
  switch (type) {
    case DType::f64:
      return torch::kFloat64;
    case DType::f32:
      return torch::kFloat32;
    case DType::bf16:
      return torch::kBFloat16;
    case DType::i64:
      return torch::kInt64;
    case DType::i32:
      return torch::kInt32;
    case DType::i8:
      return torch::kInt8;
    case DType::u8:
      return torch::kUInt8;
    case DType::u32:
      break;
  }
  throw InternalError("Torch has no unsigned 32-bit integers");
}

torch::Tensor tensor_on(const TensorRef& memory) {
  return torch::from_blob(memory.data, torch::IntArrayRef(memory.shape, static_cast<std::size_t>(memory.rank)),
                          torch::IntArrayRef(memory.stride, static_cast<std::size_t>(memory.rank)),
                          torch::TensorOptions().dtype(torch_type(memory.dtype)));
}

std::vector<std::int64_t> TorchBatch::ids() const {
  std::vector<std::int64_t> out;
  for (const auto& sample : samples_) out.push_back(sample->id);
  return out;
}

namespace {

const TensorRef& tensor_of(const Sample& sample, const std::string& name) {
  const auto found = sample.fields.find(name);
  if (found != sample.fields.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, tensor] : sample.fields) known.push_back(other);
  throw InputError(fmt::format("the samples have no field '{}'; they have: {}", name, fmt::join(known, ", ")));
}

std::vector<std::int64_t> shape_of(const TensorRef& t) { return {t.shape, t.shape + t.rank}; }

}  // namespace

torch::Tensor TorchBatch::stored(const std::string& field) const {
  if (samples_.empty()) throw InternalError("an empty batch has no fields");
  const TensorRef& first = tensor_of(*samples_.front(), field);
  auto shape = shape_of(first);
  shape.insert(shape.begin(), size());
  const bool wider = first.dtype == DType::u32;  // not supported by Torch
  torch::Tensor out =
      torch::empty(shape, torch::TensorOptions().dtype(wider ? torch::kInt64 : torch_type(first.dtype)));
  const std::int64_t bytes = first.elements() * size_of(wider ? DType::i64 : first.dtype);
  auto* to = static_cast<char*>(out.data_ptr());
  for (const auto& sample : samples_) {
    const TensorRef& row = tensor_of(*sample, field);
    if (shape_of(row) != shape_of(first) || row.dtype != first.dtype || !row.contiguous())
      throw InputError(fmt::format(
          "field '{}' has the shape ({}) in sample {} but ({}) in sample {}; this network needs samples of one shape",
          field, fmt::join(shape_of(row), ", "), sample->id, fmt::join(shape_of(first), ", "), samples_.front()->id));
    if (wider)
      std::copy_n(static_cast<const std::uint32_t*>(row.data), row.elements(), reinterpret_cast<std::int64_t*>(to));
    else
      std::memcpy(to, row.data, static_cast<std::size_t>(bytes));
    to += bytes;
  }
  return out;
}

}  // namespace cambium::train
