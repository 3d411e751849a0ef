// The deviation of a committee in thermo.csv, against single models asked one by one; as a term of a sum, and in the
// label stage.
#include <fmt/format.h>

#include "core/io/structures/extxyz_reader.hpp"
#include "core/particles/lattice.hpp"
#include "tests/plugins/deepmd/stages.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

namespace {

/// 24 atoms of water in a triclinic cell that is turned about z, as a user's file has them.
std::string structure(Stages& stages) {
  const Configuration c = water(2, 7, 4.2);
  const double cosine = std::cos(0.7), sine = std::sin(0.7);
  const auto turned = [&](const double* x) {
    return std::array{cosine * x[0] - sine * x[1], sine * x[0] + cosine * x[1], x[2]};
  };
  std::string text = fmt::format("{}\nLattice=\"", c.x.size());
  for (const auto& row : c.box->h)
    for (double value : turned(row)) text += fmt::format("{:.17g} ", value);
  text += "\"\n";
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const auto x = turned(c.x[i].data());
    text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", c.types[i] ? "H" : "O", x[0], x[1], x[2]);
  }
  std::ofstream(stages.scratch.file("water.xyz")) << text;
  return stages.scratch.file("water.xyz");
}

std::string md_deck(const std::string& structure, const std::string& potential) {
  return fmt::format(
      "{{physics: md, structure: {{file: '{}'}}, initial_temperature: 300, potential: {}, timestep: 0.0005, thermo: "
      "{{every: 2}}, output: [{{type: extxyz, every: 2}}], steps: 4}}",
      structure, potential);
}

/// max, min, avg of the forces as DeePMD-kit defines them, from what each model alone says of a frame.
struct Spread {
  std::array<double, 6> columns{};  ///< in the order of deviation_columns

  Spread(Stages& stages, const std::vector<std::string>& models, const std::string& trajectory, std::int64_t frame) {
    const Structure s = io::read_extxyz(trajectory, frame, stages.comm);
    std::vector<int> types;
    for (int t : s.type) types.push_back(s.species[t].symbol == "H" ? 1 : 0);
    std::vector<Evaluation> all;
    for (const auto& path : models)
      all.push_back(evaluate(*make_engine(DeepPotentialModel::load(path), {}), s.x, types, s.box));
    const auto n = static_cast<double>(all.size());
    double& smallest = columns[4] = 1e30;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      double variance = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        double mean = 0.0;
        for (const auto& e : all) mean += e.force[i][k] / n;
        for (const auto& e : all) variance += std::pow(e.force[i][k] - mean, 2) / n;
      }
      columns[3] = std::max(columns[3], std::sqrt(variance));
      smallest = std::min(smallest, std::sqrt(variance));
      columns[5] += std::sqrt(variance) / static_cast<double>(s.x.size());
    }
    std::vector<std::array<double, 9>> virials;
    for (const auto& e : all) virials.push_back(in_axes_of_the_file(e.virial));
    columns[1] = 1e30;
    for (std::size_t k = 0; k < 9; ++k) {
      double mean = 0.0, variance = 0.0;
      for (const auto& w : virials) mean += w[k] / n;
      for (const auto& w : virials) variance += (w[k] - mean) * (w[k] - mean) / n;
      const double deviation = std::sqrt(variance) / static_cast<double>(s.x.size());
      columns[0] = std::max(columns[0], deviation);
      columns[1] = std::min(columns[1], deviation);
      columns[2] += deviation * deviation / 9;
    }
    columns[2] = std::sqrt(columns[2]);
  }
  /// R W R^T with the rotation of structure() about z: vectors are columns, x of the file = R x of the lower-triangular
  /// cell.
  static std::array<double, 9> in_axes_of_the_file(const double* w) {
    const double c = std::cos(0.7), s = std::sin(0.7), r[3][3] = {{c, -s, 0}, {s, c, 0}, {0, 0, 1}};
    std::array<double, 9> out{};
    for (std::size_t k = 0; k < 81; ++k)
      out[k / 27 * 3 + k / 9 % 3] += r[k / 27][k / 3 % 3] * w[k / 3 % 3 * 3 + k % 3] * r[k / 9 % 3][k % 3];
    return out;
  }
};

std::vector<std::string> models(Stages& stages) { return {stages.model(1), stages.model(2), stages.model(3)}; }

std::string committee(const std::vector<std::string>& m) {
  return fmt::format("{{type: deep_potential, model: '{}', committee: ['{}', '{}']}}", m[0], m[1], m[2]);
}

const char* const names[] = {"max_devi_v", "min_devi_v", "avg_devi_v", "max_devi_f", "min_devi_f", "avg_devi_f"};

}  // namespace

TEST_CASE("thermo.csv holds how far the models of a committee disagree") {
  Stages stages;
  const auto paths = models(stages);
  const std::string folder = stages.run("simulate", "committee", md_deck(structure(stages), committee(paths)));
  const auto table = text_table(folder + "/thermo.csv");
  for (const char* name : names) REQUIRE(table.count(name) == 1);
  for (std::size_t line = 0; line < 3; ++line) {
    const Spread expected(stages, paths, folder + "/trajectory.extxyz", static_cast<std::int64_t>(line));
    for (std::size_t k = 0; k < 6; ++k) {
      INFO("line " << line << ", " << names[k]);
      CHECK(expected.columns[k] > 1e-6);
      CHECK(table.at(names[k])[line] == Approx(expected.columns[k]).epsilon(1e-6));  // positions come with ten digits
    }
  }
  // The deck moves by the first model, as without a committee.
  const std::string alone = stages.run(
      "simulate", "alone", md_deck(structure(stages), fmt::format("{{type: deep_potential, model: '{}'}}", paths[0])));
  const auto other = text_table(alone + "/thermo.csv");
  CHECK(other.count("max_devi_f") == 0);
  CHECK(other.at("potential") == table.at("potential"));
}

TEST_CASE("a committee says at the end by how much it disagreed") {
  Stages stages;
  const auto paths = models(stages);
  const std::string folder = stages.scratch.file("said");
  std::filesystem::create_directories(folder);
  std::vector<Result> found;
  {
    Log log;
    log.tee(stages.scratch.file("log.txt"));
    Context context{stages.comm, log, stages.timing, &stages.registry};
    context.run_directory = folder;
    const auto task = stages.registry.make<Task>(
        "simulate", deck::parse(md_deck(structure(stages), committee(paths)), "test"), context);
    task->run(context);
    found = task->results();
  }
  const auto table = text_table(folder + "/thermo.csv");
  const auto &most = table.at("max_devi_f"), &mean = table.at("avg_devi_f");
  std::stringstream said;
  said << std::ifstream(stages.scratch.file("log.txt")).rdbuf();
  const std::string text = said.str();
  CHECK(text.find("max_devi_f") != std::string::npos);  // a column of the printed table
  const auto value = [&](const std::string& key) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const auto& r) { return r.key == key; });
    return at == found.end() ? std::numeric_limits<double>::quiet_NaN() : at->value;
  };
  CHECK(value("force_deviation_max") == Approx(*std::max_element(most.begin(), most.end())));
  CHECK(value("force_deviation_mean") == Approx((mean[0] + mean[1] + mean[2]) / 3));
}

TEST_CASE("a committee within a sum has its columns, and label selects by them") {
  Stages stages;
  const auto paths = models(stages);
  const std::string zbl = "{type: zbl, inner: 0.5, outer: 0.9}";
  const std::string once = fmt::format("{{type: sum, terms: [{}, {}]}}", zbl, committee(paths));
  const std::string folder = stages.run("simulate", "sum", md_deck(structure(stages), once));
  const Spread expected(stages, paths, folder + "/trajectory.extxyz", 0);
  CHECK(text_table(folder + "/thermo.csv").at("max_devi_f")[0] == Approx(expected.columns[3]).epsilon(1e-6));

  const std::string label = stages.run(
      "label", "label",
      fmt::format(
          "{{structure: {{file: '{}'}}, potential: {{type: deep_potential, model: '{}'}}, explore_with: {}, select: "
          "{{f_trust_lo: 0, f_trust_hi: 1e6}}, perturbed: {{frames: 1, strain: 0, displacement: 0}}, validation: 0}}",
          structure(stages), paths[0], once));
  CHECK(text_table(label + "/deviation.csv").at("deviation")[0] == Approx(expected.columns[3]).epsilon(1e-6));
}
