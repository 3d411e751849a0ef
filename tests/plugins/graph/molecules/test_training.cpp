// A training of a network of molecules on any number of ranks, and its model judged. This file sees no Torch.
#include <array>

#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"

using namespace cambium;
using namespace cambium::graph::testing;

namespace {

const std::string data = "{type: molecules, made_up: {molecules: 60, atoms: [3, 7]}, fold: 1";

std::string training(const std::string& keys, int steps) {
  return "network: {type: message_passing, layers: 2, width: 12, radial: 6, cutoff: 3.5, force_weight: 0.2, precision: "
         "float64}\n"
         "dataset: " +
         data + "}\nbatch: 16\nsteps: " + std::to_string(steps) + "\nseed: 3\n" + keys;
}
const std::string adam = "optimizer: adamw\nlearning_rate: {type: constant, start: 3e-3}\n";
const std::string descent = "optimizer: {type: sgd, momentum: 0.9}\nlearning_rate: {type: constant, start: 1e-3}\n";
const std::string ordered = "reduce: {mode: ordered, micro_batches: 4}\n";

std::map<std::string, std::vector<double>> weights_of(const std::string& path) {
  const auto file = io::File::open(path);
  const auto group = file.group("/weights");
  std::map<std::string, std::vector<double>> out;
  for (const auto& name : group.list()) out[name] = group.read<std::vector<double>>(name);
  return out;
}

/// Weights after a few steps, in ordered and in fast mode, on the ranks of a communicator.
std::array<std::map<std::string, std::vector<double>>, 2> trained_on(MPI_Comm ranks) {
  Stages stages(ranks);
  stages.run("train", training(adam + ordered, 6), "ordered");
  stages.run("train", training(descent, 6), "fast");  // Adam would make steps of equal size of what rounding leaves
  return {weights_of(stages.scratch.file("ordered/model.h5")), weights_of(stages.scratch.file("fast/model.h5"))};
}

}  // namespace

TEST_CASE("training on several ranks gives the weights of one, bit for bit in ordered mode") {
  const auto all = trained_on(MPI_COMM_WORLD);  // its folder is gone before each rank makes its own
  MPI_Barrier(MPI_COMM_WORLD);
  const auto one = trained_on(MPI_COMM_SELF);
  REQUIRE(all[0].size() > 10);
  CHECK(all[0] == one[0]);
  for (const auto& [name, values] : all[1])
    for (std::size_t k = 0; k < values.size(); ++k) CHECK(values[k] == Approx(one[1].at(name)[k]).margin(1e-9));
}

TEST_CASE("a trained network and its baselines stand in one table") {
  Stages stages;
  stages.run("train", training(adam, 150), "train");
  stages.run("evaluate", "{model: '{run}/train/model.h5', dataset: " + data + ", part: test}}", "evaluate");
  CHECK(std::filesystem::exists(stages.scratch.file("evaluate/parity_energy.csv")));
  CHECK(std::filesystem::exists(stages.scratch.file("evaluate/parity_force.csv")));
  stages.run("molecule_energies",
             "{training: " + data + "}, test: " + data +
                 ", part: test}, models: ['{run}/train/model.h5', '{run}/train/model.h5']}",
             "energies");
  const auto errors = stages.errors("energies");
  REQUIRE(errors.size() == 7);
  CHECK(errors.at("model_1") == errors.at("model_2"));
  CHECK(errors.at("mean") == Approx(errors.at("model_1")));
  CHECK(errors.at("model_1") < 0.7 * errors.at("atoms"));
  const auto file = io::File::open(stages.scratch.file("energies/energies.h5"));
  CHECK(file.dataset("model_1").shape() == std::vector<std::int64_t>{12});
}

TEST_CASE("a network that was trained with forces is judged on energies alone") {
  Stages stages;
  stages.run("train", training(adam, 6), "train");
  const auto path = stages.scratch.file("energies.xyz");
  if (stages.comm.root()) {
    std::ofstream file(path);
    for (int k = 0; k < 3; ++k)
      file << "3\nProperties=species:S:1:pos:R:3 energy=" << -200.0 - k << "\nO 0 0 0\nH 0.96 0 0\nH -0.24 0.93 "
           << 0.1 * k << "\n";
  }
  stages.comm.barrier();
  stages.run("evaluate",
             "{model: '{run}/train/model.h5', dataset: {type: molecules, file: '" + path + "', energy_unit: kcal/mol}}",
             "evaluate");
  std::ifstream file(stages.scratch.file("evaluate/evaluation.csv"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK_THAT(text, Catch::Contains("force_rmse"));
  const auto last = text.substr(text.rfind('\n', text.size() - 2) + 1);
  CHECK(std::stod(last) > 0.0);                // of energies
  CHECK_THAT(last, Catch::EndsWith("nan\n"));  // of forces
}

TEST_CASE("molecules without bonds are judged without the baseline of bonds, unless it is asked for") {
  Stages stages;
  const auto path = stages.scratch.file("no_bonds.xyz"), other = stages.scratch.file("test.xyz");
  if (stages.comm.root())
    for (const auto& [name, first] : {std::pair{path, 0}, {other, 9}}) {
      std::ofstream file(name);
      for (int k = first; k < first + 9; ++k)
        file << "3\nProperties=species:S:1:pos:R:3 energy=" << -200.0 - k << "\nO 0 0 0\nH 0.96 0 0\nH -0.24 0.93 "
             << 0.1 * k << "\n";
    }
  stages.comm.barrier();
  const auto set = [](const std::string& file) {
    return "{type: molecules, file: '" + file + "', energy_unit: kcal/mol}";
  };
  const std::string sets = "training: " + set(path) + ", test: " + set(other);
  stages.run("molecule_energies", "{" + sets + "}", "energies");
  const auto errors = stages.errors("energies");
  CHECK(errors.size() == 3);
  CHECK(errors.count("bonds") == 0);
  // Least squares of a constant and equal counts is the mean energy: -204 for training, so the errors are 5 to 13.
  CHECK(errors.at("atoms") == Approx(9.0));
  CHECK_THROWS_WITH(stages.run("molecule_energies", "{" + sets + ", baselines: [bonds]}", "refused"),
                    Catch::Contains("the molecules have no bonds to count"));
}
