#pragma once
// Stages of a deck, run in a folder of their own, and files read back without the project's own readers.
#include <fstream>
#include <map>
#include <sstream>

#include "core/plugin/registry.hpp"
#include "core/run/simulate.hpp"
#include "core/run/trajectory_writers.hpp"
#include "plugins/deepmd/model/model_tree.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

namespace cambium::md {
void register_types(Registry& registry);
}

namespace cambium::deepmd {
void register_types(Registry& registry);
}

namespace cambium::deepmd::test {

struct Stages {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Registry registry;
  Scratch scratch{"deepmd_stages"};
  Context context{comm, log, timing, &registry};

  Stages() {
    registry.set_plugin("core");
    registry.add<Simulate>("simulate", "advance a physics in time");
    registry.add<H5mdWriter>("h5md", "trajectory");
    registry.add<ExtxyzWriter>("extxyz", "trajectory");
    registry.set_plugin("deepmd");
    md::register_types(registry);
    register_types(registry);
  }
  /// The stage's folder.
  std::string run(const std::string& task, const std::string& folder, const std::string& yaml, bool resume = false) {
    context.run_directory = scratch.file(folder);
    context.resume = resume;
    std::filesystem::create_directories(context.run_directory);
    registry.make<Task>(task, deck::parse(yaml, "test"), context)->run(context);
    return context.run_directory;
  }
  /// A small untrained model of oxygen and hydrogen; its path.
  std::string model(std::uint64_t seed) {
    RandomModel spec = small_model(seed);
    spec.rcut = 3.5;
    spec.neuron = {4, 8, 8};
    spec.axis_neuron = 3;
    spec.fitting = {12};
    const std::string path = scratch.file("model_" + std::to_string(seed) + ".yaml");
    save_model_tree(random_model(spec).to_tree(), path);
    return path;
  }
};

/// A frame of an extended XYZ file, as its text says.
struct TextFrame {
  std::array<double, 9> cell{};
  std::vector<std::string> species;
  std::vector<std::vector<double>> rows;  ///< the numbers of each atom's line

  std::vector<double> part(std::size_t first) const {
    std::vector<double> out;
    for (const auto& row : rows)
      out.insert(out.end(), row.begin() + static_cast<long>(first), row.begin() + static_cast<long>(first) + 3);
    return out;
  }
};

inline std::vector<TextFrame> text_frames(const std::string& path) {
  std::vector<TextFrame> out;
  std::ifstream in(path);
  REQUIRE(in);
  for (std::string line; std::getline(in, line);) {
    TextFrame frame;
    const int atoms = std::stoi(line);
    std::getline(in, line);
    std::istringstream cell(line.substr(line.find("Lattice=\"") + 9));
    for (double& c : frame.cell) cell >> c;
    for (int k = 0; k < atoms && std::getline(in, line); ++k) {
      std::istringstream words(line);
      words >> frame.species.emplace_back();
      frame.rows.emplace_back();
      for (double value; words >> value;) frame.rows.back().push_back(value);
    }
    out.push_back(frame);
  }
  return out;
}

/// Columns of a table by their names, without units.
inline std::map<std::string, std::vector<double>> text_table(const std::string& path) {
  std::map<std::string, std::vector<double>> out;
  std::ifstream in(path);
  REQUIRE(in);
  std::vector<std::string> names;
  std::string line, word;
  std::getline(in, line);
  for (std::istringstream header(line); std::getline(header, word, ',');)
    names.push_back(word.substr(0, word.find(' ')));
  while (std::getline(in, line)) {
    std::istringstream row(line);
    for (const auto& name : names) std::getline(row, word, ','), out[name].push_back(std::stod(word));
  }
  return out;
}

}  // namespace cambium::deepmd::test
