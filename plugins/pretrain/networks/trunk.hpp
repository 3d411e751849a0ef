#pragma once
#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

#include "plugins/pretrain/networks/transformer_keys.hpp"

namespace cambium::pretrain {

/// Extents of what a trunk reads, and of the trunk.
struct TrunkShape {
  std::int64_t channels = 1;
  std::vector<std::int64_t> cells, periodic;  ///< along two or three axes
  std::vector<std::int64_t> stages;           ///< of convolutions: channels behind each halving
  std::int64_t width = 64;                    ///< of the vector; 0: there is no linear layer, only cells()
  bool mean =
      true;  ///< over all cells at the end, which no shift along periodic axes changes much; else all cells count
  std::optional<TransformerKeys> transformer;  ///< in place of convolutions
  /// Numbers of each cell that is left.
  std::int64_t last() const { return transformer ? transformer->width : stages.back(); }
};

/// (samples, channels, cells...) -> (samples, width).
class Trunk : public torch::nn::Module {
 public:
  /// The mean over the cells that are left, or all of them, through a linear layer.
  torch::Tensor forward(const torch::Tensor& x);
  /// (samples, last(), cells that are left).
  virtual torch::Tensor cells(torch::Tensor x) = 0;
  /// Computations in a slower way than others would be, and why; empty where nothing was.
  virtual std::string slower() const { return {}; }

 protected:
  explicit Trunk(const TrunkShape& shape) : shape_(shape) {}
  /// Called last by those that derive: the linear layer over `cells` that are left.
  void add_out(std::int64_t cells);
  TrunkShape shape_;

 private:
  torch::nn::Linear out_{nullptr};
};

/// Convolutions, or patches and a transformer.
std::shared_ptr<Trunk> make_trunk(const TrunkShape& shape);

}  // namespace cambium::pretrain
