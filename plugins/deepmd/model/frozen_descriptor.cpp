// Descriptors of a frozen graph. Names are those that DeePMD-kit's TensorFlow back end gives: a descriptor that is part
// of a hybrid has its number, as in "_0", after the name of each of its scopes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "plugins/deepmd/model/frozen_parts.hpp"

namespace cambium::deepmd::detail {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* mixed_op = "ProdEnvMatAMix";  ///< of se_atten

bool is_environment(const GraphNode& node) {
  for (const char* op : {"ProdEnvMatA", "DescrptSeA", "ProdEnvMatR", "DescrptSeR", mixed_op})
    if (node.op == op) return true;
  return false;
}

/// Reads one descriptor.
class FrozenDescriptor {
 public:
  /// `given`: its section of the training input, or an empty map.
  FrozenDescriptor(const GraphDef& graph, const Json& given, const std::string& suffix, FrozenNetworks& networks,
                   ModelTree& tree)
      : graph_(graph), given_(given), suffix_(suffix), networks_(networks), tree_(tree), environment_(environment()),
        scope_("filter_type_all" + suffix), activation_(given.value("activation_function", "")) {}

  Json read(const Json& type_embedding);

 private:
  const GraphNode& environment() const;
  const GraphAttribute& attribute(const char* name) const;
  Json statistics(const char* name, std::int64_t types, std::int64_t slots) const;
  void require_usual_slots(std::int64_t slots) const;
  Json embeddings(std::size_t types);
  void add_types(const Json& type_embedding, std::size_t types, Json& out);
  void add_attention(Json& out);
  bool mixed() const { return environment_.op == mixed_op; }
  bool radial() const { return environment_.op.ends_with("R"); }
  bool angles() const { return graph_.find(scope_ + "/matrix_1_0_0"); }
  bool one_side() const { return !angles() && graph_.find(scope_ + "/matrix_1_0"); }
  std::string type() const { return mixed() ? "se_atten" : radial() ? "se_e2_r" : angles() ? "se_e3" : "se_e2_a"; }
  std::string attributes() const { return "descrpt_attr" + suffix_ + "/"; }

  const GraphDef& graph_;
  const Json& given_;
  std::string suffix_;
  FrozenNetworks& networks_;
  ModelTree& tree_;
  const GraphNode& environment_;
  std::string scope_, activation_;
};

/// The operation that computes the environment matrix, which has cut-off and sel as attributes; in a hybrid, the one
/// that takes this descriptor's statistics.
const GraphNode& FrozenDescriptor::environment() const {
  const GraphNode* out = nullptr;
  const std::string mean = "descrpt_attr" + suffix_ + "/t_avg";
  for (const auto& node : graph_.nodes()) {
    const auto takes = [&](const std::string& input) { return input == mean || input.starts_with(mean + "/"); };
    if (!is_environment(node)) continue;
    if (!suffix_.empty() && std::none_of(node.inputs.begin(), node.inputs.end(), takes)) continue;
    if (out)
      refuse(
          graph_,
          "the graph has more than one descriptor, but not under the names of a hybrid; `dp convert-backend` makes a "
          ".dp file of it");
    out = &node;
  }
  if (out) return *out;
  const std::string type = given_.value("type", "");
  refuse(graph_, fmt::format("the graph has no descriptor that is known; supported: energies of se_e2_a, se_e2_r, "
                             "se_e3, se_atten and hybrid, but its descriptor is '{}'; `dp convert-backend` makes a .dp "
                             "file of others",
                             type.empty() ? "unknown" : type));
}

const GraphAttribute& FrozenDescriptor::attribute(const char* name) const {
  const auto found = environment_.attributes.find(name);
  if (found == environment_.attributes.end())
    refuse(graph_, fmt::format("the operation {} has no attribute {}", environment_.op, name));
  return found->second;
}

Json FrozenDescriptor::statistics(const char* name, std::int64_t types, std::int64_t slots) const {
  Array out = graph_.numbers(attributes() + name);
  out.shape = {types, slots, radial() ? 1 : 4};
  if (std::ssize(out.values) != out.elements())
    refuse(graph_, fmt::format("'{}{}' has {} values, but sel {} needs {}", attributes(), name, out.values.size(),
                               attribute(radial() ? "sel" : "sel_a").integers, out.elements()));
  return tree_.add(std::move(out));
}

/// Refuses neighbours without angles, and models whose sum of sel is not the one by which they are divided.
void FrozenDescriptor::require_usual_slots(std::int64_t slots) const {
  const auto distances = environment_.attributes.find("sel_r");
  if (!radial() && distances != environment_.attributes.end())
    for (const auto n : distances->second.integers)
      if (n != 0)
        refuse(graph_,
               "the descriptor takes some neighbours by distance alone (sel_r), which is not supported; train with "
               "se_e2_a or se_e2_r");
  if (!graph_.find(attributes() + "original_sel")) return;
  const auto original = graph_.numbers(attributes() + "original_sel").values;
  if (static_cast<std::int64_t>(std::accumulate(original.begin(), original.end(), 0.0)) != slots)
    refuse(graph_,
           "the model was trained on with another sel, by which its descriptor is divided; convert it with `dp "
           "convert-backend`");
}

/// Networks by types, in the order of model files: the first type runs fastest.
Json FrozenDescriptor::embeddings(std::size_t types) {
  std::vector<Json> out;
  for (std::size_t neighbour = 0; neighbour < types; ++neighbour)
    for (std::size_t first = 0; first < (one_side() ? 1 : types); ++first) {
      const auto scope = angles() || one_side() ? scope_ : fmt::format("filter_type_{}{}", first, suffix_);
      const auto suffix = angles() ? fmt::format("_{}_{}", first, neighbour) : fmt::format("_{}", neighbour);
      out.push_back(networks_.embedding(scope, suffix, activation_));
    }
  if (std::all_of(out.begin(), out.end(), [](const Json& one) { return one.is_null(); }))
    refuse(graph_, "the graph has no embedding network under the names of DeePMD-kit 1 to 3");
  return collection_of(std::move(out), one_side() ? 1 : 2, types);
}

/// One network for all species, which takes their embeddings.
void FrozenDescriptor::add_types(const Json& type_embedding, std::size_t types, Json& out) {
  for (const char* suffix : {"_1_one_side_ebd", "_1_two_side_ebd"})
    if (graph_.find(scope_ + "/matrix" + suffix))
      refuse(graph_,
             "the type embedding has a network of its own, by which the embeddings are multiplied (tebd_input_mode: "
             "strip), which is not supported; train with tebd_input_mode: concat");
  if (type_embedding.is_null())
    refuse(graph_, fmt::format("the graph has no constant '{}'", "type_embed_net/matrix_1"));
  Json network = networks_.embedding(scope_, "", activation_);
  if (network.is_null()) refuse(graph_, "the graph has no embedding network under the names of DeePMD-kit 1 to 3");
  out["type_one_side"] = networks_.inputs(network) == 1 + networks_.outputs(type_embedding);
  out["embeddings"] = collection_of({std::move(network)}, 0, types);
  out["type_embedding"] = Json{{"@class", "TypeEmbedNet"}, {"embedding", type_embedding}};
  out["concat_output_tebd"] = false;
}

/// The attention layers of se_atten; the graph multiplies by no factor where model files divide by the root of a width.
void FrozenDescriptor::add_attention(Json& out) {
  const auto name = [&](int k) { return fmt::format("attention_layer_{}{}/", k, suffix_); };
  Json list = Json::array();
  for (int k = 0; graph_.find(name(k) + "c_query/matrix"); ++k) {
    const GraphNode* gamma = nullptr;
    for (const auto& node : graph_.nodes())
      if (node.op == "Const" && node.name.starts_with(name(k) + "layer_normalization") && node.name.ends_with("/gamma"))
        gamma = &node;
    if (!gamma) refuse(graph_, fmt::format("the graph has no constant '{}layer_normalization/gamma'", name(k)));
    const std::string norm = gamma->name.substr(0, gamma->name.size() - std::string("gamma").size());
    Json products{{"in_proj", networks_.side_by_side({name(k) + "c_query/", name(k) + "c_key/", name(k) + "c_value/"})},
                  {"out_proj", networks_.side_by_side({name(k) + "c_out/"})}};
    Json scale{{"@variables", {{"w", networks_.vector(norm + "gamma")}, {"b", networks_.vector(norm + "beta")}}}};
    list.push_back(Json{{"attention_layer", std::move(products)}, {"attn_layer_norm", std::move(scale)}});
  }
  out["attn_layer"] = list.size();
  if (list.empty()) return;
  if (given_.empty() || given_.value("smooth_type_embedding", false))
    refuse(graph_, given_.empty()
                       ? "the graph has no training input that specifies the form of its attention (attn_dotr, "
                         "smooth_type_embedding)"
                       : "the attention has smooth_type_embedding, whose switch in TensorFlow is not that of model "
                         "files, which is not supported; train with the PyTorch back end");
  out["attn"] = graph_.numbers(name(0) + "c_query/matrix").shape.at(1);
  out["attn_dotr"] = given_.value("attn_dotr", true);
  out["attn_mask"] = given_.value("attn_mask", false);
  out["smooth_type_embedding"] = false;
  out["temperature"] = 1.0;
  out["ln_eps"] = given_.contains("ln_eps") && given_["ln_eps"].is_number() ? given_["ln_eps"] : Json(1e-3);
  out["attention_layers"] = Json{{"attention_layers", std::move(list)}};
}

Json FrozenDescriptor::read(const Json& type_embedding) {
  const auto sel = attribute(radial() ? "sel" : "sel_a").integers;
  constexpr std::size_t most_types = 4096;
  if (sel.empty() || sel.size() > most_types) refuse(graph_, fmt::format("sel has {} values", sel.size()));
  const auto slots = std::accumulate(sel.begin(), sel.end(), std::int64_t{0});
  require_usual_slots(slots);
  std::size_t types = sel.size();
  if (mixed()) {
    const auto& shape = graph_.numbers(attributes() + "t_avg").shape;
    types = shape.empty() || shape[0] < 1 || shape[0] > static_cast<std::int64_t>(most_types)
                ? 0
                : static_cast<std::size_t>(shape[0]);
  }
  Json variables{{"davg", statistics("t_avg", static_cast<std::int64_t>(types), slots)},
                 {"dstd", statistics("t_std", static_cast<std::int64_t>(types), slots)}};
  // The graph computes with the attributes, which are float32, whatever the training input says.
  Json out{{"@class", "Descriptor"},
           {"type", type()},
           {"rcut", attribute(radial() ? "rcut" : "rcut_r").number},
           {"rcut_smth", attribute(radial() ? "rcut_smth" : "rcut_r_smth").number},
           {"sel", sel},
           {"ntypes", types},
           {"type_one_side", one_side()},
           {"exclude_types", given_.value("exclude_types", Json::array())},
           {"@variables", std::move(variables)}};
  if (given_.contains("axis_neuron")) out["axis_neuron"] = given_["axis_neuron"];
  if (mixed() || (!type_embedding.is_null() && out["type"] == "se_e2_a"))
    add_types(type_embedding, types, out);
  else
    out["embeddings"] = embeddings(types);
  if (mixed()) add_attention(out);
  out["precision"] = networks_.precision();
  return out;
}

/// The network of type embeddings; null if the graph has none. That of se_atten is linear unless the input names one.
Json type_embedding_of(const Json& input, FrozenNetworks& networks) {
  std::string activation;
  if (!input.empty()) {
    const Json given = input.value("type_embedding", Json());
    const Json name = given.is_object() ? given.value("activation_function", Json("tanh")) : Json();
    activation = name.is_string() ? name.get<std::string>() : "linear";
    if (activation == "None") activation = "linear";
  }
  return networks.embedding("type_embed_net", "", activation);
}

}  // namespace

Json frozen_descriptor(const GraphDef& graph, const Json& input, FrozenNetworks& networks, ModelTree& tree) {
  const Json types = type_embedding_of(input, networks), given = input.value("descriptor", Json::object());
  if (!graph.find("descrpt_attr_0/t_avg")) return FrozenDescriptor(graph, given, "", networks, tree).read(types);
  const Json sections = given.value("list", Json::array()), none = Json::object();
  Json list = Json::array();
  for (std::size_t k = 0; graph.find(fmt::format("descrpt_attr_{}/t_avg", k)); ++k)
    list.push_back(
        FrozenDescriptor(graph, k < sections.size() ? sections[k] : none, fmt::format("_{}", k), networks, tree)
            .read(types));
  return Json{{"@class", "Descriptor"}, {"type", "hybrid"}, {"list", std::move(list)}};
}

}  // namespace cambium::deepmd::detail
