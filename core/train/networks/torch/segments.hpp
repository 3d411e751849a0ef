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

/// The parameters of a Torch module as views of somebody else's memory, which may be there for a time only.
class ParameterViews {
 public:
  explicit ParameterViews(std::vector<torch::Tensor> parameters);
  const std::vector<torch::Tensor>& parameters() const { return parameters_; }
  std::size_t size() const { return parameters_.size(); }

  void show_weights(std::size_t k, const TensorRef& memory);
  /// With a gradient that exists, Torch adds to it in place.
  void show_gradient(std::size_t k, const TensorRef& memory);
  /// Weights are not numbers from now on, so that reading them shows; gradients are none.
  void hide_weights(std::size_t k);
  void hide_gradient(std::size_t k);
  /// True if the gradient is still the memory that was shown.
  bool adds_in_place(std::size_t k) const {
    return parameters_[k].grad().defined() && parameters_[k].grad().data_ptr() == gradients_[k];
  }

 private:
  std::vector<torch::Tensor> parameters_, hidden_;
  std::vector<void*> weights_, gradients_;  ///< addresses that the parameters view now
};

/// A pass forward and backward through a network whose weights and gradients are divided among ranks: segments, runs of
/// parameters in the order of their use, are asked for before they are read and given back after. Torch's engine runs
/// the nodes of one graph in the reverse order of their making, so that every node belongs to the segment that was
/// entered before it was made.
///
/// Weights that Torch saves for the backward pass (and views of them, such as transposed ones) are memory that is gone
/// by then: while a Keeping of this lives it notes which they were, and hands out those of the time of the backward
/// pass.
class Segments : public Keeper {
 public:
  using Tell = std::function<void(std::size_t)>;
  /// `first`: parameter of each segment, ascending from 0. `tell`: that a parameter's gradient is final.
  Segments(ParameterViews& views, std::vector<std::string> names, std::vector<int> first, Tell tell);

  void begin(std::span<const TensorRef> weights, std::span<const TensorRef> gradients, const ReadyCallback& ready);
  /// Everything computed from here on reads the weights of this segment, and no longer those before. InternalError when
  /// it was left.
  void enter(int segment);
  /// The end of the forward pass; `loss` may be undefined. backward() follows, then end().
  void turn(const torch::Tensor& loss);
  /// The same without a backward pass; begin() may have been given no gradients.
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
  int now_ = -1;                                             ///< open; in the backward pass count() before the first
  std::vector<std::uint64_t> made_;                          ///< number of the next node when each segment was entered
  std::unordered_map<const void*, std::size_t> by_storage_;  ///< parameters that are shown
};

}  // namespace cambium::train
