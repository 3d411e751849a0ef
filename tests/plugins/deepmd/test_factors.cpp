// Low-rank factors of a Deep Potential: full rank is the whole network, in files, in training and in simulations.
#include "core/train/low_rank/decompose.hpp"
#include "plugins/deepmd/engine/few_bits.hpp"
#include "plugins/deepmd/model/factors.hpp"
#include "tests/plugins/deepmd/trained_water.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

std::vector<std::int64_t> full_ranks(const DeepPotentialModel& model) {
  std::vector<std::int64_t> out;
  for (const auto& place : factor_places(model, true)) out.push_back(std::min(place.layer->in, place.layer->out));
  return out;
}

std::vector<std::int64_t> small_ranks(const DeepPotentialModel& model) {
  return std::vector<std::int64_t>(factor_places(model, true).size(), 3);
}

/// Energies, forces and virials of the training graph.
std::vector<double> trained_values(const DeepPotentialModel& model) {
  FlatWeights<double> weights(model);
  copy_weights<double>(model, weights.refs);
  ModelPass<double> pass(model);
  Batch batch;
  const std::vector<FramePtr> frames{frame_of(water(2, 3), model)};
  batch.assign(frames, model.ntypes());
  pass.evaluate(batch, bind_weights<double>(model, weights.refs));
  std::vector<double> out{pass.energy(0)};
  for (int i = 0; i < batch.atoms(); ++i) out.insert(out.end(), pass.force(i), pass.force(i) + 3);
  out.insert(out.end(), pass.virial(0).begin(), pass.virial(0).end());
  return out;
}

std::vector<double> simulated_values(const DeepPotentialModel& model, const EngineOptions& options = {}) {
  const auto engine = make_engine(model, options);
  const Evaluation e = evaluate(*engine, water(2, 3));
  std::vector<double> out = flat(e.force);
  out.push_back(e.energy);
  return out;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("factors of full rank are the whole network, smaller ones are not") {
  for (const RandomModel& spec : {small_model(), small_hybrid(), small_species(), small_attention()}) {
    const DeepPotentialModel whole = uneven_model(spec);
    DeepPotentialModel full = whole, few = whole;
    set_ranks(full, full_ranks(whole), true, true);
    set_ranks(few, small_ranks(whole), true, true);
    CHECK(relative_error(trained_values(full), trained_values(whole)) < 1e-12);
    CHECK(relative_error(trained_values(few), trained_values(whole)) > 1e-3);
  }
}

TEST_CASE("the engine multiplies by factors where they need fewer multiplications") {
  for (const RandomModel& spec : {small_model(), small_hybrid(), small_species(), small_attention()}) {
    DeepPotentialModel few = uneven_model(spec);
    set_ranks(few, small_ranks(few), true, true);
    DeepPotentialModel product = few;
    for (const auto& place : factor_places(product, true)) place.layer->rank = 0;
    CHECK(relative_error(simulated_values(few), simulated_values(product)) < 1e-12);
    CHECK(relative_error(trained_values(few), trained_values(product)) < 1e-12);
    EngineOptions mixed;
    mixed.precision = EnginePrecision::mixed;
    CHECK(relative_error(simulated_values(few, mixed), simulated_values(product)) < 1e-4);
    const auto a = make_engine(few, {}), b = make_engine(product, {});
    CHECK(a->fitting_flops(0) < 0.5 * b->fitting_flops(0));
    DeepPotentialModel full = product;
    set_ranks(full, full_ranks(full), true, true);
    CHECK(make_engine(full, {})->fitting_flops(0) == b->fitting_flops(0));  // not by so many factors
  }
}

TEST_CASE("tables replace embedding networks with factors as those without") {
  DeepPotentialModel few = uneven_model(small_model());
  set_ranks(few, small_ranks(few), true, true);
  EngineOptions tables;
  tables.compress_tolerance = 1e-9;
  CHECK(relative_error(simulated_values(few, tables), simulated_values(few)) < 1e-7);
}

TEST_CASE("factors in model files, whose product other programs read") {
  const Scratch scratch("deepmd_factors_" + std::to_string(Comm().rank()));
  for (const RandomModel& spec : {small_model(), small_species()}) {
    DeepPotentialModel few = uneven_model(spec);
    set_ranks(few, small_ranks(few), true, true);
    for (const char* name : {"model.dp", "model.yaml"}) {
      save_model_tree(few.to_tree(), scratch.file(name));
      const auto read = DeepPotentialModel::load(scratch.file(name));
      const auto places = factor_places(read, true);
      const auto own = factor_places(std::as_const(few), true);
      REQUIRE(places.size() == own.size());
      for (std::size_t k = 0; k < places.size(); ++k) {
        CHECK(places[k].layer->rank == 3);
        CHECK(places[k].layer->enter == own[k].layer->enter);
        CHECK(places[k].layer->leave == own[k].layer->leave);
      }
      CHECK(simulated_values(read) == simulated_values(few));
    }
  }
  DeepPotentialModel other = uneven_model(small_model());
  set_ranks(other, small_ranks(other), true, true);
  other.fitting[0].layers[1].w[0] += 0.1;
  CHECK(holds(message([&] { DeepPotentialModel::from_tree(other.to_tree(), "model.dp"); }),
              "w is not the product of enter and leave; remove both if w was trained further"));
  other.fitting[0].layers[1].rank = 2;
  other.fitting[0].layers[1].enter.resize(2 * 24);
  ModelTree tree = other.to_tree();
  for (Array& array : tree.arrays)
    if (array.shape == std::vector<std::int64_t>{24, 2}) array.shape = {12, 4};
  CHECK(holds(message([&] { DeepPotentialModel::from_tree(tree, "model.dp"); }),
              "factors of shapes [12, 4] and [2, 24] do not give a matrix of 24 x 24"));
}

TEST_CASE("quantised matrices and factors exclude each other", "[messages]") {
  DeepPotentialModel few = uneven_model(small_model());
  set_ranks(few, small_ranks(few), true, true);
  const auto engine = make_engine(few, {});
  CHECK(message([&] { set_few_bits(*engine, {}, EnginePrecision::float64); }) ==
        "quantize: the energy networks of " + few.source +
            " have factors, which quantised matrices would replace by their products; take the model without "
            "factor_ranks, or remove quantize");
}

namespace {

DeepPotentialNetwork::Params keys(std::vector<std::int64_t> ranks, bool tables = false) {
  DeepPotentialNetwork::Params p;
  p.rcut = 4.0;
  p.neuron = {8, 16};
  p.axis_neuron = 4;
  p.fitting = {24, 24};
  p.ranks = std::move(ranks);
  if (tables) p.simulation.compress = 1e-8;
  return p;
}

struct Weights {
  train::FlatLayout layout;
  train::FlatBuffer values;
  explicit Weights(const train::Network& network)
      : layout(network.parameters(), 1 << 20), values(layout, network.dtype()) {}
};

}  // namespace

TEST_CASE("layers of a Deep Potential that a stage compress factorises") {
  const Scratch scratch("deepmd_factors_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Trained whole(keys({}), system), tables(keys({}, true), system), few(keys({3, 0, 5, 4, 0, 6}), system);
  const auto layers = whole.network.factor_layers(), fitting = tables.network.factor_layers(),
             factors = few.network.factor_layers();
  const auto infos = few.network.parameters();
  REQUIRE(layers.size() == 6);
  REQUIRE(fitting.size() == 4);
  CHECK(layers[0].name == "embedding.0.1");
  CHECK(layers[2].name == "fitting.0.0");
  CHECK(fitting[0].name == "fitting.0.0");
  CHECK(layers[2].inputs == 64);
  CHECK(layers[2].places == 2 * 8);   // oxygens of a frame, energy and gradient
  CHECK(layers[4].places == 2 * 16);  // hydrogens
  CHECK(layers[0].places > 100);      // pairs
  for (const auto& layer : factors) {
    const auto shape = [&](int k) { return infos[static_cast<std::size_t>(k)].shape; };
    if (layer.rank == 0) {
      CHECK(shape(layer.core) == std::vector{layer.inputs, layer.outputs});
    } else {
      CHECK(shape(layer.enter) == std::vector{layer.inputs, layer.rank});
      CHECK(shape(layer.leave) == std::vector{layer.rank, layer.outputs});
    }
  }
  DeepPotentialNetwork again(keys({3, 0, 5, 4, 0, 6}), whole.context);
  again.restore(few.network.state());
  CHECK(again.factor_layers()[0].places == factors[0].places);
  CHECK(message([&] {
          Trained(keys({1, 2}), system);
        }) == "factor_ranks: 2 values for 6 layers; give one for each, 0 for a full one");
}

TEST_CASE("a stage compress fills factors and measures steps of simulations") {
  const Scratch scratch("deepmd_factors_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Trained whole(keys({}), system), full(keys({8, 8, 24, 24, 24, 24}), system), few(keys({2, 2, 3, 3, 3, 3}), system);
  Weights w(whole.network), f(full.network), g(few.network);
  whole.network.initialise(w.values.views(), 3);
  train::fill_factors(whole.network.factor_layers(), w.values, full.network.factor_layers(), f.values);
  train::fill_factors(whole.network.factor_layers(), w.values, few.network.factor_layers(), g.values);
  const auto values = [](Trained& of, Weights& with) {
    return simulated_values(of.network.model(with.values.views()));
  };
  CHECK(relative_error(values(full, f), values(whole, w)) < 1e-12);
  CHECK(relative_error(values(few, g), values(whole, w)) > 1e-3);
  const std::int64_t id = 0;
  const auto samples = few.data.read(std::span(&id, 1));
  const auto views = g.values.views();
  const auto pass = few.network.simulation_pass(samples, views);
  REQUIRE(pass);
  pass();
  CHECK(few.network.traits().factors == &few.network);
}

TEST_CASE("factors of a model that a training starts from") {
  const Scratch scratch("deepmd_factors_" + std::to_string(Comm().rank()));
  const std::string system = write_water(scratch);
  Trained first(keys({}), system);
  Weights w(first.network);
  first.network.initialise(w.values.views(), 5);
  save_model_tree(first.network.model(w.values.views()).to_tree(), scratch.file("whole.dp"));
  auto params = keys({8, 8, 24, 24, 24, 24});
  params.init = scratch.file("whole.dp");
  params.change_bias = false;
  Trained second(params, system);
  Weights f(second.network);
  second.network.initialise(f.values.views(), 7);
  const auto made = second.network.model(f.values.views());
  CHECK(made.fitting[0].layers[0].rank == 24);
  CHECK(relative_error(simulated_values(made), simulated_values(first.network.model(w.values.views()))) < 1e-12);
  // The factors of a file are those of the training.
  save_model_tree(made.to_tree(), scratch.file("factors.dp"));
  auto third_keys = keys({});
  third_keys.init = scratch.file("factors.dp");
  third_keys.change_bias = false;
  Trained third(third_keys, system);
  Weights t(third.network);
  third.network.initialise(t.values.views(), 7);
  CHECK(third.network.parameters().size() == second.network.parameters().size());
  CHECK(simulated_values(third.network.model(t.values.views())) == simulated_values(made));
}

TEST_CASE("a model with factors moves atoms on ranks as on one") {
  Comm world;
  SharedScratch scratch(world);
  const std::string model = scratch.file("factors.dp");
  if (world.root()) {
    DeepPotentialModel few = random_model(small_model());
    set_ranks(few, small_ranks(few), true, true);
    save_model_tree(few.to_tree(), model);
  }
  world.barrier();
  const std::string divided = md_run(world, scratch.file("divided"), model);
  if (!world.root()) return;
  Comm alone(MPI_COMM_SELF);
  const auto expected = text_table(md_run(alone, scratch.file("alone"), model)), found = text_table(divided);
  REQUIRE(expected.at("step").size() > 4);
  for (const auto& [column, values] : expected)
    if (column != "step") {
      INFO(column);
      CHECK(relative_error(found.at(column), values) < 1e-9);
    }
}
