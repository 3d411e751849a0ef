// Models frozen by DeePMD-kit's TensorFlow back end. The graphs are written here, with the names and in the layout of
// that back end, in the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding).
#include <fmt/format.h>

#include "core/parallel/context.hpp"
#include "plugins/deepmd/model/graph_def.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;
using Descriptor = DeepPotentialModel::Descriptor;

namespace {

/// Fields of messages, as bytes.
namespace wire {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  return out + static_cast<char>(value);
}
std::string integer(int field, std::uint64_t value) { return varint(8 * field) + varint(value); }
std::string bytes(int field, const std::string& value) { return varint(8 * field + 2) + varint(value.size()) + value; }
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
    node(name + "/read", "Identity", {name});
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

 private:
  std::string bytes_;
};

struct Frozen {
  std::string script;      ///< training input
  bool added_bias = true;  ///< energies of the types are added behind the networks
  bool one_value = false;  ///< biases of one value are stored once
  bool packed = true;      ///< lists of integers
  std::string activation_op = "Tanh";
  bool single = false;
  std::string type = "ener", tmap = "O H";
  std::map<std::string, std::string> others;  ///< further nodes: name and operation
};

void write_layer(Graph& graph, const Layer& layer, const std::string& prefix, const std::string& suffix,
                 const std::string& op) {
  graph.numbers(prefix + "matrix" + suffix, {layer.in, layer.out}, layer.w);
  graph.numbers(prefix + "bias" + suffix, {layer.out}, layer.b);
  if (!layer.idt.empty()) graph.numbers(prefix + "idt" + suffix, {layer.out}, layer.idt);
  const std::string own = prefix + suffix;
  graph.node("gradients/" + own, "AddGrad", {prefix + "bias" + suffix + "/read"});
  graph.node(own + "MatMul", "MatMul", {"input", prefix + "matrix" + suffix + "/read"});
  graph.node(own + "Add", "BiasAdd", {own + "MatMul", prefix + "bias" + suffix + "/read"});
  graph.node(own + "Activation", op, {own + "Add"});
}

void write_graph(const DeepPotentialModel& m, const Frozen& how, const std::string& path) {
  Graph graph;
  graph.single = how.single;
  graph.text("model_attr/model_type", how.type);
  graph.text("model_attr/tmap", how.tmap);
  if (!how.script.empty()) graph.text("train_attr/training_script", how.script);
  const bool radial = m.descriptor == Descriptor::se_e2_r, angles = m.descriptor == Descriptor::se_e3;
  std::vector<double> mean, deviation;
  for (int i = 0; i < m.ntypes(); ++i)
    for (int j = 0; j < m.ntypes(); ++j)
      for (int slot = 0; slot < m.sel[static_cast<std::size_t>(j)]; ++slot)
        for (int k = 0; k < m.components(); ++k) {
          mean.push_back(m.mean[static_cast<std::size_t>(i * m.ntypes() + j)][static_cast<std::size_t>(k)]);
          deviation.push_back(m.deviation[static_cast<std::size_t>(i * m.ntypes() + j)][static_cast<std::size_t>(k)]);
        }
  const std::vector<std::int64_t> shape{m.ntypes(), std::ssize(mean) / m.ntypes()};
  graph.single = false;
  graph.numbers("descrpt_attr/t_avg", shape, mean);
  graph.numbers("descrpt_attr/t_std", shape, deviation);
  graph.numbers("fitting_attr/t_bias_atom_e", {m.ntypes()}, m.fitting_bias);
  if (how.added_bias) graph.node("embedding_lookup", "GatherV2", {"fitting_attr/t_bias_atom_e/read"});
  for (const auto& [input, name] : {std::pair{&m.fparam, "fparam"}, std::pair{&m.aparam, "aparam"}}) {
    graph.integer(std::string("fitting_attr/d") + name, input->size);
    if (input->size == 0) continue;
    graph.numbers(std::string("fitting_attr/t_") + name + "_avg", {input->size}, input->mean);
    graph.numbers(std::string("fitting_attr/t_") + name + "_istd", {input->size}, input->inverse_deviation);
  }
  graph.single = how.single;
  using G = Graph;
  const auto rcut = static_cast<float>(m.rcut), smooth = static_cast<float>(m.rcut_smth);
  if (radial)
    graph.node("ProdEnvMatR", "ProdEnvMatR", {"t_coord"},
               {{"rcut", G::number(rcut)}, {"rcut_smth", G::number(smooth)}, {"sel", G::list(m.sel, how.packed)}});
  else
    graph.node(
        "ProdEnvMatA", "ProdEnvMatA", {"t_coord"},
        {{"rcut_r", G::number(rcut)}, {"rcut_r_smth", G::number(smooth)}, {"sel_a", G::list(m.sel, how.packed)}});
  for (int first = 0; first < (m.type_one_side && !angles ? 1 : m.ntypes()); ++first)
    for (int neighbour = 0; neighbour < m.ntypes(); ++neighbour) {
      if (angles && neighbour < first) continue;
      const auto& net = m.embedding[static_cast<std::size_t>(m.embedding_index(first, neighbour))];
      const auto scope =
          angles || m.type_one_side ? std::string("filter_type_all/") : fmt::format("filter_type_{}/", first);
      for (std::size_t k = 0; k < net.layers.size(); ++k)
        write_layer(
            graph, net.layers[k], scope,
            angles ? fmt::format("_{}_{}_{}", k + 1, first, neighbour) : fmt::format("_{}_{}", k + 1, neighbour),
            how.activation_op);
    }
  for (std::size_t type = 0; type < m.fitting.size(); ++type) {
    const auto& layers = m.fitting[type].layers;
    for (std::size_t k = 0; k < layers.size(); ++k)
      write_layer(
          graph, layers[k],
          k + 1 < layers.size() ? fmt::format("layer_{}_type_{}/", k, type) : fmt::format("final_layer_type_{}/", type),
          "", k + 1 < layers.size() ? how.activation_op : "Reshape");
  }
  for (const auto& [name, op] : how.others) graph.node(name, op);
  graph.write(path);
}

Evaluation evaluated(const DeepPotentialModel& model, const EngineOptions& options = {}) {
  const Configuration c = water(2);
  auto engine = make_engine(model, options);
  return evaluate(*engine, c.x, c.types, c.box,
                  std::vector<double>(c.x.size() * static_cast<std::size_t>(model.aparam.size), 0.3));
}

double difference(const DeepPotentialModel& a, const DeepPotentialModel& b, const EngineOptions& options = {}) {
  const Evaluation x = evaluated(a, options), y = evaluated(b, options);
  return std::max(relative_error(x.atom_energy, y.atom_energy), relative_error(flat(x.force), flat(y.force)));
}

DeepPotentialModel through_graph(const DeepPotentialModel& model, const Frozen& how = {}) {
  const Scratch scratch("frozen_graph");
  write_graph(model, how, scratch.file("m.pb"));
  return DeepPotentialModel::load(scratch.file("m.pb"));
}

std::string refusal(const DeepPotentialModel& model, const Frozen& how) {
  const Scratch scratch("frozen_refusals");
  write_graph(model, how, scratch.file("m.pb"));
  return message([&] { DeepPotentialModel::load(scratch.file("m.pb")); });
}

DeepPotentialModel biased(RandomModel spec) {
  auto out = random_model(spec);
  out.fitting_bias = {-3.25, 1.75};
  return out;
}

}  // namespace

TEST_CASE("a frozen graph gives the energies of its weights") {
  std::vector<RandomModel> specs(5, small_model());
  specs[1].type_one_side = false;
  specs[2].descriptor = Descriptor::se_e2_r;
  specs[3] = small_angles();
  specs[4].fparam = 2;
  specs[4].aparam = 1;
  for (const auto& spec : specs) {
    const auto model = biased(spec);
    EngineOptions options;
    options.fparam.assign(static_cast<std::size_t>(spec.fparam), 0.4);
    const auto read = through_graph(model);
    INFO(DeepPotentialModel::name_of(spec.descriptor) << " " << spec.type_one_side << " " << spec.fparam);
    CHECK(read.type_map == model.type_map);
    CHECK(read.type_one_side == model.type_one_side);
    CHECK(difference(read, model, options) < 1e-14);
  }
}

TEST_CASE("forms of graphs: lists, single precision, activations, energies of types") {
  const auto model = biased(small_model());
  CHECK(difference(through_graph(model, {.packed = false}), model) < 1e-14);
  CHECK(difference(through_graph(model, {.single = true}), model) < 1e-5);
  CHECK(through_graph(model, {.single = true}).precision == "float32");

  // Older versions add the energies of the types to the bias of the last layer, and keep them for other purposes.
  auto old = model;
  old.fitting_bias = {0.0, 0.0};
  CHECK(difference(through_graph(model, {.added_bias = false}), old) < 1e-14);

  for (const auto& [name, op] :
       {std::pair{"relu", "Relu"}, std::pair{"softplus", "Softplus"}, std::pair{"sigmoid", "Sigmoid"}}) {
    RandomModel spec = small_model();
    spec.activation = name;
    const auto other = biased(spec);
    CHECK(difference(through_graph(other, {.activation_op = op}), other) < 1e-14);
  }
  // gelu is several operations, and named by the training input.
  RandomModel spec = small_model();
  spec.activation = "gelu";
  const auto gelu = biased(spec);
  const std::string script =
      R"({"model": {"descriptor": {"activation_function": "gelu"}, "fitting_net": {"activation_function": "gelu"}}})";
  CHECK(difference(through_graph(gelu, {.script = script, .activation_op = "Pow"}), gelu) < 1e-14);
  CHECK_THAT(refusal(gelu, {.activation_op = "Pow"}),
             Catch::Contains("activation function of 'filter_type_all/matrix_1_0' is not known"));

  // Names of the types from the training input.
  const auto named = through_graph(model, {.script = R"({"model": {"type_map": ["H", "He"]}})", .tmap = ""});
  CHECK(named.type_map == std::vector<std::string>{"H", "He"});
}

TEST_CASE("bytes of a graph, from the format's definition") {
  // node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_DOUBLE
  //   tensor_shape { dim { size: 2 } } double_val: 1.5 } } } }
  const unsigned char bytes[] = {0x0a, 0x2c, 0x0a, 0x01, 'c',  0x12, 0x05, 'C',  'o',  'n',  's',  't',
                                 0x2a, 0x20, 0x0a, 0x05, 'v',  'a',  'l',  'u',  'e',  0x12, 0x17, 0x42,
                                 0x15, 0x08, 0x02, 0x12, 0x04, 0x12, 0x02, 0x08, 0x02, 0x32, 0x08, 0x00,
                                 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0x3f, 0x18, 0x00};
  const std::string text(reinterpret_cast<const char*>(bytes), sizeof bytes);
  const GraphDef graph(text, "bytes");
  REQUIRE(graph.nodes().size() == 1);
  CHECK(graph.numbers("c").values == std::vector<double>{1.5, 1.5});
  for (std::size_t size = 1; size < text.size(); ++size) {
    INFO(size);
    CHECK_THROWS_WITH(GraphDef(text.substr(0, size), "bytes"), Catch::Contains("damaged"));
  }
}

TEST_CASE("what a graph has that is not read is named") {
  const auto model = biased(small_model());
  CHECK_THAT(refusal(model, {.type = "dipole"}), Catch::Contains("a model of type 'dipole'; supported: energies"));
  CHECK_THAT(refusal(model, {.others = {{"filter/Table", "TabulateFusionSeA"}}}), Catch::Contains("compressed"));
  CHECK_THAT(refusal(model, {.others = {{"x", "ProdEnvMatAMix"}}}), Catch::Contains("mixed types"));
  CHECK_THAT(refusal(model, {.others = {{"ProdEnvMatA_1", "ProdEnvMatA"}}}),
             Catch::Contains("more than one descriptor"));
  CHECK_THAT(refusal(model, {.others = {{"x", "TabInter"}}}), Catch::Contains("tabulated pair potential"));
  CHECK_THAT(refusal(model, {.others = {{"type_embed_net/matrix_1", "Const"}}}), Catch::Contains("a type embedding"));
  CHECK_THAT(refusal(model, {.tmap = "O"}), Catch::Contains("names 1 of its 2 types"));
  const Scratch scratch("frozen_damaged");
  write_graph(model, {}, scratch.file("m.pb"));
  std::filesystem::resize_file(scratch.file("m.pb"), 20000);
  CHECK_THAT(message([&] { DeepPotentialModel::load(scratch.file("m.pb")); }), Catch::Contains("damaged"));
  std::ofstream(scratch.file("empty.pb")) << "";
  CHECK_THAT(message([&] { DeepPotentialModel::load(scratch.file("empty.pb")); }), Catch::Contains("is empty"));
  std::ofstream(scratch.file("other.pb")) << "a text that is no graph";
  CHECK_THAT(message([&] { DeepPotentialModel::load(scratch.file("other.pb")); }), Catch::Contains("other.pb"));
}
