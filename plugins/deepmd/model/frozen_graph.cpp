// Deep Potentials frozen by DeePMD-kit's TensorFlow back end (`dp freeze`, versions 1 to 3): weights, statistics and
// settings are constants and attributes of the graph, under names that the back end gives (deepmd/tf/descriptor,
// deepmd/tf/fit/ener.py, deepmd/tf/utils/network.py of https://github.com/deepmodeling/deepmd-kit).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/frozen_parts.hpp"

namespace cambium::deepmd {

using Json = nlohmann::ordered_json;
using namespace detail;

namespace {

double scalar(const GraphDef& graph, const std::string& name) {
  const auto& values = graph.numbers(name).values;
  if (values.size() != 1) refuse(graph, fmt::format("'{}' has {} values instead of one", name, values.size()));
  return values[0];
}

/// Settings that the graph holds as operations rather than data, from the training input that newer versions store.
Json training_input(const GraphDef& graph) {
  const std::string text = graph.text("train_attr/training_script");
  const Json input = Json::parse(text, nullptr, false);
  return input.is_object() ? input.value("model", Json::object()) : Json::object();
}

/// Parts of a model that would change its energies and are not read.
void require_plain(const GraphDef& graph) {
  for (const auto& node : graph.nodes()) {
    if (node.op.starts_with("Tabulate"))
      refuse(graph,
             "the model is compressed: its tables have replaced the embedding networks; give the model before "
             "`dp compress`, and compress it with `cambium deepmd compress`");
    for (const auto& [op, what] : {std::pair{"TabInter", "a tabulated pair potential (use_srtab)"},
                                   std::pair{"DprcPairwiseIdx", "a pairwise model (pairwise_dprc)"}})
      if (node.op == op)
        refuse(graph, fmt::format("the model has {}, which is not read from graphs; `dp convert-backend` makes a .dp "
                                  "file of it",
                                  what));
  }
  for (const auto& [name, what] : {std::pair{"spin_attr/ntypes_spin", "spins"},
                                   std::pair{"modifier_attr/type", "a data modifier, such as charges on dipoles"}})
    if (graph.find(name))
      refuse(graph,
             fmt::format("the model has {}, which is not read from graphs; `dp convert-backend` makes a .dp file "
                         "of it where it can",
                         what));
  const std::string type = graph.text("model_attr/model_type");
  if (type != "ener")
    refuse(graph, fmt::format("a model of type '{}'; supported: energies ('ener')", type.empty() ? "unknown" : type));
}

/// Names of the types; older versions keep them in the training input alone.
std::vector<std::string> type_map_of(const GraphDef& graph, const Json& input, std::size_t types) {
  std::istringstream words(graph.text("model_attr/tmap"));
  std::vector<std::string> out{std::istream_iterator<std::string>(words), {}};
  if (out.empty() && input.contains("type_map")) out = input["type_map"].get<std::vector<std::string>>();
  if (out.size() != types)
    refuse(graph, fmt::format("the graph names {} of its {} types (type_map); train with type_map, or convert it with "
                              "`dp convert-backend`",
                              out.size(), types));
  return out;
}

/// Suffix of the scopes of the energy network of a type, or of the one that serves all.
std::string fitting_suffix(const GraphDef& graph, std::size_t type) {
  return graph.find("final_layer/matrix") ? std::string() : fmt::format("_type_{}", type);
}

/// Rows of the first matrix of an energy network: its inputs.
std::int64_t fitting_inputs(const GraphDef& graph) {
  const std::string end = fitting_suffix(graph, 0) + "/matrix";
  const auto& shape = graph.numbers((graph.find("layer_0" + end) ? "layer_0" : "final_layer") + end).shape;
  return shape.empty() ? 0 : shape[0];
}

/// True if the graph adds the energies of the types to the networks' values. Older versions have added them to the bias
/// of the last layer, and newer ones keep them for other purposes, too.
bool adds_bias(const GraphDef& graph) {
  const GraphNode* used = user_of(graph, "fitting_attr/t_bias_atom_e");
  return used && (used->op.starts_with("Gather") || used->op.starts_with("ResourceGather"));
}

Json fitting_of(const GraphDef& graph, const Json& input, FrozenNetworks& networks, ModelTree& tree,
                std::size_t types) {
  const Json given = input.value("fitting_net", Json::object());
  if (given.value("use_aparam_as_mask", false))
    refuse(graph, "the model takes atomic parameters as a mask (use_aparam_as_mask), which is not supported");
  std::vector<Json> nets;
  const bool mixed = fitting_suffix(graph, 0).empty();
  for (std::size_t type = 0; type < (mixed ? 1 : types); ++type)
    nets.push_back(networks.fitting(fitting_suffix(graph, type), given.value("activation_function", "")));
  Json variables = Json::object(), out{{"@class", "Fitting"}, {"type", "ener"}, {"mixed_types", mixed}};
  const auto parameters = [&](const std::string& name) {
    const std::string count = "fitting_attr/d" + name;
    const auto size = graph.find(count) ? static_cast<int>(scalar(graph, count)) : 0;
    out["numb_" + name] = size;
    if (size == 0) return;
    variables[name + "_avg"] = tree.add(graph.numbers("fitting_attr/t_" + name + "_avg"));
    variables[name + "_inv_std"] = tree.add(graph.numbers("fitting_attr/t_" + name + "_istd"));
  };
  parameters("fparam");
  parameters("aparam");
  if (adds_bias(graph)) variables["bias_atom_e"] = tree.add(graph.numbers("fitting_attr/t_bias_atom_e"));
  if (given.contains("atom_ener")) out["atom_ener"] = given["atom_ener"];
  out["@variables"] = std::move(variables);
  out["nets"] = collection_of(std::move(nets), mixed ? 0 : 1, types);
  out["precision"] = networks.precision();
  return out;
}

/// Width of a descriptor's embedding.
std::int64_t width_of(const FrozenNetworks& networks, const Json& descriptor) {
  for (const auto& network : descriptor["embeddings"]["networks"])
    if (!network.is_null()) return networks.outputs(network);
  return 0;
}

/// The type embedding follows the last descriptor once, as input of an energy network that serves all types.
std::int64_t add_type_columns(const GraphDef& graph, const FrozenNetworks& networks, Json& descriptor) {
  if (!graph.find("type_embed_net/matrix_1")) return 0;
  Json& last = descriptor["type"] == "hybrid" ? descriptor["list"].back() : descriptor;
  if (!last.contains("type_embedding"))
    refuse(graph, fmt::format("the model has a type embedding after {}, which does not take it; this is not supported, "
                              "train with se_e2_a or se_atten",
                              last["type"].get<std::string>()));
  last["concat_output_tebd"] = true;
  return networks.outputs(last["type_embedding"]["embedding"]);
}

/// Sets axis_neuron of a single descriptor, or compares those of a hybrid, by the `inputs` of the energy network.
void settle_axes(const GraphDef& graph, const FrozenNetworks& networks, std::int64_t inputs, Json& descriptor) {
  const auto angular = [](const Json& part) { return part["type"] == "se_e2_a" || part["type"] == "se_atten"; };
  if (descriptor["type"] != "hybrid") {
    const std::int64_t width = width_of(networks, descriptor);
    if (!angular(descriptor)) return;
    if (width == 0 || inputs % width != 0)
      refuse(graph, fmt::format("the fitting network takes {} values of the descriptor, which is no multiple of the "
                                "embedding's {}",
                                inputs, width));
    descriptor["axis_neuron"] = inputs / width;
    return;
  }
  std::int64_t sum = 0;
  for (Json& part : descriptor["list"]) {
    if (angular(part) && !part.contains("axis_neuron"))
      refuse(graph, "the graph has no training input with the axis_neuron of each descriptor of its hybrid");
    constexpr std::int64_t most = 1'000'000;  // more means a damaged file
    const auto axis = angular(part) ? part["axis_neuron"].get<std::int64_t>() : 1;
    sum += width_of(networks, part) * std::clamp<std::int64_t>(axis, 0, most);
  }
  if (sum != inputs)
    refuse(graph, fmt::format("the fitting network takes {} values of the descriptors, whose training input gives {}",
                              inputs, sum));
}

}  // namespace

static ModelTree tree_of(const GraphDef& graph) {
  if (graph.find("DS_layer_type_0/matrix_1_0"))
    refuse(graph, "a graph of DeePMD-kit 0.x; `dp convert-from 0.12` makes a newer one of it");
  require_plain(graph);
  const Json input = training_input(graph);
  if (input.contains("use_srtab") && !input["use_srtab"].is_null())
    refuse(graph, "the model has a tabulated pair potential (use_srtab), which is not read from graphs");
  ModelTree tree;
  FrozenNetworks networks(graph, tree);
  Json descriptor = frozen_descriptor(graph, input, networks, tree);
  std::size_t types = 0;
  each_frozen(descriptor, [&](const Json& part) { types = part["ntypes"].get<std::size_t>(); });
  const std::int64_t columns = add_type_columns(graph, networks, descriptor);
  Json fitting = fitting_of(graph, input, networks, tree, types);
  const auto inputs = fitting_inputs(graph) - fitting["numb_fparam"].get<int>() - fitting["numb_aparam"].get<int>();
  settle_axes(graph, networks, inputs - columns, descriptor);
  const auto names = type_map_of(graph, input, types);
  tree.root = Json{{"software", "DeePMD-kit, TensorFlow"},
                   {"model", Json{{"type", "standard"},
                                  {"type_map", names},
                                  {"pair_exclude_types", input.value("pair_exclude_types", Json::array())},
                                  {"atom_exclude_types", input.value("atom_exclude_types", Json::array())},
                                  {"descriptor", std::move(descriptor)},
                                  {"fitting", std::move(fitting)}}}};
  if (graph.find("train_attr/min_nbor_dist")) tree.root["min_nbor_dist"] = scalar(graph, "train_attr/min_nbor_dist");
  return tree;
}

ModelTree detail::read_frozen_graph(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) throw InputError(fmt::format("{}: is empty, or cannot be read", path));
  const GraphDef graph(bytes, path);
  try {
    return tree_of(graph);
  } catch (const Json::exception&) {
    refuse(graph, "the training input in the graph is damaged");
  }
}

}  // namespace cambium::deepmd
