// DeePMD-kit's training input as a deck, its neighbour statistics and its table of deviations.
#include <fmt/format.h>

#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

const std::string input = R"({
  "_comment": "water",
  "model": {"type_map": ["O", "H"], "data_stat_nbatch": 20,
    "descriptor": {"type": "se_e2_a", "sel": [46, 92], "rcut_smth": 0.5, "rcut": 6.0, "neuron": [25, 50, 100],
                   "axis_neuron": 16, "type_one_side": true, "seed": 1},
    "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": true, "seed": 1}},
  "learning_rate": {"type": "exp", "decay_steps": 5000, "start_lr": 0.001, "stop_lr": 3.51e-8},
  "loss": {"type": "ener", "start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1},
  "training": {"training_data": {"systems": ["data/a", "data/b"], "batch_size": "auto"},
    "validation_data": {"systems": "data/c", "batch_size": 1, "numb_btch": 3},
    "numb_steps": 1000000, "seed": 10, "disp_file": "lcurve.out", "disp_freq": 100, "save_freq": 1000}
})";

std::string written(Stages& stages, std::string text, const std::string& from = "", const std::string& to = "") {
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  std::ofstream(stages.scratch.file("input.json")) << text;
  return stages.scratch.file("input.json");
}

}  // namespace

TEST_CASE("input.json becomes a deck with the same numbers") {
  Stages stages;
  const std::string text = deck_of_input(written(stages, input));
  const deck::Node root = deck::parse(text, "deck");
  const deck::Node train = root["stages"][0]["train"], network = train["network"];
  CHECK(root["run"]["seed"].text() == "10");
  CHECK(network["type"].text() == "deep_potential");
  const auto params = deck::read<DeepPotentialNetwork::Params>(network.without([](auto key) { return key == "type"; }));
  CHECK(params.type_map == std::vector<std::string>{"O", "H"});
  CHECK(params.sel == std::vector<int>{46, 92});
  CHECK(params.rcut == 6.0);
  CHECK(params.rcut_smth == 0.5);
  CHECK(params.neuron == std::vector<int>{25, 50, 100});
  CHECK(params.axis_neuron == 16);
  CHECK(params.one_side());
  CHECK(params.fitting == std::vector<int>{240, 240, 240});
  CHECK(deck::to_line(network["loss"]).find("start_pref_f: 1000") != std::string::npos);
  CHECK(deck::to_line(network["loss"]).find("huber") == std::string::npos);
  const std::string robust =
      deck_of_input(written(stages, input, R"("limit_pref_f": 1})", R"("limit_pref_f": 1, "use_huber": true})"));
  CHECK(robust.find("limit_pref_v: 0, use_huber: true, huber_delta: 0.01}") != std::string::npos);
  CHECK(deck::to_line(train["dataset"]) == "{type: deepmd_npy, systems: [\"data/a\", \"data/b\"]}");
  CHECK(deck::to_line(train["validation"]) == "{type: deepmd_npy, systems: [\"data/c\"]}");
  CHECK(train["batch"].text() == "1");
  CHECK(train["steps"].text() == "1000000");
  CHECK(deck::to_line(train["learning_rate"]).find("every: 5000") != std::string::npos);
  CHECK(std::stod(train["learning_rate"]["stop"].text()) == 3.51e-8);
  CHECK(train["checkpoint"]["every"].text() == "1000");
  CHECK(text.find("# model.data_stat_nbatch: not taken over.") != std::string::npos);
  CHECK(
      text.find("# training.training_data.batch_size: \"auto\" is one frame here; give as many as hold the atoms that "
                "are meant.") != std::string::npos);
  CHECK(text.find("_comment") == std::string::npos);
}

TEST_CASE("what an input leaves out has DeePMD-kit's defaults") {
  Stages stages;
  const std::string text =
      deck_of_input(written(stages, R"({"model": {"descriptor": {"type": "se_a", "resnet_dt": true}, "fitting_net": {}},
                          "training": {"training_data": {"systems": ["a"], "batch_size": 4}, "numb_steps": 10}})"));
  const deck::Node train = deck::parse(text, "deck")["stages"][0]["train"];
  const auto params =
      deck::read<DeepPotentialNetwork::Params>(train["network"].without([](auto key) { return key == "type"; }));
  CHECK(params.neuron == std::vector<int>{10, 20, 40});
  CHECK(params.axis_neuron == 4);
  CHECK_FALSE(params.one_side());
  CHECK(params.fitting == std::vector<int>{120, 120, 120});
  CHECK_FALSE(params.sel);
  CHECK(train["batch"].text() == "4");
  CHECK(std::stod(train["learning_rate"]["stop"].text()) == 1e-8);
  const std::string by_epochs = written(stages, input, "\"numb_steps\": 1000000", "\"num_epoch\": 40");
  CHECK(deck::parse(deck_of_input(by_epochs), "deck")["stages"][0]["train"]["epochs"].text() == "40");
  CHECK(text.find("# model.descriptor.resnet_dt: true is not known here, taken as false.") != std::string::npos);
}

TEST_CASE("inputs of other versions of DeePMD-kit become the same deck") {
  Stages stages;
  const auto train = [&](const std::string& text) {
    return deck::parse(deck_of_input(written(stages, text)), "deck")["stages"][0]["train"];
  };
  // Version 1: data and steps stand in `training`, the rate falls by a factor, and keys have former names.
  const std::string first = R"({"model": {"type_map": ["O", "H"],
      "descriptor": {"type": "se_a", "sel": [46, 92], "rcut": 6.0, "n_axis_neuron": 12},
      "fitting_net": {"n_neuron": [240, 240, 240]}},
    "learning_rate": {"type": "exp", "start_lr": 0.001, "decay_steps": 5000, "decay_rate": 0.95},
    "loss": {"start_pref_f": 1000}, "training": {"systems": ["a", "b"], "set_prefix": "set", "stop_batch": 400000,
    "batch_size": 2, "numb_test": 10}})";
  const deck::Node one = train(first);
  const auto params =
      deck::read<DeepPotentialNetwork::Params>(one["network"].without([](auto key) { return key == "type"; }));
  CHECK(params.axis_neuron == 12);
  CHECK(params.fitting == std::vector<int>{240, 240, 240});
  CHECK(deck::to_line(one["dataset"]) == "{type: deepmd_npy, systems: [\"a\", \"b\"]}");
  CHECK(one["batch"].text() == "2");
  CHECK(one["steps"].text() == "400000");
  CHECK(std::stod(one["learning_rate"]["stop"].text()) == Approx(1e-3 * std::pow(0.95, 80)));
  CHECK(deck_of_input(written(stages, first)).find("training.systems") == std::string::npos);
  // Version 0: all keys side by side.
  const std::string flat = R"({"use_smooth": true, "sel_a": [46, 92], "rcut_smth": 5.8, "rcut": 6.0,
    "filter_neuron": [25, 50, 100], "filter_resnet_dt": false, "n_axis_neuron": 12, "n_neuron": [240, 240, 240],
    "resnet_dt": false, "systems": ["a", "b"], "stop_batch": 400000, "batch_size": [2, 2], "start_lr": 0.001,
    "decay_steps": 5000, "decay_rate": 0.95, "start_pref_f": 500, "limit_pref_e": 1, "disp_freq": 100, "seed": 7})";
  const deck::Node zero = train(flat);
  const auto old =
      deck::read<DeepPotentialNetwork::Params>(zero["network"].without([](auto key) { return key == "type"; }));
  CHECK(old.rcut_smth == 5.8);
  CHECK(old.sel == std::vector<int>{46, 92});
  CHECK(old.neuron == std::vector<int>{25, 50, 100});
  CHECK(old.axis_neuron == 12);
  CHECK(old.fitting == std::vector<int>{240, 240, 240});
  CHECK(zero["network"]["resnet_dt"].text() == "false");
  CHECK(deck::to_line(zero["network"]["loss"]).find("start_pref_f: 500") != std::string::npos);
  for (const char* key : {"dataset", "steps", "batch", "learning_rate"})
    CHECK(deck::to_line(zero[key]) == deck::to_line(one[key]));
  CHECK_THROWS_WITH(deck_of_input(written(stages, flat, "\"use_smooth\": true", "\"use_smooth\": false")),
                    Catch::Contains("use_smooth is not true: the descriptor loc_frame is not known here"));
  // Version 3.1: the end of the rate as a share of its start; a training that is shorter than a decay has more of them.
  const deck::Node ratio = train(R"({"model": {"descriptor": {"type": "se_e2_a"}, "fitting_net": {}},
      "learning_rate": {"start_lr": 0.002, "stop_lr_ratio": 1e-3},
      "training": {"training_data": {"systems": ["a"], "batch_size": 1}, "numb_steps": 900}})");
  CHECK(std::stod(ratio["learning_rate"]["stop"].text()) == Approx(2e-6));
  CHECK(ratio["learning_rate"]["every"].text() == "10");
}

TEST_CASE("a folder that is named alone stands for the systems in it") {
  Stages stages;
  const std::string data = stages.scratch.file("data");
  for (const std::string part : {"/b/x", "/a"}) {
    std::filesystem::create_directories(data + part);
    std::ofstream(data + part + "/type.raw") << "0\n";
  }
  const std::string text = deck_of_input(written(stages, input, "\"data/c\"", '"' + data + '"'));
  CHECK(deck::to_line(deck::parse(text, "deck")["stages"][0]["train"]["validation"]) ==
        "{type: deepmd_npy, systems: [\"" + data + "/a\", \"" + data + "/b/x\"]}");
}

TEST_CASE("a hybrid's list becomes the deck's") {
  Stages stages;
  const std::string text =
      deck_of_input(written(stages, R"({"model": {"type_map": ["Si"], "descriptor": {"type": "hybrid",
      "list": [{"type": "se_e2_a", "sel": [60], "rcut": 6.0, "neuron": [25, 50, 100], "axis_neuron": 12,
                "precision": "float32"},
               {"type": "se_e3", "sel": [20], "rcut": 4.0, "rcut_smth": 1.5, "neuron": [4, 8], "precision": "float32",
                "set_davg_zero": false}]}, "fitting_net": {"numb_aparam": 2}},
      "training": {"training_data": {"systems": ["a"], "batch_size": 1}, "numb_steps": 10}})"));
  const deck::Node train = deck::parse(text, "deck")["stages"][0]["train"];
  const auto params =
      deck::read<DeepPotentialNetwork::Params>(train["network"].without([](auto key) { return key == "type"; }));
  REQUIRE(params.hybrid.size() == 2);
  const DescriptorParams &first = params.hybrid[0], &second = params.hybrid[1];
  CHECK(first.descriptor == DescriptorParams::Descriptor::se_e2_a);
  CHECK(first.axis_neuron == 12);
  CHECK_FALSE(first.one_side());
  CHECK(second.descriptor == DescriptorParams::Descriptor::se_e3);
  CHECK(second.sel == std::vector<int>{20});
  CHECK(second.rcut == 4.0);
  CHECK(second.rcut_smth == 1.5);
  CHECK(second.neuron == std::vector<int>{4, 8});
  CHECK(params.precision == DType::f32);
  CHECK(params.numb_fparam == 0);
  CHECK(params.numb_aparam == 2);
  CHECK(text.find("# model.descriptor.list[1].set_davg_zero: not taken over.") != std::string::npos);
  const std::string mixed = R"({"model": {"descriptor": {"type": "hybrid", "list": [{"type": "se_e2_r"},
      {"type": "se_at", "precision": "float32"}]}, "fitting_net": {}},
      "training": {"training_data": {"systems": ["a"], "batch_size": 1}, "numb_steps": 10}})";
  CHECK(deck_of_input(written(stages, mixed))
            .find("# model.descriptor.list: one precision serves all descriptors here, taken as float64.") !=
        std::string::npos);
}

TEST_CASE("se_atten and the type embedding of either form become the deck's") {
  Stages stages;
  const auto params = [&](const std::string& embedding, const std::string& keys) {
    const std::string text = deck_of_input(written(stages, R"({"model": {"type_map": ["O", "H"], )" + embedding +
                                                               R"("descriptor": {"type": "se_atten", "sel": 120,
      "rcut": 6.0, "neuron": [25, 50, 100], "axis_neuron": 16, )" +
                                                               keys + R"( "seed": 1},
      "fitting_net": {}}, "training": {"training_data": {"systems": ["a"], "batch_size": 1}, "numb_steps": 10}})"));
    const deck::Node train = deck::parse(text, "deck")["stages"][0]["train"];
    return deck::read<DeepPotentialNetwork::Params>(train["network"].without([](auto key) { return key == "type"; }));
  };
  const auto table = params("", "\"tebd_dim\": 6, \"concat_output_tebd\": false,");
  CHECK(table.descriptor == DescriptorParams::Descriptor::se_atten);
  CHECK(table.sel == std::vector<int>{120});
  CHECK_FALSE(table.one_side());
  CHECK(table.tebd_dim == 6);
  CHECK(table.type_embedding.empty());
  CHECK_FALSE(table.concat_output_tebd);
  CHECK(table.attn_layer == 2);
  CHECK(table.attn == 128);
  CHECK_FALSE(table.smooth_type_embedding);
  CHECK_FALSE(table.temperature);
  const auto network =
      params(R"("type_embedding": {"neuron": [2, 4, 8], "resnet_dt": false, "seed": 1}, )", R"("type_one_side": true,
                              "attn_layer": 1, "attn": 64, "attn_dotr": false, "attn_mask": false, "normalize": false,
                              "smooth_type_embedding": true, "temperature": 0.5, "scaling_factor": 2.0,)");
  CHECK(network.type_embedding == std::vector<int>{2, 4, 8});
  CHECK(network.one_side());
  CHECK(network.concat_output_tebd);
  CHECK(network.attn_layer == 1);
  CHECK(network.attn == 64);
  CHECK_FALSE(network.attn_dotr);
  CHECK_FALSE(network.normalize);
  CHECK(network.smooth_type_embedding);
  CHECK(network.temperature == 0.5);
  CHECK(network.scaling_factor == 2.0);
  CHECK(params("", R"("use_tebd_bias": true,)").use_tebd_bias);
}

TEST_CASE("type embedding beside se_e2_a becomes the deck's") {
  Stages stages;
  const auto params = [&](const std::string& embedding, const std::string& descriptor) {
    const std::string text =
        deck_of_input(written(stages, R"({"model": {"type_map": ["O", "H"], "type_embedding": {)" + embedding +
                                          R"(}, "descriptor": {"type": ")" + descriptor +
                                          R"(", "sel": [46, 92], "rcut": 6.0}, "fitting_net": {}},
      "training": {"training_data": {"systems": ["a"], "batch_size": 1}, "numb_steps": 10}})"));
    const deck::Node train = deck::parse(text, "deck")["stages"][0]["train"];
    return deck::read<DeepPotentialNetwork::Params>(train["network"].without([](auto key) { return key == "type"; }));
  };
  const auto plain = params(R"("seed": 1)", "se_e2_a");
  CHECK(plain.descriptor == DescriptorParams::Descriptor::se_e2_a);
  CHECK(plain.type_embedding == std::vector<int>{8});
  CHECK_FALSE(plain.one_side());
  CHECK_FALSE(plain.tebd_resnet_dt);
  CHECK_FALSE(plain.use_tebd_bias);
  CHECK(plain.problem().empty());
  const auto factors = params(R"("neuron": [2, 4, 8], "resnet_dt": true, "use_tebd_bias": true)", "se_a");
  CHECK(factors.type_embedding == std::vector<int>{2, 4, 8});
  CHECK(factors.tebd_resnet_dt);
  CHECK(factors.use_tebd_bias);
  CHECK_THROWS_WITH(params("", "se_e2_r"),
                    Catch::Contains("model.type_embedding: with descriptor se_e2_r it is not known here; se_e2_a and "
                                    "se_atten take it"));
}

TEST_CASE("an input that means another model is refused") {
  Stages stages;
  const auto says = [&](const std::string& from, const std::string& to, const std::string& message) {
    CHECK_THROWS_WITH(deck_of_input(written(stages, input, from, to)), Catch::Contains(message));
  };
  says("\"se_e2_a\"", "\"se_atten_v2\"",
       "model.descriptor.type: 'se_atten_v2' is not known here; these are: se_e2_a, se_a, se_e2_r, se_r, se_e3, se_at, "
       "se_a_3be, se_t, se_atten, dpa1");
  says("\"seed\": 1}", "\"exclude_types\": [[0, 1]]}",
       "model.descriptor.exclude_types: [[0,1]] specifies a model that is not supported; leave the key out");
  says("\"data_stat_nbatch\": 20", "\"use_srtab\": \"zbl.txt\"",
       "model.use_srtab: \"zbl.txt\" specifies a model that is not supported; leave the key out");
  says("\"se_e2_a\"", "\"se_atten\", \"set_davg_zero\": false",
       "model.descriptor.set_davg_zero: 'false' is not known here; these are: true");
  says("\"se_e2_a\"", "\"se_atten\", \"attn_mask\": true",
       "model.descriptor.attn_mask: 'true' is not known here; these are: false");
  says("\"se_e2_a\"", "\"se_atten\", \"tebd_input_mode\": \"strip\"",
       "model.descriptor.tebd_input_mode: 'strip' is not known here; these are: concat");
  says("\"data_stat_nbatch\": 20", "\"type_embedding\": {\"activation_function\": \"gelu\"}",
       "model.type_embedding.activation_function: 'gelu' is not known here; these are: tanh");
  says("\"exp\"", "\"cosine\"", "learning_rate.type: 'cosine' is not known here; these are: exp");
  says("\"rcut\": 6.0", "\"rcut\": \"six\"", "model.descriptor.rcut: cannot be read: \"six\"");
  says("[\"data/a\", \"data/b\"]", "[]", "training.training_data.systems names no folder of data");
  says("\"numb_steps\": 1000000,", "", "training.numb_steps is missing; give the number of steps");
  says("\"learning_rate\": {", "\"learning_rate\": 3, \"x\": {",
       "learning_rate: expected a map with DeePMD-kit's keys");
  says("\"numb_steps\"", "numb_steps", ": is no JSON: ");
}

TEST_CASE("neighbours and deviations of data are those of plain sums") {
  Stages stages;
  const std::string file = stages.scratch.file("three.xyz");
  std::ofstream(file)
      << "3\nLattice=\"20 0 0 0 20 0 0 0 20\" Properties=species:S:1:pos:R:3\nO 1 1 1\nH 1 1 2.5\nH 1 3 1\n"
         "2\nLattice=\"20 0 0 0 20 0 0 0 20\" Properties=species:S:1:pos:R:3\nO 1 1 1\nH 1 1 2.2\n";
  NeighbourOptions options;
  options.systems = {file};
  options.rcut = 2.2;
  const std::string text = neighbour_statistics(options);
  CHECK(text.find("2 frames, cut-off 2.2 Å, species: O, H\nmin_nbor_dist: 1.200000\nmax_nbor_size: [1, 2]\n") == 0);

  DeviationOptions deviation;
  deviation.models = {stages.model(1), stages.model(2), stages.model(3)};
  deviation.system = file;
  deviation.output = stages.scratch.file("model_devi.out");
  CHECK(write_model_deviation(deviation).find("2 frames, largest deviation of a force ") == 0);
  std::ifstream in(deviation.output);
  std::string line;
  std::getline(in, line);
  CHECK(line ==
        "#       step         max_devi_v         min_devi_v         avg_devi_v         max_devi_f         min_devi_f   "
        "      avg_devi_f");
  const LabelledData data = LabelledData::load_positions(file);
  for (std::size_t k = 0; k < 2; ++k) {
    double columns[7];
    for (double& value : columns) in >> value;
    CHECK(columns[0] == static_cast<double>(k));
    std::vector<Evaluation> all;
    for (const auto& path : deviation.models) {
      const auto engine = make_engine(DeepPotentialModel::load(path), {});
      all.push_back(
          evaluate(*engine, data.frame(k).x, data.types(k, engine->model().type_map, path), data.frame(k).box));
    }
    double largest = 0.0, mean_of_atoms = 0.0;
    for (std::size_t i = 0; i < data.frame(k).x.size(); ++i) {
      double variance = 0.0;
      for (std::size_t q = 0; q < 3; ++q) {
        double mean = 0.0;
        for (const auto& e : all) mean += e.force[i][q] / 3;
        for (const auto& e : all) variance += std::pow(e.force[i][q] - mean, 2) / 3;
      }
      largest = std::max(largest, std::sqrt(variance));
      mean_of_atoms += std::sqrt(variance) / static_cast<double>(data.frame(k).x.size());
    }
    CHECK(columns[4] == Approx(largest).epsilon(1e-8));
    CHECK(columns[6] == Approx(mean_of_atoms).epsilon(1e-8));
  }
  const std::string folder = stages.scratch.file("nameless");
  LabelledFrame labelled = data.frame(1);
  labelled.energy = 0.0;
  labelled.force = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  labelled.virial.assign(9, 0.0);
  write_system(folder, {"O", "H"}, data.own_types(1), {labelled});
  std::filesystem::remove(folder + "/type_map.raw");
  options.systems = {folder};
  CHECK_THROWS_WITH(neighbour_statistics(options), folder + ": names no species; give them with --type-map");
  options.type_map = {"O", "H"};
  CHECK(neighbour_statistics(options).find("max_nbor_size: [1, 1]") != std::string::npos);
  deviation.models.resize(1);
  CHECK_THROWS_WITH(write_model_deviation(deviation), "a model deviation takes two models or more; 1 is given");
}
