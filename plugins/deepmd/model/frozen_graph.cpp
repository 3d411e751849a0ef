// Deep Potentials frozen by DeePMD-kit's TensorFlow back end (`dp freeze`, versions 1 to 3): weights, statistics and
// settings are constants and attributes of the graph, under names that the back end gives (deepmd/tf/descriptor,
// deepmd/tf/fit/ener.py, deepmd/tf/utils/network.py of https://github.com/deepmodeling/deepmd-kit).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/graph_def.hpp"

namespace cambium::deepmd {

using Json = nlohmann::ordered_json;

namespace {

[[noreturn]] void refuse(const GraphDef& graph, const std::string& what) {
  throw InputError(fmt::format("{}: {}", graph.file(), what));
}

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

/// The operation that computes the environment matrix, which has cut-off and sel as attributes.
const GraphNode& environment_of(const GraphDef& graph, const std::string& type) {
  const GraphNode* out = nullptr;
  for (const auto& node : graph.nodes()) {
    const bool angular = node.op == "ProdEnvMatA" || node.op == "DescrptSeA";
    const bool radial = node.op == "ProdEnvMatR" || node.op == "DescrptSeR";
    if (!angular && !radial) continue;
    if (out)
      refuse(graph, "the graph has more than one descriptor (hybrid); `dp convert-backend` makes a .dp file of it");
    out = &node;
  }
  if (!out)
    refuse(graph, fmt::format("the graph has no descriptor that is known; supported: energies of se_e2_a, se_e2_r and "
                              "se_e3, but its descriptor is '{}'; `dp convert-backend` makes a .dp file of others",
                              type.empty() ? "unknown" : type));
  return *out;
}

/// Parts of a model that would change its energies and are not read.
void require_plain(const GraphDef& graph) {
  for (const auto& node : graph.nodes()) {
    if (node.op.starts_with("Tabulate"))
      refuse(graph,
             "the model is compressed: its tables have replaced the embedding networks; give the model before "
             "`dp compress`, and compress it with `cambium deepmd compress`");
    for (const auto& [op, what] : {std::pair{"TabInter", "a tabulated pair potential (use_srtab)"},
                                   std::pair{"ProdEnvMatAMix", "a descriptor of mixed types (se_atten)"},
                                   std::pair{"DprcPairwiseIdx", "a pairwise model (pairwise_dprc)"}})
      if (node.op == op)
        refuse(graph, fmt::format("the model has {}, which is not read from graphs; `dp convert-backend` makes a .dp "
                                  "file of it",
                                  what));
  }
  for (const auto& [name, what] :
       {std::pair{"type_embed_net/matrix_1", "a type embedding"}, std::pair{"spin_attr/ntypes_spin", "spins"},
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

/// The operation that takes a constant, through the copies that freezing makes of a variable; null if none does.
const GraphNode* user_of(const GraphDef& graph, const std::string& name) {
  const GraphNode* out = graph.consumer(name);
  while (out && out->op == "Identity") out = graph.consumer(out->name);
  return out;
}

/// Name of the activation function behind a layer, from the operation after its bias; empty for none, absent if it is
/// made of several operations, as x sigmoid(x) is.
std::optional<std::string> activation_after(const GraphDef& graph, const std::string& bias) {
  static const std::map<std::string, std::string> names{
      {"Tanh", "tanh"}, {"Relu", "relu"},       {"Relu6", "relu6"}, {"Softplus", "softplus"}, {"Sigmoid", "sigmoid"},
      {"Gelu", "gelu"}, {"GeluCustom", "gelu"}, {"Reshape", ""},    {"ConcatV2", ""},         {"Cast", ""}};
  const GraphNode* sum = user_of(graph, bias);
  const GraphNode* after = sum ? graph.consumer(sum->name) : nullptr;
  const auto found = after ? names.find(after->op) : names.end();
  if (found == names.end()) return {};
  for (const auto& node : graph.nodes())
    if (!node.name.starts_with("gradients/") && node.op == "Mul" &&
        std::find(node.inputs.begin(), node.inputs.end(), sum->name) != node.inputs.end())
      return {};
  return found->second;
}

/// Reads networks into a tree.
class FrozenNetworks {
 public:
  FrozenNetworks(const GraphDef& graph, ModelTree& tree) : graph_(graph), tree_(tree) {}

  /// A layer whose constants are prefix + "matrix" + suffix, and so on. `activation`: that of the training input.
  Json layer(const std::string& prefix, const std::string& suffix, const std::string& activation, bool last) {
    const Array& w = graph_.numbers(prefix + "matrix" + suffix);
    if (w.shape.size() != 2) refuse(graph_, fmt::format("'{}matrix{}' is no matrix", prefix, suffix));
    if (w.dtype != "float64" && w.dtype != "float32")
      refuse(graph_, fmt::format("weights of type {} are not supported; supported: float32, float64", w.dtype));
    precision_ = w.dtype;
    Json variables{{"w", tree_.add(w)}, {"b", nullptr}, {"idt", nullptr}};
    if (graph_.find(prefix + "bias" + suffix)) variables["b"] = tree_.add(flat(prefix + "bias" + suffix));
    const bool timestep = graph_.find(prefix + "idt" + suffix) != nullptr;
    if (timestep) variables["idt"] = tree_.add(flat(prefix + "idt" + suffix));
    // The training input says what the graph was made from; operations alone can look like another function.
    const auto applied = last                 ? std::optional<std::string>("")
                         : activation.empty() ? activation_after(graph_, prefix + "bias" + suffix)
                                              : std::optional(activation);
    if (!applied)
      refuse(graph_, fmt::format("the activation function of '{}matrix{}' is not known: the graph has no training "
                                 "input to name it",
                                 prefix, suffix));
    const std::string& name = *applied;
    return Json{{"@class", "Layer"},      {"@variables", variables},
                {"bias", true},           {"use_timestep", timestep},
                {"resnet", false},        {"activation_function", name.empty() ? "linear" : name},
                {"precision", precision_}};
  }

  /// An embedding network: "matrix_1_0", "matrix_2_0", ... in a scope. A layer adds its input, once or twice, where the
  /// sizes allow it.
  Json embedding(const std::string& scope, const std::string& suffix, const std::string& activation) {
    Json layers = Json::array();
    for (int k = 1; graph_.find(name_of(scope, k, suffix)); ++k) {
      Json one = layer(scope + "/", fmt::format("_{}{}", k, suffix), activation, false);
      one["resnet"] = true;
      layers.push_back(std::move(one));
    }
    if (layers.empty()) return nullptr;
    return Json{{"@class", "EmbeddingNetwork"}, {"layers", layers}};
  }

  /// A fitting network: "layer_0_type_0", ..., "final_layer_type_0". Layers after the first add an input of their size.
  Json fitting(int type, const std::string& activation) {
    Json layers = Json::array();
    const std::string end = fmt::format("_type_{}/", type);
    for (int k = 0; graph_.find(fmt::format("layer_{}{}matrix", k, end)); ++k) {
      Json one = layer(fmt::format("layer_{}{}", k, end), "", activation, false);
      const auto& shape = graph_.numbers(fmt::format("layer_{}{}matrix", k, end)).shape;
      one["resnet"] = k > 0 && shape[0] == shape[1];
      layers.push_back(std::move(one));
    }
    layers.push_back(layer("final_layer" + end, "", "", true));
    return Json{{"@class", "FittingNetwork"}, {"layers", layers}};
  }

  const std::string& precision() const { return precision_; }

 private:
  static std::string name_of(const std::string& scope, int k, const std::string& suffix) {
    return fmt::format("{}/matrix_{}{}", scope, k, suffix);
  }
  /// A bias or time step, stored as a vector or as a matrix with one row.
  Array flat(const std::string& name) const {
    Array out = graph_.numbers(name);
    out.shape = {out.elements()};
    return out;
  }

  const GraphDef& graph_;
  ModelTree& tree_;
  std::string precision_ = "float64";
};

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

Json collection(std::vector<Json> networks, int ndim, std::size_t types) {
  return Json{{"@class", "NetworkCollection"}, {"ndim", ndim}, {"ntypes", types}, {"networks", std::move(networks)}};
}

/// True if the embedding networks take two neighbours' types: se_e3.
bool has_angles(const GraphDef& graph) { return graph.find("filter_type_all/matrix_1_0_0") != nullptr; }

/// Networks by types, in the order of model files: the first type runs fastest.
Json embeddings_of(const GraphDef& graph, FrozenNetworks& networks, std::size_t types, const std::string& activation) {
  const bool angles = has_angles(graph), one_side = !angles && graph.find("filter_type_all/matrix_1_0");
  std::vector<Json> out;
  for (std::size_t neighbour = 0; neighbour < types; ++neighbour)
    for (std::size_t first = 0; first < (one_side ? 1 : types); ++first) {
      const auto scope = angles || one_side ? "filter_type_all" : fmt::format("filter_type_{}", first);
      const auto suffix = angles ? fmt::format("_{}_{}", first, neighbour) : fmt::format("_{}", neighbour);
      out.push_back(networks.embedding(scope, suffix, activation));
    }
  if (std::all_of(out.begin(), out.end(), [](const Json& one) { return one.is_null(); }))
    refuse(graph, "the graph has no embedding network under the names of DeePMD-kit 1 to 3");
  return collection(std::move(out), one_side ? 1 : 2, types);
}

/// Columns of the output of the last embedding layers.
std::int64_t width_of(const ModelTree& tree, const Json& embeddings) {
  for (const auto& network : embeddings["networks"])
    if (!network.is_null())
      return tree.arrays[network["layers"].back()["@variables"]["w"]["@array"].get<std::size_t>()].shape[1];
  return 0;
}

Json descriptor_of(const GraphDef& graph, const Json& input, FrozenNetworks& networks, ModelTree& tree) {
  const Json given = input.value("descriptor", Json::object());
  const GraphNode& environment = environment_of(graph, given.value("type", ""));
  const bool radial = environment.op.ends_with("R");
  const auto attribute = [&](const char* name) {
    const auto found = environment.attributes.find(name);
    if (found == environment.attributes.end())
      refuse(graph, fmt::format("the operation {} has no attribute {}", environment.op, name));
    return found->second;
  };
  const auto sel = attribute(radial ? "sel" : "sel_a").integers;
  constexpr std::size_t most_types = 4096;
  if (sel.empty() || sel.size() > most_types) refuse(graph, fmt::format("sel has {} values", sel.size()));
  const auto slots = std::accumulate(sel.begin(), sel.end(), std::int64_t{0});
  if (const auto distances = environment.attributes.find("sel_r"); !radial && distances != environment.attributes.end())
    for (const auto n : distances->second.integers)
      if (n != 0)
        refuse(graph,
               "the descriptor takes some neighbours by distance alone (sel_r), which is not supported; train with "
               "se_e2_a or se_e2_r");
  if (graph.find("descrpt_attr/original_sel")) {
    const auto original = graph.numbers("descrpt_attr/original_sel").values;
    if (static_cast<std::int64_t>(std::accumulate(original.begin(), original.end(), 0.0)) != slots)
      refuse(graph,
             "the model was trained on with another sel, by which its descriptor is divided; convert it with `dp "
             "convert-backend`");
  }
  const bool angles = has_angles(graph), one_side = !angles && graph.find("filter_type_all/matrix_1_0");
  const auto statistics = [&](const char* name) {
    Array out = graph.numbers(std::string("descrpt_attr/") + name);
    out.shape = {std::ssize(sel), slots, radial ? 1 : 4};
    if (std::ssize(out.values) != out.elements())
      refuse(graph, fmt::format("'descrpt_attr/{}' has {} values, but sel {} needs {}", name, out.values.size(), sel,
                                out.elements()));
    return tree.add(std::move(out));
  };
  Json variables{{"davg", statistics("t_avg")}, {"dstd", statistics("t_std")}};
  // The graph computes with the attributes, which are float32, whatever the training input says.
  Json out{{"@class", "Descriptor"},
           {"type", radial   ? "se_e2_r"
                    : angles ? "se_e3"
                             : "se_e2_a"},
           {"rcut", attribute(radial ? "rcut" : "rcut_r").number},
           {"rcut_smth", attribute(radial ? "rcut_smth" : "rcut_r_smth").number},
           {"sel", sel},
           {"type_one_side", one_side},
           {"exclude_types", given.value("exclude_types", Json::array())},
           {"@variables", std::move(variables)}};
  out["embeddings"] = embeddings_of(graph, networks, sel.size(), given.value("activation_function", ""));
  out["precision"] = networks.precision();
  return out;
}

/// Columns of the first matrix of a fitting network: its inputs.
std::int64_t fitting_inputs(const GraphDef& graph) {
  const char* const first = graph.find("layer_0_type_0/matrix") ? "layer_0_type_0/matrix" : "final_layer_type_0/matrix";
  const auto& shape = graph.numbers(first).shape;
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
  for (std::size_t type = 0; type < types; ++type)
    nets.push_back(networks.fitting(static_cast<int>(type), given.value("activation_function", "")));
  Json variables = Json::object(), out{{"@class", "Fitting"}, {"type", "ener"}, {"mixed_types", false}};
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
  out["nets"] = collection(std::move(nets), 1, types);
  out["precision"] = networks.precision();
  return out;
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
  Json descriptor = descriptor_of(graph, input, networks, tree);
  const std::size_t types = descriptor["sel"].size();
  Json fitting = fitting_of(graph, input, networks, tree, types);
  if (descriptor["type"] == "se_e2_a") {
    const std::int64_t width = width_of(tree, descriptor["embeddings"]);
    const auto inputs = fitting_inputs(graph) - fitting["numb_fparam"].get<int>() - fitting["numb_aparam"].get<int>();
    if (width == 0 || inputs % width != 0)
      refuse(graph, fmt::format("the fitting network takes {} values of the descriptor, which is no multiple of the "
                                "embedding's {}",
                                inputs, width));
    descriptor["axis_neuron"] = inputs / width;
  }
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
