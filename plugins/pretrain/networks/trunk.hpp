#pragma once
#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

#include "plugins/pretrain/networks/transformer_keys.hpp"

namespace cambium::pretrain {

/// Sizes of the input and of the trunk.
struct TrunkShape {
  std::int64_t channels = 1;
  std::vector<std::int64_t> cells, periodic;  ///< along two or three axes
  std::vector<std::int64_t> stages;           ///< of convolutions: channels after each halving
  std::int64_t width = 64;                    ///< of the vector; 0: no linear layer, only cells()
  bool mean =
      true;  ///< over all cells at the end, nearly invariant under shifts along periodic axes; else all cells enter
  std::optional<TransformerKeys> transformer;  ///< instead of convolutions
  /// Channels of each remaining cell.
  std::int64_t last() const { return transformer ? transformer->width : stages.back(); }
};

/// (samples, channels, cells...) -> (samples, width).
class Trunk : public torch::nn::Module {
 public:
  /// Applies a linear layer to the mean over the remaining cells, or to all of them.
  torch::Tensor forward(const torch::Tensor& x);
  /// (samples, last(), remaining cells).
  virtual torch::Tensor cells(torch::Tensor x) = 0;
  /// Computations that used a slower algorithm, and the reason; empty if there were none.
  virtual std::string slower() const { return {}; }

 protected:
  explicit Trunk(const TrunkShape& shape) : shape_(shape) {}
  /// Called last by derived classes: adds the linear layer for `cells` remaining cells.
  void add_out(std::int64_t cells);
  TrunkShape shape_;

 private:
  torch::nn::Linear out_{nullptr};
};

/// Convolutions, or patches and a transformer.
std::shared_ptr<Trunk> make_trunk(const TrunkShape& shape);

}  // namespace cambium::pretrain
