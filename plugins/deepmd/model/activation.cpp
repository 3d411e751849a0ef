#include "plugins/deepmd/model/activation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {
using Kind = Activation::Kind;
const std::map<std::string, Kind> kinds = {
    {"tanh", Kind::tanh},    {"relu", Kind::relu},         {"relu6", Kind::relu6},     {"gelu", Kind::gelu},
    {"gelu_tf", Kind::gelu}, {"softplus", Kind::softplus}, {"sigmoid", Kind::sigmoid}, {"silu", Kind::silu},
    {"silut", Kind::silut},  {"custom_silu", Kind::silut}, {"linear", Kind::linear},   {"none", Kind::linear}};
}  // namespace

Activation Activation::from_name(const std::string& name) {
  std::string plain = name;
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t colon = plain.find(':');
  const auto found = kinds.find(plain.substr(0, colon));
  if (found == kinds.end() || (colon != std::string::npos && found->second != Kind::silut))
    throw InputError(
        fmt::format("activation function '{}' is not known; known: tanh, relu, relu6, gelu, gelu_tf, softplus, "
                    "sigmoid, silu, silut[:threshold], linear, none",
                    name));
  Activation out;
  out.kind = found->second;
  if (out.kind == Kind::silut) {
    out.threshold = colon == std::string::npos ? 3.0 : std::stod(plain.substr(colon + 1));
    const Jet<double> joint = detail::silu(out.threshold);
    out.slope = joint.first;
    out.offset = joint.value;
  }
  return out;
}

std::string Activation::name() const {
  if (kind == Kind::silut) return fmt::format("silut:{}", threshold);
  for (const auto& [name, k] : kinds)
    if (k == kind && name != "none") return name;
  return "linear";
}

}  // namespace cambium::deepmd
