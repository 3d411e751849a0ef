// Conversion of an input of DFTB+ to a deck. Names and defaults follow the manual of DFTB+.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"
#include "plugins/submatrix/tools/hamiltonian_keys.hpp"
#include "plugins/submatrix/tools/tools.hpp"

namespace cambium::submatrix {

namespace {

/// The geometry: where a deck finds it, and its kind.
struct Geometry {
  std::string file, text;  ///< of the deck; text where the input holds it
  bool periodic = false;
  std::size_t atoms = 0;
  std::vector<std::string> species;  ///< of every atom
};

Geometry geometry_of(HsdSection& root, const std::string& beside) {
  Geometry out;
  const HsdNode* node = root.read("Geometry");
  const HsdNode* gen = node && node->children.size() == 1 ? &node->children[0] : nullptr;
  if (!gen || lower_case(gen->name) != "genformat") {
    root.report().problems.push_back(fmt::format(
        "line {}: Geometry: only GenFormat is converted; write the geometry as a gen file", node ? node->line : 1));
    return out;
  }
  out.file = gen->included.empty() ? beside : gen->included;
  if (gen->included.empty()) out.text = gen->text;
  const auto words = hsd_words(*gen);
  const double count = words.empty() ? 0.0 : parse_number(words[0]).value_or(0.0);
  if (words.size() < 3 || count < 1.0) {
    root.report().problems.push_back(
        fmt::format("line {}: Geometry.GenFormat: expected the number of atoms and C, S or F first", gen->line));
    return out;
  }
  out.periodic = lower_case(words[1]) != "c";
  out.atoms = static_cast<std::size_t>(count);
  // Names of the species stand before the first atom, whose line begins with its number, 1.
  std::vector<std::string> names;
  std::size_t at = 2;
  for (; at < words.size() && words[at] != "1"; ++at) names.push_back(words[at]);
  for (std::size_t a = 0; a < out.atoms && at + 1 < words.size(); ++a, at += 5) {
    const auto kind = parse_number(words[at + 1]);
    const auto place = kind && *kind >= 1.0 ? static_cast<std::size_t>(*kind) - 1 : names.size();
    out.species.push_back(place < names.size() ? names[place] : "");
  }
  return out;
}

/// Lines of one stage.
struct Stage {
  bool dynamics = false;
  std::vector<std::string> keys;
};

/// All atoms, 1:-1, may move.
void require_all_move(HsdSection& driver) {
  if (const std::string moved = driver.text("MovedAtoms", "1:-1"); moved != "1:-1")
    driver.refuse("MovedAtoms", "fixed atoms are not converted; write them as groups and frozen of the deck");
}

Stage relaxation(const std::string& method, HsdSection& driver, std::size_t atoms) {
  require_all_move(driver);
  if (driver.logical("LatticeOpt", false)) driver.refuse("LatticeOpt", "relaxed cells are not converted");
  driver.leave_out({"OutputPrefix", "AppendGeometries", "ConvergentForcesOnly", "Isotropic", "StepSize", "Alpha",
                    "MaxAtomStep", "LineSearch", "Memory", "Optimiser", "Optimizer"});
  std::string tolerance = "1e-4 hartree/bohr";
  long steps = 200;
  if (method == "geometryoptimisation" || method == "geometryoptimization") {
    HsdSection convergence = driver.part("Convergence");
    tolerance = convergence.quantity("GradElem", "hartree/bohr").value_or(tolerance);
    steps = driver.integer("MaxSteps", 20 * static_cast<long>(atoms));
  } else {
    tolerance = driver.quantity("MaxForceComponent", "hartree/bohr").value_or(tolerance);
    steps = driver.integer("MaxSteps", steps);
  }
  driver.report().notes.push_back(
      fmt::format("{}: relaxed by FIRE, whose steps are smaller and ten times as many", driver.path()));
  constexpr long smaller = 10;
  return {true,
          {fmt::format("integrator: {{type: fire, force_tolerance: {}}}", tolerance),
           fmt::format("steps: {}", smaller * std::max(1L, steps))}};
}

Stage dynamics(HsdSection& driver) {
  require_all_move(driver);
  driver.leave_out({"OutputPrefix", "KeepStationary", "ConvergentForcesOnly", "MDRestartFrequency"});
  Stage out{true, {}};
  const long steps = driver.integer("Steps", -1);
  if (steps < 0)
    driver.report().problems.push_back(fmt::format("{}: Steps is missing; give the number of steps", driver.path()));
  const auto step = driver.quantity("TimeStep", "");
  if (!step || step->ends_with(" "))
    driver.report().problems.push_back(
        fmt::format("{}: TimeStep needs a unit here, such as TimeStep [fs] = 0.5", driver.path()));
  auto [thermostat, keys] = driver.method("Thermostat", "none");
  if (thermostat != "none") {
    driver.refuse("Thermostat", "only None is converted; choose an integrator of md: nose_hoover, csvr or langevin");
    for (const char* key : {"Temperature", "CouplingStrength", "Timescale", "ReselectProbability",
                            "ReselectIndividually", "AdaptFillingTemp", "ChainLength", "Order", "IntegratorSteps"})
      keys.read(key);
  } else if (const auto temperature = keys.quantity("InitialTemperature", "hartree")) {
    out.keys.push_back("initial_temperature: " + temperature_text(*temperature));
  }
  out.keys.push_back(fmt::format("timestep: {}", step.value_or("")));
  out.keys.push_back(fmt::format("steps: {}", steps));
  return out;
}

Stage stage_of(HsdSection& root, std::size_t atoms) {
  auto [method, driver] = root.method("Driver", "");
  if (method.empty()) return {};
  if (method == "velocityverlet") return dynamics(driver);
  for (const char* known : {"conjugategradient", "steepestdescent", "gdiis", "lbfgs", "fire", "geometryoptimisation",
                            "geometryoptimization"})
    if (method == known) return relaxation(method, driver, atoms);
  root.refuse("Driver", fmt::format("{} is not converted", method));
  for (const auto& entry : driver.entries()) driver.read(entry.name);
  return {};
}

/// Blocks that write output or choose how to compute.
void leave_out_blocks(HsdSection& root) {
  {
    HsdSection options = root.part("Options");
    options.leave_out({"WriteAutotestTag", "WriteDetailedOut", "WriteDetailedXML", "WriteResultsTag",
                       "WriteChargesAsText", "RandomSeed", "MinimiseMemoryUsage", "MinimizeMemoryUsage",
                       "ShowFoldedCoords", "TimingVerbosity", "SkipChargeTest", "CalculateForces", "MullikenAnalysis",
                       "WriteEigenvectors", "WriteBandOut", "AtomResolvedEnergies"});
    if (options.logical("ReadChargesAsText", false)) options.refuse("ReadChargesAsText", "is not converted");
  }
  {
    HsdSection analysis = root.part("Analysis");
    analysis.leave_out({"CalculateForces", "PrintForces", "MullikenAnalysis", "WriteBandOut"});
  }
  for (const char* name : {"ParserOptions", "Parallel"})
    if (root.read(name)) root.note(name, "not taken over, it changes no result");
}

std::string deck_text(const std::string& name, const Geometry& geometry, const Stage& stage,
                      const std::vector<std::string>& keys) {
  std::string out =
      fmt::format("run: {{name: {}}}\nplugins: [{}]\nstages:\n", name, stage.dynamics ? "md, submatrix" : "submatrix");
  const std::string structure = fmt::format("structure: {{file: \"{}\", format: gen}}\n", geometry.file);
  const std::string periodic = fmt::format("periodic: {}\n", geometry.periodic);
  if (!stage.dynamics) {
    out += "  - dftb:\n      " + structure;
    if (!geometry.periodic) out += "      " + periodic;
    for (const auto& key : keys) out += "      " + key + "\n";
    return out;
  }
  out += "  - simulate:\n      physics: md\n      " + structure + "      potential:\n        type: dftb\n";
  if (!geometry.periodic) out += "        " + periodic;
  for (const auto& key : keys) out += "        " + key + "\n";
  for (const auto& key : stage.keys) out += "      " + key + "\n";
  return out;
}

}  // namespace

DftbInput deck_of_dftb_input(const std::string& path, const std::string& geometry) {
  if (!std::filesystem::is_regular_file(path)) throw InputError(fmt::format("there is no file {}", path));
  const HsdNode input = read_hsd(path);
  HsdReport report;
  DftbInput out;
  {
    HsdSection root(&input, "", report);
    const Geometry atoms = geometry_of(root, geometry);
    const Stage stage = stage_of(root, atoms.atoms);
    const auto keys = hamiltonian_keys(root, {std::filesystem::path(path).parent_path().string(), atoms.species});
    leave_out_blocks(root);
    root.leave_out({"InputVersion"});
    out.geometry = atoms.text;
    out.deck = deck_text(std::filesystem::path(path).stem().string(), atoms, stage, keys);
  }
  if (!report.problems.empty())
    throw InputError(fmt::format("{}: {} of its keys cannot be converted:\n  {}", path, report.problems.size(),
                                 fmt::join(report.problems, "\n  ")));
  std::string head = fmt::format("# Made of {} by cambium submatrix convert-input.\n", path);
  for (const auto& note : report.notes) head += fmt::format("# {}.\n", note);
  out.deck = head + out.deck;
  return out;
}

std::string convert_dftb_input(const std::string& input, const std::string& output) {
  const auto beside = std::filesystem::path(output).replace_extension(".gen");
  const std::string geometry = beside.string();
  const DftbInput made = deck_of_dftb_input(input, "{deck}/" + beside.filename().string());
  if (output.empty()) {
    if (!made.geometry.empty())
      throw InputError(
          fmt::format("{} holds the geometry itself; name a deck to write, and the geometry is written "
                      "next to it",
                      input));
    return made.deck;
  }
  if (!made.geometry.empty()) io::write_file_atomically(geometry, made.geometry);
  io::write_file_atomically(output, made.deck);
  std::string text;
  for (std::size_t from = 0, end; made.deck.compare(from, 2, "# ") == 0; from = end + 1) {
    end = made.deck.find('\n', from);
    text += made.deck.substr(from + 2, end - from - 1);
  }
  return text + fmt::format("{} -> {}{}\n", input, output, made.geometry.empty() ? "" : " and " + geometry);
}

}  // namespace cambium::submatrix
