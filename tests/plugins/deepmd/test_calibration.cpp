// Calibrated bounds of a committee's force errors: exact coverage on exchangeable data, that of a committee trained
// here over many splits, the file, and what thermo.csv, label and simulate make of it.
#include <fmt/format.h>

#include <numeric>

#include "core/parallel/random.hpp"
#include "core/particles/lattice.hpp"
#include "core/train/register.hpp"
#include "plugins/deepmd/tasks/calibrate.hpp"
#include "plugins/deepmd/tools/parity.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

/// Standard normal, addressed by a stream and two numbers.
double normal(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  const Random4 r(seed, Stream::external, a, b);
  return std::sqrt(-2.0 * std::log(1.0 - r.uniform(0))) * std::cos(2.0 * M_PI * r.uniform(1));
}

/// Frames whose errors grow with the root of the deviation, a relation that no factor mends.
std::vector<HeldOutFrame> frames_of(std::uint64_t seed, std::size_t frames, std::size_t atoms) {
  std::vector<HeldOutFrame> out(frames);
  for (std::size_t k = 0; k < frames; ++k)
    for (std::size_t i = 0; i < atoms; ++i) {
      const double d = std::exp(normal(seed, k, 2 * i));
      out[k].deviation.push_back(d);
      out[k].error.push_back(0.3 * std::sqrt(d) * std::abs(normal(seed, k, 2 * i + 1)));
    }
  return out;
}

double covered(const std::vector<double>& scores, double bound) {
  return static_cast<double>(std::count_if(scores.begin(), scores.end(), [&](double s) { return s <= bound; })) /
         static_cast<double>(scores.size());
}

/// Mean of what the quantile of all frames but one covers of that one.
double left_out(const std::vector<std::vector<double>>& all, double level) {
  double sum = 0.0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    auto others = all;
    others.erase(others.begin() + static_cast<long>(k));
    sum += covered(all[k], conformal_quantile(others, level));
  }
  return sum / static_cast<double>(all.size());
}

}  // namespace

TEST_CASE("each value left out of exchangeable ones is covered by exactly the share that the ranks say") {
  for (const double level : {0.5, 0.8, 0.9, 0.95})
    for (const std::size_t n : {20U, 33U, 100U}) {
      std::vector<std::vector<double>> scores;
      for (std::size_t k = 0; k < n; ++k) scores.push_back({std::abs(normal(7, n, k))});
      const double total = static_cast<double>(n);
      CHECK(left_out(scores, level) == Approx(std::ceil(level * total - 1e-9) / total));
    }
  CHECK(std::isinf(conformal_quantile(std::vector<std::vector<double>>(8, {1.0}), 0.9)));
  CHECK_FALSE(std::isinf(conformal_quantile(std::vector<std::vector<double>>(9, {1.0}), 0.9)));
  CHECK(least_frames(0.9) == 9);
  CHECK(least_frames(0.95) == 19);
}

TEST_CASE("frames of like atoms are covered at the level, whatever their number of atoms") {
  std::vector<std::vector<double>> scores(60);
  for (std::size_t k = 0; k < scores.size(); ++k)
    for (std::size_t i = 0; i < 5 + k % 40; ++i)  // atoms of one frame err alike
      scores[k].push_back(std::abs(normal(3, k, 1000)) + 0.2 * std::abs(normal(3, k, i)));
  const double found = left_out(scores, 0.9);
  CHECK(found >= 0.9 - 1e-9);
  CHECK(found <= 0.9 + 1.0 / 60);
}

TEST_CASE("the curve covers at every deviation what a factor covers on average only") {
  const auto seen = frames_of(1, 120, 60), unseen = frames_of(2, 200, 60);
  const BoundCurve curve = calibrated(seen, 0.9, 5);
  CHECK(std::is_sorted(curve.bound.begin(), curve.bound.end()));
  REQUIRE(curve.deviation.size() > 3);
  const Coverage all = coverage_of(unseen, {0.9, 120, 7200, curve, {}});
  CHECK(all.calibrated == Approx(0.9).margin(0.02));
  CHECK(all.gaussian > 0.93);  // beside it: the deviation at its word
  for (const auto& [low, high] : {std::pair{0.0, 0.3}, {0.3, 1.0}, {1.0, 3.0}, {3.0, 1e9}}) {
    double inside = 0.0, count = 0.0;
    for (const auto& f : unseen)
      for (std::size_t i = 0; i < f.error.size(); ++i)
        if (f.deviation[i] >= low && f.deviation[i] < high) {
          count += 1.0;
          inside += f.error[i] <= curve(f.deviation[i]) ? 1.0 : 0.0;
        }
    CHECK(inside / count == Approx(0.9).margin(0.06));
  }
  const BoundCurve few = calibrated(std::span(seen).first(20), 0.9, 5);
  CHECK(few.deviation.size() == 1);
  CHECK(few(2.0) == Approx(2.0 * few(1.0)));
  CHECK(gaussian_bound(std::sqrt(3.0), 0.9) == Approx(2.50028).epsilon(1e-4));  // root of the 90 % point of chi square
  CHECK_THROWS_WITH(calibrated(std::span(seen).first(8), 0.9, 5),
                    "8 held-out frame(s) are too few for a level of 0.9, which takes 9 at least; give more systems, "
                    "or a lower level");
  auto alike = frames_of(1, 20, 5);
  for (auto& f : alike) f.deviation.assign(f.deviation.size(), 0.0);
  CHECK_THROWS_WITH(
      calibrated(alike, 0.9, 5),
      "the models of the committee agree to the last digit where they are wrong: they are one model, whose deviation "
      "bounds nothing; train them with different seeds");
}

namespace {

/// Copper by a cheap teacher: labels, a committee of three that learns from a part of them, and the held-out frames of
/// the others at temperatures that the training did not see.
std::vector<HeldOutFrame> of_a_committee(Stages& stages) {
  train::register_training(stages.registry);
  stages.context.seed = 3;
  const auto labels = [&](const std::string& folder, const std::string& temperatures, int frames) {
    return stages.run("label", folder,
                      fmt::format("{{structure: {{lattice: {{type: fcc, a: 3.65, cells: [2, 2, 2], species: [Cu]}}}}, "
                                  "potential: {{type: sutton_chen, element: Cu, cutoff: 4.5, switch_width: 1}}, "
                                  "dynamics: [{{temperature: {}, frames: {}, every: 20, equilibrate: 100}}], "
                                  "validation: 0}}",
                                  temperatures, frames)) +
           "/train";
  };
  const std::string learnt = labels("learnt", "[300, 900, 1500]", 8),
                    unseen = labels("unseen", "[600, 1200, 1800]", 100);
  const std::string folder = stages.run(
      "train", "train",
      fmt::format(
          "{{network: {{type: deep_potential, rcut: 4.5, rcut_smth: 2, neuron: [4, 8], axis_neuron: 3, fitting: "
          "[16, 16], precision: float32}}, dataset: {{type: deepmd_npy, systems: ['{}']}}, batch: 2, steps: 250, "
          "learning_rate: {{type: exponential, start: 5e-3, stop: 1e-4, every: 10}}, ensemble_size: 3}}",
          learnt));
  std::vector<Parity> of_model;
  const LabelledData data = LabelledData::load(unseen);
  for (int k = 1; k <= 3; ++k) {
    ToolOptions options;
    options.model = fmt::format("{}/model_{}/model.dp", folder, k);
    of_model.push_back(parity_of(data, options, 0, stages.comm));
  }
  return held_out_frames(of_model);
}

}  // namespace

TEST_CASE("nine in ten errors of a committee's forces are covered at temperatures that it was not trained on") {
  Stages stages;
  const auto frames = of_a_committee(stages);
  REQUIRE(frames.size() == 300);
  double mean = 0.0, deviation = 0.0, gaussian = 0.0;
  constexpr int splits = 20;
  for (int split = 0; split < splits; ++split) {
    std::vector<std::size_t> order(frames.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return Random4(11, Stream::external, split, a).uniform(0) < Random4(11, Stream::external, split, b).uniform(0);
    });
    std::vector<HeldOutFrame> part;
    for (const std::size_t k : order) part.push_back(frames[k]);
    const std::span<const HeldOutFrame> all(part);
    const Coverage c = coverage_of(all.subspan(150), {0.9, 150, 0, calibrated(all.first(150), 0.9, split), {}});
    INFO("split " << split);
    CHECK(c.calibrated == Approx(0.9).margin(0.03));
    UNSCOPED_INFO(c.calibrated << " " << c.deviation << " " << c.gaussian);
    mean += c.calibrated / splits;
    deviation += c.deviation / splits;
    gaussian += c.gaussian / splits;
  }
  INFO("calibrated " << mean << ", deviation " << deviation << ", gaussian " << gaussian);
  CHECK(mean == Approx(0.9).margin(0.02));
  CHECK(std::abs(deviation - 0.9) > 0.03);  // what the committee says without calibration
}

namespace {

struct Water : Stages {
  std::vector<std::string> paths{model(1), model(2), model(3)};
  std::string structure = scratch.file("water.xyz"), file = scratch.file("calibration.yaml");

  explicit Water(const std::string& levels = "deviation: [1.0]\nbound: [2.0]\n") {
    const Configuration c = water(2, 7, 4.2);
    std::string text = fmt::format("{}\nLattice=\"", c.x.size());
    for (const auto& row : c.box->h)
      for (double value : row) text += fmt::format("{:.17g} ", value);
    text += "\" energy=1\n";
    for (std::size_t i = 0; i < c.x.size(); ++i)
      text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", c.types[i] ? "H" : "O", c.x[i][0], c.x[i][1], c.x[i][2]);
    std::ofstream(structure) << text;
    write(levels);
  }
  void write(const std::string& levels, std::size_t models = 3) {
    std::string text = "level: 0.9\nframes: 12\natoms: 288\n" + levels + "models: [";
    for (std::size_t k = 0; k < models; ++k) text += fmt::format("{}'{}'", k ? ", " : "", checksum_of(paths[k]));
    std::ofstream(file) << text + "]\n";
  }
  std::string potential(bool with = true) const {
    return fmt::format("{{type: deep_potential, model: '{}', committee: ['{}', '{}']{}}}", paths[0], paths[1], paths[2],
                       with ? ", calibration: '" + file + "'" : "");
  }
  std::string deck(const std::string& more, bool with = true) const {
    return fmt::format(
        "{{physics: md, structure: {{file: '{}'}}, initial_temperature: 300, potential: {}, timestep: 0.0005, thermo: "
        "{{every: 2}}, steps: 8{}}}",
        structure, potential(with), more);
  }
};

}  // namespace

TEST_CASE("thermo.csv has the calibrated bound, and a stage ends where it is too large") {
  Water water;
  const auto table = text_table(water.run("simulate", "bound", water.deck("")) + "/thermo.csv");
  REQUIRE(table.at("max_bound_f").size() == 5);
  for (std::size_t k = 0; k < 5; ++k) CHECK(table.at("max_bound_f")[k] == Approx(2.0 * table.at("max_devi_f")[k]));
  CHECK(text_table(water.run("simulate", "without", water.deck("", false)) + "/thermo.csv").count("max_bound_f") == 0);

  const auto& bounds = table.at("max_bound_f");
  const double limit = 1.0001 * *std::max_element(bounds.begin(), bounds.begin() + 2);
  const auto first = static_cast<std::size_t>(
      std::find_if(bounds.begin(), bounds.end(), [&](double b) { return b > limit; }) - bounds.begin());
  const auto ended = text_table(
      water.run("simulate", "ended", water.deck(fmt::format(", max_force_error: {:.17g}", limit))) + "/thermo.csv");
  CHECK(ended.at("step").size() == std::min<std::size_t>(first + 1, 5));
  const auto at_once =
      text_table(water.run("simulate", "at_once", water.deck(", max_force_error: 1e-9")) + "/thermo.csv");
  CHECK(at_once.at("step").size() == 1);
}

TEST_CASE("label selects by the calibrated bound") {
  Water water;
  const auto deck = [&](const std::string& select) {
    return fmt::format(
        "{{structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, explore_with: {}, select: {}, "
        "perturbed: {{frames: 6, strain: 0, displacement: 0.1}}, validation: 0}}",
        water.structure, water.paths[0], water.potential(), select);
  };
  const auto column = [&](const std::string& name, const std::string& select) {
    return text_table(water.run("label", name, deck(select)) + "/deviation.csv");
  };
  const auto plain = column("plain", "{f_trust_lo: 0, f_trust_hi: 1e6}");
  const auto bound = column("bound", "{calibrated: true, f_trust_lo: 0, f_trust_hi: 1e6}");
  const auto deviations = plain.at("deviation");
  for (std::size_t k = 0; k < 6; ++k) CHECK(bound.at("deviation")[k] == Approx(2.0 * deviations[k]));
  auto sorted = deviations;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[2] + sorted[3];  // twice the middle: a threshold on the bound
  const auto some = column("some", fmt::format("{{calibrated: true, f_trust_lo: {}, f_trust_hi: 1e6}}", low));
  for (std::size_t k = 0; k < 6; ++k) CHECK(some.at("kept")[k] == (2.0 * deviations[k] > low ? 1.0 : 0.0));
}

TEST_CASE("the stage calibrate writes a file that its committee reads") {
  Water water;
  const std::string labels = water.run(
      "label", "labels",
      fmt::format("{{structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, perturbed: {{frames: "
                  "30, strain: 0.02, displacement: 0.1}}, validation: 0.5}}",
                  water.structure, water.model(4)));
  const std::string folder =
      water.run("calibrate", "calibrate",
                fmt::format("{{model: '{}', committee: ['{}', '{}'], systems: ['{}/train'], test: ['{}/validation']}}",
                            water.paths[0], water.paths[1], water.paths[2], labels, labels));
  const Calibration made = Calibration::load(folder + "/calibration.yaml");
  CHECK(made.level == 0.9);
  CHECK(made.atoms == 24 * made.frames);
  CHECK_NOTHROW(made.require_models(water.paths, "calibration.yaml"));
  std::string line, system;
  std::ifstream table_of(folder + "/coverage.csv");
  std::getline(table_of, line);
  CHECK(line ==
        "system,frames,level,coverage_calibrated,coverage_deviation,coverage_gaussian,mean_bound (eV/angstrom)");
  std::getline(table_of, system, ',');
  CHECK(system == labels + "/validation");
  std::int64_t frames = 0;
  double level = 0.0, calibrated = 0.0;
  char comma = ' ';
  table_of >> frames >> comma >> level >> comma >> calibrated;
  CHECK(frames + made.frames == 30);
  CHECK(level == 0.9);
  CHECK(calibrated == Approx(0.9).margin(0.1));
  water.file = folder + "/calibration.yaml";
  const auto table = text_table(water.run("simulate", "with", water.deck("")) + "/thermo.csv");
  CHECK(table.at("max_bound_f")[1] == Approx(made.curve(table.at("max_devi_f")[1])));
}

TEST_CASE("a selection by bounds needs a calibration, a calibration needs forces") {
  Water water;
  const std::string select = "{calibrated: true, f_trust_lo: 0, f_trust_hi: 1}";
  CHECK_THROWS_WITH(
      water.run("label", "uncalibrated",
                fmt::format("{{structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, "
                            "explore_with: {}, select: {}, perturbed: {{frames: 1}}}}",
                            water.structure, water.paths[0], water.potential(false), select)),
      "label: the committee has no calibration; give explore_with.calibration, a file of the stage 'calibrate'");
  CHECK_THROWS_WITH(water.run("calibrate", "forceless",
                              fmt::format("{{model: '{}', committee: ['{}'], systems: ['{}']}}", water.paths[0],
                                          water.paths[1], water.structure)),
                    fmt::format("'{}' has no forces to calibrate on", water.structure));
}

TEST_CASE("a calibration that does not fit its committee is refused") {
  Water water;
  const auto made = [&](const std::string& potential) {
    const deck::Node node = deck::parse(potential, "test");
    water.registry.make<Potential>("deep_potential", node.without([](auto key) { return key == "type"; }),
                                   water.context);
  };
  CHECK_NOTHROW(made(water.potential()));
  water.write("deviation: [1.0]\nbound: [2.0]\n", 2);
  CHECK_THROWS_WITH(made(water.potential()),
                    Catch::Contains("calibrates a committee of 2 models, this one has 3; run the stage 'calibrate' "
                                    "with the same models"));
  std::swap(water.paths[0], water.paths[1]);
  water.write("deviation: [1.0]\nbound: [2.0]\n");
  std::swap(water.paths[0], water.paths[1]);
  CHECK_THROWS_WITH(made(water.potential()),
                    Catch::Contains("was made with another model than '") &&
                        Catch::Contains("' as model 1 of the committee; run the stage 'calibrate' with the same "
                                        "models in the same order"));
  water.write("deviation: [1.0, 0.5]\nbound: [2.0, 3.0]\n");
  CHECK_THROWS_WITH(made(water.potential()),
                    Catch::Contains("deviation and bound need positive values in rising order"));
  water.write("deviation: [1.0, 1.5]\nbound: [2.0]\n");
  CHECK_THROWS_WITH(made(water.potential()),
                    Catch::Contains("deviation and bound need the same number of values, one at least"));
}
