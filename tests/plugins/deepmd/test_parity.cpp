// Own frames in extended XYZ, with labels as ASE writes them, held against a model: errors and parity tables.
// References are differences of energies in the axes of the file, so that signs, orders and turns are checked, too.

#include <fmt/format.h>

#include "core/io/hdf5/h5.hpp"
#include "core/train/register.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"
#include "plugins/deepmd/tools/parity.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

/// A configuration as a file gives it: cell rows in any orientation (none: a molecule), atoms by symbol.
struct Given {
  std::vector<double> cell;
  std::vector<std::string> species;
  std::vector<Position> x;
};

class Model {
 public:
  explicit Model(const std::string& path) : engine_(make_engine(DeepPotentialModel::load(path), {})) {}

  double energy(const Given& g) {
    double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, rows[3][3];
    std::optional<Box> box;
    for (std::size_t k = 0; k < g.cell.size(); ++k) rows[k / 3][k % 3] = g.cell[k];
    if (!g.cell.empty()) box = Box::from_vectors(rows, q);
    std::vector<Position> x(g.x.size(), Position{});
    std::vector<int> types;
    for (std::size_t i = 0; i < g.x.size(); ++i) {
      for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 3; ++r) x[i][k] += g.x[i][r] * q[r][k];
      types.push_back(g.species[i] == "O" ? 0 : 1);
    }
    return cambium::deepmd::evaluate(*engine_, x, types, box).energy;
  }
  double force(Given g, std::size_t atom, std::size_t k) {
    const double h = 1e-4, x = g.x[atom][k];
    g.x[atom][k] = x + h;
    const double up = energy(g);
    g.x[atom][k] = x - h;
    return (energy(g) - up) / (2 * h);
  }
  /// dE/d(strain_ab) for x -> x (1 + strain): volume times the stress as ASE counts it.
  double strain_slope(const Given& g, std::size_t a, std::size_t b) {
    const double h = 1e-5;
    const auto strained = [&](double e) {
      Given out = g;
      for (std::size_t r = 0; r < 3; ++r) out.cell[3 * r + b] += e * g.cell[3 * r + a];
      for (std::size_t i = 0; i < g.x.size(); ++i) out.x[i][b] += e * g.x[i][a];
      return energy(out);
    };
    return (strained(h) - strained(-h)) / (2 * h);
  }

 private:
  std::unique_ptr<Engine> engine_;
};

double volume(const std::vector<double>& c) {
  return c[0] * (c[4] * c[8] - c[5] * c[7]) + c[1] * (c[5] * c[6] - c[3] * c[8]) + c[2] * (c[3] * c[7] - c[4] * c[6]);
}

std::string numbers(const std::vector<double>& values) {
  std::string out;
  for (const double v : values) out += fmt::format("{}{:.12g}", out.empty() ? "" : " ", v);
  return out;
}

/// One frame as ASE's writer lays it out; `keys` follow Properties.
std::string text(const Given& g, const std::string& keys, Model* forces) {
  std::string out = fmt::format("{}\n", g.x.size());
  if (!g.cell.empty()) out += "Lattice=\"" + numbers(g.cell) + "\" ";
  out += fmt::format("Properties=species:S:1:pos:R:3{} {} pbc=\"{}\"\n", forces ? ":forces:R:3" : "", keys,
                     g.cell.empty() ? "F F F" : "T T T");
  for (std::size_t i = 0; i < g.x.size(); ++i) {
    out += g.species[i] + " " + numbers({g.x[i][0], g.x[i][1], g.x[i][2]});
    for (std::size_t k = 0; forces && k < 3; ++k) out += fmt::format(" {:.12g}", forces->force(g, i, k));
    out += "\n";
  }
  return out;
}

const Given cell{
    {0.3, 4.1, 0.2, -3.6, 0.5, 0.4, 0.2, -0.3, 3.9},
    {"H", "O", "H", "O", "H", "H"},
    {{0.1, 0.4, 0.2}, {0.2, 0.9, 0.9}, {-0.7, 1.0, 1.3}, {-1.6, 2.5, 2.4}, {-2.2, 2.4, 3.1}, {-1.2, 3.4, 2.5}}};
const Given small{{3.4, 0.1, 0, 0, 3.7, 0.2, 0.3, 0, 3.5}, {"O", "H"}, {{0.1, 0.2, 0.3}, {1.0, 0.5, 0.2}}};
const Given molecule{{}, {"H", "O", "H"}, {{0.9, 0.1, 0}, {0, 0, 0}, {-0.3, 0.9, 0.1}}};

/// Four frames: all labels, one with Voigt's six stresses, forces alone, energy alone.
std::string file_of(Model& m, double energy_error) {
  std::vector<double> stress, six;
  for (std::size_t k = 0; k < 9; ++k) stress.push_back(m.strain_slope(cell, k / 3, k % 3) / volume(cell.cell));
  for (const auto& [a, b] : {std::pair{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}})
    six.push_back(m.strain_slope(small, a, b) / volume(small.cell));
  return text(cell,
              fmt::format("energy={:.12g} stress=\"{}\" free_energy=1.0", m.energy(cell) + 6 * energy_error,
                          numbers(stress)),
              &m) +
         text(small, fmt::format("energy={:.12g} stress=\"{}\"", m.energy(small), numbers(six)), nullptr) +
         text(molecule, "config_type=gas", &m) + text(small, fmt::format("energy={:.12g}", m.energy(small)), nullptr);
}

}  // namespace

TEST_CASE("a stage tests a model on frames of extended XYZ and writes parity tables") {
  Stages stages;
  const std::string path = stages.model(3);
  Model model(path);
  const std::string file = stages.scratch.file("own.xyz");
  std::ofstream(file) << file_of(model, 0.01);
  const std::string folder = stages.run("test", "test", fmt::format("{{model: '{}', systems: ['{}']}}", path, file));
  const auto errors = text_table(folder + "/parity_0_energy.csv");
  CHECK(errors.at("frame") == std::vector<double>{0, 1, 3});
  CHECK(errors.at("reference")[0] - errors.at("predicted")[0] == Approx(0.01).epsilon(1e-6));
  CHECK(errors.at("predicted")[0] == Approx(model.energy(cell) / 6).epsilon(1e-9));
  CHECK(errors.at("reference")[1] == Approx(errors.at("predicted")[1]).epsilon(1e-9));
  const auto force = text_table(folder + "/parity_0_force.csv");
  REQUIRE(force.at("frame").size() == 9);
  CHECK(force.at("frame")[8] == 2);
  CHECK(force.at("atom")[8] == 2);
  CHECK(force.at("reference_y")[1] == Approx(model.force(cell, 1, 1)).epsilon(1e-8));
  const auto virial = text_table(folder + "/parity_0_virial.csv");
  CHECK(virial.at("frame") == std::vector<double>{0, 1});
  CHECK(virial.at("reference_xy")[0] == Approx(-model.strain_slope(cell, 0, 1) / 6).epsilon(1e-6));
  for (const char* component : {"x", "y", "z"})
    for (std::size_t k = 0; k < 9; ++k)
      CHECK(force.at(fmt::format("predicted_{}", component))[k] ==
            Approx(force.at(fmt::format("reference_{}", component))[k]).margin(1e-7));
  double largest = 0.0;
  for (const char* component : {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"})
    for (std::size_t k = 0; k < 2; ++k) {
      const double reference = virial.at(fmt::format("reference_{}", component))[k];
      largest = std::max(largest, std::abs(reference));
      CHECK(virial.at(fmt::format("predicted_{}", component))[k] == Approx(reference).margin(1e-7));
    }
  CHECK(largest > 1e-3);  // there is something to get wrong
  const auto h5 = io::File::open(folder + "/parity_0.h5");
  CHECK(h5.dataset("force/predicted").shape() == std::vector<std::int64_t>{9, 3});
  CHECK(h5.dataset("force/predicted").attribute<std::string>("units") == "eV/angstrom");
  CHECK(h5.read<std::vector<std::string>>("virial/component")[1] == "xy");
  CHECK(h5.group("energy").attribute<double>("rmse") == Approx(0.01 / std::sqrt(3.0)).epsilon(1e-6));
  CHECK(h5.read<std::vector<double>>("energy/reference") == errors.at("reference"));
}

TEST_CASE("errors of labels that data do not have are empty cells") {
  Stages stages;
  const std::string path = stages.model(3);
  Model model(path);
  const std::string file = stages.scratch.file("gas.xyz");
  std::ofstream(file) << text(molecule, "config_type=gas", &model);  // forces alone
  const std::string folder = stages.run("test", "test", fmt::format("{{model: '{}', systems: ['{}']}}", path, file));
  std::ifstream table(folder + "/errors.csv");
  std::string heading, row;
  std::getline(table, heading);
  std::getline(table, row);
  CHECK(heading == "system,frames,energy_rmse (eV/atom),force_rmse (eV/angstrom),virial_rmse (eV/atom)");
  const std::string start = file + ",1,,";
  REQUIRE(row.substr(0, start.size()) == start);
  CHECK(std::stod(row.substr(start.size())) < 1e-7);
  CHECK(row.back() == ',');
}

TEST_CASE("the tool tests on folders and files together, on any number of ranks") {
  const Comm world;
  Stages stages;
  const std::string path = stages.model(4);
  Model model(path);
  const std::string file = stages.scratch.file("own.xyz");
  const std::string copy = stages.scratch.file("copy.xyz");
  for (const auto& name : {file, copy}) std::ofstream(name) << file_of(model, 0.0);
  TestOptions options;
  options.model = path;
  options.systems = {file, copy};
  options.parity = stages.scratch.file("tables");
  const TestReport report = test_model(options);
  CHECK(report.all.frames == 8);
  CHECK(report.all.energy_rmse < 1e-9);
  CHECK(report.all.force_mae < 1e-7);
  CHECK(report.all.force_mae >= 0.0);
  CHECK(report.all.virial_rmse < 1e-7);
  CHECK(report.text.find("parity_energy.csv, parity_force.csv, parity_virial.csv, parity.h5\n") != std::string::npos);
  CHECK(text_table(options.parity + "/parity_energy.csv").at("frame") == std::vector<double>{0, 1, 3, 4, 5, 7});
  // Dealt out to the ranks, every rank gets every row.
  const auto data = LabelledData::load(file);
  const Parity alone = parity_of(data, options, 0, stages.comm), together = parity_of(data, options, 0, world);
  for (std::size_t k = 0; k < 3; ++k) CHECK(alone.all()[k]->predicted == together.all()[k]->predicted);
  CHECK(parity_of(data, options, 1, world).force.rows() == 6);
}

TEST_CASE("labels of other names and units are read where a deck names them") {
  Stages stages;
  const std::string path = stages.model(5);
  Model model(path);
  const std::string file = stages.scratch.file("own.xyz");
  const double hartree = 27.211386245988;
  std::ofstream(file) << text(small, fmt::format("my_energy={:.14g}", model.energy(small) / hartree), nullptr);
  CHECK_THROWS_WITH(LabelledData::load(file),
                    file +
                        ": no frame has a label: there is no key energy, virial or stress, and no column forces; the "
                        "file has my_energy: name its labels, as in labels: {energy: my_energy}");
  const std::string folder = stages.run(
      "test", "test",
      fmt::format("{{model: '{}', systems: ['{}'], labels: {{energy: my_energy, energy_unit: hartree}}}}", path, file));
  const auto table = text_table(folder + "/parity_0_energy.csv");
  CHECK(table.at("reference")[0] == Approx(table.at("predicted")[0]).epsilon(1e-9));
  std::ofstream(file) << "1\nLattice=\"9 0 0 0 9 0 0 0 9\"\nO 1 1 1\n";
  CHECK_THROWS_WITH(LabelledData::load(file),
                    file +
                        ": no frame has a label: there is no key energy, virial or stress, and no column forces; the "
                        "file holds positions alone");
  std::ofstream(file) << "";
  CHECK_THROWS_WITH(LabelledData::load(file), file + ": the file holds no frame");
  std::ofstream(file) << "1\nProperties=species:S:1:pos:R:3 energy=1\nXe 1 1 1\n";
  CHECK_THROWS_WITH(LabelledData::load(file).types(0, {"O", "H"}, "m.dp"),
                    "species 'Xe' of " + file + ", frame 0, is unknown to the model m.dp; its species: O, H");
}

TEST_CASE("samples without forces validate and judge a network that was trained on forces, by their energies") {
  Stages stages;
  train::register_training(stages.registry);
  stages.log.tee(stages.scratch.file("log.txt"));
  const auto said = [&] {
    std::ifstream in(stages.scratch.file("log.txt"));
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  Model model(stages.model(3));
  const std::string forces = stages.scratch.file("forces.xyz"), energies = stages.scratch.file("energies.xyz");
  std::ofstream(forces) << text(small, fmt::format("energy={:.12g}", model.energy(small)), &model);
  const auto write_energy = [&](double share) {
    std::ofstream(energies) << text(small, fmt::format("energy={:.12g}", model.energy(small) * share), nullptr);
  };
  write_energy(1.0 + 1e-8);
  const std::string folder = stages.run(
      "train", "train",
      fmt::format(
          "{{network: {{type: deep_potential, rcut: 3.5, neuron: [4, 8], axis_neuron: 2, fitting: [8]}}, dataset: "
          "{{type: extxyz, files: ['{}']}}, validation: {{type: extxyz, files: ['{}']}}, steps: 4, batch: 1, "
          "learning_rate: {{type: constant, start: 1e-3}}, validate: {{every: 2}}}}",
          forces, energies));
  CHECK_THAT(said(),
             Catch::Contains("the validation samples have no labels of force, by which the best model is chosen: "
                             "it is chosen by energy (validate.metric_weights)"));
  const auto card = io::File::open(folder + "/model.h5");
  CHECK(std::isfinite(card.read<double>("card/validation_energy")));
  CHECK(card.read<double>("card/step") >= 2);
  const auto judge = [&] {
    return stages.run(
        "evaluate", "evaluate",
        fmt::format("{{model: '{}/model.h5', dataset: {{type: extxyz, files: ['{}']}}}}", folder, energies));
  };
  CHECK(text_table(judge() + "/parity_energy.csv").at("sample").size() == 1);
  CHECK_THAT(said(), Catch::Contains("(the samples have no labels of it)"));
  // A constant that differs by rounding is not beyond what training saw, and words have no range.
  CHECK_THAT(said(), !Catch::Contains("extrapolates"));
  write_energy(1.0 + 1e-5);
  judge();
  const std::string all = said();
  const auto at = all.find("field 'energy' spans ["), middle = all.find(", but training saw [", at);
  REQUIRE(middle != std::string::npos);
  const auto range = [&](std::size_t from) {
    return all.substr(all.find('[', from), all.find(']', from) - all.find('[', from));
  };
  CHECK(range(at) != range(middle));
}

TEST_CASE("the stage evaluate gives forces, virials and mean absolute errors along the axes of the file") {
  Stages stages;
  train::register_training(stages.registry);
  Model model(stages.model(3));
  const std::string file = stages.scratch.file("turned.xyz");
  std::ofstream(file) << file_of(model, 0.0);
  const std::string data = fmt::format("dataset: {{type: extxyz, files: ['{}']}}", file);
  const std::string folder = stages.run(
      "train", "train",
      fmt::format("{{network: {{type: deep_potential, rcut: 3.5, neuron: [4, 8], axis_neuron: 2, fitting: [8]}}, {}, "
                  "steps: 2, batch: 1, learning_rate: {{type: constant, start: 1e-3}}}}",
                  data));
  const auto judged = stages.run("evaluate", "evaluate", fmt::format("{{model: '{}/model.h5', {}}}", folder, data));
  const auto force = text_table(judged + "/parity_force.csv"), virial = text_table(judged + "/parity_virial.csv");
  REQUIRE(force.at("sample").size() == 9);  // six atoms in a turned cell, a molecule
  double errors = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto component = std::string("xyz").substr(k, 1);
    const auto &reference = force.at("reference_" + component), &predicted = force.at("predicted_" + component);
    for (std::size_t i = 0; i < 9; ++i) errors += std::abs(predicted[i] - reference[i]);
    for (std::size_t i = 0; i < 6; ++i) CHECK(reference[i] == Approx(model.force(cell, i, k)).margin(1e-8));
  }
  CHECK(virial.at("reference_xy")[0] == Approx(-model.strain_slope(cell, 0, 1) / 6).epsilon(1e-6));
  CHECK(text_table(judged + "/evaluation.csv").at("absolute_force")[0] == Approx(errors / 27).epsilon(1e-9));
}
