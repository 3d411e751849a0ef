// The tools around models: show, eval, compress, test, and the data they read.
#include "core/io/npy.hpp"
#include "plugins/deepmd/data/system.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "tests/plugins/deepmd/oracle_models.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// A .npy file of float64 rows.
void write_npy(const std::string& path, const std::string& header, const std::vector<double>& values) {
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(header.size() & 255)).put(static_cast<char>(header.size() >> 8));
  out << header;
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(8 * values.size()));
}

}  // namespace

TEST_CASE("a model is tested on labelled frames") {
  if (oracle_folder().empty()) return;
  const auto expected = oracle_cases().at("test");
  TestOptions options;
  options.model = oracle_folder() + "/one_side.dp";
  options.systems = {oracle_folder() + "/system"};
  const TestReport report = test_model(options);
  INFO(report.text);
  CHECK(report.all.frames == 3);
  // The second set is stored in float32.
  CHECK(report.all.energy_rmse == Approx(expected.at("energy")[0].get<double>()).epsilon(1e-4));
  CHECK(report.all.energy_mae == Approx(expected.at("energy")[1].get<double>()).epsilon(1e-4));
  CHECK(report.all.force_rmse == Approx(expected.at("force")[0].get<double>()).epsilon(1e-4));
  CHECK(report.all.force_mae == Approx(expected.at("force")[1].get<double>()).epsilon(1e-4));
  CHECK(report.all.virial_rmse == Approx(expected.at("virial")[0].get<double>()).epsilon(1e-4));
  CHECK(report.all.virial_mae == Approx(expected.at("virial")[1].get<double>()).epsilon(1e-4));
  options.most_frames = 1;
  const Scratch scratch("dp_twice");
  std::filesystem::copy(options.systems[0], scratch.file("copy"), std::filesystem::copy_options::recursive);
  options.systems.push_back(scratch.file("copy"));
  CHECK(test_model(options).all.frames == 2);
}

TEST_CASE("a system that is named twice, in any spelling, counts once in a test") {
  if (oracle_folder().empty()) return;
  const Scratch scratch("dp_named_twice");
  const std::string folder = scratch.file("systems"), one = folder + "/a";
  std::filesystem::create_directory(folder);
  std::filesystem::copy(oracle_folder() + "/system", one, std::filesystem::copy_options::recursive);
  std::filesystem::create_directory_symlink(one, scratch.file("link"));
  TestOptions options;
  options.model = oracle_folder() + "/one_side.dp";
  options.systems = {one};
  const auto alone = test_model(options);
  for (const std::string& again : {one, one + "/", folder, folder + "/../systems/./a", scratch.file("link")}) {
    options.systems = {one, again};
    const auto both = test_model(options);
    INFO(both.text);
    CHECK(both.systems.size() == 1);
    CHECK(both.all.frames == alone.all.frames);
    CHECK(both.text.find(" is " + one + ", which is named before, and counts once\n") != std::string::npos);
  }
  NeighbourOptions statistics;
  statistics.systems = {one};
  const std::string text = neighbour_statistics(statistics);
  statistics.systems = {one, scratch.file("link")};
  CHECK(neighbour_statistics(statistics) ==
        scratch.file("link") + " is " + one + ", which is named before, and counts once\n" + text);
}

TEST_CASE("the water example's data are read", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: water example data: CAMBIUM_DATA is not set\n";
    return;
  }
  const std::string water = std::string(data) + "/deepmd/water/data_";
  std::size_t frames = 0;
  for (const char* k : {"0", "1", "2", "3"}) {
    const DataSystem system = DataSystem::load(water + k);
    CHECK(system.type_map() == std::vector<std::string>{"O", "H"});
    CHECK(system.types().size() == 192);
    CHECK(system.frame(0).box->h[0][0] == Approx(12.444661).epsilon(1e-6));
    frames += system.frames();
  }
  CHECK(frames == 400);
  TestOptions options;
  options.model = std::string(data) + "/deepmd/models/deeppot_sea.dp";
  options.systems = {water + "1"};
  options.most_frames = 1;
  const TestReport report = test_model(options);
  CHECK(report.all.force_rmse > 0.7);  // a barely trained model: about the forces' own size
  CHECK(report.all.force_rmse < 0.9);
}

TEST_CASE("a model is shown as text") {
  Scratch scratch("dp_show");
  DeepPotentialModel model = random_model(small_model());
  model.output_bias = {-1.5, 0.25};
  save_model_tree(model.to_tree(), scratch.file("m.yaml"));
  const std::string text = show_model(scratch.file("m.yaml"));
  INFO(text);
  for (const char* line :
       {"species         O, H\n", "descriptor      se_e2_a, embedding by neighbour\n",
        "cut-off         5 Å, smooth from 0.5 Å\n", "embedding       2 network(s) 1-8-16-32, tanh, 1408 parameters\n",
        "fitting         2 network(s) 192-24-24-1, tanh, timestep, 10562 parameters\n",
        "energy bias     O  -1.5 eV\n                H  0.25 eV\n", "closest pair    0.88 Å in the training data\n"})
    CHECK(text.find(line) != std::string::npos);
}

TEST_CASE("a compressed model file carries its tables and their error") {
  Scratch scratch("dp_compress");
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  CompressOptions options;
  options.model = scratch.file("m.dp");
  for (const char* name : {"c.dp", "c.yaml"}) {
    options.output = scratch.file(name);
    options.tolerance = 1e-6;
    CHECK(compress_model(options).find("embedding tabulated from 0.88 Å to the cut-off in ") != std::string::npos);
    EngineOptions by_option;
    by_option.compress_tolerance = 1e-6;
    auto stored = make_engine(DeepPotentialModel::load(options.output), {});
    auto built = make_engine(DeepPotentialModel::load(options.model), by_option);
    REQUIRE(stored->table());
    CHECK(stored->table()->intervals == built->table()->intervals);
    CHECK(stored->table()->value_error < 1e-6);
    CHECK(stored->table()->r_min == Approx(0.88).epsilon(1e-9));
    const Evaluation a = evaluate(*stored, water(2)), b = evaluate(*built, water(2));
    CHECK(relative_error(flat(a.force), flat(b.force)) < 1e-12);
    CHECK(show_model(options.output).find("compressed      embedding tabulated from 0.88 Å") != std::string::npos);
  }
}

TEST_CASE("a hybrid's file carries the tables of its pairs, and those of angles are left to the potential") {
  Scratch scratch("dp_compress_hybrid");
  save_model_tree(random_model(small_hybrid()).to_tree(), scratch.file("m.dp"));
  save_model_tree(random_model(small_angles()).to_tree(), scratch.file("angles.dp"));
  CompressOptions options;
  options.model = scratch.file("m.dp");
  options.output = scratch.file("c.dp");
  options.tolerance = 1e-7;
  compress_model(options);
  auto stored = make_engine(DeepPotentialModel::load(options.output), {});
  auto plain = make_engine(DeepPotentialModel::load(options.model), {});
  CHECK(stored->table()->value_error < 1e-7);
  CHECK(relative_error(flat(evaluate(*stored, water(2)).force), flat(evaluate(*plain, water(2)).force)) < 1e-6);
  const std::string text = show_model(options.output);
  CHECK(text.find("descriptor      se_e3, embedding by pair of neighbours\ncut-off         3.5 Å") !=
        std::string::npos);
  CHECK(text.find("descriptor      se_e2_a, embedding by centre and neighbour\n") != std::string::npos);
  options.model = scratch.file("angles.dp");
  CHECK_THROWS_WITH(compress_model(options), scratch.file("angles.dp") +
                                                 ": tables of se_e3 are not written to files; give compress: 1e-07 to "
                                                 "the potential");
  save_model_tree(random_model(small_species()).to_tree(), scratch.file("species.dp"));
  options.model = scratch.file("species.dp");
  CHECK_THROWS_WITH(compress_model(options), Catch::Contains("tables of se_atten are not written to files; give "
                                                             "compress: 1e-07 to the potential"));
  // Tables of se_e2_a with type embedding are those of its networks by species, which DeePMD-kit reads.
  save_model_tree(random_model(small_types()).to_tree(), scratch.file("types.dp"));
  EvalOptions types;
  types.model = scratch.file("types.dp");
  CompressOptions to_tables;
  to_tables.model = types.model;
  to_tables.output = scratch.file("tables.dp");
  compress_model(to_tables);
  const DeepPotentialModel tables = DeepPotentialModel::load(to_tables.output);
  CHECK(tables.tables.size() == 2);
  CHECK(tables.type_embedding.layers.empty());
  auto tabulated = make_engine(tables, {}), shared = make_engine(DeepPotentialModel::load(types.model), {});
  CHECK(relative_error(flat(evaluate(*tabulated, water(2)).force), flat(evaluate(*shared, water(2)).force)) < 1e-6);
  CHECK(show_model(types.model)
            .find("type embedding  1 network(s) 2-5, tanh, 10 parameters, also after the "
                  "descriptor\n") != std::string::npos);
  const std::string species = show_model(options.model);
  CHECK(species.find("type embedding  1 network(s) 2-5, linear, 10 parameters, also after the descriptor\n") !=
        std::string::npos);
  CHECK(species.find("sel             138 (") != std::string::npos);
}

TEST_CASE("structures are evaluated from files") {
  Scratch scratch("dp_eval");
  Comm comm(MPI_COMM_SELF);
  const DeepPotentialModel model = random_model(small_model());
  save_model_tree(model.to_tree(), scratch.file("m.dp"));
  write_text(scratch.file("s.xyz"),
             "3\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n"
             "H 1 1 2\nO 1 1 1.04\nH 1.9 1.1 0.9\n");
  EvalOptions options;
  options.model = scratch.file("m.dp");
  options.structure = scratch.file("s.xyz");
  options.output = scratch.file("f.xyz");
  const std::string text = evaluate_files(options, comm);
  auto engine = make_engine(model, {});
  Configuration c;
  c.x = {{1, 1, 2}, {1, 1, 1.04}, {1.9, 1.1, 0.9}};
  c.types = {1, 0, 1};
  c.box = Box::orthogonal(9, 9, 9);
  const Evaluation e = evaluate(*engine, c);
  const std::string start = scratch.file("s.xyz") + ": energy ";
  REQUIRE(text.substr(0, start.size()) == start);
  CHECK(std::stod(text.substr(start.size())) == Approx(e.energy).epsilon(1e-9));
  std::ifstream written(scratch.file("f.xyz"));
  const std::string all((std::istreambuf_iterator<char>(written)), {});
  CHECK(all.find("forces:R:3") != std::string::npos);
}

TEST_CASE("structures of VASP and DFTB+ are evaluated as those of extended XYZ") {
  Scratch scratch("dp_eval_formats");
  Comm comm(MPI_COMM_SELF);
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  EvalOptions options;
  options.model = scratch.file("m.dp");
  const auto energy = [&](const std::string& name, const std::string& content) {
    options.structure = scratch.file(name);
    write_text(options.structure, content);
    const std::string text = evaluate_files(options, comm), start = options.structure + ": energy ";
    const auto at = text.find(start);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + start.size()));
  };
  const std::string cell = "8 0.2 0.1\n0.5 9 0\n0 1 7\n";  // in axes of its own
  const double expected = energy("s.xyz",
                                 "3\nLattice=\"8 0.2 0.1 0.5 9 0 0 1 7\" Properties=species:S:1:pos:R:3\n"
                                 "O 1 1 1.04\nH 1 1 2\nH 1.9 1.1 0.9\n");
  CHECK(energy("POSCAR", "water\n1.0\n" + cell + "O H\n1 2\nCartesian\n1 1 1.04\n1 1 2\n1.9 1.1 0.9\n") ==
        Approx(expected).epsilon(1e-9));
  CHECK(energy("s.gen", "3 S\nO H\n1 1 1 1 1.04\n2 2 1 1 2\n3 2 1.9 1.1 0.9\n0 0 0\n" + cell) ==
        Approx(expected).epsilon(1e-9));
  options.structure = scratch.file("s.out");
  write_text(options.structure, "some other program\n\n3 particles\n");
  CHECK(
      message([&] { evaluate_files(options, comm); }) ==
      options.structure +
          ":1: expected the number of atoms, found 'some other program'; the file was read as extended XYZ, as all are "
          "but *POSCAR*, *CONTCAR*, *.vasp, *.gen, and files of LAMMPS; ASE converts others: "
          "ase.io.write(\"atoms.xyz\", ase.io.read(\"" +
          options.structure + "\"))");
}

TEST_CASE("frame parameters of the command and of the data") {
  Scratch scratch("dp_fparam");
  auto spec = small_model();
  spec.fparam = 1;
  save_model_tree(random_model(spec).to_tree(), scratch.file("m.dp"));
  const std::string root = scratch.file("sys"), set = root + "/set.000";
  std::filesystem::create_directories(set);
  write_text(root + "/type.raw", "0 1");
  write_text(root + "/type_map.raw", "O H");
  write_text(root + "/nopbc", "");
  const std::string descr = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
  write_npy(set + "/coord.npy", descr + "(1, 6), }\n", {0, 0, 0, 0, 0, 1});
  write_npy(set + "/energy.npy", descr + "(1,), }\n", {-1});
  TestOptions options;
  options.model = scratch.file("m.dp");
  options.systems = {root};
  CHECK(message([&] { test_model(options); }) ==
        options.model +
            ": the model takes 1 value(s) of fparam, the data and the options give 0; put fparam.npy into the data, or "
            "give --fparam to `cambium deepmd eval` or `test`");
  options.fparam = {0.3};
  const auto given = test_model(options);
  CHECK(given.text.find("not used") == std::string::npos);
  write_npy(set + "/fparam.npy", descr + "(1, 1), }\n", {0.3});
  options.fparam = {0.7};
  const auto both = test_model(options);
  CHECK(both.all.energy_rmse == given.all.energy_rmse);
  CHECK(both.text == given.text + root + ": --fparam is not used: the data have fparam of their own\n");
}

TEST_CASE("molecules and slabs are evaluated from files as labelled frames are") {
  Scratch scratch("dp_eval_open");
  Comm comm(MPI_COMM_SELF);
  const DeepPotentialModel model = random_model(small_model());
  save_model_tree(model.to_tree(), scratch.file("m.dp"));
  EvalOptions options;
  options.model = scratch.file("m.dp");
  options.structure = scratch.file("s.xyz");
  options.output = scratch.file("f.xyz");
  const std::string atoms = "H 1 1 2\nO 1 1 1.04\nH 1.9 1.1 0.9\n";
  auto engine = make_engine(model, {});
  Configuration c;
  c.x = {{1, 1, 2}, {1, 1, 1.04}, {1.9, 1.1, 0.9}};
  c.types = {1, 0, 1};
  // Periodic along two short axes alone: the third cell vector of the file would bring images near.
  struct Case {
    std::string head;
    std::optional<Box> box;
  };
  for (const auto& [head, box] : {Case{"a molecule", {}}, Case{"pbc=\"F F F\" energy=nan", {}},
                                  Case{"Lattice=\"6 0 0 0 6 0 0 0 2\" pbc=\"T T F\"", Box::orthogonal(6, 6, 60)}}) {
    write_text(scratch.file("s.xyz"), "3\n" + head + "\n" + atoms);
    const std::string text = evaluate_files(options, comm), start = scratch.file("s.xyz") + ": energy ";
    c.box = box;
    REQUIRE(text.substr(0, start.size()) == start);
    CHECK(std::stod(text.substr(start.size())) == Approx(evaluate(*engine, c).energy).epsilon(1e-9));
    CHECK(text.find("pressure") == std::string::npos);
    const auto again = read_extxyz_frames(scratch.file("f.xyz"));
    REQUIRE(again.size() == 1);
    CHECK(again[0].frame.box.has_value() == box.has_value());
    CHECK(*again[0].frame.energy == Approx(evaluate(*engine, c).energy).epsilon(1e-9));
    CHECK(again[0].frame.force[2][0] == Approx(evaluate(*engine, c).force[2][0]).epsilon(1e-8));
  }
  options.frame = 1;
  CHECK(message([&] { evaluate_files(options, comm); }) ==
        scratch.file("s.xyz") + ": has 1 frame(s), counted from 0; frame 1 was requested");
}

TEST_CASE("parameters of the data that a model does not take are passed over, and said") {
  Scratch scratch("dp_parameters");
  save_model_tree(random_model(small_model()).to_tree(), scratch.file("m.dp"));
  const std::string root = scratch.file("sys"), set = root + "/set.000";
  std::filesystem::create_directories(set);
  write_text(root + "/type.raw", "0 1");
  write_text(root + "/type_map.raw", "O H");
  write_text(root + "/nopbc", "");
  const auto write = [&](const std::string& name, const std::string& shape, const std::vector<double>& values) {
    write_npy(set + "/" + name + ".npy", "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n",
              values);
  };
  write("coord", "(2, 6)", {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1.1});
  write("energy", "(2,)", {-1, -1});
  TestOptions options;
  options.model = scratch.file("m.dp");
  options.systems = {root};
  const auto plain = test_model(options);
  write("fparam", "(2, 1)", {0.1, 0.2});
  const auto with_fparam = test_model(options);
  CHECK(with_fparam.all.energy_rmse == plain.all.energy_rmse);
  CHECK(with_fparam.text ==
        plain.text + root + ": the fparam of the data is not used: " + options.model + " takes none\n");
  write("aparam", "(1, 4)", {1, 2, 3, 4});
  CHECK(test_model(options).text ==
        plain.text + root + ": the fparam and aparam of the data are not used: " + options.model + " takes none\n");
}

TEST_CASE("data that cannot be read name their file") {
  Scratch scratch("dp_data");
  const std::string root = scratch.file("sys");
  CHECK(message([&] { DataSystem::load(root); }) == root + ": not a deepmd/npy system: there is no type.raw");
  for (const char* name : {"/b", "/a"}) {
    std::filesystem::create_directories(root + name);
    write_text(root + name + "/type.raw", "0\n");
  }
  CHECK(message([&] { DataSystem::load(root); }) ==
        root + ": not a deepmd/npy system: there is no type.raw; name the systems in it: [" + root + "/a, " + root +
            "/b]");
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  write_text(root + "/type.raw", "0\n1\n");
  write_text(root + "/type_map.raw", "O\nCu\n");
  CHECK(message([&] { DataSystem::load(root); }) == root + ": not a deepmd/npy system: there is no folder set.*");
  write_text(root + "/coord.raw", "0 0 0 0 0 1\n");
  CHECK(message([&] { DataSystem::load(root); }) ==
        root + ": a deepmd/raw system, expected deepmd/npy; dpdata converts it: dpdata.LabeledSystem(\"" + root +
            "\", fmt=\"deepmd/raw\").to(\"deepmd/npy\", \"" + root + "\")");
  std::filesystem::create_directories(root + "/set.000");
  CHECK(message([&] { DataSystem::load(root); }) == root + "/set.000/coord.npy: does not exist");
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 6), }          \n";
  write_npy(root + "/set.000/coord.npy", good, {0, 0, 0, 0, 0, 1});
  CHECK(message([&] { DataSystem::load(root); }) ==
        root + "/set.000/box.npy: does not exist; for isolated molecules put an empty file 'nopbc' into " + root);
  write_npy(root + "/set.000/box.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 9), }          \n",
            {4, 0, 0, 0, 4, 0, 4, 4, 0});
  CHECK(message([&] { DataSystem::load(root); }) ==
        root +
            "/set.000/box.npy: frame 0: the cell vectors (4 0 0), (0 4 0), (4 4 0) are flat or left-handed (volume "
            "0): give three independent vectors in right-handed order");
  write_npy(root + "/set.000/box.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 9), }          \n",
            {0, 4, 0, 5, 0, 0, 0, 0, 6});  // left-handed: the same lattice
  CHECK(DataSystem::load(root).frame(0).box->volume() == Approx(120.0));
  write_text(root + "/nopbc", "");
  const DataSystem system = DataSystem::load(root);
  CHECK(!system.frame(0).box);
  CHECK(system.frame(0).x[1][2] == 1.0);
  CHECK(message([&] {
          model_types(system, 0, {"O", "H"}, "m.dp");
        }) == "species 'Cu' of " + root + " is unknown to the model m.dp; its species: O, H");
  write_npy(root + "/set.000/force.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3), }\n", {0, 0, 0});
  CHECK(message([&] { DataSystem::load(root); }) ==
        root + "/set.000/force.npy: expected 1 row(s) of 6 value(s), found shape 1 x 3");
  const std::string file = scratch.file("a.npy");
  write_npy(file, good, {0, 0, 0});
  CHECK(message([&] { io::read_npy(file); }) == file + ": the file ends early: its header specifies 6 values");
  write_npy(file, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6});
  CHECK(io::read_npy(file).values == std::vector<double>{1, 3, 5, 2, 4, 6});
  write_npy(file, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", {});
  CHECK(message([&] { io::read_npy(file); }) ==
        file +
            ": values of type <c8 are not read; expected floating-point numbers of 4 or 8 bytes, or integers: save it "
            "with numpy.save('a.npy', array.astype('f8'))");
  write_text(file, "PK");
  CHECK(message([&] { io::read_npy(file); }) == file + ": not a .npy file");
}
