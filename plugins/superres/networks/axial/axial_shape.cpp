#include "plugins/superres/networks/axial/axial_shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::superres {
namespace {

template <class T>
void fill(const TensorRef& weights, double constant, double deviation, std::uint64_t seed, int parameter) {
  auto* values = static_cast<T*>(weights.data);
  for (std::int64_t k = 0; k < weights.elements(); ++k) {
    const double normal = deviation == 0.0 ? 0.0
                                           : Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k),
                                                     static_cast<std::uint64_t>(parameter))
                                                 .normal(0);
    values[k] = static_cast<T>(constant + deviation * normal);
  }
}

}  // namespace

std::vector<train::ParameterInfo> axial_parameters(const AxialShape& s) {
  const std::int64_t width = s.width, hidden = s.hidden;
  std::vector<train::ParameterInfo> out;
  const auto matrix = [&](const std::string& name, std::int64_t in, std::int64_t columns) {
    out.push_back({name + ".w", {in, columns}});
    out.push_back({name + ".b", {columns}, false});
  };
  const auto norm = [&](const std::string& name) {
    out.push_back({name + ".scale", {width}, false});
    out.push_back({name + ".shift", {width}, false});
  };
  matrix("embed", static_cast<std::int64_t>(s.inputs) * s.patch_points(), width);
  out.push_back({"positions.z", {s.tokens(1), width}, false});
  if (!s.wraps) out.push_back({"positions.x", {s.tokens(0), width}, false});
  for (int l = 0; l < s.layers; ++l) {
    const std::string name = fmt::format("layers.{}.", l);
    norm(name + "norm1");
    matrix(name + "qkv", width, 3 * width);
    out.push_back({name + "bias.x", {s.heads, s.distances(0)}, false});
    out.push_back({name + "bias.z", {s.heads, s.distances(1)}, false});
    matrix(name + "out", width, width);
    norm(name + "norm2");
    matrix(name + "mlp.0", width, hidden);
    matrix(name + "mlp.1", hidden, width);
  }
  norm("norm");
  matrix("project", width, static_cast<std::int64_t>(s.outputs) * s.patch_points());
  return out;
}

std::vector<int> axial_modules(const AxialShape& shape) {
  constexpr int of_a_layer = 14;
  const int first = shape.wraps ? 3 : 4;
  std::vector<int> out{0};
  for (int l = 0; l <= shape.layers; ++l) out.push_back(first + of_a_layer * l);
  return out;
}

void initialise_axial(const AxialShape& shape, std::span<const TensorRef> weights, std::uint64_t seed,
                      bool last_is_zero) {
  const auto info = axial_parameters(shape);
  for (int p = 0; p < std::ssize(info); ++p) {
    if (!weights[p].data) continue;
    const auto& name = info[p].name;
    double constant = 0.0, deviation = 0.0;
    if (name.ends_with(".w")) deviation = 1.0 / std::sqrt(static_cast<double>(info[p].shape[0]));
    if (name.ends_with("out.w") || name.ends_with("mlp.1.w")) deviation /= std::sqrt(2.0 * shape.layers);
    if (name.starts_with("positions")) deviation = 0.02;
    if (name == "project.w" && last_is_zero) deviation = 0.0;
    if (name.ends_with(".scale")) constant = 1.0;
    if (weights[p].dtype == DType::f64)
      fill<double>(weights[p], constant, deviation, seed, p);
    else
      fill<float>(weights[p], constant, deviation, seed, p);
  }
}

void require_divisible(const AxialShape& shape) {
  constexpr const char* names[2] = {"x", "z"};
  for (int a = 0; a < 2; ++a)
    if (shape.points[a] % shape.patch[a])
      throw KeyError("superres.vision_transformer.patch", "patch",
                     fmt::format("patches of {} points along {} do not divide the {} points there: give a 'patch' that "
                                 "does",
                                 shape.patch[a], names[a], shape.points[a]));
  if (shape.width % shape.heads)
    throw KeyError("superres.vision_transformer.heads", "heads",
                   fmt::format("{} heads do not divide the {} channels of 'width'", shape.heads, shape.width));
}

}  // namespace cambium::superres
