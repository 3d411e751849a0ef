// Systems in HDF5 files, dumps and data files of LAMMPS: what is read in place of folders and extended XYZ.
#include <fmt/format.h>

#include "core/io/hdf5/h5.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("dumps and data files of LAMMPS are evaluated as extended XYZ is") {
  Scratch scratch("dp_eval_lammps");
  Comm comm(MPI_COMM_SELF);
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  const auto write = [&](const std::string& name, const std::string& content) {
    write_text(scratch.file(name), content);
    return scratch.file(name);
  };
  const auto energy = [&](const std::string& file, std::int64_t frame = -1, const LammpsKeys& keys = {}) {
    EvalOptions options;
    options.model = scratch.file("m.dp");
    options.structure = file;
    options.frame = frame;
    options.lammps = keys;
    const std::string text = evaluate_files(options, comm), start = file + ": energy ";
    const auto at = text.find(start);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + start.size()));
  };
  const std::string frames = write("s.xyz",
                                   "3\nLattice=\"9 0 0 0 8 0 0 0 7\"\nO 1 1 1\nH 1 1 2\nH 1.9 1.1 0.9\n"
                                   "2\nLattice=\"9 0 0 0 8 0 0 0 7\"\nO 1 1 1\nH 1 1 2\n");
  const double first = energy(frames, 0), second = energy(frames, 1);
  const std::string bounds = "ITEM: BOX BOUNDS pp pp pp\n-1 8\n0.5 8.5\n0 7\n";
  const auto head = [&](int step, int atoms) {
    return fmt::format("ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{}\n", step, atoms) + bounds;
  };
  // The order of columns changes, and types have no elements.
  const std::string dump =
      write("s.lammpstrj", head(0, 3) + "ITEM: ATOMS id type x y z\n1 2 1 1 1\n3 1 1.9 1.1 0.9\n2 1 1 1 2\n" +
                               head(10, 2) + "ITEM: ATOMS type id x y z\n2 1 1 1 1\n1 2 1 1 2\n");
  const LammpsKeys names{{"H", "O"}, ""};
  CHECK(energy(dump, 0, names) == Approx(first).epsilon(1e-9));
  CHECK(energy(dump, -1, names) == Approx(second).epsilon(1e-9));
  const std::string elements =
      write("e.dump", head(0, 2) + "ITEM: ATOMS element x y z\nO 1 1 1\nH 1 1 2\n" + head(1, 3) +
                          "ITEM: ATOMS x y z element\n1 1 1 O\n1 1 2 H\n1.9 1.1 0.9 H\n");
  CHECK(energy(elements, 0) == Approx(second).epsilon(1e-9));
  CHECK(energy(elements, 1) == Approx(first).epsilon(1e-9));
  const auto data = [&](double unit) {
    return fmt::format(
        "water\n\n3 atoms\n2 atom types\n0 {} xlo xhi\n0 {} ylo yhi\n0 {} zlo zhi\n\nAtoms # atomic\n\n"
        "1 1 {} {} {}\n2 2 {} {} {}\n3 2 {} {} {}\n",
        9 * unit, 8 * unit, 7 * unit, unit, unit, unit, unit, unit, 2 * unit, 1.9 * unit, 1.1 * unit, 0.9 * unit);
  };
  CHECK(energy(write("data.water", data(1.0)), -1, {{"O", "H"}, ""}) == Approx(first).epsilon(1e-9));
  CHECK(energy(write("data.nm", data(0.1)), -1, {{"O", "H"}, "nano"}) == Approx(first).epsilon(1e-9));
  CHECK(message([&] { energy(write("cut.dump", head(0, 3) + "ITEM: ATOMS element x y z\nO 1 1 1\n")); }) ==
        scratch.file("cut.dump") + ":10: the file ends after 1 of 3 atoms");
  CHECK(message([&] { energy(dump, 2, names); }) == dump + ": has 2 frame(s), counted from 0; frame 2 was requested");
  NeighbourOptions statistics;
  statistics.systems = {dump};
  statistics.lammps = names;
  CHECK(neighbour_statistics(statistics).starts_with("2 frames, cut-off 6 Å, species: O, H\n"));
  TestOptions test;
  test.model = scratch.file("m.dp");
  test.systems = {dump};
  test.lammps = names;
  CHECK(message([&] { test_model(test); }) ==
        dump +
            ": the file has positions without energies and forces to compare with; ASE writes them into extended "
            "XYZ: ase.io.write(\"labelled.xyz\", atoms)");
}

TEST_CASE("forces of a dump are labels, in its units and by its ids") {
  Scratch scratch("dp_dump_forces");
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  Configuration c;
  c.x = {{1, 1, 1}, {1, 1, 2}, {1.9, 1.1, 0.9}};
  c.types = {0, 1, 1};
  c.box = Box::orthogonal(9, 8, 7);
  auto engine = make_engine(DeepPotentialModel::load(scratch.file("m.dp")), {});
  const Evaluation e = evaluate(*engine, c);
  const double kcal_per_mol = 0.043364104241800934;  // eV
  std::string text =
      "ITEM: UNITS\nreal\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n3\nITEM: BOX BOUNDS pp pp pp\n0 9\n0 8\n0 7\n"
      "ITEM: ATOMS id element x y z fx fy fz\n";
  for (const std::size_t i : {2, 0, 1}) {
    text += fmt::format("{} {} {} {} {}", 10 * i + 5, i == 0 ? "O" : "H", c.x[i][0], c.x[i][1], c.x[i][2]);
    for (const double f : e.force[i]) text += fmt::format(" {:.15g}", f / kcal_per_mol);
    text += "\n";
  }
  write_text(scratch.file("f.dump"), text);
  const LabelledData data = LabelledData::load(scratch.file("f.dump"));
  CHECK(data.frame(0).x == c.x);
  CHECK(relative_error(flat(data.frame(0).force), flat(e.force)) < 1e-12);
  TestOptions test;
  test.model = scratch.file("m.dp");
  test.systems = {scratch.file("f.dump")};
  const TestReport report = test_model(test);
  CHECK(report.all.force_rmse < 1e-12);
  CHECK(report.all.energy_rmse < 0.0);  // none
}

TEST_CASE("systems in HDF5 files are those of folders") {
  Scratch scratch("dp_hdf5");
  Comm comm(MPI_COMM_SELF);
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  const std::string file = scratch.file("data.hdf5");
  const std::vector<double> coord = {1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 2.1},
                            box = {9, 0, 0, 0, 8, 0, 0, 0, 7, 9, 0, 0, 0, 8, 0, 0, 0, 7};
  {
    io::File h5 = io::File::create(file);
    for (const std::string name : {"a", "b/c"}) {
      h5.write(name + "/type.raw", std::vector<int>{0, 1});
      h5.write(name + "/type_map.raw", std::vector<std::string>{"O", "H"});
      h5.write(name + "/set.000/coord.npy", io::tensor_of(coord.data(), {2, 6}));
      h5.write(name + "/set.000/box.npy", io::tensor_of(box.data(), {2, 9}));
      h5.write(name + "/set.000/energy.npy", std::vector<double>{-1, -2});
    }
    h5.write("b/no_set/type.raw", std::vector<double>{0.5});
    h5.write("b/no_box/type.raw", std::vector<int>{0});
    h5.write("b/no_box/set.000/coord.npy", io::tensor_of(coord.data(), {1, 3}));
    h5.create_group("b/groups_only");
  }
  CHECK(systems_at(file + "#/b/c") == std::vector<std::string>{file + "#/b/c"});
  CHECK(systems_at(file + "#/b") == std::vector<std::string>{file + "#/b/c", file + "#/b/no_box", file + "#/b/no_set"});
  CHECK(systems_at(file).size() == 4);
  CHECK(systems_at(scratch.file("none")) == std::vector<std::string>{scratch.file("none")});
  const DataSystem system = DataSystem::load(file + "#a");
  CHECK(system.frames() == 2);
  CHECK(*system.frame(1).energy == -2.0);
  CHECK(message([&] { DataSystem::load(file + "#/x"); }) ==
        file + ": there is no group '/x'; the file holds the systems " + file + "#/a, " + file + "#/b/c, " + file +
            "#/b/no_box, " + file + "#/b/no_set");
  CHECK(message([&] { DataSystem::load(file + "#/b/groups_only"); }) ==
        file + "#/b/groups_only: not a deepmd/hdf5 system: there is no type.raw");
  CHECK(message([&] { DataSystem::load(file); }) == file +
                                                        ": not a deepmd/hdf5 system: there is no type.raw; name the "
                                                        "systems in it: [" +
                                                        file + "#/a, " + file + "#/b/c, " + file + "#/b/no_box, ...]");
  CHECK(message([&] { DataSystem::load(file + "#/b/no_set"); }) ==
        file + "#/b/no_set/type.raw: the type of atom 0 is '0.5', which is no whole number");
  CHECK(message([&] { DataSystem::load(file + "#/b/no_box"); }) ==
        file + "#/b/no_box/set.000/box.npy: does not exist; for isolated molecules put a dataset 'nopbc' into " + file +
            "#/b/no_box");
  {
    io::File h5 = io::File::append(file);
    h5.remove("b/no_set");
    h5.remove("b/no_box");
    h5.write("empty.h5", 1);
  }
  {
    io::File none = io::File::create(scratch.file("none.h5"));
    none.write("d/type.raw", std::vector<int>{0});
  }
  CHECK(message([&] { DataSystem::load(scratch.file("none.h5") + "#/d"); }) ==
        scratch.file("none.h5") + "#/d: not a deepmd/hdf5 system: there is no group set.*");
  // The commands: one energy for each frame, errors of all systems in the file.
  EvalOptions eval;
  eval.model = scratch.file("m.dp");
  eval.structure = file + "#/a";
  const std::string text = evaluate_files(eval, comm);
  CHECK(text.find(file + "#/a frame 1: energy ") != std::string::npos);
  TestOptions test;
  test.model = scratch.file("m.dp");
  test.systems = {file};
  const TestReport report = test_model(test);
  CHECK(report.systems.size() == 2);
  CHECK(report.all.frames == 4);
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  DeepmdNpy data({{file}}, context);
  data.open(context);
  CHECK(data.size() == 4);
  // Named again, a system counts more in training, which is said; in a test it counts once.
  CHECK(log.warnings().empty());
  DeepmdNpy twice({{file, file + "#b/c"}}, context);
  twice.open(context);
  CHECK(twice.size() == 6);
  REQUIRE(log.warnings().size() == 1);
  CHECK(log.warnings()[0].text ==
        "systems[1]: " + file + "#/b/c is " + file + "#/b/c, which is named before: its frames count once more");
  test.systems = {file + "#/a", file};
  const TestReport again = test_model(test);
  CHECK(again.systems.size() == 2);
  CHECK(again.all.frames == 4);
}
