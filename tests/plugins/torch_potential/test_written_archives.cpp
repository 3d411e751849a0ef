// Archives that the test writes itself: against the same formula in C++, finite differences, and folded ghosts.
#include <filesystem>

#include "core/plugin/registry.hpp"
#include "plugins/plugin_list.hpp"
#include "plugins/torch_potential/potentials/torch_script.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/torch_potential/written_archives.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// A disturbed cell with `n` atoms of one or two types.
std::vector<Position> disturbed(int cells, double a, double amount) {
  std::vector<Position> x;
  const Position base[4] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j)
      for (int k = 0; k < cells; ++k)
        for (const auto& b : base) {
          const Random4 random(7, Stream::external, x.size(), 0);
          x.push_back({a * (i + b[0]) + amount * (random.uniform(0) - .5),
                       a * (j + b[1]) + amount * (random.uniform(1) - .5),
                       a * (k + b[2]) + amount * (random.uniform(2) - .5)});
        }
  return x;
}

Box cube(double side) {
  Box box;
  for (int k = 0; k < 3; ++k) box.h[k][k] = side;
  return box;
}

struct Maker {
  World world;
  Registry registry;
  Maker() {
    register_plugins(registry);
    world.context.registry = &registry;
  }
  std::unique_ptr<Potential> make(const std::string& type, const std::string& keys,
                                  const std::vector<Species>& species) {
    auto potential = registry.make<Potential>(type, deck::parse(keys, "test"), world.context);
    potential->bind(species);
    return potential;
  }
};

}  // namespace

TEST_CASE("an archive of Sutton and Chen's formula gives the potential's own energies, forces and virials") {
  const Scratch scratch("torch_sc");
  const auto file = scratch.file("copper.pth");
  write_archive(file, sutton_chen_text(), said("Cu", 6.0, 1));
  Maker maker;
  const std::vector<Species> copper = {{"Cu", 63.546}};
  const auto archive =
      maker.make("torch_script", "{model: " + file + ", trust: true, energy_unit: eV, length_unit: angstrom}", copper);
  const auto formula = maker.make("sutton_chen", "{element: Cu, cutoff: 6.0, switch_width: 2.0}", copper);
  CHECK(archive->cutoff() == Approx(6.0));
  for (const int cells : {1, 2, 3}) {  // the cut-off reaches two, one and one images
    PeriodicSystem system(cube(3.7 * cells), disturbed(cells, 3.7, 0.3), {}, 6.5, copper);
    NeighborList list;
    build_neighbors(system.particles, 6.0, 0.5, list);
    const auto a = evaluate(*archive, system, list, maker.world), b = evaluate(*formula, system, list, maker.world);
    CHECK(a.energy == Approx(b.energy).epsilon(1e-12));
    for (std::size_t k = 0; k < 9; ++k) CHECK(a.virial[k] == Approx(b.virial[k]).epsilon(1e-10).margin(1e-10));
    for (std::size_t i = 0; i < a.forces.size(); ++i) {
      CHECK(a.atom_energy[i] == Approx(b.atom_energy[i]).epsilon(1e-12));
      for (std::size_t k = 0; k < 3; ++k) CHECK(a.forces[i][k] == Approx(b.forces[i][k]).margin(1e-11));
    }
  }
}

TEST_CASE("forces of three layers of messages are the gradient of the energy, in cells of one to four images") {
  const Scratch scratch("torch_mp");
  const auto file = scratch.file("messages.pth");
  write_archive(file, messages_text(), said("Cu Ag", 3.0, 3));
  Maker maker;
  for (const double side : {8.0, 2.9}) {
    PotentialCase one;
    one.box = cube(side);
    one.positions = {{.1, .2, .3}, {1.9, .4, .2}, {.5, 2.1, 1.4}};
    one.types = {0, 1, 0};
    one.species = {{"Ag", 107.9}, {"Cu", 63.5}};
    one.potential = maker.make(
        "torch_script", "{model: " + file + ", trust: true, energy_unit: hartree, length_unit: angstrom}", one.species);
    check_forces_are_gradient(one, maker.world);
  }
}

TEST_CASE("ghosts as deep as the layers give what folded images give") {
  const Scratch scratch("torch_fold");
  const auto file = scratch.file("messages.pth");
  write_archive(file, messages_text(), said("Cu Ag", 3.0, 3));
  const auto archive = std::make_unique<torch_potential::Archive>(file, "cpu", 0);
  const std::vector<int> type = {0, 1};
  for (const double side : {6.2, 3.7, 2.4}) {
    const std::vector<Position> x = {{.1, .2, .3}, {1.9, .4, .2}, {.5, 2.1, 1.4}};
    PeriodicSystem near(cube(side), x, {0, 1, 0}, 3.0), deep(cube(side), x, {0, 1, 0}, 9.0);
    NeighborList near_list, deep_list;
    build_neighbors(near.particles, 3.0, 0.0, near_list);
    build_neighbors(deep.particles, 9.0, 0.0, deep_list);
    torch_potential::EdgeFinder finder(3.0, 3);
    const auto folded = archive->evaluate(finder.find_folded(near.particles, near_list, type).graph, 2);
    const auto with_ghosts = archive->evaluate(finder.find(deep.particles, deep_list, type).graph, 2);
    REQUIRE(folded.energy.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(with_ghosts.energy[i] == Approx(folded.energy[i]).epsilon(1e-13));
    if (side > 6.0) continue;  // there the three atoms have each other alone; elsewhere one layer less is seen
    torch_potential::EdgeFinder shallow(3.0, 2);
    const auto wrong = archive->evaluate(shallow.find(deep.particles, deep_list, type).graph, 2);
    CHECK(std::abs(wrong.energy[0] - folded.energy[0]) > 1e-6);
  }
}

TEST_CASE(
    "MACE as exported for LAMMPS adds messages at the second atom of an edge, names elements by numbers and takes "
    "vectors as shifts") {
  const Scratch scratch("torch_lammps");
  const auto file = scratch.file("lammps.pt");
  write_archive_with_buffers(file, R"JIT(
def forward(self, data: Dict[str, Tensor], local_or_ghost: Tensor, compute_virials: bool = False):
    edges = data["edge_index"]
    pos = data["positions"]
    pos.requires_grad_(True)
    d = pos[edges[1]] - pos[edges[0]] + data["shifts"]
    w = torch.pow(torch.clamp(1.0 - torch.sqrt(torch.sum(d * d, 1)) / 4.0, min=0.0), 3)
    node = torch.zeros(pos.size(0), dtype=pos.dtype).index_add(0, edges[1], w) * data["node_attrs"][:, 0] * self.weight
    local = torch.sum(node * local_or_ghost)
    grads = torch.autograd.grad([local], [pos])
    out: Dict[str, Optional[Tensor]] = {"total_energy_local": local, "node_energy": node, "virials": None}
    force = grads[0]
    if force is not None:
        out["forces"] = -force
    return out
)JIT",
                             4.0, 1, 29);
  Maker maker;
  const std::vector<Species> copper = {{"Cu", 63.546}};
  const auto potential = maker.make("torch_script", "{model: " + file + ", trust: true}", copper);
  CHECK(potential->summary().find("MACE; Cu; cut-off 4 Å; strictly local; float64") != std::string::npos);
  PotentialCase one;
  one.box = cube(7.4);
  one.positions = disturbed(2, 3.7, 0.3);
  one.species = copper;
  one.potential = maker.make("torch_script", "{model: " + file + ", trust: true}", copper);
  check_forces_are_gradient(one, maker.world);
  const auto archive = std::make_unique<torch_potential::Archive>(file, "cpu", 0);
  PeriodicSystem near(one.box, one.positions, {}, 4.0, copper);
  NeighborList list;
  build_neighbors(near.particles, 4.0, 0.0, list);
  const std::vector<int> type = {0};
  torch_potential::EdgeFinder finder(4.0, 1);
  const auto folded = archive->evaluate(finder.find_folded(near.particles, list, type).graph, 1);
  const auto with_ghosts = archive->evaluate(finder.find(near.particles, list, type).graph, 1);
  for (std::size_t i = 0; i < folded.energy.size(); ++i) {
    REQUIRE(folded.energy[i] > 0.0);
    CHECK(with_ghosts.energy[i] == Approx(folded.energy[i]).epsilon(1e-13));
  }
}
