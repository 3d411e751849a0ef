// Models frozen by DeePMD-kit's TensorFlow back end.
#include "core/parallel/context.hpp"
#include "plugins/deepmd/model/graph_def.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"
#include "tests/plugins/deepmd/frozen_graphs.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;
using Descriptor = DeepPotentialModel::Descriptor;

namespace {

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
    options.aparam.assign(static_cast<std::size_t>(spec.aparam), 0.3);
    const auto read = through_graph(model);
    INFO(DeepPotentialModel::name_of(spec.descriptor) << " " << spec.type_one_side << " " << spec.fparam);
    CHECK(read.type_map == model.type_map);
    CHECK(read.type_one_side == model.type_one_side);
    CHECK(difference(read, model, options) < 1e-14);
  }
}

/// Attention in the form that TensorFlow computes.
static DeepPotentialModel attentive(std::uint64_t seed) {
  RandomModel spec = small_attention(seed);
  spec.attn_smooth = false;
  spec.rcut = 3.25;  // graphs hold it in single precision
  DeepPotentialModel out = biased(spec);
  out.attention.temperature = 1.0;
  out.attention.norm_epsilon = 1e-3;
  return out;
}

TEST_CASE("type embeddings and attention are read from graphs") {
  std::vector<RandomModel> specs(4, small_types(4));
  specs[1].type_one_side = false;
  specs[1].fparam = 1;
  specs[2].use_tebd_bias = specs[2].tebd_resnet_dt = true;
  specs[2].type_embedding = {2, 4};
  specs[3] = small_species(5);
  EngineOptions options;
  for (const auto& spec : specs) {
    const auto model = biased(spec);
    options.fparam.assign(static_cast<std::size_t>(spec.fparam), 0.4);
    const auto read = through_graph(model);
    INFO(DeepPotentialModel::name_of(spec.descriptor) << " " << spec.type_one_side << " " << spec.use_tebd_bias);
    CHECK(read.type_one_side == model.type_one_side);
    CHECK(read.type_embedding.layers.size() == model.type_embedding.layers.size());
    CHECK(read.fitting.size() == 1);
    CHECK(difference(read, model, options) < 1e-14);
  }
  const std::string script = R"({"model": {"descriptor": {"type": "se_atten", "activation_function": "tanh",
      "attn_dotr": true, "smooth_type_embedding": false, "ln_eps": null}, "fitting_net": {}}})";
  const auto model = attentive(6);
  CHECK(difference(through_graph(model, {.script = script}), model) < 1e-14);
  auto loose = model;
  loose.attention.dotr = false;
  loose.attention.norm_epsilon = 0.01;
  const std::string other = R"({"model": {"descriptor": {"type": "se_atten", "activation_function": "tanh",
      "attn_dotr": false, "ln_eps": 0.01}, "fitting_net": {}}})";
  CHECK(difference(through_graph(loose, {.script = other}), loose) < 1e-14);
  CHECK(difference(through_graph(loose, {.script = script}), loose) > 1e-6);
  const auto given = [&](const std::string& text, const std::string& problem) {
    CHECK_THAT(refusal(model, {.script = text}), Catch::Contains(problem));
  };
  given("",
        "the graph has no training input that specifies the form of its attention (attn_dotr, smooth_type_embedding)");
  given(R"({"model": {"descriptor": {"smooth_type_embedding": true}}})",
        "the attention has smooth_type_embedding, whose switch in TensorFlow is not that of model files, which is not "
        "supported; train with the PyTorch back end");
  const auto changed = [&](const std::function<void(Graph&)>& before, const std::string& problem) {
    CHECK_THAT(refusal(model, {.script = script, .before = before}), Catch::Contains(problem));
  };
  changed(
      [](Graph& graph) {
        graph.numbers("attention_layer_0/c_key/matrix", {5, 1}, {1, 1, 1, 1, 1});
      },
      "'attention_layer_0/c_key/matrix' and its bias do not fit to the other matrices of its layer");
  changed(
      [](Graph& graph) {
        graph.numbers("filter_type_all/matrix_1_two_side_ebd", {1, 1}, {1});
      },
      "the type embedding has a network of its own, by which the embeddings are multiplied (tebd_input_mode: strip), "
      "which is not supported; train with tebd_input_mode: concat");
  given(R"({"model": {"descriptor": {"attn_mask": true}}})", "attn_mask is not supported, nor is it by DeePMD-kit");
}

TEST_CASE("hybrids are read from graphs, with and without type embedding") {
  const auto script = [](const std::string& axes, const std::string& types = "null") {
    return R"({"model": {"type_embedding": )" + types + R"(, "descriptor": {"type": "hybrid", "list": [)" + axes +
           R"(]}, "fitting_net": {}}})";
  };
  const auto plain = biased(small_hybrid(3));
  CHECK(difference(through_graph(plain, {.script = script("{}, {\"axis_neuron\": 6}, {}")}), plain) < 1e-14);
  RandomModel spec = small_hybrid(4);
  spec.parts = {small_types(5), small_angles(6), small_types(7)};
  spec.parts[0].concat_output_tebd = false;
  spec.parts[0].type_one_side = false;
  spec.parts[2].rcut = 4.0;
  auto typed = biased(spec);
  typed.parts[0].type_embedding = typed.parts[2].type_embedding;  // there is one for all
  const std::string axes = R"({"axis_neuron": 6}, {}, {"axis_neuron": 6})";
  const auto read = through_graph(typed, {.script = script(axes, "{}")});
  CHECK(read.parts.size() == 3);
  CHECK_FALSE(read.parts[0].concat_output_tebd);
  CHECK(difference(read, typed) < 1e-14);
  // Attention behind the embedding of the same types, which its scopes number, too.
  RandomModel with_attention = spec;
  with_attention.parts = {spec.parts[0], small_attention(8)};
  with_attention.parts[1].attn_smooth = false;
  with_attention.parts[1].rcut = 3.25;
  auto attentive_hybrid = biased(with_attention);
  attentive_hybrid.parts[0].type_embedding = attentive_hybrid.parts[1].type_embedding;
  attentive_hybrid.parts[1].attention.temperature = 1.0;
  attentive_hybrid.parts[1].attention.norm_epsilon = 1e-3;
  CHECK(difference(through_graph(attentive_hybrid,
                                 {.script = script(R"({"axis_neuron": 6}, {"axis_neuron": 6, "attn_dotr": true})")}),
                   attentive_hybrid) < 1e-14);
  const auto given = [&](const DeepPotentialModel& model, const std::string& text, const std::string& problem) {
    CHECK_THAT(refusal(model, {.script = text}), Catch::Contains(problem));
  };
  given(plain, "", "the graph has no training input with the axis_neuron of each descriptor of its hybrid");
  given(plain, script("{}, {\"axis_neuron\": 7}, {}"),
        "the fitting network takes 103 values of the descriptors, whose training input gives 117");
  given(plain, script("{}, {\"axis_neuron\": \"six\"}, {}"), "the training input in the graph is damaged");
  std::swap(spec.parts[1], spec.parts[2]);
  given(biased(spec), script(R"({"axis_neuron": 6}, {"axis_neuron": 6}, {})"),
        "the model has a type embedding after se_e3, which does not take it; this is not supported, train with se_e2_a "
        "or se_atten");
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
             Catch::Contains("the activation function of 'filter_type_all/matrix_1_0' is not known: the graph has no "
                             "training input to name it"));

  // silu is x sigmoid(x): not to be taken for a sigmoid.
  spec.activation = "silu";
  const auto silu = biased(spec);
  const std::string named_silu =
      R"({"model": {"descriptor": {"activation_function": "silu"}, "fitting_net": {"activation_function": "silu"}}})";
  CHECK(difference(through_graph(silu, {.script = named_silu, .activation_op = "silu"}), silu) < 1e-14);
  CHECK_THAT(refusal(silu, {.activation_op = "silu"}),
             Catch::Contains("is not known: the graph has no training input"));

  // Optimised graphs have no copies of variables.
  CHECK(difference(through_graph(model, {.copies = false}), model) < 1e-14);

  // Names of the types from the training input.
  const auto named = through_graph(model, {.script = R"({"model": {"type_map": ["H", "He"]}})", .tmap = ""});
  CHECK(named.type_map == std::vector<std::string>{"H", "He"});
}

TEST_CASE("bytes of a graph, from the format's definition") {
  // node { name: "c" op: "Const" attr { key: "value" value { tensor { dtype: DT_DOUBLE
  //   tensor_shape { dim { size: 2 } } double_val: 1.5 } } } }
  const unsigned char bytes[] = {0x0a, 0x2b, 0x0a, 0x01, 'c',  0x12, 0x05, 'C',  'o',  'n',  's',  't',
                                 0x2a, 0x1f, 0x0a, 0x05, 'v',  'a',  'l',  'u',  'e',  0x12, 0x16, 0x42,
                                 0x14, 0x08, 0x02, 0x12, 0x04, 0x12, 0x02, 0x08, 0x02, 0x32, 0x08, 0x00,
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
  const auto given = [&](const Frozen& how, const std::string& problem) {
    CHECK_THAT(refusal(model, how), Catch::Contains(problem));
  };
  given({.type = "dipole"}, "a model of type 'dipole'; supported: energies ('ener')");
  given({.others = {{"filter/Table", "TabulateFusionSeA"}}},
        "the model is compressed: its tables have replaced the embedding networks; give the model before `dp "
        "compress`, and "
        "compress it with `cambium deepmd compress`");
  given({.others = {{"ProdEnvMatA_1", "ProdEnvMatA"}}},
        "the graph has more than one descriptor, but not under the names of a hybrid; `dp convert-backend` makes a .dp "
        "file of it");
  given({.others = {{"x", "TabInter"}}}, "the model has a tabulated pair potential (use_srtab), which is not read");
  given({.script = R"({"model": {"use_srtab": "table.txt"}})"},
        "the model has a tabulated pair potential (use_srtab), which is not read from graphs");
  given({.others = {{"type_embed_net/matrix_1", "Const"}}}, "the constant 'type_embed_net/matrix_1' holds no numbers");
  given({.others = {{"spin_attr/ntypes_spin", "Const"}}},
        "the model has spins, which is not read from graphs; `dp convert-backend` makes a .dp file of it where it can");
  given({.others = {{"DS_layer_type_0/matrix_1_0", "Const"}}},
        "a graph of DeePMD-kit 0.x; `dp convert-from 0.12` makes a newer one of it");
  given({.sel_r = 3},
        "the descriptor takes some neighbours by distance alone (sel_r), which is not supported; train with se_e2_a or "
        "se_e2_r");
  given({.tmap = "O"},
        "the graph names 1 of its 2 types (type_map); train with type_map, or convert it with `dp "
        "convert-backend`");
  given({.script = R"({"model": {"fitting_net": {"use_aparam_as_mask": true}}})"},
        "the model takes atomic parameters as a mask (use_aparam_as_mask), which is not supported");
  given({.script = R"({"model": {"descriptor": {"exclude_types": 3, "activation_function": 5}}})"},
        "the training input in the graph is damaged");
  given({.sel = {46, 91}}, "'descrpt_attr/t_avg' has 1104 values, but sel [46, 91] needs 1096");
  given(
      {.environment = "OtherEnvMat"},
      "the graph has no descriptor that is known; supported: energies of se_e2_a, se_e2_r, se_e3, se_atten and hybrid, "
      "but its descriptor is 'unknown'; `dp convert-backend` makes a .dp file of others");
  given({.scope = "other_scope_"}, "the graph has no embedding network under the names of DeePMD-kit 1 to 3");
  given({.cutoff = "radius"}, "the operation ProdEnvMatA has no attribute rcut_r");
  const auto with = [](const std::string& name, int type, std::vector<std::int64_t> shape, std::size_t bytes) {
    return Frozen{
        .before = [=](Graph& graph) { graph.constant(name, type, shape, wire::bytes(4, std::string(bytes, '\0'))); }};
  };
  given(with("descrpt_attr/original_sel", 9, {2}, 16),
        "the model was trained on with another sel, by which its descriptor is divided; convert it with `dp "
        "convert-backend`");
  given(with("layer_0_type_0/matrix", 2, {191, 24}, 191 * 24 * 8),
        "the fitting network takes 191 values of the descriptor, which is no multiple of the embedding's 32");
  given(with("layer_0_type_0/matrix", 19, {192, 24}, 192 * 24 * 2),
        "weights of type float16 are not supported; supported: float32, float64");
  given(with("layer_0_type_0/matrix", 2, {192}, 192 * 8), "'layer_0_type_0/matrix' is no matrix");
  given(with("fitting_attr/dfparam", 3, {2}, 8), "'fitting_attr/dfparam' has 2 values instead of one");
}

TEST_CASE("graphs that are damaged") {
  const auto model = biased(small_model());
  const Scratch scratch("frozen_damaged");
  write_graph(model, {}, scratch.file("m.pb"));
  std::filesystem::resize_file(scratch.file("m.pb"), 20000);
  const auto load = [&](const char* name) { return message([&] { DeepPotentialModel::load(scratch.file(name)); }); };
  CHECK_THAT(load("m.pb"), Catch::Contains("not a TensorFlow graph, or a damaged one"));
  std::ofstream(scratch.file("empty.pb")) << "";
  CHECK_THAT(load("empty.pb"), Catch::Contains("is empty, or cannot be read"));
  std::ofstream(scratch.file("other.pb")) << "a text that is no graph";
  CHECK_THAT(load("other.pb"), Catch::Contains("other.pb"));

  Graph graph;
  graph.text("text", "of an input");
  graph.constant("matrix", 2, {2}, wire::bytes(4, std::string(16, '\0')));
  graph.constant("unsigned", 17, {2}, "");
  graph.write(scratch.file("few.pb"));
  std::ifstream file(scratch.file("few.pb"), std::ios::binary);
  const GraphDef few(std::string(std::istreambuf_iterator<char>(file), {}), "few.pb");
  CHECK(few.text("text") == "of an input");
  CHECK(few.numbers("matrix").values == std::vector<double>{0.0, 0.0});
  CHECK_THROWS_WITH(few.numbers("none"), "few.pb: the graph has no constant 'none'");
  CHECK_THROWS_WITH(few.numbers("unsigned"), "few.pb: the constant 'unsigned' holds no numbers");
}
