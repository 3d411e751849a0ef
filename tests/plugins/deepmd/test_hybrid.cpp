// A hybrid of descriptors with cut-offs of their own, in training and on ranks.
#include "tests/plugins/deepmd/trained_water.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

using Params = DeepPotentialNetwork::Params;

DescriptorParams descriptor(DescriptorParams::Descriptor kind, double rcut, const std::vector<int>& neuron) {
  DescriptorParams out;
  out.descriptor = kind;
  out.rcut = rcut;
  out.neuron = neuron;
  out.axis_neuron = 4;
  return out;
}

Params hybrid() {
  using Descriptor = DescriptorParams::Descriptor;
  Params p;
  p.type_map = {"O", "H"};
  p.hybrid = {descriptor(Descriptor::se_e3, 3.0, {5, 10}), descriptor(Descriptor::se_e2_a, 4.5, {8, 16}),
              descriptor(Descriptor::se_e2_r, 3.5, {6})};
  p.fitting = {12, 12};
  return p;
}

}  // namespace

TEST_CASE("statistics of a hybrid's descriptors are those of each by itself") {
  Scratch scratch("deepmd_hybrid_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  const Params params = hybrid();
  Trained all(params, system);
  const DeepPotentialModel& m = all.network.shape();
  CHECK(m.rcut == 4.5);
  CHECK(m.descriptor_size() == 10 + 4 * 16 + 6);
  REQUIRE(m.parts.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    Params one;
    static_cast<DescriptorParams&>(one) = params.hybrid[k];
    one.type_map = params.type_map;
    Trained single(one, system);
    const DeepPotentialModel &part = m.parts[k], &expected = single.network.shape();
    CHECK(part.sel == expected.sel);
    CHECK(part.mean == expected.mean);
    CHECK(part.deviation == expected.deviation);
    for (std::size_t t = 0; t < 2; ++t) CHECK(m.sel[t] >= part.sel[t]);
    CHECK(m.fitting_bias == expected.fitting_bias);
  }
}

TEST_CASE("a hybrid is exported, read, restored and continued") {
  Scratch scratch("deepmd_hybrid_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Trained first(hybrid(), system);
  FlatWeights<double> weights(first.network.shape());
  first.network.initialise(weights.refs, 3);
  first.network.export_model(scratch.folder.string(), weights.refs, first.context);
  const DeepPotentialModel model = first.network.model(weights.refs);
  auto expected = make_engine(model, {});
  for (const char* name : {"model.dp", "model.yaml"}) {
    auto engine = make_engine(DeepPotentialModel::load(scratch.file(name)), {});
    CHECK(relative_error(flat(evaluate(*engine, water(2)).force), flat(evaluate(*expected, water(2)).force)) == 0.0);
  }
  DeepPotentialNetwork again(hybrid(), first.context);
  again.restore(first.network.state());
  CHECK(again.state() == first.network.state());
  CHECK(again.shape().rcut == 4.5);
  CHECK(again.model(weights.refs).to_tree().arrays.size() == model.to_tree().arrays.size());

  Params go_on;
  go_on.init = scratch.file("model.dp");
  Trained next(go_on, system);
  FlatWeights<double> found(next.network.shape());
  next.network.initialise(found.refs, 4);
  CHECK(found.values == weights.values);
}

TEST_CASE("frame and atomic parameters are normalised, stored and needed") {
  Scratch scratch("deepmd_parameters_" + std::to_string(Comm().rank()));
  const std::vector<Configuration> c = {water(2, 3), water(2, 5)};
  auto frames = labelled(c, uneven_model(small_model(9)));
  const std::size_t atoms = c[0].x.size();
  frames[0].fparam = {300.0, 1.0};
  frames[1].fparam = {500.0, 1.0};
  for (auto& frame : frames)
    for (std::size_t i = 0; i < atoms; ++i) frame.aparam.push_back(i % 2 ? 0.5 : -0.5);
  Params params = hybrid();
  params.numb_fparam = 2;
  params.numb_aparam = 1;
  Comm alone(MPI_COMM_SELF);
  Log log;
  Timing timing;
  Context context{alone, log, timing};
  struct Samples : train::Dataset {
    std::vector<train::SamplePtr> list;
    void open(Context&) override {}
    std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
    std::int64_t size() const override { return std::ssize(list); }
    std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
      std::vector<train::SamplePtr> out;
      for (const auto id : ids) out.push_back(list[id]);
      return out;
    }
  } data;
  for (std::int64_t k = 0; k < 2; ++k) data.list.push_back(make_sample(k, {"O", "H"}, c[0].types, frames[k]));
  DeepPotentialNetwork network(params, context);
  network.fit_statistics(data, context);
  const DeepPotentialModel& m = network.shape();
  CHECK(m.fparam.mean == std::vector<double>{400.0, 1.0});
  CHECK(m.fparam.inverse_deviation[0] == Approx(0.01));
  CHECK(m.fparam.inverse_deviation[1] == Approx(100.0));  // a deviation of 0 counts as 0.01
  CHECK(m.aparam.inverse_deviation[0] == Approx(2.0));

  FlatWeights<double> weights(m);
  network.initialise(weights.refs, 3);
  network.export_model(scratch.folder.string(), weights.refs, context);
  EngineOptions options;
  options.fparam = {0.0, 0.0};
  options.aparam = {0.0};
  auto engine = make_engine(DeepPotentialModel::load(scratch.file("model.dp")), options);
  auto quantities = network.parity_quantities();
  network.add_parity(data.list, weights.refs, quantities);
  for (std::size_t k = 0; k < 2; ++k) {
    engine->set_fparam(frames[k].fparam);
    const Evaluation e = cambium::deepmd::evaluate(*engine, c[k].x, c[k].types, c[k].box, frames[k].aparam);
    CHECK(quantities[0].predicted[k] == Approx(e.energy / static_cast<double>(atoms)).epsilon(1e-11));
  }
  DeepPotentialNetwork again(params, context);
  again.restore(network.state());
  CHECK(again.shape().fparam.mean == m.fparam.mean);

  frames[1].fparam.clear();
  data.list[1] = make_sample(1, {"O", "H"}, c[0].types, frames[1]);
  CHECK_THROWS_WITH(DeepPotentialNetwork(params, context).fit_statistics(data, context),
                    Catch::Contains("the energy network takes 2 value(s) of fparam for this frame, sample 1 has 0"));
}

TEST_CASE("a hybrid moves atoms on ranks as on one") {
  Comm world;
  SharedScratch scratch(world);
  if (world.root()) save_model_tree(random_model(small_hybrid()).to_tree(), scratch.file("m.dp"));
  world.barrier();
  const std::string divided = md_run(world, scratch.file("divided"), scratch.file("m.dp"));
  if (!world.root()) return;
  Comm alone(MPI_COMM_SELF);
  const auto expected = text_table(md_run(alone, scratch.file("alone"), scratch.file("m.dp"))),
             found = text_table(divided);
  REQUIRE(expected.at("step").size() > 4);
  for (const auto& [name, values] : expected)
    if (name != "step") {
      INFO(name);
      CHECK(relative_error(found.at(name), values) < 1e-9);
    }
}
