// se_atten: one embedding network and one energy network for all species, in training, in files and on ranks.
#include "plugins/deepmd/model/type_embedding.hpp"
#include "tests/plugins/deepmd/trained_water.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

using Params = DeepPotentialNetwork::Params;

Params species() {
  Params p;
  p.descriptor = DescriptorParams::Descriptor::se_atten;
  p.type_map = {"O", "H"};
  p.rcut = 4.5;
  p.neuron = {8, 16};
  p.axis_neuron = 4;
  p.fitting = {12, 12};
  return p;
}

std::string refused(Params p, const std::string& system) {
  return message([&] { Trained(p, system); });
}

}  // namespace

TEST_CASE("networks of se_atten are one for all species, its statistics those of its centres") {
  Scratch scratch("deepmd_species_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Trained pairs(
      [] {
        Params p = species();
        p.descriptor = DescriptorParams::Descriptor::se_e2_a;
        return p;
      }(),
      system);
  Trained one(species(), system);
  const DeepPotentialModel &m = one.network.shape(), &other = pairs.network.shape();
  CHECK(m.embedding.size() == 1);
  CHECK(m.fitting.size() == 1);
  CHECK(m.embedding[0].in() == 1 + 2 * 8);
  CHECK(m.type_embedding.layers.size() == 1);
  CHECK(m.type_embedding.layers[0].b.empty());
  CHECK(m.descriptor_size() == 4 * 16 + 8);
  for (const auto& row : m.mean) CHECK(row == std::array<double, 4>{0, 0, 0, 0});
  CHECK(m.fitting_bias == other.fitting_bias);
  CHECK(m.neighbours() <= other.neighbours());
  Params p = species();
  p.type_one_side = true;
  p.type_embedding = {3, 6};
  p.concat_output_tebd = false;
  Trained sided(p, system);
  CHECK(sided.network.shape().embedding[0].in() == 1 + 6);
  CHECK(sided.network.shape().type_embedding.layers.size() == 2);
  CHECK(sided.network.shape().descriptor_size() == 4 * 16);
}

TEST_CASE("slots of se_atten serve all species") {
  Scratch scratch("deepmd_species_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Params p = species();
  p.sel = {90};
  CHECK(Trained(p, system).network.shape().neighbours() == 90);
  p.sel = {40, 53};
  CHECK(Trained(p, system).network.shape().sel == std::vector<int>{47, 46});
  p.sel_short = SelShort::refuse;
  p.sel = {10};
  CHECK(refused(p, system).find("sel [10] is less than the most neighbours of an atom of the training data, [") == 0);
  CHECK(refused(p, system).find("] (all species), and DeePMD-kit drops the farthest of them") != std::string::npos);
  p.sel_short = SelShort::raise;
  p.statistics_frames = 1;
  CHECK(Trained(p, system).network.shape().neighbours() > 10);
}

TEST_CASE("se_atten is exported, read, restored and continued, with all its energies") {
  Scratch scratch("deepmd_species_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  for (const int layers : {0, 1}) {
    Params p = species();
    if (layers == 1) p.type_embedding = {2, 4, 4};
    p.attn_layer = layers;
    p.attn = 6;
    Trained first(p, system);
    FlatWeights<double> weights(first.network.shape());
    first.network.initialise(weights.refs, 3);
    if (layers == 1) {
      const Network norm = first.network.model(weights.refs).attention.networks[2];
      CHECK(norm.layers[0].w == std::vector<double>(16, 1.0));
      CHECK(norm.layers[0].b == std::vector<double>(16, 0.0));
    }
    first.network.export_model(scratch.folder.string(), weights.refs, first.context);
    const DeepPotentialModel model = first.network.model(weights.refs);
    auto expected = make_engine(model, {});
    for (const char* name : {"model.dp", "model.yaml"}) {
      const DeepPotentialModel read = DeepPotentialModel::load(scratch.file(name));
      CHECK(read.to_tree().root["model"]["descriptor"]["type"] == "dpa1");
      auto engine = make_engine(read, {});
      CHECK(relative_error(flat(evaluate(*engine, water(2)).force), flat(evaluate(*expected, water(2)).force)) == 0.0);
    }
    CHECK(first.network.citations().back().key == "Zhang2024DPA1");
    DeepPotentialNetwork again(p, first.context);
    again.restore(first.network.state());
    CHECK(again.state() == first.network.state());
    Params go_on;
    go_on.init = scratch.file("model.dp");
    Trained next(go_on, system);
    FlatWeights<double> found(next.network.shape());
    next.network.initialise(found.refs, 4);
    CHECK(found.values == weights.values);
  }
}

TEST_CASE("what se_atten cannot be is said by its keys") {
  Scratch scratch("deepmd_species_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Params p = species();
  p.tebd_dim = 3;
  p.neuron = {7, 14};
  CHECK(refused(p, system) ==
        "trained here: the first layer of the embedding network, of width 7, adds its 7 inputs to its output, among "
        "them a type embedding: this is not supported; choose another width");
  p = species();
  p.fitting = {72};
  CHECK(refused(p, system) ==
        "trained here: the first layer of the energy network, of width 72, adds its 72 inputs to its output, among "
        "them a type embedding: this is not supported; choose another width");
  p = species();
  p.descriptor = DescriptorParams::Descriptor::se_e2_a;
  p.tebd_dim = 4;
  CHECK(p.problem() == "tebd_dim, concat_output_tebd and the keys of attention belong to descriptor: se_atten");
  p.descriptor = DescriptorParams::Descriptor::se_atten;
  CHECK(p.problem().empty());
  p.type_embedding = {0};
  CHECK(p.problem() == "the widths of type_embedding must be between 1 and 1000");
  RandomModel spec = small_attention();
  DeepPotentialModel fixed = random_model(spec);
  fixed.attention.trainable_norm = false;
  save_model_tree(fixed.to_tree(), scratch.file("fixed.dp"));
  Params go_on;
  go_on.init = scratch.file("fixed.dp");
  CHECK(refused(go_on, system).find("cannot be trained further: its layer norms are fixed (trainable_ln: false)") !=
        std::string::npos);
  if constexpr (!device_is_host)
    CHECK_THROWS_WITH(make_engine(random_model(spec), {}),
                      Catch::Contains("se_atten with attention layers (attn_layer: 2) runs on CPUs, and this "
                                      "build is for a GPU"));
}

TEST_CASE("se_atten moves atoms on ranks as on one") {
  Comm world;
  SharedScratch scratch(world);
  for (const bool attention : {false, true}) {
    const std::string name = attention ? "attention" : "pairs", model = scratch.file(name + ".dp");
    if (world.root()) save_model_tree(random_model(attention ? small_attention() : small_species()).to_tree(), model);
    world.barrier();
    const std::string divided = md_run(world, scratch.file(name + "_divided"), model);
    if (!world.root()) continue;
    Comm alone(MPI_COMM_SELF);
    const auto expected = text_table(md_run(alone, scratch.file(name + "_alone"), model)), found = text_table(divided);
    REQUIRE(expected.at("step").size() > 4);
    for (const auto& [column, values] : expected)
      if (column != "step") {
        INFO(name << " " << column);
        CHECK(relative_error(found.at(column), values) < 1e-9);
      }
  }
}
