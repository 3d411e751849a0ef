// What a user reads when a model cannot be used.
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/context.hpp"
#include "plugins/deepmd/potentials/deep_potential.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;
using Json = nlohmann::ordered_json;

namespace {

std::string load_message(const std::string& path) {
  return message([&] { DeepPotentialModel::load(path); });
}

/// The message for a small model whose tree was changed.
std::string changed(const std::function<void(Json&)>& change) {
  ModelTree tree = random_model(small_model()).to_tree();
  change(tree.root);
  return message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); });
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

}  // namespace

TEST_CASE("a model file that is not there") {
  Scratch scratch("dp_messages");
  CHECK(load_message(scratch.file("none.dp")) == "model file '" + scratch.file("none.dp") + "' does not exist");
  write_text(scratch.file("b.yaml"), "x: 1\n");
  write_text(scratch.file("a.dp"), "");
  CHECK(load_message(scratch.file("none.dp")) ==
        "model file '" + scratch.file("none.dp") + "' does not exist; model files there: a.dp, b.yaml");
  CHECK(load_message("no/such/m.dp") ==
        "model file 'no/such/m.dp' does not exist; the folder 'no/such' does not exist either");
  write_text(scratch.file("m.onnx"), "");
  CHECK(load_message(scratch.file("m.onnx")) ==
        scratch.file("m.onnx") + ": suffix '.onnx' is not one of a model file; expected .dp, .yaml or .pb");
  CHECK(message([&] { save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.pb")); }) ==
        scratch.file("m.pb") + ": suffix '.pb' is not one of a model file; expected .dp or .yaml");
}

TEST_CASE("a model of another back end is refused with the command that converts it") {
  CHECK(load_message("models/water.pbtxt") ==
        "models/water.pbtxt is a TensorFlow graph as text, which needs the library that wrote it; DeePMD-kit makes a "
        "readable model of it with\n  dp convert-backend models/water.pbtxt models/water.dp");
  CHECK(load_message("water.pth") ==
        "water.pth is a TorchScript program, which needs the library that wrote it; DeePMD-kit makes a readable model "
        "of it with\n  dp convert-backend water.pth water.dp");
  CHECK(load_message("water.savedmodel/") ==
        "water.savedmodel is a TensorFlow saved model, which needs the library that wrote it; DeePMD-kit makes a "
        "readable model of it with\n  dp convert-backend water.savedmodel water.dp");
  for (const char* suffix : {"pt2", "pte", "pt", "pbtxt", "savedmodeltf", "jax", "pd"})
    CHECK(load_message(std::string("m.") + suffix).find(std::string("\n  dp convert-backend m.") + suffix + " m.dp") !=
          std::string::npos);
}

TEST_CASE("a damaged file names itself") {
  Scratch scratch("dp_damaged");
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.yaml"));
  std::filesystem::resize_file(scratch.file("m.dp"), 3000);
  const std::string truncated = load_message(scratch.file("m.dp"));
  INFO(truncated);
  CHECK(truncated.find(scratch.file("m.dp")) != std::string::npos);
  CHECK(truncated.find("truncated") != std::string::npos);
  std::filesystem::resize_file(scratch.file("m.yaml"), 9000);
  const std::string cut = load_message(scratch.file("m.yaml"));
  INFO(cut);
  CHECK(cut.find(scratch.file("m.yaml")) == 0);

  write_text(scratch.file("type.yaml"), "model:\n  a: {\"@class\": np.ndarray, dtype: [], value: [1.0]}\n");
  CHECK(load_message(scratch.file("type.yaml")) ==
        scratch.file("type.yaml") + ":2: the dtype of this np.ndarray is [], expected a text such as float64");
  write_text(scratch.file("other.yaml"), "training: {numb_steps: 1}\n");
  CHECK(load_message(scratch.file("other.yaml")) ==
        scratch.file("other.yaml") + ": not a DeePMD-kit model: key 'model' is missing");
  {
    io::File file = io::File::create(scratch.file("other.dp"));
    file.write("x", 1.0);
    file.close();
  }
  CHECK(load_message(scratch.file("other.dp")) ==
        scratch.file("other.dp") + ": an HDF5 file, but not a DeePMD-kit model: it has no root attribute 'json'");
  write_text(scratch.file("text.dp"), "model:\n");
  CHECK(load_message(scratch.file("text.dp")).find(scratch.file("text.dp")) != std::string::npos);
}

TEST_CASE("an unsupported or inconsistent model names the key") {
  CHECK(changed([](Json& root) { root["model"]["descriptor"]["type"] = "dpa2"; }) ==
        "m.dp: model.descriptor: descriptor 'dpa2' is not supported; supported: se_e2_a, se_e2_r, se_e3, se_atten and "
        "hybrid of "
        "these");
  CHECK(changed([](Json& root) { root["model"]["type"] = "linear_ener"; }) ==
        "m.dp: model: model of type 'linear_ener' is not supported; supported: standard");
  CHECK(changed([](Json& root) { root["model"]["fitting"]["type"] = "dipole"; }) ==
        "m.dp: model.fitting: fitting network of type 'dipole' is not supported; supported: ener");
  CHECK(changed([](Json& root) { root["model"]["descriptor"].erase("rcut"); }) ==
        "m.dp: model.descriptor: key 'rcut' is missing");
  CHECK(changed([](Json& root) { root["model"]["descriptor"]["rcut"] = "six"; }) ==
        "m.dp: model.descriptor.rcut: expected a number, found \"six\"");
  CHECK(changed([](Json& root) { root["model"]["descriptor"]["sel"] = {46}; }) ==
        "m.dp: model.descriptor.sel: expected one value per type (2), found 1");
  CHECK(changed([](Json& root) { root["model"]["descriptor"]["axis_neuron"] = 64; }) ==
        "m.dp: model.descriptor.axis_neuron: expected 1..32 (the embedding's width), found 64");
  CHECK(changed([](Json& root) {
          root["model"]["descriptor"]["exclude_types"] = {{0, 1}};
        }) ==
        "m.dp: model.descriptor.exclude_types: with a davg other than zero the energy would jump whenever an excluded "
        "pair crosses the cut-off; use the model's pair_exclude_types, or train with set_davg_zero: true");
  CHECK(changed([](Json& root) {
          root["model"]["descriptor"]["embeddings"]["networks"][1]["layers"][0]["activation_function"] = "swish";
        }) ==
        "m.dp: model.descriptor.embeddings.networks[1].layers[0]: activation function 'swish' is not known; known: "
        "tanh, relu, relu6, gelu, gelu_tf, softplus, sigmoid, silu, silut[:threshold], linear, none");
  CHECK(changed([](Json& root) { root["model"]["descriptor"]["embeddings"]["networks"].erase(0); }) ==
        "m.dp: model.descriptor.embeddings.networks: expected 2 networks, found 1");
  CHECK(changed([](Json& root) { root["model"]["fitting"]["nets"]["networks"][0]["layers"].erase(0); }) ==
        "m.dp: model.fitting.nets: expected networks from 192 values (descriptor 192, fparam 0, aparam 0) to 1, found "
        "24 to 1");
  CHECK(changed([](Json& root) {
          root["model"]["fitting"]["nets"]["networks"][0]["layers"][2]["activation_function"] = "tanh";
        }) == "m.dp: model.fitting.nets.networks[0]: the last layer must be linear, found activation 'tanh'");
  CHECK(changed([](Json& root) { root["model"]["fitting"]["nets"]["networks"][0]["layers"].erase(1); }) == "no error");
}

TEST_CASE("a deck that does not fit the model is told both sides") {
  Scratch scratch("dp_deck");
  World w;
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("water.dp"));
  DeepPotential::Params params;
  params.model = scratch.file("water.dp");
  DeepPotential potential(params, w.context);
  const std::vector<Species> species = {{"O", 16.0}, {"Cu", 63.5}};
  CHECK(message([&] { potential.bind(species); }) ==
        "species 'Cu' is unknown to the model " + scratch.file("water.dp") + "; its species: O, H");
  params.fparam = {1.0};
  CHECK(message([&] { DeepPotential(params, w.context); }) ==
        scratch.file("water.dp") + ": the model takes 0 value(s) of fparam, the deck gives 1; set fparam: [...]");
}

TEST_CASE("pairs closer than the training data's are warned of once, with their number") {
  Scratch scratch("dp_close");
  World w;
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("water.dp"));
  DeepPotential::Params params;
  params.model = scratch.file("water.dp");
  DeepPotential potential(params, w.context);
  const std::vector<Species> species = {{"O", 16.0}, {"H", 1.0}};
  potential.bind(species);
  const std::vector<Position> x = {{0, 0, 0}, {0, 0, 0.7}, {0, 0.6, 0}, {5, 0, 0}};
  ImageSystem system(x, std::vector<int>{0, 1, 1, 0}, {}, species, potential.cutoff());
  for (int step = 0; step < 3; ++step) {
    ForceOutput out;
    out.f = View<double* [3]>("f", static_cast<std::size_t>(system.particles().total()));
    ForceRequest request;
    request.totals = step > 0;  // counted by all ranks together on the steps that are observed
    potential.compute(system.particles(), system.list(), system, request, out, w.context);
    CHECK(w.log.warnings().size() == (step > 0 ? 1u : 0u));
  }
  CHECK(w.log.warnings()[0].count == 1);
  CHECK(w.log.warnings()[0].text == "2 pair(s) of atoms are closer than 0.88 Å, the smallest distance that " +
                                        scratch.file("water.dp") +
                                        " was trained on (closest: 0.600 Å): its forces there are an extrapolation");
}

TEST_CASE("atomic parameters that do not fit the atoms, or come with atom_ener") {
  DeepPotentialModel model = random_model(small_model());
  model.source = "m.dp";
  const std::vector<Position> x = {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}};
  const std::vector<int> types = {0, 1, 1};
  const std::vector<double> parameters = {0.5};
  auto engine = make_engine(model, {});
  CHECK(message([&] { cambium::deepmd::evaluate(*engine, x, types, {}, parameters); }) ==
        "m.dp: the model takes 0 value(s) of aparam per atom, so 0 for 3 atoms; found 1");

  model.subtract_vacuum.assign(2, 1);
  auto subtracting = make_engine(model, {});
  ImageSystem system(x, types, {}, {{"O", 16.0}, {"H", 1.0}}, model.rcut);
  View<int*> identity("types", 2);
  auto number = Kokkos::create_mirror_view(identity);
  number(0) = 0;
  number(1) = 1;
  Kokkos::deep_copy(identity, number);
  EngineOutput out;
  out.f = View<double* [3]>("f", static_cast<std::size_t>(system.particles().total()));
  CHECK(
      message([&] {
        subtracting->compute({system.particles(), system.list(), identity, false, View<double**>("aparam", 3, 1)}, out);
      }) == "m.dp: atom_ener together with a different aparam for every atom is not supported");
}

TEST_CASE("an inconsistent se_e3 or hybrid names the key") {
  const auto hybrid = [](const std::function<void(Json&)>& change) {
    ModelTree tree = random_model(small_hybrid()).to_tree();
    change(tree.root["model"]["descriptor"]["list"]);
    return message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); });
  };
  CHECK(hybrid([](Json&) {}) == "no error");
  CHECK(hybrid([](Json& list) {
          list[0]["sel"] = {46, 0};
        }) ==
        "m.dp: model.descriptor.list[0].@variables.davg: expected shape [2, 46, 4] (types, sum of sel, components), "
        "found "
        "[2, 138, 4]");
  CHECK(hybrid([](Json& list) { list[0]["embeddings"]["networks"][2] = nullptr; }) ==
        "m.dp: model.descriptor.list[0].embeddings.networks: entry 2 is missing");
  CHECK(hybrid([](Json& list) { list[0]["@variables"]["davg"] = list[0]["@variables"]["dstd"]; }) ==
        "m.dp: model.descriptor.list[0].@variables.davg: se_e3 with a mean direction other than zero is not supported");
  CHECK(hybrid([](Json& list) { list[1]["type"] = "hybrid"; }) ==
        "m.dp: model.descriptor.list[1]: a hybrid within a hybrid");
  CHECK(hybrid([](Json& list) { list = Json::array(); }) == "m.dp: model.descriptor.list: is empty");
  RandomModel spec = small_angles();
  spec.sel = {40, 0};
  CHECK(message([&] { DeepPotentialModel::from_tree(random_model(spec).to_tree(), "m.dp"); }) ==
        "m.dp: model.descriptor.sel: 0 neighbours of one type, by which se_e3 divides");
}

TEST_CASE("an inconsistent se_atten names the key, and what it may be elsewhere is said") {
  const auto species = [](const std::function<void(Json&)>& change, int layers = 1) {
    RandomModel spec = small_species();
    spec.attn_layer = layers;
    ModelTree tree = random_model(spec).to_tree();
    change(tree.root["model"]["descriptor"]);
    return message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); });
  };
  const std::string at = "m.dp: model.descriptor";
  CHECK(species([](Json&) {}) == "no error");
  CHECK(species([](Json& d) { d["tebd_input_mode"] = "strip"; }) ==
        at + ": tebd_input_mode 'strip' is not supported; supported: concat");
  CHECK(species([](Json& d) { d["attn_mask"] = true; }) ==
        at + ": attn_mask is not supported, nor is it by DeePMD-kit");
  CHECK(species([](Json& d) { d["use_econf_tebd"] = true; }) ==
        at + ": use_econf_tebd is not supported; supported: type embeddings of the species as unit vectors");
  CHECK(species([](Json& d) { d["lmax"] = 2; }) == at + ": lmax 2 is not supported; supported: 1");
  CHECK(species([](Json& d) { d["ln_eps"] = 0.0; }) == at + ": attn, scaling_factor and ln_eps must be positive");
  CHECK(species([](Json& d) { d["attn_layer"] = 2; }) ==
        at + ".attention_layers.attention_layers: expected 2 layers, found 1");
  CHECK(species([](Json& d) { d["@variables"]["davg"] = d["@variables"]["dstd"]; }) ==
        at + ".@variables.davg: se_atten with a davg other than zero is not supported; train with set_davg_zero: true");
  CHECK(species([](Json& d) { d["type_one_side"] = true; }) ==
        at + ".embeddings: expected a network from 6 values, found 11");
  const auto layer = [](Json& d) -> Json& { return d["attention_layers"]["attention_layers"][0]; };
  const std::string of_layer = at + ".attention_layers.attention_layers[0]";
  CHECK(species([&](Json& d) { layer(d)["attention_layer"]["num_heads"] = 2; }) ==
        of_layer + ".attention_layer: num_heads other than 1 is not supported");
  CHECK(species([&](Json& d) {
          std::swap(layer(d)["attention_layer"]["in_proj"], layer(d)["attention_layer"]["out_proj"]);
        }) ==
        of_layer + ".attention_layer.in_proj: expected a linear layer with bias from 32 values to 48, found 16 to 32");
  CHECK(species([&](Json& d) { layer(d)["attn_layer_norm"]["@variables"]["w"] = nullptr; }) ==
        of_layer + ".attn_layer_norm.@variables: keys 'w' and 'b' are needed");
  DeepPotentialModel uneven = random_model(small_species());
  uneven.deviation[1][0] = 0.5;
  CHECK(message([&] { DeepPotentialModel::from_tree(uneven.to_tree(), "m.dp"); }) ==
        at + ".@variables.dstd: differs between the neighbour slots: no meaning without slots");
  ModelTree tree = random_model(small_species()).to_tree();
  tree.root["model"]["fitting"]["atom_ener"] = {1.0, nullptr};
  CHECK(message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); }) ==
        "m.dp: model.fitting.atom_ener: is not supported where type embeddings follow the descriptor "
        "(concat_output_tebd)");
  tree = random_model(small_species()).to_tree();
  tree.root["model"]["type_map"].push_back("C");
  CHECK(message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); }) ==
        at + ".type_embedding: expected a network from 3 species, found 2");
}
