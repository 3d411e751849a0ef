// Training that goes on from a model with data whose energies have another zero: the energy bias moves to them, or is
// kept by a key.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/datasets/extxyz.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::deepmd {
void register_types(Registry& registry);
}

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

/// A model of O, H and C, and two systems of O and H that it labels: 24 atoms of water in three frames, and 7 of these
/// atoms in two. Energies are shifted by constants per atom.
struct Data {
  Comm comm;
  SharedScratch scratch{comm};
  std::FILE* said = std::tmpfile();
  Log log{said, comm.root()};
  Timing timing;
  Context context{comm, log, timing};
  DeepPotentialModel teacher;

  Data() : teacher(uneven_model(spec())) {
    teacher.output_bias = {0.25, -0.5, 4.0};
    if (comm.root()) save_model_tree(teacher.to_tree(), scratch.file("start.dp"));
    comm.barrier();
  }
  ~Data() { std::fclose(said); }
  static RandomModel spec() {
    RandomModel s = small_model(9);
    s.type_map = {"O", "H", "C"};
    s.sel = {46, 92, 8};
    return s;
  }
  std::string write(const std::string& name, double oxygen, double hydrogen, bool both = true) const {
    if (comm.root()) {
      std::vector<Configuration> many = {water(2, 3), water(2, 5), water(2, 7)}, few = {water(2, 11), water(2, 13)};
      for (auto& c : few) c.x.resize(7), c.types.resize(7);  // O H H O H H O
      const auto write_one = [&](const std::string& folder, const std::vector<Configuration>& of) {
        auto frames = labelled(of, teacher);
        for (auto& f : frames)
          for (int t : of[0].types) *f.energy += t == 0 ? oxygen : hydrogen;
        write_system(folder, {"O", "H"}, of[0].types, frames);
      };
      write_one(scratch.file(name + "_many"), many);
      if (both) write_one(scratch.file(name + "_few"), few);
    }
    comm.barrier();
    return scratch.file(name + "_many") + (both ? ", " + scratch.file(name + "_few") : "");
  }
  std::string text() const {
    std::fflush(said);
    std::rewind(said);
    std::string out;
    for (int c; (c = std::fgetc(said)) != EOF;) out += static_cast<char>(c);
    return out;
  }
  DeepPotentialNetwork::Params params(bool change = true) const {
    DeepPotentialNetwork::Params p;
    p.init = scratch.file("start.dp");
    p.change_bias = change;
    return p;
  }
  double bias(const DeepPotentialNetwork& network, std::size_t t) const {
    return network.shape().fitting_bias[t] + network.shape().output_bias[t];
  }
};

DeepmdNpy opened(const std::string& folders, Context& context) {
  DeepmdNpy::Params params;
  for (std::size_t from = 0; from < folders.size();) {
    const auto to = std::min(folders.find(", ", from), folders.size());
    params.systems.push_back(folders.substr(from, to - from));
    from = to + 2;
  }
  DeepmdNpy data(params, context);
  data.open(context);
  return data;
}

/// Root mean square errors of force (eV/Å) and energy (eV/atom) before the first step.
std::vector<double> first_errors(DeepPotentialNetwork& network, train::Dataset& data) {
  FlatWeights<double> weights(network.shape());
  network.initialise(weights.refs, 1);
  std::vector<train::TermSum> sums(2);
  for (std::int64_t k = 0; k < data.size(); ++k) network.evaluate(data.read(std::span(&k, 1)), weights.refs, sums);
  return {std::sqrt(sums[0].sum / sums[0].count), std::sqrt(sums[1].sum / sums[1].count)};
}

}  // namespace

TEST_CASE("the energy bias moves to data of another reference, by species; species that the data lack keep theirs") {
  Data d;
  auto data = opened(d.write("shifted", 100.0, -30.0), d.context);
  DeepPotentialNetwork network(d.params(), d.context);
  network.fit_statistics(data, d.context);
  CHECK(d.bias(network, 0) == Approx(-1.25 + 100.0).epsilon(1e-9));
  CHECK(d.bias(network, 1) == Approx(-3.0 - 30.0).epsilon(1e-9));
  CHECK(d.bias(network, 2) == 0.5);
  const auto errors = first_errors(network, data);
  CHECK(errors[0] < 1e-9);
  CHECK(errors[1] < 1e-8);
  // What a checkpoint holds brings it back.
  DeepPotentialNetwork resumed(d.params(), d.context);
  resumed.restore(network.state());
  CHECK(resumed.shape().fitting_bias == network.shape().fitting_bias);
  if (!d.comm.root()) return;
  const std::string text = d.text(),
                    start = "deep_potential: starts from " + d.scratch.file("start.dp") +
                            ", with its shape and statistics\n"
                            "deep_potential: its energy bias is changed to that of 5 frames of the training data; "
                            "error of their energies 19.27 -> ",
                    end =
                        " eV/atom (change_bias: false keeps the bias)\n"
                        "deep_potential: O: energy bias -1.25 -> 98.75 eV\n"
                        "deep_potential: H: energy bias -3 -> -33 eV\n"
                        "deep_potential: C: energy bias 0.5 eV, not changed: the data have no C\n";
  INFO(text);
  REQUIRE(text.size() > start.size() + end.size());
  CHECK(text.substr(0, start.size()) == start);  // then a number that is zero but for rounding
  CHECK(text.substr(text.size() - end.size()) == end);
}

TEST_CASE("compositions that the data do not tell apart: the smallest change that meets their energies") {
  Data d;
  auto data = opened(d.write("water", 100.0, 100.0, false), d.context);
  DeepPotentialNetwork network(d.params(), d.context);
  network.fit_statistics(data, d.context);
  // 300 eV a molecule, along (1, 2).
  CHECK(d.bias(network, 0) == Approx(-1.25 + 60.0).epsilon(1e-9));
  CHECK(d.bias(network, 1) == Approx(-3.0 + 120.0).epsilon(1e-9));
  CHECK(first_errors(network, data)[1] < 1e-8);
}

TEST_CASE("change_bias: false keeps the energy bias, and data without energies cannot change it") {
  Data d;
  auto data = opened(d.write("kept", 100.0, 100.0), d.context);
  DeepPotentialNetwork network(d.params(false), d.context);
  network.fit_statistics(data, d.context);
  CHECK(network.shape().fitting_bias == d.teacher.fitting_bias);
  CHECK(network.shape().output_bias == d.teacher.output_bias);
  CHECK(first_errors(network, data)[1] == Approx(100.0));
  const auto file = d.scratch.file("forces.xyz");
  if (d.comm.root())
    std::ofstream(file) << "2\nLattice=\"9 0 0 0 9 0 0 0 9\" Properties=species:S:1:pos:R:3:forces:R:3 pbc=\"T T "
                           "T\"\nO 0 0 0 1 0 0\nH 1 0 0 -1 0 0\n";
  d.comm.barrier();
  ExtxyzSet::Params params;
  params.files = {file};
  ExtxyzSet forces(params, d.context);
  forces.open(d.context);
  DeepPotentialNetwork without(d.params(), d.context);
  without.fit_statistics(forces, d.context);
  CHECK(without.shape().fitting_bias == d.teacher.fitting_bias);
  if (!d.comm.root()) return;
  const std::string starts =
      "deep_potential: starts from " + d.scratch.file("start.dp") + ", with its shape and statistics\n";
  CHECK(d.text() == starts + "deep_potential: its energy bias is not changed (change_bias: false)\nwarning: " + file +
                        ": no frame has an energy, 'energy' by the key 'energy' of the data set, so none is learnt\n" +
                        starts +
                        "deep_potential: its energy bias is not changed: the training data hold no energies\n");
}

TEST_CASE("labels shifted by 100 eV/atom: the stage train goes on with the errors of the old labels") {
  Data d;
  const auto shifted = d.write("deck", 100.0, 100.0);
  Registry registry;
  train::register_training(registry);
  register_types(registry);
  d.context.registry = &registry;
  const auto energy_errors = [&](const std::string& name, const std::string& keys) {
    d.context.run_directory = d.scratch.file(name);
    if (d.comm.root()) std::filesystem::create_directories(d.context.run_directory);
    d.comm.barrier();
    const std::string deck =
        "{network: {type: deep_potential, precision: float32, init: " + d.scratch.file("start.dp") + keys +
        "}, dataset: {type: deepmd_npy, systems: [" + shifted +
        "]}, batch: 5, steps: 8, log: 1, learning_rate: {type: constant, start: 0.0005}}";
    registry.make<Task>("train", deck::parse(deck, "test"), d.context)->run(d.context);
    d.comm.barrier();
    return io::File::open(d.scratch.file(name + "/training.h5"))
        .read<std::vector<double>>("training/energy");  // eV/sqrt(atom)
  };
  const auto changed = energy_errors("changed", ""), kept = energy_errors("kept", ", change_bias: false");
  CHECK(changed.front() < 1e-3);
  CHECK(*std::max_element(changed.begin(), changed.end()) < 1.0);
  CHECK(*std::min_element(kept.begin(), kept.end()) > 300.0);
}
