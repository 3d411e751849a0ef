#pragma once
#include <torch/torch.h>

#include <memory>
#include <span>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Sizes of an unfactored layer: linear, or a convolution over one or more axes.
struct RankLayerShape {
  std::int64_t inputs = 0, outputs = 0;
  std::vector<std::int64_t> kernel, padding;  ///< by axis; empty for a linear layer
  std::int64_t places = 1;                    ///< positions of one sample in the output
};

/// A linear layer or a convolution, optionally factored. With a rank, a convolution becomes one between at most `rank`
/// channels, preceded and followed by 1 x 1 products; a product that would not reduce the channels is omitted. A linear
/// layer, or a convolution with one tap, becomes two products. Parameters of an unfactored layer have Torch's names and
/// shapes (weight, bias); those of products are enter.weight, core.weight, leave.weight, and the bias belongs to the
/// last one.
class RankLayer : public torch::nn::Module {
 public:
  RankLayer(RankLayerShape shape, std::int64_t rank);
  torch::Tensor forward(const torch::Tensor& x);
  /// For an unfactored layer; undefined for a factored one.
  const torch::Tensor& weight() const { return weight_; }
  /// For a factored layer; omitted factors are undefined.
  struct Factors {
    torch::Tensor enter, core, leave;
  };
  Factors factors() const;
  /// For both.
  torch::Tensor bias() const;
  /// Without names and indices of parameters.
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

/// Creates the layers of a network, in the order of its key `factor_ranks`.
class RankLayers {
 public:
  explicit RankLayers(std::span<const std::int64_t> ranks) : ranks_(ranks) {}
  std::shared_ptr<RankLayer> make(RankLayerShape shape);
  /// A convolution whose output is as large as its input, with `places` positions.
  std::shared_ptr<RankLayer> same(std::int64_t inputs, std::int64_t outputs, std::vector<std::int64_t> kernel,
                                  std::int64_t places);
  std::shared_ptr<RankLayer> linear(std::int64_t inputs, std::int64_t outputs, std::int64_t places = 1);
  /// The next entry of the key, for a layer created elsewhere.
  std::int64_t next();
  /// After the last layer: InputError if the key has fewer or more entries.
  void require_all() const;

 private:
  std::span<const std::int64_t> ranks_;
  std::size_t made_ = 0;
};

/// Factored layers of a network built with RankLayers, in order, matched by parameter names.
std::vector<FactorLayer> factor_layers_of(const torch::nn::Module& network, std::span<const ParameterInfo> parameters);

}  // namespace cambium::train
