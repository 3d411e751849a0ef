#pragma once
#include <torch/torch.h>

#include <functional>

namespace cambium::train {

/// Interface that stores tensors saved by Torch for the backward pass in its own form.
class Keeper {
 public:
  /// Called once in the backward pass: returns the tensor, or one with as many elements.
  using Again = std::function<torch::Tensor()>;
  virtual ~Keeper() = default;
  /// Returns how to restore `saved`; empty if this keeper does not store it. Otherwise the tensor may be dropped.
  virtual Again keep(const torch::Tensor& saved) = 0;
};

/// While it is alive, tensors that Torch saves on this thread are offered to `keeper`, after the keepers of earlier
/// Keepings; tensors that none accepts are saved as usual.
class Keeping {
 public:
  explicit Keeping(Keeper& keeper);
  ~Keeping();
  Keeping(const Keeping&) = delete;
};

}  // namespace cambium::train
