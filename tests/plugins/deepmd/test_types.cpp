// se_e2_a with type embedding: one embedding network and one energy network for all species, in training, in files and
// on ranks.
#include "plugins/deepmd/model/type_embedding.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "tests/plugins/deepmd/trained_water.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

using Params = DeepPotentialNetwork::Params;

Params typed() {
  Params p;
  p.type_map = {"O", "H"};
  p.rcut = 4.5;
  p.neuron = {8, 16};
  p.axis_neuron = 4;
  p.fitting = {12, 12};
  p.type_embedding = {6};
  return p;
}

/// Forces of a model on water.
std::vector<double> forces(const DeepPotentialModel& model) {
  auto engine = make_engine(model, {});
  return flat(evaluate(*engine, water(2)).force);
}

}  // namespace

TEST_CASE("networks of se_e2_a with type embedding are one for all species, its statistics those without") {
  Scratch scratch("deepmd_types_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Params p = typed();
  p.type_embedding.clear();
  Trained plain(p, system), one(typed(), system);
  const DeepPotentialModel &m = one.network.shape(), &other = plain.network.shape();
  CHECK(m.embedding.size() == 1);
  CHECK(m.fitting.size() == 1);
  CHECK(m.embedding[0].in() == 1 + 6);
  CHECK(m.type_embedding.layers[0].activation.kind == Activation::Kind::tanh);
  CHECK(m.type_embedding.layers[0].b.empty());
  CHECK(m.descriptor_size() == 4 * 16 + 6);
  CHECK(m.mean == other.mean);
  CHECK(m.mean[0][0] != 0.0);
  CHECK(m.deviation == other.deviation);
  CHECK(m.sel == other.sel);
  CHECK(m.fitting_bias == other.fitting_bias);
  p = typed();
  p.type_one_side = false;
  p.type_embedding = {4, 4};
  p.tebd_resnet_dt = p.use_tebd_bias = true;
  Trained sided(p, system);
  const DeepPotentialModel& s = sided.network.shape();
  CHECK(s.embedding[0].in() == 1 + 2 * 4);
  CHECK(s.type_embedding.layers[0].idt.size() == 4);  // from two species to 4 values
  CHECK(s.type_embedding.layers[1].b.size() == 4);
}

TEST_CASE(
    "a model with type embedding is exported, read, restored and continued, and DeePMD-kit's part of the file too") {
  Scratch scratch("deepmd_types_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Params p = typed();
  p.type_embedding = {4, 4};
  p.tebd_resnet_dt = p.use_tebd_bias = true;
  p.type_one_side = false;
  Trained first(p, system);
  FlatWeights<double> weights(first.network.shape());
  first.network.initialise(weights.refs, 3);
  first.network.export_model(scratch.folder.string(), weights.refs, first.context);
  const std::vector<double> expected = forces(first.network.model(weights.refs));
  for (const char* name : {"model.dp", "model.yaml"}) {
    CHECK(relative_error(forces(DeepPotentialModel::load(scratch.file(name))), expected) == 0.0);
    ModelTree tree = load_model_tree(scratch.file(name));
    const auto& descriptor = tree.root["model"]["descriptor"];
    CHECK(descriptor["type"] == "se_e2_a");
    CHECK_FALSE(descriptor.contains("type_embedding"));
    CHECK(descriptor["embeddings"]["networks"].size() == 4);
    CHECK(tree.root["model"]["fitting"]["nets"]["networks"].size() == 2);
    CHECK_FALSE(tree.root["model"]["fitting"]["mixed_types"].get<bool>());
    tree.root.erase("shared_model");
    const DeepPotentialModel by_kit = DeepPotentialModel::from_tree(tree, name);
    CHECK(by_kit.type_embedding.layers.empty());
    CHECK(relative_error(forces(by_kit), expected) < 1e-13);
  }
  DeepPotentialNetwork again(p, first.context);
  again.restore(first.network.state());
  CHECK(again.state() == first.network.state());
  CHECK(again.parameters().size() == first.network.parameters().size());
  Params go_on;
  go_on.init = scratch.file("model.dp");
  Trained next(go_on, system);
  FlatWeights<double> found(next.network.shape());
  next.network.initialise(found.refs, 4);
  CHECK(found.values == weights.values);
}

TEST_CASE("type embeddings that are not possible are refused by their keys") {
  Params p = typed();
  CHECK(p.problem().empty());
  p.descriptor = DescriptorParams::Descriptor::se_e3;
  CHECK(p.problem() == "type_embedding belongs to descriptor: se_e2_a or se_atten");
  p = typed();
  p.type_embedding.clear();
  p.tebd_resnet_dt = true;
  CHECK(p.problem() == "tebd_resnet_dt and use_tebd_bias belong to a type_embedding");
  p.tebd_resnet_dt = false;
  p.use_tebd_bias = true;
  CHECK(p.problem() == "tebd_resnet_dt and use_tebd_bias belong to a type_embedding");
  p.descriptor = DescriptorParams::Descriptor::se_atten;
  CHECK(p.problem().empty());
  const std::string both =
      "{hybrid: [{descriptor: se_atten}, {descriptor: se_e2_a, type_embedding: [8]}], type_map: [O, H]}";
  CHECK_THROWS_WITH(deck::read<Params>(deck::parse(both, "deck")),
                    Catch::Contains("hybrid: se_e2_a with type_embedding and se_atten cannot be combined; leave out "
                                    "type_embedding of se_e2_a"));
  RandomModel spec = small_types();
  ModelTree tree = random_model(spec).to_tree();
  tree.root["shared_model"]["descriptor"]["type_one_side"] = false;
  CHECK(message([&] { DeepPotentialModel::from_tree(tree, "m.dp"); }) ==
        "m.dp: shared_model.descriptor.embeddings: expected a network from 11 values, found 6");
}

TEST_CASE("a model with type embedding moves atoms on ranks as on one") {
  Comm world;
  SharedScratch scratch(world);
  const std::string model = scratch.file("types.dp");
  if (world.root()) save_model_tree(random_model(small_types()).to_tree(), model);
  world.barrier();
  const std::string divided = md_run(world, scratch.file("divided"), model);
  if (!world.root()) return;
  Comm alone(MPI_COMM_SELF);
  const auto expected = text_table(md_run(alone, scratch.file("alone"), model)), found = text_table(divided);
  REQUIRE(expected.at("step").size() > 4);
  for (const auto& [column, values] : expected)
    if (column != "step") CHECK(relative_error(found.at(column), values) < 1e-9);
}
