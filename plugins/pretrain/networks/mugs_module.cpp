#include "plugins/pretrain/networks/mugs_module.hpp"

#include <cmath>

namespace cambium::pretrain {

using torch::Tensor;
using torch::nn::Linear;

torch::Tensor unit_rows_of(const Tensor& x) {
  return torch::nn::functional::normalize(x, torch::nn::functional::NormalizeFuncOptions().dim(1).eps(1e-8));
}

HeadImpl::HeadImpl(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  first_ = register_module("first", Linear(in, hidden));
  second_ = register_module("second", Linear(hidden, out));
}

Tensor HeadImpl::forward(const Tensor& x) { return second_(torch::gelu(first_(x))); }

RelationImpl::RelationImpl(std::int64_t width) {
  query_ = register_module("query", Linear(width, width));
  key_ = register_module("key", Linear(width, width));
  value_ = register_module("value", Linear(width, width));
  norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})));
  head_ = register_module("head", Head(width, 2 * width, width));
}

Tensor RelationImpl::forward(const Tensor& x, const Tensor& neighbours) {
  const Tensor all = torch::cat({x.unsqueeze(1), neighbours}, 1);
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(1)));
  const Tensor weight = torch::softmax((query_(x).unsqueeze(1) * key_(all)).sum(2) * scale, 1);
  const Tensor y = x + (weight.unsqueeze(2) * value_(all)).sum(1);
  return y + head_(norm_(y));
}

MugsModule::MugsModule(const MugsShape& shape) : mean_(shape.trunk.mean) {
  const std::int64_t in = shape.trunk.last(), width = shape.width;
  trunk_ = register_module("trunk", make_trunk(shape.trunk));
  instance_ = register_module("instance", Head(in, 2 * width, width));
  instance_predictor_ = register_module("instance_predictor", Head(width, 2 * width, width));
  relation_ = register_module("relation", Relation(in));
  local_ = register_module("local", Head(in, 2 * width, width));
  local_predictor_ = register_module("local_predictor", Head(width, 2 * width, width));
  group_ = register_module("group", Head(in, 2 * width, width));
  instance_share_ = register_parameter("instance_share", torch::zeros({width}));
  local_share_ = register_parameter("local_share", torch::zeros({width}));
  prototypes_ = register_parameter("prototypes", torch::zeros({shape.prototypes, width}));
}

Tensor MugsModule::instance(const Tensor& y, bool student) {
  const Tensor out = instance_(y);
  return unit_rows_of(student ? out + instance_share_ * instance_predictor_(out) : out);
}

Tensor MugsModule::local(const Tensor& y, const Tensor& neighbours, bool student) {
  const Tensor out = local_(relation_(y, neighbours));
  return unit_rows_of(student ? out + local_share_ * local_predictor_(out) : out);
}

Tensor MugsModule::compared(const Tensor& grouped, bool learn_prototypes) {
  const Tensor rows = unit_rows_of(learn_prototypes ? prototypes_ : prototypes_.detach());
  return grouped.matmul(rows.t());
}

}  // namespace cambium::pretrain
