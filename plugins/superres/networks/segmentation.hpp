#pragma once
#include <torch/torch.h>

#include <memory>
#include <vector>

namespace cambium::superres {

/// A convolution over (x, z) with periodic padding if x is periodic and otherwise zero padding; its output has one
/// point for each `stride` of the input. With `separable` a depthwise, then a pointwise convolution (Chollet, CVPR
/// 2017). Followed by group normalisation: batch normalisation would differ from rank to rank.
class PlaneConvolution : public torch::nn::Module {
 public:
  struct Shape {
    std::int64_t inputs = 0, outputs = 0, kernel = 3, stride = 1, spread = 1;  ///< spread: between taps
    bool wraps = false, separable = false;
  };
  explicit PlaneConvolution(const Shape& shape);
  torch::Tensor forward(torch::Tensor x);

 private:
  Shape shape_;
  torch::nn::Conv2d first_{nullptr}, second_{nullptr};
  torch::nn::GroupNorm norm_{nullptr};
};

/// (batch, fields, nx, nz) to the scores of the classes (batch, classes, nx, nz).
class Segmentation : public torch::nn::Module {
 public:
  virtual torch::Tensor forward(const torch::Tensor& x) = 0;
};

/// U-Net (Ronneberger et al., MICCAI 2015): at each of `levels` two convolutions and 2 x 2 max pooling, with twice as
/// many channels at the next; then back, with skip connections between equal resolutions.
struct EncoderDecoderShape {
  std::int64_t fields = 1, classes = 3, features = 16, levels = 3;
  bool wraps = false;
};
std::shared_ptr<Segmentation> encoder_decoder(const EncoderDecoderShape& shape);

/// DeepLabv3+ (Chen et al., ECCV 2018) with an Xception backbone: `stem` convolutions, residual blocks of three
/// separable convolutions that halve the resolution, to `entry` channels each, `middle` blocks with the same number of
/// channels, an exit with dilated convolutions instead of halving; a pyramid of convolutions with several dilations and
/// the mean of the image; and a decoder with a skip connection to the output of the first block.
struct DeepLabShape {
  std::int64_t fields = 1, classes = 3;
  std::vector<std::int64_t> stem, entry, exit, rates;
  std::int64_t middle = 16, pyramid = 256, low = 48;
  bool wraps = false;
};
std::shared_ptr<Segmentation> deep_lab(const DeepLabShape& shape);

}  // namespace cambium::superres
