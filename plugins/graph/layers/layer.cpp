#include "plugins/graph/layers/layer.hpp"

#include <fmt/format.h>

#include "plugins/graph/layers/attention.hpp"
#include "plugins/graph/layers/convolution.hpp"
#include "plugins/graph/layers/wrapped.hpp"

namespace cambium::graph {

std::vector<train::ParameterInfo> parameters_of(const LayerShape& shape, bool decay) {
  std::vector<train::ParameterInfo> out;
  const auto add = [&](const char* name, std::vector<std::int64_t> extent, bool decays) {
    out.push_back({fmt::format("layers.{}.{}", shape.number, name), std::move(extent), decays});
  };
  switch (shape.kind) {
    case LayerShape::Kind::convolution:
      add("w", {shape.in, shape.out}, decay);
      break;
    case LayerShape::Kind::sage:
      add("self.w", {shape.in, shape.out}, decay);
      add("neighbours.w", {shape.in, shape.out}, decay);
      break;
    case LayerShape::Kind::attention:
      add("w", {shape.in, shape.heads * shape.out}, decay);
      add("hearing", {shape.heads, shape.out}, decay);
      add("heard", {shape.heads, shape.out}, decay);
      break;
  }
  if (shape.bias) add("b", {shape.width()}, false);
  if (shape.residual) add("residual.w", {shape.in, shape.width()}, decay);
  if (shape.normalised) {
    add("norm.gain", {shape.width()}, false);
    add("norm.b", {shape.width()}, false);
  }
  return out;
}

template <class T>
static std::unique_ptr<Layer<T>> make_plain_layer(const LayerShape& shape) {
  switch (shape.kind) {
    case LayerShape::Kind::sage:
      return std::make_unique<Sage<T>>(shape);
    case LayerShape::Kind::attention:
      return std::make_unique<Attention<T>>(shape);
    default:
      return std::make_unique<Convolution<T>>(shape);
  }
}

template <class T>
std::unique_ptr<Layer<T>> make_layer(const LayerShape& shape) {
  LayerShape inner = shape;
  inner.residual = inner.normalised = false;
  auto out = make_plain_layer<T>(inner);
  auto count = parameters_of(inner, true).size();
  if (shape.residual) out = std::make_unique<Residual<T>>(shape, std::move(out), count++);
  if (shape.normalised) out = std::make_unique<Normalised<T>>(std::move(out), count);
  return out;
}

template std::unique_ptr<Layer<float>> make_layer(const LayerShape&);
template std::unique_ptr<Layer<double>> make_layer(const LayerShape&);

}  // namespace cambium::graph
