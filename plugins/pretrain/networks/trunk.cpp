#include "plugins/pretrain/networks/trunk.hpp"

#include "plugins/pretrain/networks/conv_trunk.hpp"
#include "plugins/pretrain/networks/patch_trunk.hpp"

namespace cambium::pretrain {

using torch::Tensor;

void Trunk::add_out(std::int64_t cells) {
  const std::int64_t in = shape_.last();
  if (shape_.width > 0) out_ = register_module("out", torch::nn::Linear(shape_.mean ? in : in * cells, shape_.width));
}

Tensor Trunk::forward(const Tensor& x) {
  const Tensor left = cells(x);
  return out_(shape_.mean ? left.mean(2) : left.flatten(1));
}

std::shared_ptr<Trunk> make_trunk(const TrunkShape& shape) {
  if (shape.transformer) return std::make_shared<PatchTrunk>(shape);
  return std::make_shared<ConvTrunk>(shape);
}

}  // namespace cambium::pretrain
