#include "core/train/networks/mlp/coded_weights.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"

namespace cambium::train {

void CalibrateParams::describe(deck::Describe<CalibrateParams>& d) {
  d("dataset", &CalibrateParams::dataset, "samples of the kind that the model was trained on; labels do not matter");
  d("samples", &CalibrateParams::samples, "number of calibration samples, evenly spaced").at_least(1).def(32);
}

void QuantizeParams::describe(deck::Describe<QuantizeParams>& d) {
  d("weights", &QuantizeParams::weights,
    "weight quantisation: binary, each row a sum of `bits` rows of signs with a scale each, by least squares; ternary, "
    "-s, 0, s with s the mean magnitude of the matrix")
      .options({{"binary", Weights::binary}, {"ternary", Weights::ternary}})
      .def(Weights::binary);
  d("bits", &QuantizeParams::bits, "number of bits of a binary weight").range(1, 4).def(3);
  d("calibrate", &QuantizeParams::calibrate,
    "calibration data: quantised weights are fitted to the inputs of the layers on these samples, and mean outputs are "
    "preserved; default: each matrix is rounded by itself");
}

void Network::use_coded(const CodedWeights&) {
  throw InternalError("a network names linear layers, but does not multiply by low-bit weights");
}

std::vector<float> transposed(const TensorRef& w) {
  const auto inputs = static_cast<std::size_t>(w.shape[0]), outputs = static_cast<std::size_t>(w.shape[1]);
  const auto* from = static_cast<const float*>(w.data);
  std::vector<float> out(inputs * outputs);
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o) out[o * inputs + i] = from[i * outputs + o];
  return out;
}

CodedWeights::CodedWeights(const QuantizeParams& params, const Network& network, std::span<const TensorRef> weights)
    : params_(params) {
  if (network.dtype() != DType::f32)
    throw KeyError("evaluate.quantize.precision", "quantize",
                   "quantize works with tables of float32, and this model is float64; train it in precision float32");
  const auto infos = network.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    const auto& shape = infos[k].shape;
    all_ += 4 * weights[k].elements();
    if (infos[k].linear && shape.size() == 2) inputs_of_[static_cast<int>(k)] = shape[0];
    if (!infos[k].linear || shape.size() != 2 || shape[0] < least_inputs || shape[1] < least_outputs) continue;
    const auto w = transposed(weights[k]);
    auto coded = params.weights == QuantizeParams::Weights::ternary
                     ? lowp::ternary_coded(w, shape[1], shape[0])
                     : lowp::binary_coded(w, shape[1], shape[0], params.bits);
    numbers_ += weights[k].elements();
    bytes_ += coded.bytes();
    coded_.emplace(static_cast<int>(k), std::move(coded));
  }
  if (coded_.empty())
    throw KeyError(
        "evaluate.quantize.layers", "quantize",
        fmt::format("quantize found no linear layer of at least {} inputs and {} outputs in this model; remove "
                    "quantize (it is for larger models of type mlp, transformer and deep_potential)",
                    least_inputs, least_outputs));
}

bool CodedWeights::add_product(int k, const float* x, int rows, float* y) const {
  if (watch_) watch(k, x, rows);
  if (watch_ && (watch_->all || !shift_.contains(k))) return false;
  add_shift(k, rows, y);
  const auto found = coded_.find(k);
  if (found == coded_.end()) return false;
  const auto& w = found->second;
  lowp::multiply(w, {x, w.columns}, rows, true, {y, w.rows});
  return true;
}

void CodedWeights::add_shift(int k, int rows, float* y) const {
  const auto found = shift_.find(k);
  if (found == shift_.end()) return;
  const std::size_t n = found->second.size();
  for (std::size_t at = 0; at < n * static_cast<std::size_t>(rows); ++at) y[at] += found->second[at % n];
}

bool CodedWeights::add_transposed_product(int k, const float* y, int rows, float* x) const {
  const auto found = coded_.find(k);
  if (found == coded_.end() || (watch_ && (watch_->all || !shift_.contains(k)))) return false;
  const auto& w = found->second;
  auto& planes = by_columns_[k];
  if (planes.rows == 0) {
    planes = lowp::transposed_planes(w);
    bytes_ += static_cast<std::int64_t>(4 * planes.signs.size());  // all scales are 1
  }
  lowp::multiply_transposed(w, planes, {y, w.rows}, rows, true, {x, w.columns});
  return true;
}

std::string CodedWeights::name() const {
  return params_.weights == QuantizeParams::Weights::ternary
             ? std::string("ternary weights")
             : fmt::format("binary weights of {} bit{}", params_.bits, params_.bits == 1 ? "" : "s");
}

}  // namespace cambium::train
