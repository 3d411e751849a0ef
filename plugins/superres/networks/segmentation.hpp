#pragma once
#include <torch/torch.h>

#include <memory>
#include <vector>

namespace cambium::superres {

/// A convolution over (x, z) that passes around where x is periodic and else sees zeros behind the ends; its answer has
/// a place for each `stride` of what enters. With `separable` one over each channel alone, then a product of the
/// channels (Chollet, CVPR 2017). Behind it group normalisation: batch normalisation would differ from rank to rank.
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

/// Encoder and decoder with bridges between equal resolutions (Ronneberger et al., MICCAI 2015): at each of `levels`
/// two convolutions and a maximum over 2 x 2, with twice as many channels at the next; then back.
struct EncoderDecoderShape {
  std::int64_t fields = 1, classes = 3, features = 16, levels = 3;
  bool wraps = false;
};
std::shared_ptr<Segmentation> encoder_decoder(const EncoderDecoderShape& shape);

/// DeepLabv3+ (Chen et al., ECCV 2018) with an Xception: `stem` convolutions, blocks of three separable convolutions
/// with a product beside them, which halve the resolution, to `entry` channels each, `middle` blocks of the same
/// channels, an exit that spreads its taps instead of halving; a pyramid of convolutions of several spreads and the
/// mean of the image; and a decoder that looks at the first block's answer once more.
struct DeepLabShape {
  std::int64_t fields = 1, classes = 3;
  std::vector<std::int64_t> stem, entry, exit, rates;
  std::int64_t middle = 16, pyramid = 256, low = 48;
  bool wraps = false;
};
std::shared_ptr<Segmentation> deep_lab(const DeepLabShape& shape);

}  // namespace cambium::superres
