// Models with random weights, from files that the test writes, against plain sums over pairs.
#include <filesystem>

#include "core/base/key_error.hpp"
#include "plugins/graph/potentials/message_passing.hpp"
#include "tests/plugins/graph/potentials/random_messages.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// Seven atoms in a skew cell narrower than twice the cut-off, so that an atom meets several images of another, and
/// of itself. The deck's types are the model's elements in another order.
PotentialCase random_case(const RandomMessages& model, World& world) {
  PotentialCase c;
  const double rows[3][3] = {{3.3, 0, 0}, {0.4, 4.6, 0}, {-0.3, 0.5, 5.2}};
  c.box = Box::from_vectors(rows);
  c.positions = {{0.1, 0.2, 0.3}, {1.9, 0.4, 0.2}, {0.3, 2.2, 0.6}, {0.2, 0.1, 2.3},
                 {2.1, 2.4, 1.1}, {1.7, 0.8, 3.3}, {0.5, 3.0, 3.4}};
  c.types = {0, 1, 0, 0, 1, 0, 1};
  c.species = {{"O", 15.999}, {"H", 1.008}};
  const Scratch scratch("messages");
  const auto path = scratch.file("model.h5");
  model.write(path);
  c.potential = std::make_unique<graph::MessagePotential>(graph::MessagePotential::Params{path}, world.context);
  c.potential->bind(c.species);
  c.oracle = [&model](const PeriodicSystem& s) { return model.energy(s, {1, 0}); };
  c.gradient_step = 2e-4;
  return c;
}

}  // namespace

TEST_CASE("message_passing potential: energies, forces, virials and symmetries") {
  World world;
  const RandomMessages model(GENERATE(1, 2, 3), GENERATE(true, false));
  check_potential(random_case(model, world), world);
}

TEST_CASE("message_passing potential: the same bits from call to call, on a list with any skin") {
  World world;
  const RandomMessages model(2);
  auto c = random_case(model, world);
  auto s = c.system();
  const Evaluation first = c.evaluate(s, world), second = c.evaluate(s, world);
  CHECK(first.energy == second.energy);
  CHECK(first.forces == second.forces);
  CHECK(first.virial == second.virial);
  c.skin = 1.7;
  auto wide = c.system();
  CHECK(c.evaluate(wide, world).energy == Approx(first.energy).epsilon(1e-13));
}

TEST_CASE("message_passing potential: an atom without neighbours has no force") {
  World world;
  const RandomMessages model(2);
  auto c = random_case(model, world);
  c.box = Box::orthogonal(20, 20, 20);
  c.positions = {{1, 1, 1}};
  c.types = {1};
  auto s = c.system();
  const auto found = c.evaluate(s, world);
  CHECK(found.energy == Approx(model.energy(s, {1, 0})).epsilon(1e-13));
  for (const double f : found.forces[0]) CHECK(f == 0.0);
}

TEST_CASE("message_passing potential: energies in the unit of the training become eV") {
  World world;
  const Scratch scratch;
  const RandomMessages model(2);
  const auto in_ev = random_case(model, world);
  auto s = in_ev.system();
  const double energy = in_ev.evaluate(s, world).energy;
  model.write(scratch.file("kcal.h5"), "kcal/mol");
  auto c = random_case(model, world);
  c.potential = std::make_unique<graph::MessagePotential>(graph::MessagePotential::Params{scratch.file("kcal.h5")},
                                                          world.context);
  c.potential->bind(c.species);
  CHECK(c.evaluate(s, world).energy == Approx(0.0433641042 * energy).epsilon(1e-8));
}

TEST_CASE("what the message_passing potential refuses", "[messages]") {
  World world;
  const Scratch scratch;
  const RandomMessages model(1);
  const auto says = [&](const std::string& file, std::vector<Species> species = {}) {
    try {
      graph::MessagePotential potential({scratch.file(file)}, world.context);
      potential.bind(species);
    } catch (const InputError& error) {
      std::string text = error.what();
      for (std::size_t at; (at = text.find(scratch.file(file))) != std::string::npos;)
        text.replace(at, scratch.file(file).size(), "FILE");
      return text;
    }
    return std::string("no error");
  };
  model.write(scratch.file("good.h5"));
  CHECK(says("good.h5", {{"O", 16.0}}) == "no error");
  CHECK(says("good.h5", {{"O", 16.0}, {"N", 14.0}}) == "species 'N' is unknown to the model FILE; its species: H, O");
  model.write(scratch.file("other.h5"), "eV", "gcn");
  CHECK(says("other.h5") == "'FILE' is a model of the network 'gcn'; this potential takes those of message_passing");
  model.write(scratch.file("lengths.h5"), "angstrom");
  CHECK(says("lengths.h5") ==
        "'FILE' gives energies in 'angstrom', which is not an energy unit; set energy_unit in the data set of its "
        "training");
  model.write(scratch.file("bonds.h5"), "eV", "message_passing", true);
  CHECK(says("bonds.h5") ==
        "'FILE' corrects the fit 'reference: bonds', which is no sum over atoms; train it with reference: atoms");
  io::File::create(scratch.file("empty.h5"));
  CHECK(says("empty.h5") == "'FILE' is no model file; give the model.h5 of a training of message_passing");
  model.write(scratch.file("packed.h5"));
  io::File::append(scratch.file("packed.h5")).dataset("/weights/readout.in.weight").set_attribute("scale_factor", 0.1);
  CHECK(says("packed.h5") ==
        "'FILE': /weights/readout.in.weight is packed, as weights of quantised training; a potential needs a model "
        "that was trained without 'quantized_training'");
  RandomMessages shape(1, false), deep(1);
  shape.stated_vectors = true;
  shape.write(scratch.file("shape.h5"));
  CHECK(says("shape.h5") ==
        "'FILE': /weights/interactions.0.sender_out.weight has the shape (5, 5), but the model's keys require (15, 5); "
        "train it again");
  deep.stated_layers = 2;
  deep.write(scratch.file("deep.h5"));
  CHECK(says("deep.h5") == "'FILE' has no array /weights/interactions.1.sender_in.weight; train it again");
}
