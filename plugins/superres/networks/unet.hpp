#pragma once
#include <torch/torch.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "core/train/networks/torch/rank_layers.hpp"

namespace cambium::superres {

/// Sizes of the residual U-Net (Jiang et al. 2020). Grid extents need not be powers of two.
struct UnetShape {
  std::int64_t inputs = 4, features = 16, most_features = 256, outputs = 32;
  int levels = 0;                         ///< 0: log2 of the largest extent, rounded
  std::array<std::int64_t, 3> grid{};     ///< t, x, z of the coarse samples
  bool wraps = false;                     ///< convolutions wrap around the period of x
  std::array<std::int64_t, 3> refined{};  ///< nodes of the output if it is finer than the input; 0 if it is the same
};

/// 1x1x1, 3x3x3 and 1x1x1 convolutions, each followed by a group normalisation, and a 1x1x1 convolution in parallel.
/// (The published network uses batch normalisation, with as many parameters; running means would differ from rank to
/// rank.)
class ResBlock : public torch::nn::Module {
 public:
  struct Shape {
    std::int64_t in, neck, out, nodes;  ///< channels, and nodes of the block's grid
    bool wraps, final_relu;
  };
  ResBlock(const Shape& shape, train::RankLayers& layers);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  bool wraps_, final_relu_;
  std::shared_ptr<train::RankLayer> first_, middle_, last_, beside_;
  torch::nn::GroupNorm norm1_{nullptr}, norm2_{nullptr}, norm3_{nullptr};
};

/// Maps field samples (batch, inputs, t, x, z) to as many vectors with `outputs` components.
class Unet : public torch::nn::Module {
 public:
  /// Each block takes four entries of `layers`, in its order; full layers without it.
  Unet(const UnetShape& shape, train::RankLayers& layers);
  explicit Unet(const UnetShape& shape);
  /// Calls `enter`, if given, with each block's index before it is used: each is used once, in the order of blocks().
  torch::Tensor forward(torch::Tensor x, const std::function<void(int)>& enter = {});
  /// Names of the blocks; together they hold all parameters.
  const std::vector<std::string>& blocks() const { return names_; }
  /// Name of the block that gives the network's output.
  std::string last_block() const { return expand_.empty() ? "out" : "expand" + std::to_string(expand_.size()); }

 private:
  using Sizes = std::array<std::int64_t, 3>;
  void build(train::RankLayers& layers);

  UnetShape shape_;
  std::vector<std::string> names_;
  std::vector<Sizes> grids_;  ///< of each level, starting with the input's
  std::vector<Sizes> finer_;  ///< of the following stages, for a refined output
  std::shared_ptr<ResBlock> in_, mid_, out_;
  std::vector<std::shared_ptr<ResBlock>> down_, up_, expand_;
};

}  // namespace cambium::superres
