#pragma once
#include <torch/torch.h>

#include <memory>
#include <span>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Sizes of a whole layer: a linear one, or a convolution over one axis or more.
struct RankLayerShape {
  std::int64_t inputs = 0, outputs = 0;
  std::vector<std::int64_t> kernel, padding;  ///< by axis; none of a linear layer
  std::int64_t places = 1;                    ///< that one sample has in the answer
};

/// A linear layer or a convolution, whole or a product. With a rank a convolution becomes one between `rank` channels
/// (no more than there are) behind a product that leads to them and in front of one that leads from them; where
/// channels are not fewer, that product is left out. A linear layer, and a convolution of one tap, becomes two
/// products. Parameters of the whole layer are named and shaped as those of Torch's own (weight, bias), those of
/// products enter.weight, core.weight, leave.weight, and the bias is that of the last of them.
class RankLayer : public torch::nn::Module {
 public:
  RankLayer(RankLayerShape shape, std::int64_t rank);
  torch::Tensor forward(const torch::Tensor& x);
  /// For a whole layer; of a product this is not defined.
  const torch::Tensor& weight() const { return weight_; }
  /// For a product; factors that it does without are not defined.
  struct Factors {
    torch::Tensor enter, core, leave;
  };
  Factors factors() const;
  /// For either.
  torch::Tensor bias() const;
  /// Without names and numbers of parameters.
  FactorLayer layer() const;

 private:
  struct Part;
  torch::Tensor through(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                        bool padded) const;
  std::shared_ptr<Part> part(const char* name, std::int64_t in, std::int64_t out, bool one_tap, bool bias);

  RankLayerShape shape_;
  std::int64_t rank_;
  torch::Tensor weight_, bias_;
  std::shared_ptr<Part> enter_, core_, leave_;
};

/// Makes the layers of a network, in the order of its key `ranks`.
class RankLayers {
 public:
  explicit RankLayers(std::span<const std::int64_t> ranks) : ranks_(ranks) {}
  std::shared_ptr<RankLayer> make(RankLayerShape shape);
  /// A convolution whose answer is as large as what enters it, `places` in all.
  std::shared_ptr<RankLayer> same(std::int64_t inputs, std::int64_t outputs, std::vector<std::int64_t> kernel,
                                  std::int64_t places);
  std::shared_ptr<RankLayer> linear(std::int64_t inputs, std::int64_t outputs, std::int64_t places = 1);
  /// The next number of the key, for a layer that somebody else makes.
  std::int64_t next();
  /// After the last layer: InputError where the key holds fewer numbers, or more.
  void require_all() const;

 private:
  std::span<const std::int64_t> ranks_;
  std::size_t made_ = 0;
};

/// Layers of a network whose layers RankLayers made, in their order, found by the names of its parameters.
std::vector<FactorLayer> factor_layers_of(const torch::nn::Module& network, std::span<const ParameterInfo> parameters);

}  // namespace cambium::train
