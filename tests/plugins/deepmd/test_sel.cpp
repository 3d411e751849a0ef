// One model file, two programs: DeePMD-kit keeps at most sel neighbours of a type, the nearest. Exported models hold as
// many as their data need, so that both find the same energy.
#include <fmt/format.h>

#include <sstream>

#include "plugins/deepmd/data/npy_write.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

std::vector<double> through(const deepmd::Network& net, std::vector<double> x) {
  for (const Layer& layer : net.layers) {
    std::vector<double> y = layer.b;
    y.resize(layer.out, 0.0);
    for (int o = 0; o < layer.out; ++o) {
      const auto k = static_cast<std::size_t>(o);
      for (int i = 0; i < layer.in; ++i) y[k] += x[i] * layer.w[i * layer.out + o];
      if (layer.activation.kind == Activation::Kind::tanh) y[k] = std::tanh(y[k]);
      if (!layer.idt.empty()) y[k] *= layer.idt[k];
      if (layer.copies() > 0) y[k] += x[o % layer.in];
    }
    x = std::move(y);
  }
  return x;
}

/// The energy by DeePMD-kit's rules, in plain loops: each atom has sel slots by neighbour type, filled by distance, the
/// rest empty rows; what does not fit is dropped; rows are normalised, empty ones, too; everything is divided by the
/// number of slots.
double deepmd_kit_energy(const DeepPotentialModel& m, const Configuration& c) {
  double energy = 0.0;
  const int nt = m.ntypes(), width = m.embedding[0].out();
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    std::vector<double> a(4 * width, 0.0);
    for (int t = 0; t < nt; ++t) {
      std::vector<std::array<double, 4>> found;  // distance and difference
      for (std::size_t j = 0; j < c.x.size(); ++j)
        for (int image = 0; c.types[j] == t && image < 343; ++image) {
          const int n[3] = {image % 7 - 3, image / 7 % 7 - 3, image / 49 - 3};
          std::array<double, 4> d{};
          for (std::size_t k = 0; k < 3; ++k) {
            d[k + 1] = c.x[j][k] - c.x[i][k];
            for (int r = 0; r < 3; ++r) d[k + 1] += n[r] * c.box->h[r][k];
          }
          d[0] = std::hypot(d[1], d[2], d[3]);
          if (d[0] > 0.0 && d[0] < m.rcut) found.push_back(d);
        }
      std::sort(found.begin(), found.end());
      found.resize(m.sel[t]);  // drops the farthest, or adds empty slots of distance 0
      const auto k = static_cast<std::size_t>(c.types[i] * nt + t);
      for (const auto& d : found) {
        const double r = d[0], u = std::clamp((r - m.rcut_smth) / (m.rcut - m.rcut_smth), 0.0, 1.0);
        const double w = r > 0.0 ? u * u * u * (-6 * u * u + 15 * u - 10) + 1 : 0.0;
        double row[4] = {r > 0.0 ? w / r : 0.0, 0.0, 0.0, 0.0};
        for (std::size_t q = 1; q < 4; ++q) row[q] = r > 0.0 ? w * d[q] / (r * r) : 0.0;
        for (std::size_t q = 0; q < 4; ++q) row[q] = (row[q] - m.mean[k][q]) / m.deviation[k][q];
        const auto g = through(m.embedding[m.embedding_index(c.types[i], t)], {row[0]});
        for (std::size_t q = 0; q < 4; ++q)
          for (std::size_t e = 0; e < g.size(); ++e) a[4 * e + q] += g[e] * row[q] / m.neighbours();
      }
    }
    std::vector<double> descriptor;
    for (int e = 0; e < width; ++e)
      for (int f = 0; f < m.axis_neuron; ++f) {
        double sum = 0.0;
        for (int q = 0; q < 4; ++q) sum += a[4 * e + q] * a[4 * f + q];
        descriptor.push_back(sum);
      }
    const auto t = static_cast<std::size_t>(c.types[i]);
    energy += through(m.fitting[t], descriptor)[0] + m.fitting_bias[t] + m.output_bias[t];
  }
  return energy;
}

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  Scratch scratch{"deepmd_sel"};
  World() { log.tee(scratch.file("log.txt")); }
  std::string said() const {
    std::stringstream text;
    text << std::ifstream(scratch.file("log.txt")).rdbuf();
    return text.str();
  }
};

/// Ice that is squeezed in the last of four frames: its atoms have many neighbours.
std::vector<Configuration> frames() { return {water(2, 3), water(2, 5), water(2, 7), water(2, 9, 2.3)}; }

std::string write_frames(const Scratch& scratch) {
  const std::string folder = scratch.file("system");
  write_system(folder, {"O", "H"}, frames()[0].types, labelled(frames(), uneven_model(small_model(9))));
  return folder;
}

DeepPotentialNetwork::Params small_network() {
  DeepPotentialNetwork::Params p;
  p.rcut = 4.5;
  p.neuron = {6, 12};
  p.axis_neuron = 4;
  p.fitting = {10, 10};
  return p;
}

/// The file that a training without a step exports.
DeepPotentialModel exported(World& world, const DeepPotentialNetwork::Params& params) {
  DeepmdNpy data({{write_frames(world.scratch)}}, world.context);
  data.open(world.context);
  DeepPotentialNetwork network(params, world.context);
  network.fit_statistics(data, world.context);
  FlatWeights<double> weights(network.shape());
  network.initialise(weights.refs, 5);
  DeepPotentialNetwork restored(small_network(), world.context);
  restored.restore(network.state());
  CHECK(restored.state() == network.state());
  network.export_model(world.scratch.folder.string(), weights.refs, world.context);
  return DeepPotentialModel::load(world.scratch.file("model.dp"));
}

double energy_here(const DeepPotentialModel& model, const Configuration& c) {
  return cambium::deepmd::test::evaluate(*make_engine(model, {}), c).energy;
}

/// What the exported file remembers.
std::vector<int> most_neighbours_of(const World& world) {
  return load_model_tree(world.scratch.file("model.dp")).root.at("max_nbor_size").get<std::vector<int>>();
}

std::string message_of(World& world, const DeepPotentialNetwork::Params& params) {
  return message([&] { exported(world, params); });
}

}  // namespace

TEST_CASE("an exported model means the same in DeePMD-kit for every cell of its data") {
  World world;
  auto params = small_network();
  params.sel = std::vector<int>{3, 4},
  params.statistics_frames = 2;  // less than any atom has; the dense frame is not among the two
  const DeepPotentialModel m = exported(world, params);
  for (const Configuration& c : frames()) CHECK(energy_here(m, c) == Approx(deepmd_kit_energy(m, c)).epsilon(1e-11));
  // The reference does drop: with the sel that was asked for it finds another energy.
  DeepPotentialModel cut = m;
  cut.sel = {3, 4};
  CHECK(std::abs(deepmd_kit_energy(cut, frames()[3]) - energy_here(cut, frames()[3])) > 0.1);

  const std::vector<int> counted = most_neighbours_of(world);
  REQUIRE(counted.size() == 2);
  for (std::size_t t = 0; t < 2; ++t) CHECK((m.sel[t] >= 1.1 * counted[t] && m.sel[t] < 1.1 * counted[t] + 4));
  const std::string most = fmt::format("[{}, {}] (O H)", counted[0], counted[1]),
                    sel = fmt::format("{}, {}", m.sel[0], m.sel[1]);
  CHECK(world.said().find("sel [3, 4] is less than the most neighbours of an atom of the training data, " + most +
                          ", and DeePMD-kit drops the farthest of them: it is raised to [" + sel +
                          "] (sel_short: refuse stops instead)") != std::string::npos);
  CHECK(world.said().find("model.dp, model.yaml: sel [" + sel +
                          "] holds the most neighbours of an atom of the training data, " + most +
                          "; where an atom has more than sel, DeePMD-kit drops the farthest, Cambium none") !=
        std::string::npos);
  CHECK(show_model(world.scratch.file("model.yaml"))
            .find(fmt::format("training data: at most {}, {}\n", counted[0], counted[1])) != std::string::npos);

  params.sel_short = SelShort::refuse;
  CHECK(message_of(world, params) == "sel [3, 4] is less than the most neighbours of an atom of the training data, " +
                                         most + ", and DeePMD-kit drops the farthest of them: give sel: [" + sel +
                                         "], or leave it out (sel_short: raise does so by itself)");
  params.sel.reset();
  CHECK(exported(world, params).sel == m.sel);  // every frame is counted, not only those of the statistics
  params.sel = counted;
  CHECK(exported(world, params).sel == counted);  // as given, where that is enough
}

TEST_CASE("a model to start from keeps its sel, and where that is too little it is said or refused") {
  World world;
  auto params = small_network();
  DeepPotentialModel m = exported(world, params);
  const std::vector<int> most = most_neighbours_of(world);
  m.sel = {3, 4};  // as another program may have made it, which stores no numbers of neighbours
  params.init = world.scratch.file("start.dp");
  save_model_tree(m.to_tree(), params.init);
  const std::string text = fmt::format(
      "the model's sel [3, 4] is less than the most neighbours of an atom of the training data, [{}, {}] (O H): "
      "DeePMD-kit drops the farthest of them and computes other energies than Cambium; for the same energies in both "
      "train again, without init and sel",
      most[0], most[1]);
  const DeepPotentialModel next = exported(world, params);
  CHECK(next.sel == std::vector<int>{3, 4});
  CHECK(most_neighbours_of(world) == most);
  CHECK(world.said().find(text) != std::string::npos);
  CHECK(world.log.warnings().back().count == 2);  // at the start and at export
  params.sel_short = SelShort::refuse;
  CHECK(message_of(world, params) == params.init + ": " + text + " (sel_short: raise continues)");
}
