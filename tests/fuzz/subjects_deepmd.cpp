// Structures, labelled data, Deep Potentials, checkpoints of dynamics.
#include <fstream>

#include "core/io/hdf5/h5.hpp"
#include "core/io/npy.hpp"
#include "core/io/structures/checkpoint_structure.hpp"
#include "core/io/structures/extxyz_reader.hpp"
#include "core/io/structures/lammps_data_reader.hpp"
#include "plugins/deepmd/data/extxyz_frames.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/model/model_tree.hpp"
#include "plugins/deepmd/model/random_model.hpp"
#include "tests/fuzz/subjects.hpp"
#include "tests/plugins/deepmd/frozen_graphs.hpp"

namespace fuzz {

namespace fs = std::filesystem;
using Form = Subject::Form;

static fs::path folder_of_text(const Places& places, const std::string& name, const std::string& file,
                               const std::string& text) {
  const fs::path folder = places.made / name;
  fs::create_directories(folder);
  std::ofstream(folder / file, std::ios::binary) << text;
  return folder;
}

static const char* xyz = R"(3
Lattice="9.0 0 0 0 9.0 0 0 0 9.0" Properties=species:S:1:pos:R:3:velo:R:3:forces:R:3:id:I:1 energy=-1.5 virial="1 0 0 0 1 0 0 0 1" pbc="T T T" Step=1 Time=0.1
O 0.0 0.1 0.2 1 0 0 0.1 0.2 0.3 1
H 1.0 0.1 0.2 0 1 0 0.1 0.2 0.3 3
H 0.0 1.1 0.2 0 0 1 0.1 0.2 0.3 2
2
Lattice="5.43 0 0 0 5.43 0 0 0 5.43" Properties=Z:I:1:pos:R:3 Origin="-1 0 1"
14 0 0 0
14 1.3575 1.3575 1.3575
)";

static const char* lammps = R"(LAMMPS data file

4 atoms
2 atom types

-0.5 7.5 xlo xhi
0 8 ylo yhi
0 8 zlo zhi
0.5 0.0 0.1 xy xz yz

Atom Type Labels

1 O
2 H

Masses

1 15.999
2 1.008

Atoms # atomic

1 1 0 0 0
2 2 1 0 0 0 0 1
4 2 0 1 0
3 1 4 4 4

Velocities

1 0.1 0 0
2 0 0.1 0
3 0 0 0
4 0 0 -0.1
)";

/// A .npy file of version 1.0 with doubles.
static std::string npy(const std::string& shape, std::size_t numbers) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  for (std::size_t k = 0; k < numbers; ++k) {
    const double value = 0.1 * static_cast<double>(k);
    out.append(reinterpret_cast<const char*>(&value), 8);
  }
  return out;
}

static void structures(const Places& places, std::vector<Subject>& out) {
  const fs::path one = folder_of_text(places, "xyz", "a.xyz", xyz),
                 other = folder_of_text(places, "lammps", "a.data", lammps);
  out.push_back({"extxyz", Form::text, one, "a.xyz",
                 [] {
                   cambium::Comm comm;
                   cambium::io::read_extxyz("a.xyz", 0, comm);
                   return 0;
                 },
                 80});
  out.push_back({"extxyz_labels", Form::text, one, "a.xyz",
                 [] {
                   cambium::deepmd::read_extxyz_frames("a.xyz");
                   return 0;
                 },
                 80});
  out.push_back({"lammps_data", Form::text, other, "a.data",
                 [] {
                   cambium::Comm comm;
                   const std::vector<std::string> names{"O", "H"};
                   cambium::io::read_lammps_data("a.data", names, comm);
                   return 0;
                 },
                 80});
  out.push_back({"water_xyz", Form::text,
                 folder_with(places, "water_xyz", places.source / "inputs/submatrix/h2o32.xyz"), "h2o32.xyz",
                 [] {
                   cambium::Comm comm;
                   cambium::io::read_extxyz("h2o32.xyz", -1, comm);
                   return 0;
                 },
                 20});
  out.push_back({"npy", Form::bytes, folder_of_text(places, "npy", "a.npy", npy("(5, 6)", 30)), "a.npy",
                 [] {
                   cambium::io::read_npy("a.npy");
                   return 0;
                 },
                 80});
  out.push_back({"npy_header", Form::text, folder_of_text(places, "npy", "a.npy", npy("(5, 6)", 30)), "a.npy",
                 [] {
                   cambium::io::read_npy("a.npy");
                   return 0;
                 },
                 40});
}

/// A system of DeePMD-kit in an HDF5 file.
static void systems(const Places& places, std::vector<Subject>& out) {
  const fs::path folder = folder_of_text(places, "deepmd_hdf5", "s.hdf5", "");
  const std::vector<double> coord = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1.1}, energy = {-1, -2};
  auto file = cambium::io::File::create((folder / "s.hdf5").string());
  file.write("w/type.raw", std::vector<int>{0, 1});
  file.write("w/type_map.raw", std::vector<std::string>{"O", "H"});
  file.write("w/nopbc", 1);
  file.write("w/set.000/coord.npy", cambium::io::tensor_of(coord.data(), {2, 6}));
  file.write("w/set.000/energy.npy", energy);
  file.write("w/set.000/real_atom_types.npy", cambium::io::tensor_of(std::vector<double>{0, 1, 1, -1}.data(), {2, 2}));
  file.close();
  out.push_back({"deepmd_hdf5", Form::h5, folder, "s.hdf5",
                 [] {
                   for (const auto& path : cambium::deepmd::systems_at("s.hdf5"))
                     cambium::deepmd::DataSystem::load(path);
                   return 0;
                 },
                 40});
}

/// A graph of two descriptors with a type embedding in common, one of them with attention.
static void frozen_hybrid(const Places& places, const std::function<int()>& load, std::vector<Subject>& out) {
  using Descriptor = cambium::deepmd::DeepPotentialModel::Descriptor;
  cambium::deepmd::RandomModel types, attention, both;
  types.sel = attention.sel = {2, 2};
  types.neuron = attention.neuron = both.fitting = {4};
  types.axis_neuron = attention.axis_neuron = 2;
  types.type_embedding = attention.type_embedding = {3};
  types.with_types = true;
  types.concat_output_tebd = false;
  attention.descriptor = Descriptor::se_atten;
  attention.attn_layer = 1;
  attention.attn = 2;
  both.descriptor = Descriptor::hybrid;
  both.parts = {types, attention};
  cambium::deepmd::DeepPotentialModel model = cambium::deepmd::random_model(both);
  model.parts[0].type_embedding = model.parts[1].type_embedding;
  const std::string script = R"({"model": {"type_map": ["O", "H"], "descriptor": {"type": "hybrid", "list": [)"
                             R"({"axis_neuron": 2}, {"axis_neuron": 2, "attn_dotr": true}]}}})";
  const fs::path folder = folder_of_text(places, "frozen_hybrid", "m.pb", "");
  cambium::deepmd::test::write_graph(model, {.script = script}, (folder / "m.pb").string());
  out.push_back({"frozen_hybrid", Form::bytes, folder, "m.pb", load, 40});
}

static void models(const Places& places, std::vector<Subject>& out) {
  const auto load = [](const char* file) {
    return [file] {
      cambium::deepmd::DeepPotentialModel::load(file);
      return 0;
    };
  };
  const fs::path folder = folder_with(places, "copper_dp", places.source / "inputs/deepmd/models/copper.dp");
  out.push_back({"dp", Form::h5, folder, "copper.dp", load("copper.dp"), 40});
  const fs::path frozen = folder_of_text(places, "frozen_graph", "m.pb", "");
  cambium::deepmd::RandomModel small;
  small.sel = {3, 5};
  small.neuron = small.fitting = {4};
  small.axis_neuron = 2;
  small.mean = 0.0;  // where pairs are excluded
  const std::string script = R"({"model": {"type_map": ["O", "H"], "descriptor": {"exclude_types": [[0, 1]]}}})";
  cambium::deepmd::test::write_graph(cambium::deepmd::random_model(small), {.script = script},
                                     (frozen / "m.pb").string());
  out.push_back({"frozen_graph", Form::bytes, frozen, "m.pb", load("m.pb"), 60});
  frozen_hybrid(places, load("m.pb"), out);
  if (const char* data = std::getenv("CAMBIUM_DATA")) {
    const fs::path models = fs::path(data) / "deepmd/models";
    for (const char* name : {"deeppot-r.dp", "deeppot_sea.dp"})
      if (fs::exists(models / name))
        out.push_back(
            {std::string("dp:") + name, Form::h5, folder_with(places, name, models / name), name, load(name), 30});
    for (const char* name : {"deeppot-r.yaml"})
      if (fs::exists(models / name))
        out.push_back(
            {std::string("dp:") + name, Form::text, folder_with(places, name, models / name), name, load(name), 6});
  }
}

static void checkpoints(const Places& places, std::vector<Subject>& out) {
  const std::string deck = R"(
run: {name: a}
plugins: [md, deepmd]
stages:
  - simulate:
      physics: md
      structure: {lattice: {type: fcc, a: 5.4, cells: [3, 3, 3], species: [Ar]}}
      initial_temperature: 60 K
      potential: {type: lennard_jones, epsilon: 0.0104, sigma: 3.4, cutoff: 6.0}
      integrator: {type: npt, temperature: 60 K, pressure: 0}
      timestep: 2 fs
      steps: 6
      thermo: {every: 1}
      checkpoint: {every: 2, keep: 1}
      output:
        - {type: rdf, every: 2}
        - {type: msd, every: 1, max_lag: 4, origins: 2}
        - {type: vacf, every: 1, max_lag: 4, origins: 2}
        - {type: extxyz, every: 2}
        - {type: h5md, every: 2}
)";
  restarted_subjects(
      places, "md", deck,
      {"simulate/restart.6.h5", "simulate/thermo.csv", "simulate/trajectory.extxyz", "simulate/trajectory.h5md"}, out,
      25);
  const fs::path folder = folder_with(places, "md_structure", places.made / "md/out/simulate/restart.6.h5");
  out.push_back({"checkpoint_structure", Form::h5, folder, "restart.6.h5",
                 [] {
                   cambium::Comm comm;
                   cambium::read_checkpoint_structure("restart.6.h5", comm);
                   return 0;
                 },
                 60});
}

void deepmd_subjects(const Places& places, std::vector<Subject>& out) {
  structures(places, out);
  systems(places, out);
  models(places, out);
  checkpoints(places, out);
}

}  // namespace fuzz
