#pragma once
#include <torch/torch.h>

#include <functional>

namespace cambium::train {

/// Somebody who keeps tensors that Torch saves for the backward pass in a form of his own.
class Keeper {
 public:
  /// Called once in the backward pass: the tensor, or one of as many elements.
  using Again = std::function<torch::Tensor()>;
  virtual ~Keeper() = default;
  /// How to get `saved` back; empty where it is another's to keep. Whoever returns something drops the tensor.
  virtual Again keep(const torch::Tensor& saved) = 0;
};

/// While it lives, what Torch saves on this thread is offered to `keeper`, after those whose Keeping began before; what
/// nobody takes stays as it is.
class Keeping {
 public:
  explicit Keeping(Keeper& keeper);
  ~Keeping();
  Keeping(const Keeping&) = delete;
};

}  // namespace cambium::train
