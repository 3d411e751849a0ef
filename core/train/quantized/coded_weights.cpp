#include "core/train/quantized/coded_weights.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::train {

void QuantizeParams::describe(deck::Describe<QuantizeParams>& d) {
  d("weights", &QuantizeParams::weights, "binary: each row a sum of `bits` rows of signs with a scale each, by least squares; ternary: -s, 0, s with s "
    "the mean magnitude of the matrix").options({{"binary", Weights::binary}, {"ternary", Weights::ternary}}).def(Weights::binary);
  d("bits", &QuantizeParams::bits, "of a binary weight").range(1, 4).def(3);
}

void Network::use_coded(const CodedWeights&) {
  throw InternalError("a network names linear layers, but multiplies by no weights of few bits");
}

/// n_in x n_out to n_out x n_in.
static std::vector<float> transposed(const TensorRef& w) {
  const auto inputs = static_cast<std::size_t>(w.shape[0]), outputs = static_cast<std::size_t>(w.shape[1]);
  const auto* from = static_cast<const float*>(w.data);
  std::vector<float> out(inputs * outputs);
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o) out[o * inputs + i] = from[i * outputs + o];
  return out;
}

CodedWeights::CodedWeights(const QuantizeParams& params, const Network& network, std::span<const TensorRef> weights) : params_(params) {
  if (network.dtype() != DType::f32)
    throw InputError("quantize works with tables of float32, and this model is float64; train it in precision float32");
  const auto infos = network.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    const auto& shape = infos[k].shape;
    all_ += 4 * weights[k].elements();
    if (!infos[k].linear || shape.size() != 2 || shape[0] < least_inputs || shape[1] < least_outputs) continue;
    const auto w = transposed(weights[k]);
    auto coded = params.weights == QuantizeParams::Weights::ternary ? lowp::ternary_coded(w, shape[1], shape[0])
                                                                    : lowp::binary_coded(w, shape[1], shape[0], params.bits);
    numbers_ += weights[k].elements();
    bytes_ += coded.bytes();
    coded_.emplace(static_cast<int>(k), std::move(coded));
  }
  if (coded_.empty())
    throw InputError(fmt::format("quantize found no linear layer of at least {} inputs and {} outputs in this model; remove quantize (it is "
                                 "for larger models of type mlp, transformer and deep_potential)",
                                 least_inputs, least_outputs));
}

bool CodedWeights::add_product(int k, const float* x, int rows, float* y) const {
  const auto found = coded_.find(k);
  if (found == coded_.end()) return false;
  product_.resize(static_cast<std::size_t>(found->second.rows * rows));
  lowp::multiply(found->second, x, rows, product_.data());
  for (std::size_t at = 0; at < product_.size(); ++at) y[at] += product_[at];
  return true;
}

bool CodedWeights::add_transposed_product(int k, const float* y, int rows, float* x) const {
  const auto found = coded_.find(k);
  if (found == coded_.end()) return false;
  auto& planes = by_columns_[k];
  if (planes.empty()) {
    planes = lowp::transposed_planes(found->second);
    for (const auto& plane : planes) bytes_ += static_cast<std::int64_t>(4 * plane.signs.size());  // all scales are 1
  }
  product_.resize(static_cast<std::size_t>(found->second.columns * rows));
  lowp::multiply_transposed(found->second, planes, y, rows, product_.data());
  for (std::size_t at = 0; at < product_.size(); ++at) x[at] += product_[at];
  return true;
}

std::string CodedWeights::name() const {
  return params_.weights == QuantizeParams::Weights::ternary ? std::string("ternary weights")
                                                             : fmt::format("binary weights of {} bit{}", params_.bits, params_.bits == 1 ? "" : "s");
}

}  // namespace cambium::train
