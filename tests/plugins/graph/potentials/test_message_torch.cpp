// The potential beside the Torch network that trains it, on frames with and without periodic cells. This file sees no
// Torch.
#include <cstring>
#include <fstream>

#include "core/train/kinds/parity.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/graph/potentials/message_passing.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"
#include "tests/plugins/graph/potentials/random_messages.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// Rows of the cell; in y the atoms lie in other images than the cell's own.
const double cell[3][3] = {{3.1, 0, 0}, {0.7, 4.2, 0}, {-0.4, 0.9, 5.3}};
const std::vector<Position> positions = {{0.1, 0.2, 0.3}, {1.9, -3.9, 0.2}, {0.9, 2.3, 1.9}, {0.3, 9.0, 3.6}};
const std::vector<std::string> symbols = {"O", "H", "H", "O"};

void write_frames(const std::string& path) {
  std::ofstream file(path);
  for (const char* pbc : {"T T T", "F F F", "T F T"}) {
    file << "4\nLattice=\"3.1 0 0 0.7 4.2 0 -0.4 0.9 5.3\" pbc=\"" << pbc
         << "\" energy=-3.5 Properties=species:S:1:pos:R:3:forces:R:3\n";
    for (std::size_t i = 0; i < 4; ++i)
      file << symbols[i] << " " << positions[i][0] << " " << positions[i][1] << " " << positions[i][2] << " 0 0 0\n";
  }
}

Evaluation by_potential(Potential& potential, const std::array<bool, 3>& periodic, test::World& world) {
  PotentialCase c;
  // A direction that is not periodic gets a cell much wider than the atoms and the cut-off.
  double rows[3][3];
  std::memcpy(rows, cell, sizeof rows);
  for (int k = 0; k < 3; ++k)
    if (!periodic[k]) rows[k][k] += 60.0;
  c.box = Box::from_vectors(rows);
  c.positions = positions;
  for (double& o : c.box.origin) o = periodic[1] ? 0.0 : -20.0;
  c.types = {0, 1, 1, 0};
  c.species = {{"O", 15.999}, {"H", 1.008}};
  potential.bind(c.species);
  PeriodicSystem s(c.box, c.positions, c.types, potential.cutoff() + 0.5, c.species);
  NeighborList list;
  build_neighbors(s.particles, potential.cutoff(), 0.5, list);
  return evaluate(potential, s, list, world);
}

}  // namespace

TEST_CASE("message_passing: the potential gives the energies and forces of the network that was trained") {
  graph::testing::Stages stages;
  const bool vectors = GENERATE(true, false);
  CAPTURE(vectors);
  const auto path = stages.scratch.file("model.h5"), frames = stages.scratch.file("frames.xyz");
  RandomMessages model(3, vectors);
  model.precision = "float64";
  model.write(path);
  write_frames(frames);
  auto loaded = train::load_artifact(path, stages.context);
  const auto data = stages.registry.make<train::Dataset>("molecules", deck::parse("{file: '" + frames + "'}", "test"),
                                                         stages.context);
  data->open(stages.context);
  const std::vector<std::int64_t> ids{0, 1, 2};
  const auto samples = data->read(ids);
  auto* parity = loaded.network->traits().parity;
  auto quantities = parity->parity_quantities();
  REQUIRE(quantities.size() == 2);
  parity->add_parity(samples, loaded.weights.views(), quantities);
  test::World world;
  graph::MessagePotential potential({path}, world.context);
  const std::array<bool, 3> periodic[3] = {{true, true, true}, {false, false, false}, {true, false, true}};
  for (std::size_t k = 0; k < 3; ++k) {
    INFO("frame " << k);
    const auto found = by_potential(potential, periodic[k], world);
    CHECK(found.energy == Approx(quantities[0].predicted[k]).epsilon(1e-12));
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t x = 0; x < 3; ++x)
        CHECK(found.forces[i][x] == Approx(quantities[1].predicted[12 * k + 3 * i + x]).margin(1e-11));
  }
}
