#include "plugins/pretrain/networks/encoder_module.hpp"

namespace cambium::pretrain {

using torch::Tensor;

static Tensor unit_length(const Tensor& x) {
  return torch::nn::functional::normalize(x, torch::nn::functional::NormalizeFuncOptions().dim(1).eps(1e-8));
}

EncoderModule::EncoderModule(const EncoderShape& shape) {
  if (shape.temperature) temperature_ = register_parameter("temperature", torch::zeros({1}));
  first_ = register_module("field", make_trunk(shape.trunk));
  if (shape.parameters > 0)
    parameter_layers_ =
        register_module("parameters", ParameterLayers(shape.parameters, shape.hidden, shape.trunk.width));
  else if (!shape.shared)
    second_ = register_module("partner", make_trunk(shape.trunk));
}

Tensor EncoderModule::fields(const Tensor& x, bool second) {
  return unit_length((second && second_ ? second_ : first_)->forward(x));
}

Tensor EncoderModule::parameters_of(const Tensor& x) { return unit_length(parameter_layers_(x)); }

}  // namespace cambium::pretrain
