#include "plugins/superres/networks/segmentation.hpp"

namespace cambium::superres {
namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

std::int64_t norm_groups(std::int64_t channels) {
  for (const std::int64_t g : {8, 4, 2})
    if (channels % g == 0 && channels / g >= 4) return g;
  return 1;
}

/// Interpolates linearly to the extents of `as`; around the ends of a periodic x if its number of points grows by an
/// integer factor.
Tensor sized(const Tensor& x, const Tensor& as, bool wraps) {
  const auto interpolated = [&](const Tensor& y, std::int64_t along_x) {
    return F::interpolate(y, F::InterpolateFuncOptions()
                                 .size(std::vector<std::int64_t>{along_x, as.size(3)})
                                 .mode(torch::kBilinear)
                                 .align_corners(false));
  };
  const std::int64_t n = x.size(2), wanted = as.size(2), times = wanted / n;
  if (!wraps || times * n != wanted) return interpolated(x, wanted);
  const Tensor around = torch::cat({x.narrow(2, n - 1, 1), x, x.narrow(2, 0, 1)}, 2);
  return interpolated(around, (n + 2) * times).narrow(2, times, wanted);
}

using Convolution = std::shared_ptr<PlaneConvolution>;

class EncoderDecoder : public Segmentation {
 public:
  explicit EncoderDecoder(const EncoderDecoderShape& s) : wraps_(s.wraps) {
    const auto width = [&](std::int64_t level) { return s.features << level; };
    for (std::int64_t l = 0; l <= s.levels; ++l)
      down_.push_back(pair("down", l, l == 0 ? s.fields : width(l - 1), width(l), s.wraps));
    for (std::int64_t l = s.levels; l-- > 0;) up_.push_back(pair("up", l, width(l + 1) + width(l), width(l), s.wraps));
    answer_ = register_module("answer", torch::nn::Conv2d(torch::nn::Conv2dOptions(s.features, s.classes, 1)));
  }
  Tensor forward(const Tensor& image) override {
    std::vector<Tensor> kept;
    Tensor x = image;
    for (std::size_t l = 0; l < down_.size(); ++l) {
      if (l > 0) x = torch::max_pool2d(x, 2);
      kept.push_back(x = through(down_[l], x));
    }
    for (std::size_t k = 0; k < up_.size(); ++k) {
      const Tensor& beside = kept[kept.size() - 2 - k];
      x = through(up_[k], torch::cat({sized(x, beside, wraps_), beside}, 1));
    }
    return answer_->forward(x);
  }

 private:
  using Pair = std::array<Convolution, 2>;
  Pair pair(const char* name, std::int64_t level, std::int64_t in, std::int64_t out, bool wraps) {
    const auto make = [&](const char* which, std::int64_t from) {
      return register_module(std::string(name) + std::to_string(level) + which,
                             std::make_shared<PlaneConvolution>(PlaneConvolution::Shape{from, out, 3, 1, 1, wraps}));
    };
    const auto first = make("a", in);
    return {first, make("b", out)};
  }
  static Tensor through(Pair& pair, Tensor x) {
    for (auto& convolution : pair) x = torch::relu(convolution->forward(x));
    return x;
  }
  bool wraps_;
  std::vector<Pair> down_, up_;
  torch::nn::Conv2d answer_{nullptr};
};

/// Three separable convolutions with a skip connection: the identity or a pointwise convolution.
class XceptionBlock : public torch::nn::Module {
 public:
  XceptionBlock(std::int64_t in, const std::array<std::int64_t, 3>& out, std::int64_t stride, std::int64_t spread,
                bool wraps) {
    for (std::size_t k = 0; k < 3; ++k) {
      const PlaneConvolution::Shape shape{
          k == 0 ? in : out[k - 1], out[k], 3, k == 2 ? stride : 1, spread, wraps, true};
      layers_.push_back(register_module("layer" + std::to_string(k), std::make_shared<PlaneConvolution>(shape)));
    }
    if (in != out[2] || stride > 1)
      beside_ = register_module(
          "beside", std::make_shared<PlaneConvolution>(PlaneConvolution::Shape{in, out[2], 1, stride, 1, wraps}));
  }
  Tensor forward(const Tensor& x) {
    Tensor y = x;
    for (auto& layer : layers_) y = layer->forward(torch::relu(y));
    return y + (beside_ ? beside_->forward(x) : x);
  }

 private:
  std::vector<Convolution> layers_;
  Convolution beside_;
};

class DeepLab : public Segmentation {
 public:
  explicit DeepLab(const DeepLabShape& s) : wraps_(s.wraps) {
    std::int64_t before = s.fields;
    for (std::size_t k = 0; k < s.stem.size(); ++k) {
      stem_.push_back(make("stem" + std::to_string(k), {before, s.stem[k], 3, k == 0 ? 2 : 1}));
      before = s.stem[k];
    }
    for (std::size_t k = 0; k < s.entry.size(); ++k, before = s.entry[k - 1]) {
      const auto width = s.entry[k];
      blocks_.push_back(block("entry" + std::to_string(k), before, {width, width, width}, 2, 1));
    }
    for (std::int64_t k = 0; k < s.middle; ++k)
      blocks_.push_back(block("middle" + std::to_string(k), before, {before, before, before}, 1, 1));
    blocks_.push_back(block("exit", before, {before, s.exit[0], s.exit[0]}, 1, 2));
    before = s.exit[0];
    for (std::size_t k = 1; k < s.exit.size(); ++k, before = s.exit[k - 1])
      exit_.push_back(make("exit" + std::to_string(k), {before, s.exit[k], 3, 1, 2, false, true}));
    pyramid_.push_back(make("pyramid0", {before, s.pyramid, 1}));
    for (std::size_t k = 0; k < s.rates.size(); ++k)
      pyramid_.push_back(make("pyramid" + std::to_string(k + 1), {before, s.pyramid, 3, 1, s.rates[k]}));
    mean_ = make("mean", {before, s.pyramid, 1});
    together_ = make("together", {s.pyramid * (std::ssize(s.rates) + 2), s.pyramid, 1});
    low_ = make("low", {s.entry[0], s.low, 1});
    decode_ = {make("decode0", {s.pyramid + s.low, s.pyramid}), make("decode1", {s.pyramid, s.pyramid})};
    answer_ = register_module("answer", torch::nn::Conv2d(torch::nn::Conv2dOptions(s.pyramid, s.classes, 1)));
  }
  Tensor forward(const Tensor& image) override {
    Tensor x = image, low;
    for (auto& layer : stem_) x = torch::relu(layer->forward(x));
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      x = blocks_[k]->forward(x);
      if (k == 0) low = x;
    }
    for (auto& layer : exit_) x = torch::relu(layer->forward(x));
    std::vector<Tensor> seen;
    for (auto& layer : pyramid_) seen.push_back(torch::relu(layer->forward(x)));
    seen.push_back(torch::relu(mean_->forward(x.mean({2, 3}, true))).expand_as(seen[0]));
    x = torch::relu(together_->forward(torch::cat(seen, 1)));
    x = torch::cat({sized(x, low, wraps_), torch::relu(low_->forward(low))}, 1);
    for (auto& layer : decode_) x = torch::relu(layer->forward(x));
    return sized(answer_->forward(x), image, wraps_);
  }

 private:
  Convolution make(const std::string& name, PlaneConvolution::Shape shape) {
    shape.wraps = wraps_;
    return register_module(name, std::make_shared<PlaneConvolution>(shape));
  }
  std::shared_ptr<XceptionBlock> block(const std::string& name, std::int64_t in, const std::array<std::int64_t, 3>& out,
                                       std::int64_t stride, std::int64_t spread) {
    return register_module(name, std::make_shared<XceptionBlock>(in, out, stride, spread, wraps_));
  }

  bool wraps_;
  std::vector<Convolution> stem_, exit_, pyramid_, decode_;
  std::vector<std::shared_ptr<XceptionBlock>> blocks_;
  Convolution mean_, together_, low_;
  torch::nn::Conv2d answer_{nullptr};
};

}  // namespace

PlaneConvolution::PlaneConvolution(const Shape& shape) : shape_(shape) {
  const auto options = [&](std::int64_t in, std::int64_t out, std::int64_t kernel) {
    return torch::nn::Conv2dOptions(in, out, kernel).bias(false);
  };
  auto first = options(shape.inputs, shape.separable ? shape.inputs : shape.outputs, shape.kernel);
  first.stride(shape.stride).dilation(shape.spread).groups(shape.separable ? shape.inputs : 1);
  first_ = register_module("first", torch::nn::Conv2d(first));
  if (shape.separable) second_ = register_module("second", torch::nn::Conv2d(options(shape.inputs, shape.outputs, 1)));
  norm_ = register_module("norm",
                          torch::nn::GroupNorm(torch::nn::GroupNormOptions(norm_groups(shape.outputs), shape.outputs)));
}

Tensor PlaneConvolution::forward(Tensor x) {
  if (const std::int64_t reach = shape_.spread * (shape_.kernel - 1) / 2; reach > 0) {
    if (shape_.wraps) {
      std::vector<Tensor> around{x};  // an image may be smaller than the reach
      std::int64_t left = reach, right = reach;
      while (left > 0 || right > 0) {
        const std::int64_t n = x.size(2), l = std::min(left, n), r = std::min(right, n);
        if (l > 0) around.insert(around.begin(), x.narrow(2, n - l, l));
        if (r > 0) around.push_back(x.narrow(2, 0, r));
        left -= l;
        right -= r;
      }
      x = torch::cat(around, 2);
    }
    x = F::pad(x, F::PadFuncOptions({reach, reach, shape_.wraps ? 0 : reach, shape_.wraps ? 0 : reach}));
  }
  x = first_->forward(x);
  if (second_) x = second_->forward(x);
  return norm_->forward(x);
}

std::shared_ptr<Segmentation> encoder_decoder(const EncoderDecoderShape& shape) {
  return std::make_shared<EncoderDecoder>(shape);
}

std::shared_ptr<Segmentation> deep_lab(const DeepLabShape& shape) { return std::make_shared<DeepLab>(shape); }

}  // namespace cambium::superres
