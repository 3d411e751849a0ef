// Statistics by the documented rules, the data sets, what bad data are told, and the loss through train::Network.
#include <fstream>
#include <numeric>

#include "core/io/npy.hpp"
#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/datasets/extxyz.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/messages/odd_dataset.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"
#include "tests/plugins/deepmd/training_samples.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

DeepPotentialNetwork::Params small_network() {
  DeepPotentialNetwork::Params p;
  p.rcut = 5.0;
  p.neuron = {6, 12};
  p.axis_neuron = 4;
  p.fitting = {10, 10};
  p.loss.start_virial = 0.3;
  return p;
}

}  // namespace

TEST_CASE("energies of smallest norm: compositions that the data do not tell apart share evenly") {
  const auto x = least_squares({{64, 128}, {64, 128}}, {-29943.0, -29945.0});
  REQUIRE(x[0] == Approx(-29944.0 * 64 / (64. * 64 + 128. * 128)));
  REQUIRE(x[1] == Approx(2 * x[0]));
  const auto y = least_squares({{1, 2, 0}, {2, 1, 0}, {0, 1, 3}}, {5, 4, 11});
  REQUIRE(y[0] == Approx(1.0));
  REQUIRE(y[1] == Approx(2.0));
  REQUIRE(y[2] == Approx(3.0));
}

TEST_CASE("statistics agree with plain sums over all slots") {
  const Configuration c = water(2);
  DeepPotentialModel m = uneven_model(small_model());
  const TrainingFrame frame = *frame_of(c, m);
  StatisticsSums sums(2, m.rcut, m.rcut_smth, false);
  sums.add(frame);
  const Statistics s = sums.result({50, 90});
  for (int t = 0; t < 2; ++t) {
    std::vector<double> radial, angular;
    for (int i = 0; i < frame.atoms(); ++i) {
      if (c.types[i] != t) continue;
      const int n = frame.first[static_cast<std::size_t>(i) + 1] - frame.first[i];
      for (int slot = 0; slot < 140; ++slot) {
        const double* d = slot < n ? &frame.d[3 * static_cast<std::size_t>(frame.first[i] + slot)] : nullptr;
        const double r = d ? std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : 1.0;
        const double u = std::clamp((r - 0.5) / 4.5, 0.0, 1.0),
                     w = d ? u * u * u * (-6 * u * u + 15 * u - 10) + 1 : 0.0;
        radial.push_back(w / r);
        for (int k = 0; k < 3; ++k) angular.push_back(d ? w * d[k] / (r * r) : 0.0);
      }
    }
    double mean = 0, square = 0, angles = 0;
    for (double v : radial) mean += v / static_cast<double>(radial.size());
    for (double v : radial) square += (v - mean) * (v - mean) / static_cast<double>(radial.size());
    for (double v : angular) angles += v * v / static_cast<double>(angular.size());
    REQUIRE(s.mean[t] == Approx(mean));
    REQUIRE(s.radial[t] == Approx(std::sqrt(square)));
    REQUIRE(s.angular[t] == Approx(std::sqrt(angles)));
  }
}

TEST_CASE("the water example's statistics are the documented ones", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data || !std::filesystem::exists(std::string(data) + "/deepmd/water")) {
    std::cout << "SKIPPED: statistics of water: CAMBIUM_DATA is not set\n";
    return;
  }
  StatisticsSums sums(2, 6.0, 0.5, false);
  for (const char* name : {"data_0", "data_1", "data_2"}) {
    const DataSystem system = DataSystem::load(std::string(data) + "/deepmd/water/" + name);
    for (std::size_t k = 0; k < system.frames(); ++k) {
      TrainingFrame frame = find_pairs(system.frame(k).x, system.types(), system.frame(k).box, 2, 6.0);
      frame.energy = *system.frame(k).energy;
      frame.has_energy = true;
      sums.add(frame);
    }
  }
  REQUIRE(sums.most_neighbours() == std::vector<int>{38, 72});
  const Statistics s = sums.result({46, 92});
  REQUIRE(s.closest == Approx(0.8854).margin(5e-5));
  REQUIRE(s.mean[0] == Approx(0.05035).margin(5e-6));
  REQUIRE(s.mean[1] == Approx(0.04813).margin(5e-6));
  REQUIRE(s.radial[0] == Approx(0.1398).margin(1e-4));
  REQUIRE(s.radial[1] == Approx(0.1238).margin(1e-4));
  REQUIRE(s.angular[0] == Approx(0.0858).margin(1e-4));
  REQUIRE(s.angular[1] == Approx(0.0767).margin(1e-4));
  REQUIRE(s.bias[0] == Approx(-93.57376).margin(2e-5));
  REQUIRE(s.bias[1] == Approx(-187.14751).margin(2e-5));
}

TEST_CASE("the loss's gradient through the network agrees with differences, and a step along it helps") {
  // Huber's loss has kinks in its slope, so that steps across them must be short.
  const double delta = GENERATE(0.0, 0.3);
  World world;
  const Scratch scratch("deepmd_training");
  DeepmdNpy data({{write_water(scratch)}}, world.context);
  data.open(world.context);
  REQUIRE(data.size() == 3);
  auto params = small_network();
  params.loss.use_huber = delta > 0.0;
  if (delta > 0.0) params.loss.huber_delta = delta;
  DeepPotentialNetwork network(params, world.context);
  network.fit_statistics(data, world.context);
  FlatWeights<double> weights(network.shape()), gradients(network.shape());
  network.initialise(weights.refs, 5);
  const std::vector<std::int64_t> ids = {0, 1, 2};
  const auto samples = data.read(ids);
  const auto prefactors = network.term_weights(10, 0.4);
  REQUIRE(prefactors.size() == 3);
  REQUIRE(prefactors[0] == Approx(1.0 * 0.6 + 0.02 * 0.4));
  const auto loss = [&] {
    FlatWeights<double> unused(network.shape());
    std::vector<train::TermSum> terms(3);
    network.gradient(samples, weights.refs, prefactors, unused.refs, terms, {});
    return prefactors[0] * terms[0].sum + prefactors[1] * terms[1].sum + prefactors[2] * terms[2].sum;
  };
  std::vector<train::TermSum> terms(3);
  std::vector<int> told;
  network.gradient(samples, weights.refs, prefactors, gradients.refs, terms, [&](int k) { told.push_back(k); });
  REQUIRE(terms[1].count == 3.0);
  std::sort(told.begin(), told.end());
  std::vector<int> all(network.parameters().size());
  std::iota(all.begin(), all.end(), 0);
  REQUIRE(told == all);  // every parameter once
  for (std::size_t p = 0; p < weights.values.size(); ++p) {
    double& w = weights.values[p][weights.values[p].size() / 2];
    const double x = w, h = delta > 0.0 ? 1e-5 : 1e-3;
    double d[2];
    for (int k = 0; k < 2; ++k) {
      w = x + (k + 1) * h;
      const double up = loss();
      w = x - (k + 1) * h;
      d[k] = (up - loss()) / (2 * (k + 1) * h);
    }
    w = x;
    REQUIRE(gradients.values[p][weights.values[p].size() / 2] ==
            Approx((4 * d[0] - d[1]) / 3).epsilon(delta > 0.0 ? 1e-4 : 1e-5).margin(1e-5));
  }
}

TEST_CASE("Huber's loss is half the square of small errors, and grows by the error beyond its threshold") {
  CHECK(huber(0.02, 0.05) == Approx(0.0002));
  CHECK(huber(-0.05, 0.05) == Approx(0.00125));
  CHECK(huber(-0.15, 0.05) == Approx(0.00125 + 0.05 * 0.1));
  World world;
  const Scratch scratch("deepmd_huber");
  DeepmdNpy data({{write_water(scratch)}}, world.context);
  data.open(world.context);
  const std::vector<std::int64_t> ids = {0};
  const auto found = [&](double delta) {
    auto params = small_network();
    params.loss.use_huber = delta > 0.0;
    if (delta > 0.0) params.loss.huber_delta = delta;
    DeepPotentialNetwork network(params, world.context);
    network.fit_statistics(data, world.context);
    FlatWeights<double> weights(network.shape()), gradients(network.shape());
    network.initialise(weights.refs, 5);
    std::vector<train::TermSum> terms(3);
    const std::vector<double> ones(3, 1.0);
    network.gradient(data.read(ids), weights.refs, ones, gradients.refs, terms, {});
    return std::array<double, 3>{terms[0].sum, terms[1].sum, terms[2].sum};
  };
  const auto squares = found(0.0), half = found(1e6), linear = found(1e-6);
  const double atoms = static_cast<double>(water(2, 5).x.size());
  CHECK(half[0] == Approx(0.5 * squares[0] / atoms));
  CHECK(half[1] == Approx(0.5 * squares[1]));
  CHECK(half[2] == Approx(0.5 * squares[2] / atoms));
  CHECK(linear[0] == Approx(1e-6 * std::sqrt(squares[0] / atoms)).epsilon(1e-4));
}

TEST_CASE("an exported model gives what the training graph gives, and training goes on from it") {
  World world;
  const Scratch scratch("deepmd_export");
  DeepmdNpy data({{write_water(scratch)}}, world.context);
  data.open(world.context);
  DeepPotentialNetwork network(small_network(), world.context);
  network.fit_statistics(data, world.context);
  FlatWeights<double> weights(network.shape());
  network.initialise(weights.refs, 5);
  const auto files = network.export_model(scratch.folder.string(), weights.refs, world.context);
  REQUIRE(files == std::vector<std::string>{"model.dp", "model.yaml"});
  const std::vector<std::int64_t> ids = {1};
  const TrainingFrame frame = deepmd::frame_of(*data.read(ids)[0], {"O", "H"}, 5.0);
  Batch batch;
  const FramePtr list[] = {std::make_shared<TrainingFrame>(frame)};
  batch.assign(list, 2);
  ModelPass<double> pass(network.shape());
  pass.evaluate(batch, bind_weights<double>(network.shape(), weights.refs));
  for (const std::string& file : files) {
    auto engine = make_engine(DeepPotentialModel::load(scratch.file(file)), {});
    const Evaluation e = cambium::deepmd::test::evaluate(*engine, water(2, 5));
    REQUIRE(e.energy == Approx(pass.energy(0)).epsilon(1e-12));
    for (int i = 0; i < frame.atoms(); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        REQUIRE(e.force[i][k] == Approx(pass.force(batch.place(0, i))[k]).margin(1e-10));
  }
  DeepPotentialNetwork::Params params = small_network();
  params.init = scratch.file("model.dp");
  DeepPotentialNetwork again(params, world.context);
  again.fit_statistics(data, world.context);
  FlatWeights<double> restored(again.shape());
  again.initialise(restored.refs, 99);
  REQUIRE(restored.values == weights.values);
  DeepPotentialNetwork resumed(small_network(), world.context);
  resumed.restore(network.state());
  REQUIRE(resumed.shape().mean == network.shape().mean);
  REQUIRE(resumed.shape().fitting_bias == network.shape().fitting_bias);
}

TEST_CASE("bad training data are named") {
  World world;
  const Scratch scratch("deepmd_bad_data");
  const std::string folder = write_water(scratch);
  io::NpyArray force = io::read_npy(folder + "/set.000/force.npy");
  const double good = force.values[72 + 4];
  force.values[72 + 4] = std::nan("");
  const auto write = [&](const std::string& name, const io::NpyArray& a) {
    std::ofstream(folder + "/set.000/" + name, std::ios::binary) << npy_text(a.values, a.shape);
  };
  write("force.npy", force);
  const auto open = [&] {
    DeepmdNpy data({{folder}}, world.context);
    data.open(world.context);
    DeepPotentialNetwork network(small_network(), world.context);
    network.fit_statistics(data, world.context);
  };
  REQUIRE(message(open) ==
          folder + "/set.000/force.npy: frame 1, value 4 of 72 is nan; remove the frame, or compute it again");
  force.values[72 + 4] = good;
  write("force.npy", force);
  io::NpyArray coord = io::read_npy(folder + "/set.000/coord.npy"), box = io::read_npy(folder + "/set.000/box.npy");
  for (auto* a : {&coord, &box})
    for (double& x : a->values) x *= 0.1;  // nm
  write("coord.npy", coord);
  write("box.npy", box);
  REQUIRE(message(open).find("check the unit of the data's lengths, which are taken to be in Å") != std::string::npos);
  for (auto* a : {&coord, &box})
    for (double& x : a->values) x *= 10.0;
  write("coord.npy", coord);
  write("box.npy", box);
  DeepPotentialNetwork::Params params = small_network();
  params.type_map = {"O", "C"};
  DeepmdNpy data({{folder}}, world.context);
  data.open(world.context);
  DeepPotentialNetwork network(params, world.context);
  REQUIRE(message([&] { network.fit_statistics(data, world.context); }) ==
          "species 'H' of sample 0 is not in the network's type_map: O, C");
}

TEST_CASE("extended XYZ frames with labels are read in their own units") {
  World world;
  const Scratch scratch("deepmd_extxyz");
  std::ofstream(scratch.file("a.xyz"))
      << "2\nLattice=\"0 1 0 -1 0 0 0 0 1\" Properties=species:S:1:pos:R:3:forces:R:3 energy=2 stress=\"1 0 0 0 2 0 0 "
         "0 3\" pbc=\"T T T\"\nCu 0.1 0.2 0.3 1 0 0\nAu 0 0 0 -1 0 0\n"
         "1\nProperties=species:S:1:pos:R:3 energy=-1\nAu 0 0 0\n";
  ExtxyzSet::Params params;
  params.files = {scratch.file("a.xyz")};
  params.length_unit = "nm";
  ExtxyzSet data(params, world.context);
  data.open(world.context);
  REQUIRE(data.size() == 2);
  const std::vector<std::int64_t> ids = {0, 1};
  const auto samples = data.read(ids);
  const auto field = [&](int s, const char* name) {
    return static_cast<const double*>(samples[s]->fields.at(name).data);
  };
  REQUIRE(species_of(*samples[0]) == std::vector<std::string>{"Cu", "Au"});
  REQUIRE(field(0, "energy")[0] == 2.0);
  REQUIRE(field(0, "box")[0] == Approx(10.0));
  REQUIRE(field(0, "coord")[0] == Approx(2.0));  // the cell's first vector, the file's y, becomes x
  REQUIRE(field(0, "coord")[1] == Approx(-1.0));
  REQUIRE(field(0, "force")[1] == Approx(-0.1));  // eV/nm
  REQUIRE(field(0, "virial")[0] == Approx(-2.0));
  REQUIRE(field(0, "virial")[4] == Approx(-1.0));
  REQUIRE(samples[1]->fields.count("box") == 0);
  std::ofstream(scratch.file("b.xyz"))
      << "1\nLattice=\"5 0 0 0 5 0 0 0 5\" Properties=species:S:1:pos:R:3:forces:R:3 energy=2\nCu 0 0 0 1 nan 0\n";
  params.files = {scratch.file("b.xyz")};
  ExtxyzSet bad(params, world.context);
  REQUIRE(message([&] { bad.open(world.context); }) ==
          scratch.file("b.xyz") + ":3: expected a number for a force, found 'nan'");
}

TEST_CASE("labels under other names are not passed over in silence, nor a cell that is missing") {
  World world;
  const Scratch scratch("deepmd_names");
  ExtxyzSet::Params params;
  const auto open = [&](const std::string& properties, const std::string& comment) {
    std::ofstream(scratch.file("a.xyz")) << "1\nProperties=species:S:1:pos:R:3" << properties << " " << comment
                                         << "\nCu 0 0 0 1 0 0\n";
    params.files = {scratch.file("a.xyz")};
    ExtxyzSet(params, world.context).open(world.context);
  };
  const std::string cell = "Lattice=\"5 0 0 0 5 0 0 0 5\" pbc=\"T T T\" ";
  open(":forces:R:3", cell + "energy=-1 config_type=bulk");
  CHECK(world.log.warnings().empty());
  {
    World other;
    ExtxyzSet::Params files;
    files.files = {scratch.file("a.xyz"), scratch.file("./a.xyz")};
    ExtxyzSet both(files, other.context);
    both.open(other.context);
    CHECK(both.size() == 2);
    REQUIRE(other.log.warnings().size() == 1);
    CHECK(other.log.warnings()[0].text == "files[1]: " + files.files[1] + " is " + files.files[0] +
                                              ", which is named before: its frames count once more");
  }
  open(":my_forces:R:3", cell + "energy=-1");
  REQUIRE(world.log.warnings().size() == 1);
  CHECK(world.log.warnings()[0].text ==
        scratch.file("a.xyz") +
            ": no frame has forces, 'forces' by the key 'force' of the data set, so none are learnt; it has column "
            "my_forces");
  open(":forces:R:3", cell + "my_energy=-1");
  REQUIRE(world.log.warnings().size() == 2);
  CHECK(world.log.warnings()[1].text ==
        scratch.file("a.xyz") +
            ": no frame has an energy, 'energy' by the key 'energy' of the data set, so none is learnt; it has "
            "my_energy");
  CHECK(message([&] { open(":forces:R:3", "pbc=\"T T T\" energy=-1"); }) ==
        scratch.file("a.xyz") +
            ":2: pbc=\"T T T\", but no Lattice=\"ax ay az bx by bz cx cy cz\": give the cell, or "
            "pbc=\"F F F\" for molecules");
}

TEST_CASE("data sets as only other plugins could make them are refused") {
  World world;
  const Scratch scratch("deepmd_odd_data");
  OddDataset none({}, world.context);
  DeepPotentialNetwork network(small_network(), world.context);
  REQUIRE(message([&] { network.fit_statistics(none, world.context); }) == "the training data hold no frame");
  DeepmdNpy data({{write_water(scratch)}}, world.context);
  data.open(world.context);
  const std::vector<std::int64_t> ids = {1};
  train::Sample sample = *data.read(ids)[0];
  std::vector<float> single(1, -1.0f);
  sample.fields["energy"] = io::tensor_of(single.data(), {1});
  REQUIRE(message([&] {
            deepmd::frame_of(sample, {"O", "H"}, 5.0);
          }) == "field 'energy' of sample 1: expected float64 values in row-major order");
}
