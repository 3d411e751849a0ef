#pragma once
#include <torch/torch.h>

#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Torch's element type; InternalError for types that Torch 1.13 does not have.
torch::Dtype torch_type(DType type);
/// Torch tensor on the same memory, whose owner must outlive it.
torch::Tensor tensor_on(const TensorRef& memory);

/// Samples of one call, stacked along a new first axis on request.
class TorchBatch {
 public:
  TorchBatch(std::span<const SamplePtr> samples, torch::Dtype real) : samples_(samples), real_(real) {}
  std::int64_t size() const { return static_cast<std::int64_t>(samples_.size()); }
  /// The samples themselves, for networks whose samples differ in shape.
  std::span<const SamplePtr> samples() const { return samples_; }
  /// Indices of the samples in their data set, which address their random numbers.
  std::vector<std::int64_t> ids() const;

  /// (size, shape...) in the type in which the field is stored (uint32 as int64); in the network's floating-point type;
  /// as int64. InputError when the samples have no such field or differ in shape.
  torch::Tensor stored(const std::string& field) const;
  torch::Tensor real(const std::string& field) const { return stored(field).to(real_); }
  torch::Tensor integers(const std::string& field) const { return stored(field).to(torch::kInt64); }

 private:
  std::span<const SamplePtr> samples_;
  torch::Dtype real_;
};

}  // namespace cambium::train
