#pragma once
#include <torch/torch.h>

#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "core/train/networks/torch/keeper.hpp"

namespace cambium::train {

/// Parameters of a Torch module as views of external memory, which may exist only temporarily.
class ParameterViews {
 public:
  explicit ParameterViews(std::vector<torch::Tensor> parameters);
  const std::vector<torch::Tensor>& parameters() const { return parameters_; }
  std::size_t size() const { return parameters_.size(); }

  void show_weights(std::size_t k, const TensorRef& memory);
  /// If the gradient is defined, Torch accumulates into it in place.
  void show_gradient(std::size_t k, const TensorRef& memory);
  /// Replaces weights by NaN from now on, so that reading them is noticed; gradients become undefined.
  void hide_weights(std::size_t k);
  void hide_gradient(std::size_t k);
  /// True if the gradient still uses the given memory.
  bool adds_in_place(std::size_t k) const {
    return parameters_[k].grad().defined() && parameters_[k].grad().data_ptr() == gradients_[k];
  }

 private:
  std::vector<torch::Tensor> parameters_, hidden_;
  std::vector<void*> weights_, gradients_;  ///< current addresses of the parameters
};

/// Forward and backward pass through a network with sharded weights and gradients: segments, runs of parameters in the
/// order of use, are requested before they are read and released afterwards. Torch's engine runs the nodes of a graph
/// in reverse order of creation, so every node belongs to the segment that was entered before its creation.
///
/// Weights that Torch saves for the backward pass (and views of them, such as transposed ones) refer to memory that has
/// been freed by then: during a Keeping of this object they are recorded, and replaced by the weights present in the
/// backward pass.
class Segments : public Keeper {
 public:
  using Tell = std::function<void(std::size_t)>;
  /// `first`: first parameter of each segment, ascending from 0. `tell`: called when a parameter's gradient is final.
  Segments(ParameterViews& views, std::vector<std::string> names, std::vector<int> first, Tell tell);

  void begin(std::span<const TensorRef> weights, std::span<const TensorRef> gradients, const ReadyCallback& ready);
  /// From here on computations read the weights of this segment, and no longer those before. InternalError if it has
  /// already been left.
  void enter(int segment);
  /// Ends the forward pass; `loss` may be undefined. Must be followed by backward(), then end().
  void turn(const torch::Tensor& loss);
  /// The same without a backward pass; begin() may have been called without gradients.
  void end_forward();
  void end();
  void stop() { ready_ = nullptr; }
  bool under_way() const { return ready_ != nullptr; }

 private:
  friend struct BeforeSegment;
  Again keep(const torch::Tensor& saved) override;
  void open(int segment);
  void close(int segment);
  void reach(int segment);
  void finish(int segment);
  auto parameters_of(int segment) const {
    const auto k = static_cast<std::size_t>(segment);
    return std::views::iota(static_cast<std::size_t>(first_[k]), static_cast<std::size_t>(first_[k + 1]));
  }
  int count() const { return static_cast<int>(first_.size()) - 1; }

  ParameterViews& views_;
  std::vector<std::string> names_;
  std::vector<int> first_;  ///< and the end
  Tell tell_;
  std::span<const TensorRef> weights_, gradients_;
  const ReadyCallback* ready_ = nullptr;
  int now_ = -1;                     ///< open segment; count() in the backward pass before the first one
  std::vector<std::uint64_t> made_;  ///< index of the next node when each segment was entered
  std::unordered_map<const void*, std::size_t> by_storage_;  ///< parameters with memory
};

}  // namespace cambium::train
