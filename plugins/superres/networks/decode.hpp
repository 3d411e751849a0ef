#pragma once
#include <torch/torch.h>

#include <memory>
#include <vector>

#include "plugins/superres/decoder/decoder.hpp"

namespace cambium::superres {

/// The continuous decoder as a Torch operation: jets (streams, points, outputs), differentiable with respect to the
/// latent vectors (nodes, latent) and to weights and biases, alternating, layer by layer. All tensors are of type T.
/// `plain`, if defined, is (streams, 8 points, outputs): see Decoder::forward().
template <class T>
class Decode {
 public:
  explicit Decode(Decoder<T> decoder) : decoder_(std::make_shared<const Decoder<T>>(std::move(decoder))) {}
  torch::Tensor operator()(std::shared_ptr<const DecoderQuery<T>> query, const torch::Tensor& latents,
                           const std::vector<torch::Tensor>& weights, const torch::Tensor& plain = {});
  const Decoder<T>& decoder() const { return *decoder_; }

 private:
  std::shared_ptr<const Decoder<T>> decoder_;
  std::shared_ptr<DecoderTape<T>> tape_ = std::make_shared<DecoderTape<T>>();  ///< reused unless a graph still holds it
};

}  // namespace cambium::superres
