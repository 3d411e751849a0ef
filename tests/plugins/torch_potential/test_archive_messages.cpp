// What archives that cannot be used are refused with.
#include <fstream>

#include "core/base/version.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/networks/torch/archive_words.hpp"
#include "plugins/plugin_list.hpp"
#include "plugins/torch_potential/potentials/edges.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/torch_potential/written_archives.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

struct Refusals {
  Scratch scratch{"torch_messages"};
  World world;
  Registry registry;
  Refusals() {
    register_plugins(registry);
    world.context.registry = &registry;
  }
  std::string file(const std::string& name = "model.pth") const { return scratch.file(name); }
  /// The message for an archive with these keys, from "model" on.
  std::string of(const std::string& keys, const std::string& name = "model.pth",
                 const std::string& trust = ", trust: true") {
    return message([&] {
      const auto potential = registry.make<Potential>(
          "torch_script", deck::parse("{model: " + file(name) + trust + keys + "}", "test"), world.context);
      const std::vector<Species> copper = {{"Cu", 63.5}};
      potential->bind(copper);
      PeriodicSystem system(cube(), {{0, 0, 0}, {2.5, 0.1, 0.2}, {0.3, 2.4, 0.1}}, {}, 6.5, copper);
      NeighborList list;
      build_neighbors(system.particles, 6.0, 0.5, list);
      test::evaluate(*potential, system, list, world);
    });
  }
  void write(const std::string& content, const std::string& name = "model.pth") {
    std::ofstream(file(name), std::ios::binary) << content;
  }
  static Box cube() {
    Box box;
    for (int k = 0; k < 3; ++k) box.h[k][k] = 7.0;
    return box;
  }
};

const std::string units = ", energy_unit: eV, length_unit: angstrom";

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("what an archive does not say is asked for by its key") {
  Refusals r;
  auto words = said("Cu", 6.0, 1);
  const auto try_without = [&](const std::string& name, const std::string& keys) {
    auto fewer = words;
    if (name == "layers")
      fewer["config"] = "";
    else
      fewer.erase(name);
    write_archive(r.file(), sutton_chen_text(), fewer);
    return r.of(keys);
  };
  has(try_without("type_names", units), "does not specify which elements its types are; add the key species");
  has(try_without("r_max", units), "does not specify its cut-off; add the key cutoff");
  has(try_without("layers", units),
      "does not specify how many layers of message passing it has (1: strictly local); add the key layers");
  has(try_without("none", ", length_unit: angstrom"), "does not specify its unit of energy; add the key energy_unit");
  has(try_without("none", ", energy_unit: eV"), "does not specify its unit of length; add the key length_unit");
  CHECK(try_without("none", units) == "no error");
  CHECK(try_without("type_names", units + ", species: [Cu]") == "no error");
  has(try_without("none", units + ", species: [Cu, Ag]"), "2 symbols for the 1 types of the archive (Cu)");
  has(try_without("none", units + ", species: [Ag]"),
      "species 'Cu' is unknown to the archive " + r.file() + "; its species: Ag");
}

TEST_CASE("an archive outside of the run's folder is not opened without trust") {
  Refusals r;
  r.write("this would not even be read");
  has(r.of(units, "model.pth", ""),
      "the archive " + r.file() +
          " is a program, which this potential would run; set trust: true if you know where it comes from");
  write_archive(r.file(), sutton_chen_text(), said("Cu", 6.0, 1));
  r.world.context.run_directory = r.scratch.file("simulate");
  CHECK(r.of(units, "model.pth", "") == "no error");
}

TEST_CASE("files that are no archives, or damaged ones, are told apart") {
  Refusals r;
  has(r.of(units, "absent.pth"), "absent.pth: cannot be read, or is empty; check the path");
  r.write("weights");
  has(r.of(units), "model.pth: is no TorchScript archive, which is a zip file; export the model with torch.jit.save");
  r.write("PK", "model.pt2");
  const std::string version = CAMBIUM_TORCH_VERSION;
  has(r.of(units, "model.pt2"), "compiled by AOTInductor (.pt2), which needs LibTorch 2.6 or newer; this build has " +
                                    version + ". Export a TorchScript archive (.pth) instead");
  write_archive(r.file(), sutton_chen_text(), said("Cu", 6.0, 1));
  const auto whole = content_of(r.file());
  r.write(whole.substr(0, whole.size() / 2));
  has(r.of(units), "the file is cut short or damaged; copy it again");
  // An empty zip file with one entry "x".
  const std::string zip(
      "PK\3\4\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0xPK\1\2\n\0\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "\0"
      "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0xPK\5\6\0\0\0\0\1\0\1\0/\0\0\0\37\0\0\0\0\0",
      31 + 47 + 22);
  r.write(zip);
  has(r.of(units), "a zip file, but no TorchScript archive; export the model with torch.jit.save");
}

TEST_CASE("programs of other kinds are named") {
  Refusals r;
  const auto words = said("Cu", 6.0, 1);
  write_archive(r.file(), "def forward(self, x: Tensor):\n    return x\n", words);
  has(r.of(units), "has no method forward(Dict[str, Tensor]) as the archives of MACE, NequIP and Allegro do");
  write_archive(r.file(), "def forward_lower(self, x: Tensor):\n    return x\n", words);
  has(r.of(units),
      "an archive of DeePMD-kit; its `dp convert-backend` makes a .dp file, which the potential deep_potential reads "
      "without Torch");
  const std::string head =
      "def forward(self, data: Dict[str, Tensor]):\n    x = data[\"edge_cell_shift\"]\n"
      "    n = data[\"pos\"].size(0)\n    out: Dict[str, Tensor] = {}\n";
  write_archive(r.file(), head + "    return out\n", words);
  has(r.of(units), "its output has none of the keys atomic_energy, node_energy, total_energy, energy");
  write_archive(r.file(), head + "    out[\"atomic_energy\"] = torch.ones(n)\n    return out\n", words);
  has(r.of(units), "its energies have no derivative by the positions; forces cannot be had");
  write_archive(r.file(), head + "    assert n < 0, \"too many atoms\"\n    return out\n", words);
  has(r.of(units), "its program stopped: ");
  const std::string energy =
      "    e = torch.zeros(n, dtype=x.dtype).index_add(0, data[\"edge_index\"][0], torch.sum(x * x, 1))\n"
      "    out[\"atomic_energy\"] = e\n";
  write_archive(r.file(), head + energy + "    out[\"forces\"] = torch.ones_like(data[\"pos\"])\n    return out\n",
                words);
  const auto text = r.of(units);
  has(text, "its forces differ from the derivative of its energies by ");
  has(text, " eV/Å; a model whose forces have no energy cannot be used here");
  write_archive(r.file(), head + energy + "    out[\"total_energy\"] = torch.sum(e) + 5.0\n    return out\n", words);
  has(r.of(units), "the sum of its atoms' energies differs from its total energy by 1.67 eV an atom");
}

TEST_CASE("what this LibTorch lacks is named") {
  const std::string version = CAMBIUM_TORCH_VERSION;
  CHECK(
      message([] { train::refuse_archive("a.pth", "\nUnknown builtin op: aten::_assert_scalar.\nCould not find"); }) ==
      "a.pth: uses the operator aten::_assert_scalar, which LibTorch " + version +
          " does not have; build Cambium with the LibTorch that wrote the archive, or export it for an older one");
  CHECK(message([] { train::refuse_archive("a.pth", "strange\nstack"); }) ==
        "a.pth: LibTorch " + version + " cannot load it: strange");
}

TEST_CASE("images without numbers are not guessed") {
  PeriodicSystem system(Refusals::cube(), {{0, 0, 0}, {2.5, 0.1, 0.2}}, {}, 6.0, {{"Cu", 63.5}});
  Kokkos::deep_copy(system.particles.tag, 0);
  NeighborList list;
  build_neighbors(system.particles, 6.0, 0.0, list);
  const std::vector<int> type = {0};
  CHECK(message([&] { torch_potential::EdgeFinder(6.0, 1).find_folded(system.particles, list, type); }) ==
        "torch_script: on one rank atoms need unique IDs, which identify their images");
}
