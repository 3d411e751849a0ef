// A training of a network of molecules on any number of ranks, and its model judged. This file sees no Torch.
#include "core/io/hdf5/h5.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_stages.hpp"

using namespace cambium;
using namespace cambium::graph::testing;

namespace {

const std::string data = "{type: molecules, made_up: {molecules: 60, atoms: [3, 7]}, fold: 1";

std::string training(const std::string& reduce, int steps) {
  return "model: {type: message_passing, layers: 2, width: 12, radial: 6, cutoff: 3.5, force_weight: 0.2}\n"
         "dataset: " +
         data + "}\nbatch: 16\nsteps: " + std::to_string(steps) + "\nseed: 3\n" +
         "optimizer: adamw\nlearning_rate: {type: constant, start: 3e-3}\n" + reduce;
}

std::map<std::string, std::vector<float>> weights_of(const std::string& path) {
  const auto file = io::File::open(path);
  const auto group = file.group("/weights");
  std::map<std::string, std::vector<float>> out;
  for (const auto& name : group.list()) out[name] = group.read<std::vector<float>>(name);
  return out;
}

}  // namespace

TEST_CASE("training on several ranks gives the weights of one, bit for bit in ordered mode") {
  Stages all;
  all.run("train", training("reduce: {mode: ordered, slices: 4}", 6), "ordered");
  all.run("train", training("", 6), "fast");
  std::map<std::string, std::vector<float>> ordered, fast;
  {
    Stages one(MPI_COMM_SELF);
    one.scratch.folder += "_" + std::to_string(all.comm.rank());
    one.run("train", training("reduce: {mode: ordered, slices: 4}", 6), "ordered");
    ordered = weights_of(one.scratch.file("ordered/model.h5"));
    one.run("train", training("", 6), "fast");
    fast = weights_of(one.scratch.file("fast/model.h5"));
  }
  const auto bits = weights_of(all.scratch.file("ordered/model.h5"));
  REQUIRE(bits.size() > 10);
  CHECK(bits == ordered);
  for (const auto& [name, values] : weights_of(all.scratch.file("fast/model.h5")))
    for (std::size_t k = 0; k < values.size(); ++k) CHECK(values[k] == Approx(fast.at(name)[k]).margin(2e-4));
}

TEST_CASE("a trained network and its rivals stand in one table") {
  Stages stages;
  stages.run("train", training("", 150), "train");
  stages.run("evaluate", "{model: '{run}/train/model.h5', dataset: " + data + ", part: test}}", "evaluate");
  CHECK(std::filesystem::exists(stages.scratch.file("evaluate/parity_energy.csv")));
  CHECK(std::filesystem::exists(stages.scratch.file("evaluate/parity_force.csv")));
  stages.run("molecule_energies",
             "{training: " + data + "}, test: " + data +
                 ", part: test}, models: ['{run}/train/model.h5', '{run}/train/model.h5']}",
             "energies");
  const auto errors = stages.errors("energies");
  REQUIRE(errors.size() == 6);
  CHECK(errors.at("model_1") == errors.at("model_2"));
  CHECK(errors.at("mean") == Approx(errors.at("model_1")));
  CHECK(errors.at("model_1") < 0.7 * errors.at("atoms"));
  const auto file = io::File::open(stages.scratch.file("energies/energies.h5"));
  CHECK(file.dataset("model_1").shape() == std::vector<std::int64_t>{12});
}
