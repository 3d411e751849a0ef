#pragma once
// Graphs frozen by DeePMD-kit's TensorFlow back end, written with its names and in its layout, in the wire format of
// protocol buffers (https://protobuf.dev/programming-guides/encoding).
#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd::test {

/// Fields of messages, as bytes.
namespace wire {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  return out + static_cast<char>(value);
}
inline std::string integer(int field, std::uint64_t value) { return varint(8 * field) + varint(value); }
inline std::string bytes(int field, const std::string& value) {
  return varint(8 * field + 2) + varint(value.size()) + value;
}
template <class T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace wire

/// Writes a GraphDef.
class Graph {
 public:
  void node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
            const std::map<std::string, std::string>& attributes = {}) {
    std::string text = wire::bytes(1, name) + wire::bytes(2, op);
    for (const auto& input : inputs) text += wire::bytes(3, input);
    for (const auto& [key, value] : attributes) text += wire::bytes(5, wire::bytes(1, key) + wire::bytes(2, value));
    bytes_ += wire::bytes(1, text);
  }
  void constant(const std::string& name, int type, const std::vector<std::int64_t>& shape, const std::string& values) {
    std::string extents;
    for (const auto extent : shape) extents += wire::bytes(2, wire::integer(1, static_cast<std::uint64_t>(extent)));
    node(name, "Const", {}, {{"value", wire::bytes(8, wire::integer(1, type) + wire::bytes(2, extents) + values)}});
  }
  /// As `tensor_content`, in float64 or float32.
  void numbers(const std::string& name, const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
    std::string content;
    for (const double value : values) content += single ? wire::raw(static_cast<float>(value)) : wire::raw(value);
    constant(name, single ? 1 : 2, shape, wire::bytes(4, content));
    if (copies) node(name + "/read", "Identity", {name});
  }
  void integer(const std::string& name, int value) { constant(name, 3, {}, wire::integer(7, value)); }
  void text(const std::string& name, const std::string& value) { constant(name, 7, {}, wire::bytes(8, value)); }
  static std::string number(float value) { return wire::varint(8 * 4 + 5) + wire::raw(value); }
  static std::string list(const std::vector<int>& values, bool packed) {
    std::string all, each;
    for (const int value : values) {
      all += wire::varint(value);
      each += wire::integer(3, value);
    }
    return wire::bytes(1, packed ? wire::bytes(3, all) : each);
  }
  void write(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes_; }

  bool single = false;
  bool has_types = false;  ///< the type embedding is written
  bool copies = true;      ///< variables are read through an Identity, as freezing leaves them
  std::string read(const std::string& name) const { return copies ? name + "/read" : name; }

 private:
  std::string bytes_;
};

struct Frozen {
  std::string script;      ///< training input
  bool added_bias = true;  ///< energies of the types are added behind the networks
  bool packed = true;      ///< lists of integers
  std::string activation_op = "Tanh";
  bool single = false, copies = true;
  int sel_r = 0;  ///< neighbours of each type by distance alone
  std::string type = "ener", tmap = "O H";
  std::string environment = "ProdEnvMat", scope = "filter_type_", cutoff = "rcut";  ///< names in the graph
  std::vector<int> sel = {};                       ///< of the environment, in place of the model's
  std::map<std::string, std::string> others = {};  ///< further nodes: name and operation
  std::function<void(Graph&)> before = {};         ///< writes nodes that stand for later ones of their names
};

inline void write_layer(Graph& graph, const Layer& layer, const std::string& prefix, const std::string& suffix,
                        const std::string& op) {
  // op: "silu" is x sigmoid(x), two operations.
  graph.numbers(prefix + "matrix" + suffix, {layer.in, layer.out}, layer.w);
  if (!layer.b.empty()) graph.numbers(prefix + "bias" + suffix, {layer.out}, layer.b);
  if (!layer.idt.empty()) graph.numbers(prefix + "idt" + suffix, {layer.out}, layer.idt);
  const std::string own = prefix + suffix;
  graph.node(own + "MatMul", "MatMul", {"input", graph.read(prefix + "matrix" + suffix)});
  if (layer.b.empty()) {
    graph.node(own + "Activation", op, {own + "MatMul"});
    return;
  }
  graph.node("gradients/" + own, "AddGrad", {graph.read(prefix + "bias" + suffix)});
  graph.node(own + "Add", "BiasAdd", {own + "MatMul", graph.read(prefix + "bias" + suffix)});
  if (op == "silu") {
    graph.node(own + "Activation", "Sigmoid", {own + "Add"});
    graph.node(own + "Product", "Mul", {own + "Add", own + "Activation"});
  } else {
    graph.node(own + "Activation", op, {own + "Add"});
  }
}

/// `suffix`: of the scopes of a descriptor in a hybrid.
inline void write_statistics(Graph& graph, const DeepPotentialModel& m, const std::string& suffix) {
  std::vector<double> mean, deviation;
  for (int i = 0; i < m.ntypes(); ++i)
    for (int j = 0; j < m.ntypes(); ++j)
      for (int slot = 0; slot < m.sel[static_cast<std::size_t>(j)]; ++slot)
        for (int k = 0; k < m.components(); ++k) {
          mean.push_back(m.mean[static_cast<std::size_t>(i * m.ntypes() + j)][static_cast<std::size_t>(k)]);
          deviation.push_back(m.deviation[static_cast<std::size_t>(i * m.ntypes() + j)][static_cast<std::size_t>(k)]);
        }
  const std::vector<std::int64_t> shape{m.ntypes(), std::ssize(mean) / m.ntypes()};
  graph.numbers("descrpt_attr" + suffix + "/t_avg", shape, mean);
  graph.numbers("descrpt_attr" + suffix + "/t_std", shape, deviation);
}

/// Queries, keys and values are matrices of their own.
inline void write_attention(Graph& graph, const DeepPotentialModel& m, const std::string& suffix) {
  for (std::size_t k = 0; k < m.attention.networks.size(); k += 3) {
    const std::string scope = fmt::format("attention_layer_{}{}/", k / 3, suffix);
    const Layer &all = m.attention.networks[k].layers[0], &norm = m.attention.networks[k + 2].layers[0];
    const auto width = static_cast<std::size_t>(m.attention.attn);
    const char* const names[] = {"c_query/", "c_key/", "c_value/"};
    for (std::size_t part = 0; part < 3; ++part) {
      Layer one;
      one.in = all.in;
      one.out = m.attention.attn;
      for (std::size_t row = 0; row < static_cast<std::size_t>(all.in); ++row)
        for (std::size_t c = 0; c < width; ++c) one.w.push_back(all.w[(3 * row + part) * width + c]);
      one.b.assign(all.b.begin() + static_cast<std::ptrdiff_t>(part * width),
                   all.b.begin() + static_cast<std::ptrdiff_t>((part + 1) * width));
      write_layer(graph, one, scope + names[part], "", "Reshape");
    }
    write_layer(graph, m.attention.networks[k + 1].layers[0], scope + "c_out/", "", "Reshape");
    graph.numbers(scope + "layer_normalization_7/gamma", {norm.out}, norm.w);
    graph.numbers(scope + "layer_normalization_7/beta", {norm.out}, norm.b);
  }
}

inline void write_descriptor(Graph& graph, const DeepPotentialModel& m, const Frozen& how, const std::string& suffix) {
  const bool radial = m.descriptor == DeepPotentialModel::Descriptor::se_e2_r,
             angles = m.descriptor == DeepPotentialModel::Descriptor::se_e3,
             mixed = m.descriptor == DeepPotentialModel::Descriptor::se_atten, types = !m.type_embedding.layers.empty();
  const std::string op = how.environment + (radial  ? "R"
                                            : mixed ? "AMix"
                                                    : "A"),
                    cutoff = how.cutoff + (radial ? "" : "_r");
  const auto sel = mixed ? std::vector{m.neighbours()} : m.sel;
  graph.node(op + suffix, op, {"t_coord", graph.read("descrpt_attr" + suffix + "/t_avg")},
             {{cutoff, Graph::number(static_cast<float>(m.rcut))},
              {cutoff + "_smth", Graph::number(static_cast<float>(m.rcut_smth))},
              {radial ? "sel" : "sel_a", Graph::list(how.sel.empty() ? sel : how.sel, how.packed)},
              {"sel_r", Graph::list(std::vector<int>(sel.size(), how.sel_r), how.packed)}});
  graph.single = how.single;
  if (types)
    for (std::size_t k = 0; k < m.embedding[0].layers.size(); ++k)
      write_layer(graph, m.embedding[0].layers[k], "filter_type_all" + suffix + "/", fmt::format("_{}", k + 1),
                  how.activation_op);
  write_attention(graph, m, suffix);
  for (int first = 0; first < (types ? 0 : m.type_one_side && !angles ? 1 : m.ntypes()); ++first)
    for (int neighbour = angles ? first : 0; neighbour < m.ntypes(); ++neighbour) {
      const auto& net = m.embedding[static_cast<std::size_t>(m.embedding_index(first, neighbour))];
      const auto scope = how.scope + (angles || m.type_one_side ? "all" : std::to_string(first)) + suffix + "/";
      for (std::size_t k = 0; k < net.layers.size(); ++k)
        write_layer(
            graph, net.layers[k], scope,
            angles ? fmt::format("_{}_{}_{}", k + 1, first, neighbour) : fmt::format("_{}_{}", k + 1, neighbour),
            how.activation_op);
    }
  graph.single = false;
}

inline void write_fitting(Graph& graph, const DeepPotentialModel& m, const Frozen& how) {
  graph.numbers("fitting_attr/t_bias_atom_e", {m.ntypes()}, m.fitting_bias);
  if (how.added_bias) graph.node("embedding_lookup", "GatherV2", {graph.read("fitting_attr/t_bias_atom_e")});
  for (const auto& [input, name] : {std::pair{&m.fparam, "fparam"}, std::pair{&m.aparam, "aparam"}}) {
    graph.integer(std::string("fitting_attr/d") + name, input->size);
    if (input->size == 0) continue;
    graph.numbers(std::string("fitting_attr/t_") + name + "_avg", {input->size}, input->mean);
    graph.numbers(std::string("fitting_attr/t_") + name + "_istd", {input->size}, input->inverse_deviation);
  }
  graph.single = how.single;
  for (std::size_t type = 0; type < m.fitting.size(); ++type) {
    const auto& layers = m.fitting[type].layers;
    const auto suffix = m.fitting.size() == 1 ? std::string() : fmt::format("_type_{}", type);
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const bool last = k + 1 == layers.size();
      write_layer(graph, layers[k],
                  last ? fmt::format("final_layer{}/", suffix) : fmt::format("layer_{}{}/", k, suffix), "",
                  last ? "Reshape" : how.activation_op);
    }
  }
}

inline void write_graph(const DeepPotentialModel& m, const Frozen& how, const std::string& path) {
  Graph graph;
  graph.copies = how.copies;
  if (how.before) how.before(graph);
  graph.text("model_attr/model_type", how.type);
  graph.text("model_attr/tmap", how.tmap);
  if (!how.script.empty()) graph.text("train_attr/training_script", how.script);
  for (std::size_t k = 0; k < m.descriptors().size(); ++k) {
    const DeepPotentialModel& part = m.descriptors()[k];
    const auto suffix = m.parts.empty() ? std::string() : fmt::format("_{}", k);
    write_statistics(graph, part, suffix);
    write_descriptor(graph, part, how, suffix);
    if (part.type_embedding.layers.empty() || graph.has_types) continue;
    graph.has_types = true;
    const auto& layers = part.type_embedding.layers;
    for (std::size_t l = 0; l < layers.size(); ++l)
      write_layer(graph, layers[l], "type_embed_net/", fmt::format("_{}", l + 1),
                  layers[l].activation.kind == Activation::Kind::linear ? "Reshape" : how.activation_op);
  }
  write_fitting(graph, m, how);
  for (const auto& [name, op] : how.others) graph.node(name, op);
  graph.write(path);
}

}  // namespace cambium::deepmd::test
