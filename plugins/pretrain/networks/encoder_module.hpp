#pragma once
#include <vector>

#include "plugins/pretrain/networks/conv_trunk.hpp"

namespace cambium::pretrain {

/// Layers of an encoder of pairs.
struct EncoderShape {
  TrunkShape trunk;
  bool shared = true;                ///< one trunk for both views
  std::int64_t parameters = 0;       ///< of a run, if they are the second view; 0: the second view is a field
  std::vector<std::int64_t> hidden;  ///< widths between parameters and vector
  bool temperature = false;          ///< the loss's temperature is learnt with the weights
};

/// Layers of both views, and the temperature. Outputs are rows of length 1.
class EncoderModule : public torch::nn::Module {
 public:
  explicit EncoderModule(const EncoderShape& shape);
  /// (samples, channels, cells...) -> (samples, width).
  torch::Tensor fields(const torch::Tensor& x, bool second);
  /// (samples, parameters), scaled -> (samples, width).
  torch::Tensor parameters_of(const torch::Tensor& x);
  std::string slower() const { return first_->slower(); }
  /// A scalar, in a unit of the loss's; undefined if it is not learnt.
  const torch::Tensor& temperature() const { return temperature_; }

 private:
  std::shared_ptr<Trunk> first_, second_;
  ParameterLayers parameter_layers_{nullptr};
  torch::Tensor temperature_;
};

}  // namespace cambium::pretrain
