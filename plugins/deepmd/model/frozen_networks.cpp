#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/frozen_parts.hpp"

namespace cambium::deepmd::detail {

using Json = nlohmann::ordered_json;

void refuse(const GraphDef& graph, const std::string& what) {
  throw InputError(fmt::format("{}: {}", graph.file(), what));
}

const GraphNode* user_of(const GraphDef& graph, const std::string& name) {
  const GraphNode* out = graph.consumer(name);
  while (out && out->op == "Identity") out = graph.consumer(out->name);
  return out;
}

/// Name of the activation function behind a layer, from the operation after its bias, or after its product where it has
/// none; empty for none, absent if it is made of several operations, as x sigmoid(x) is.
static std::optional<std::string> activation_after(const GraphDef& graph, const std::string& constant) {
  static const std::map<std::string, std::string> names{
      {"Tanh", "tanh"}, {"Relu", "relu"},       {"Relu6", "relu6"}, {"Softplus", "softplus"}, {"Sigmoid", "sigmoid"},
      {"Gelu", "gelu"}, {"GeluCustom", "gelu"}, {"Reshape", ""},    {"ConcatV2", ""},         {"Cast", ""}};
  const GraphNode* sum = user_of(graph, constant);
  const GraphNode* after = sum ? graph.consumer(sum->name) : nullptr;
  const auto found = after ? names.find(after->op) : names.end();
  if (found == names.end()) return {};
  for (const auto& node : graph.nodes())
    if (!node.name.starts_with("gradients/") && node.op == "Mul" &&
        std::find(node.inputs.begin(), node.inputs.end(), sum->name) != node.inputs.end())
      return {};
  return found->second;
}

const Array& FrozenNetworks::matrix(const std::string& name) {
  const Array& w = graph_.numbers(name);
  if (w.shape.size() != 2) refuse(graph_, fmt::format("'{}' is no matrix", name));
  if (w.dtype != "float64" && w.dtype != "float32")
    refuse(graph_, fmt::format("weights of type {} are not supported; supported: float32, float64", w.dtype));
  precision_ = w.dtype;
  return w;
}

Array FrozenNetworks::flat(const std::string& name) const {
  Array out = graph_.numbers(name);
  out.shape = {out.elements()};
  return out;
}

Json FrozenNetworks::layer(const std::string& prefix, const std::string& suffix, const std::string& activation,
                           bool last) {
  const std::string name = prefix + "matrix" + suffix, bias = prefix + "bias" + suffix;
  Json variables{{"w", tree_.add(matrix(name))}, {"b", nullptr}, {"idt", nullptr}};
  const bool biased = graph_.find(bias) != nullptr, timestep = graph_.find(prefix + "idt" + suffix) != nullptr;
  if (biased) variables["b"] = vector(bias);
  if (timestep) variables["idt"] = vector(prefix + "idt" + suffix);
  // The training input says what the graph was made from; operations alone can look like another function.
  const auto applied = last                 ? std::optional<std::string>("")
                       : activation.empty() ? activation_after(graph_, biased ? bias : name)
                                            : std::optional(activation);
  if (!applied)
    refuse(
        graph_,
        fmt::format("the activation function of '{}' is not known: the graph has no training input to name it", name));
  return Json{{"@class", "Layer"},      {"@variables", variables},
              {"bias", biased},         {"use_timestep", timestep},
              {"resnet", false},        {"activation_function", applied->empty() ? "linear" : *applied},
              {"precision", precision_}};
}

Json FrozenNetworks::embedding(const std::string& scope, const std::string& suffix, const std::string& activation) {
  const auto name = [&](int k) { return fmt::format("{}/matrix_{}{}", scope, k, suffix); };
  Json layers = Json::array();
  for (int k = 1; graph_.find(name(k)); ++k) {
    Json one = layer(scope + "/", fmt::format("_{}{}", k, suffix), activation, false);
    one["resnet"] = true;
    // Time steps of layers that do not add their input are not used.
    const auto& sizes = shape(one);
    if (sizes[1] != sizes[0] && sizes[1] != 2 * sizes[0]) one["@variables"]["idt"] = nullptr;
    layers.push_back(std::move(one));
  }
  if (layers.empty()) return nullptr;
  return Json{{"@class", "EmbeddingNetwork"}, {"layers", layers}};
}

Json FrozenNetworks::fitting(const std::string& suffix, const std::string& activation) {
  Json layers = Json::array();
  const auto scope = [&](int k) { return fmt::format("layer_{}{}/", k, suffix); };
  for (int k = 0; graph_.find(scope(k) + "matrix"); ++k) {
    Json one = layer(scope(k), "", activation, false);
    one["resnet"] = k > 0 && shape(one)[0] == shape(one)[1];
    layers.push_back(std::move(one));
  }
  layers.push_back(layer(fmt::format("final_layer{}/", suffix), "", "", true));
  return Json{{"@class", "FittingNetwork"}, {"layers", layers}};
}

Json FrozenNetworks::side_by_side(const std::vector<std::string>& prefixes) {
  const std::int64_t rows = matrix(prefixes.front() + "matrix").shape[0];
  Array w{precision_, {rows, 0}, {}}, b{precision_, {0}, {}};
  for (const auto& prefix : prefixes) {
    const Array& one = matrix(prefix + "matrix");
    const Array bias = flat(prefix + "bias");
    if (one.shape[0] != rows || bias.shape[0] != one.shape[1])
      refuse(graph_, fmt::format("'{}matrix' and its bias do not fit to the other matrices of its layer", prefix));
    w.shape[1] += one.shape[1];
    b.shape[0] += one.shape[1];
    b.values.insert(b.values.end(), bias.values.begin(), bias.values.end());
  }
  for (std::int64_t row = 0; row < rows; ++row)
    for (const auto& prefix : prefixes) {
      const Array& one = matrix(prefix + "matrix");
      const auto first = one.values.begin() + row * one.shape[1];
      w.values.insert(w.values.end(), first, first + one.shape[1]);
    }
  return Json{{"@class", "Layer"},
              {"@variables", {{"w", tree_.add(std::move(w))}, {"b", tree_.add(std::move(b))}, {"idt", nullptr}}},
              {"resnet", false},
              {"activation_function", "linear"}};
}

Json collection_of(std::vector<Json> networks, int ndim, std::size_t types) {
  return Json{{"@class", "NetworkCollection"}, {"ndim", ndim}, {"ntypes", types}, {"networks", std::move(networks)}};
}

}  // namespace cambium::deepmd::detail
