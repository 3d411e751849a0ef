#include "plugins/submatrix/tools/hamiltonian_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

std::string temperature_text(const std::string& quantity) {
  const auto blank = quantity.find(' ');
  const std::string unit = quantity.substr(blank + 1);
  if (unit == "K") return quantity;
  const double value = *parse_number(quantity.substr(0, blank));
  return number_text(value * conversion(unit, "hartree") / boltzmann_hartree) + " K";
}

namespace {

using Keys = std::vector<std::string>;

std::string matrix_text(const std::vector<double>& values, std::size_t width) {
  std::vector<std::string> rows;
  for (std::size_t k = 0; k < values.size(); k += width) {
    std::vector<std::string> row;
    for (std::size_t l = k; l < std::min(values.size(), k + width); ++l) row.push_back(number_text(values[l]));
    rows.push_back(fmt::format("[{}]", fmt::join(row, ", ")));
  }
  return fmt::format("[{}]", fmt::join(rows, ", "));
}

/// Folder, separator and suffix of files that are listed one by one; empty where they have no common form.
std::string listed_files(HsdSection& files) {
  std::string directory, separator, suffix;
  for (const auto& entry : files.entries()) {
    files.read(entry.name);
    const auto dash = entry.name.find('-');
    if (dash == std::string::npos) return {};
    const std::string a = entry.name.substr(0, dash), b = entry.name.substr(dash + 1);
    const std::filesystem::path path(std::string(trim(entry.text)));
    const std::string name = path.filename().string(), folder = path.parent_path().string();
    const auto second = name.find(b, a.size());
    if (name.compare(0, a.size(), a) != 0 || second == std::string::npos) return {};
    const std::string between = name.substr(a.size(), second - a.size()), end = name.substr(second + b.size());
    const bool first = &entry == &files.entries().front();
    if (!first && (folder != directory || between != separator || end != suffix)) return {};
    directory = folder;
    separator = between;
    suffix = end;
  }
  return fmt::format("{}\n{}\n{}", directory, separator, suffix);
}

void slater_koster(HsdSection& dftb, const InputContext& context, Keys& keys) {
  std::string directory, separator = "-", suffix = ".skf";
  const HsdNode* node = dftb.read("SlaterKosterFiles");
  const bool by_names = node && node->children.size() == 1 && lower_case(node->children[0].name) == "type2filenames";
  HsdSection files(by_names ? &node->children[0] : node, dftb.path() + ".SlaterKosterFiles", dftb.report());
  if (by_names) {
    directory = files.text("Prefix", "");
    separator = files.text("Separator", "");
    suffix = files.text("Suffix", "");
    if (files.logical("LowerCaseTypeName", false)) files.refuse("LowerCaseTypeName", "is not converted");
  } else {
    const std::string found = node ? listed_files(files) : "";
    if (found.empty()) {
      dftb.report().problems.push_back(fmt::format(
          "{}.SlaterKosterFiles: expected Type2FileNames, or one folder and names like A-B.skf for all", dftb.path()));
      for (const auto& entry : files.entries()) files.read(entry.name);
      return;
    }
    const auto first = found.find('\n'), second = found.rfind('\n');
    directory = found.substr(0, first);
    separator = found.substr(first + 1, second - first - 1);
    suffix = found.substr(second + 1);
  }
  // A prefix is the beginning of the names of files; here it must be a folder.
  if (by_names && !directory.empty() && directory.back() != '/')
    files.refuse("Prefix", "expected a folder, with / at its end");
  const auto folder = (std::filesystem::path(context.folder) / directory).lexically_normal().string();
  keys.push_back(fmt::format("slater_koster: {{directory: \"{}\", separator: \"{}\", suffix: \"{}\"}}",
                             folder.empty() ? "." : folder, separator, suffix));
}

void shells(HsdSection& dftb, Keys& keys) {
  HsdSection highest = dftb.part("MaxAngularMomentum");
  std::vector<std::string> out;
  for (const auto& entry : highest.entries()) {
    const std::string shell = highest.text(entry.name, "");
    if (shell != "s" && shell != "p" && shell != "d")
      highest.refuse(entry.name, fmt::format("'{}', expected s, p or d", shell));
    out.push_back(fmt::format("{}: {}", entry.name, shell));
  }
  if (!out.empty()) keys.push_back(fmt::format("shells: {{{}}}", fmt::join(out, ", ")));
}

void filling(HsdSection& dftb, Keys& keys) {
  auto [type, own] = dftb.method("Filling", "fermi");
  if (type != "fermi" && type != "gaussian" && type != "methfesselpaxton")
    dftb.refuse("Filling", fmt::format("{} is not converted", type));
  std::string line = fmt::format("type: {}", type == "methfesselpaxton" ? "methfessel_paxton" : type);
  if (type == "methfesselpaxton") {
    if (!own.has("Order"))
      own.report().problems.push_back(
          fmt::format("{}: give Order, whose default differs between versions of DFTB+", own.path()));
    line += fmt::format(", order: {}", own.integer("Order", 1));
  }
  const auto temperature = own.quantity("Temperature", "hartree");
  if (temperature) line += ", temperature: " + temperature_text(*temperature);
  if (own.logical("IndependentKFilling", false)) own.refuse("IndependentKFilling", "is not converted");
  if (type != "fermi" || temperature) keys.push_back(fmt::format("filling: {{{}}}", line));
}

void folded_grid(const HsdNode& method, HsdReport& report, Keys& keys) {
  const auto v = hsd_numbers(method, report);
  const bool diagonal = v.size() == 12 && v[1] == 0.0 && v[2] == 0.0 && v[3] == 0.0 && v[5] == 0.0 && v[6] == 0.0 &&
                        v[7] == 0.0 && v[0] >= 1.0 && v[4] >= 1.0 && v[8] >= 1.0;
  if (!diagonal) {
    report.problems.push_back(fmt::format(
        "line {}: SupercellFolding: only three numbers on the diagonal and three shifts are converted", method.line));
    return;
  }
  keys.push_back(
      fmt::format("k_points: {{grid: [{}, {}, {}], shift: [{}, {}, {}]}}", v[0], v[4], v[8], v[9], v[10], v[11]));
}

void k_points(HsdSection& dftb, Keys& keys) {
  const HsdNode* node = dftb.read("KPointsAndWeights");
  if (!node) return;
  if (node->children.size() == 1 && lower_case(node->children[0].name) == "supercellfolding")
    return folded_grid(node->children[0], dftb.report(), keys);
  const auto v = hsd_numbers(*node, dftb.report());
  const std::string unit = lower_case(node->unit);
  if (!node->children.empty() || v.empty() || v.size() % 4 != 0 || !(unit.empty() || unit == "relative"))
    return dftb.refuse("KPointsAndWeights", "only SupercellFolding and lists kx ky kz weight are converted");
  keys.push_back(fmt::format("k_points: {{list: {}}}", matrix_text(v, 4)));
}

void mixer(HsdSection& dftb, Keys& keys) {
  auto [type, own] = dftb.method("Mixer", "broyden");
  const bool known = type == "broyden" || type == "anderson" || type == "simple";
  if (!known) own.report().notes.push_back(fmt::format("{}.Mixer: {} is anderson here", dftb.path(), type));
  const bool first = own.has("InitMixingParameter");
  const double parameter = own.number(first ? "InitMixingParameter" : "MixingParameter",
                                      type == "anderson" || type == "simple" ? 0.05 : 0.2);
  if (first) own.leave_out({"MixingParameter"});
  own.leave_out({"InverseJacobiWeight", "MinimalWeight", "MaximalWeight", "WeightFactor", "DynMixingParameters",
                 "DiagonalRescaling", "UseFromStart"});
  std::string line = fmt::format("type: {}, parameter: {}", known ? type : "anderson", parameter);
  if (own.has("Generations")) line += fmt::format(", generations: {}", std::max(2L, own.integer("Generations", 8)));
  keys.push_back(fmt::format("mixing: {{{}}}", line));
}

/// Numbers of atoms, such as "1:3 5 -1", from 0; those of a species for its name.
std::vector<std::size_t> atoms_of(const std::string& text, const std::vector<std::string>& species, bool& good) {
  const auto count = static_cast<long>(species.size());
  std::vector<std::size_t> out;
  HsdNode node;
  node.text = text;
  for (const auto& word : hsd_words(node)) {
    const auto colon = word.find(':');
    const auto first = parse_number(word.substr(0, colon)),
               last = colon == std::string::npos ? first : parse_number(word.substr(colon + 1));
    if (!first || !last) {
      const auto before = out.size();
      for (std::size_t a = 0; a < species.size(); ++a)
        if (species[a] == word) out.push_back(a);
      good = good && out.size() > before;
      continue;
    }
    const auto place = [&](double value) { return static_cast<long>(value < 0.0 ? value + count : value - 1.0); };
    const long from = place(*first), to = place(*last);
    good = good && from >= 0 && to < count && from <= to;
    for (long a = from; good && a <= to; ++a) out.push_back(static_cast<std::size_t>(a));
  }
  return out;
}

/// Spins of all atoms in the first cycle; empty: none given.
std::vector<double> first_spins(HsdSection& spin, const InputContext& context) {
  if (!spin.has("InitialSpins")) return {};
  HsdSection initial = spin.part("InitialSpins");
  std::vector<double> out;
  if (const HsdNode* all = initial.read("AllAtomSpins")) {
    out = hsd_numbers(*all, initial.report());
    if (out.size() != context.species.size()) initial.refuse("AllAtomSpins", "expected one number for each atom");
    return out;
  }
  out.assign(context.species.size(), 0.0);
  for (const HsdNode* node : initial.read_all("AtomSpin")) {
    HsdSection one(node, initial.path() + ".AtomSpin", initial.report());
    bool good = true;
    const auto atoms = atoms_of(one.text("Atoms", ""), context.species, good);
    const double value = one.number("SpinPerAtom", 0.0);
    if (!good || atoms.empty()) one.refuse("Atoms", "names atoms that the geometry does not have");
    for (const auto a : atoms) out[a] = value;
  }
  return out;
}

void spin_constants_of(HsdSection& dftb, std::vector<std::string>& out) {
  HsdSection constants = dftb.part("SpinConstants");
  const bool resolved = constants.logical("ShellResolvedSpin", true);
  std::vector<std::string> lines;
  for (const auto& entry : constants.entries()) {
    if (lower_case(entry.name) == "shellresolvedspin") continue;
    constants.read(entry.name);
    auto values = hsd_numbers(entry, constants.report());
    const auto width = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(values.size()))));
    if (values.empty() || width * width != values.size() || (!resolved && width != 1)) {
      constants.refuse(entry.name, "expected one value, or a square of them");
      continue;
    }
    lines.push_back(fmt::format("{}: {}", entry.name, matrix_text(values, width)));
  }
  if (!lines.empty()) out.push_back(fmt::format("constants: {{{}}}", fmt::join(lines, ", ")));
}

void spin(HsdSection& dftb, const InputContext& context, Keys& keys) {
  auto [type, own] = dftb.method("SpinPolarisation", "");
  if (type.empty()) {
    if (dftb.has("SpinConstants")) {
      dftb.read("SpinConstants");
      dftb.note("SpinConstants", "not taken over, there is no SpinPolarisation");
    }
    return;
  }
  if (type != "colinear") {
    dftb.refuse("SpinPolarisation", fmt::format("{} is not converted, only Colinear", type));
    for (const auto& entry : own.entries()) own.read(entry.name);
    dftb.read("SpinConstants");
    return;
  }
  std::vector<std::string> lines{fmt::format("unpaired_electrons: {}", own.number("UnpairedElectrons", 0.0))};
  if (own.logical("RelaxTotalSpin", false)) lines.push_back("relax: true");
  spin_constants_of(dftb, lines);
  const auto first = first_spins(own, context);
  if (std::any_of(first.begin(), first.end(), [](double s) { return s != 0.0; })) {
    std::vector<std::string> values;
    for (const double s : first) values.push_back(number_text(s));
    lines.push_back(fmt::format("initial_atom_spins: [{}]", fmt::join(values, ", ")));
  }
  keys.push_back(fmt::format("spin: {{{}}}", fmt::join(lines, ", ")));
}

void third_order(HsdSection& dftb, Keys& keys) {
  if (dftb.logical("ThirdOrder", false)) dftb.refuse("ThirdOrder", "only ThirdOrderFull is converted");
  const bool full = dftb.logical("ThirdOrderFull", false);
  if (dftb.has("HubbardDerivs") && !full) {
    dftb.read("HubbardDerivs");
    dftb.note("HubbardDerivs", "not taken over, ThirdOrderFull is No");
  }
  if (full) {
    HsdSection derivatives = dftb.part("HubbardDerivs");
    std::vector<std::string> lines;
    for (const auto& entry : derivatives.entries())
      lines.push_back(fmt::format("{}: {}", entry.name, derivatives.number(entry.name, 0.0)));
    if (lines.empty())
      dftb.report().problems.push_back(fmt::format("{}: ThirdOrderFull needs HubbardDerivs", dftb.path()));
    keys.push_back(fmt::format("hubbard_derivatives: {{{}}}", fmt::join(lines, ", ")));
  }
  auto [correction, own] = dftb.method("HCorrection", "none");
  double exponent = 0.0;
  if (correction == "damping")
    exponent = own.number("Exponent", 0.0);
  else if (correction != "none")
    dftb.refuse("HCorrection", fmt::format("{} is not converted, only Damping", correction));
  const bool damped = dftb.logical("DampXH", false);  // inputs up to version 5
  const double older = dftb.number("DampXHExponent", 0.0);
  if (damped) exponent = older;
  if (exponent > 0.0) keys.push_back(fmt::format("hydrogen_damping: {}", exponent));
}

void lennard_jones(HsdSection& own, Keys& keys) {
  const HsdNode* node = own.read("Parameters");
  if (!node || (node->children.size() == 1 && lower_case(node->children[0].name) == "uffparameters") ||
      node->children.empty())
    return own.report().problems.push_back(fmt::format(
        "{}.Parameters: only parameters that the input gives are converted, not UFFParameters", own.path()));
  HsdSection parameters(node, own.path() + ".Parameters", own.report());
  std::vector<std::string> lines;
  for (const auto& entry : parameters.entries()) {
    HsdSection one = parameters.part(entry.name);
    const auto distance = one.quantity("Distance", "bohr"), energy = one.quantity("Energy", "hartree");
    lines.push_back(
        fmt::format("{}: {{distance: {}, energy: {}}}", entry.name, distance.value_or("?"), energy.value_or("?")));
  }
  keys.push_back(fmt::format("dispersion: {{lennard_jones: {{{}}}}}", fmt::join(lines, ", ")));
}

/// Polarisability, radius and electrons of every atom, which must be those of its species.
void slater_kirkwood(HsdSection& own, const InputContext& context, Keys& keys) {
  const HsdNode* node = own.read("PolarRadiusCharge");
  const auto v = node && node->children.empty() ? hsd_numbers(*node, own.report()) : std::vector<double>();
  bool good = v.size() == 3 * context.species.size() && !v.empty();
  const std::string units = node ? lower_case(node->unit) : "";
  const bool angstrom = units.find("aa^3") != std::string::npos || units.find("angstrom^3") != std::string::npos;
  std::set<std::string> seen;
  std::vector<std::string> lines;
  for (std::size_t a = 0; good && a < context.species.size(); ++a) {
    const auto first = static_cast<std::size_t>(
        std::find(context.species.begin(), context.species.end(), context.species[a]) - context.species.begin());
    good =
        std::equal(v.begin() + static_cast<std::ptrdiff_t>(3 * a), v.begin() + static_cast<std::ptrdiff_t>(3 * a + 3),
                   v.begin() + static_cast<std::ptrdiff_t>(3 * first));
    if (!seen.insert(context.species[a]).second) continue;
    lines.push_back(fmt::format("{}: {{polarisability: {} {}, radius: {} {}, electrons: {}}}", context.species[a],
                                v[3 * a], angstrom ? "angstrom^3" : "bohr^3", v[3 * a + 1],
                                angstrom ? "angstrom" : "bohr", v[3 * a + 2]));
  }
  if (!good)
    return own.report().problems.push_back(
        fmt::format("{}.PolarRadiusCharge: only three numbers for each atom, equal for those of one species, are "
                    "converted",
                    own.path()));
  keys.push_back(fmt::format("dispersion: {{slater_kirkwood: {{{}}}}}", fmt::join(lines, ", ")));
}

void dispersion(HsdSection& dftb, const InputContext& context, Keys& keys) {
  auto [form, own] = dftb.method("Dispersion", "");
  if (form.empty()) return;
  if (form == "lennardjones") return lennard_jones(own, keys);
  if (form == "slaterkirkwood") return slater_kirkwood(own, context, keys);
  dftb.refuse("Dispersion", fmt::format("{} is not converted, only LennardJones and SlaterKirkwood", form));
  for (const auto& entry : own.entries()) own.read(entry.name);
}

/// Derivatives of H and S in forces.
void differentiation(HsdSection& dftb, Keys& keys) {
  auto [method, own] = dftb.method("Differentiation", "");
  if (method == "finitediff") {
    if (const auto step = own.quantity("Delta", "bohr")) keys.push_back("derivative_step: " + *step);
  } else if (!method.empty()) {
    dftb.note("Differentiation", fmt::format("{} is the exact derivative here", method));
  }
}

void self_consistency(HsdSection& dftb, Keys& keys) {
  const bool scc = dftb.logical("SCC", false);
  keys.push_back(fmt::format("self_consistent: {}", scc));
  const double tolerance = dftb.number("SCCTolerance", 1e-5);
  const long cycles = dftb.integer(dftb.has("MaxSCCIterations") ? "MaxSCCIterations" : "MaxSccIterations", 100);
  if (scc) {
    keys.push_back(fmt::format("tolerance: {}", tolerance));
    keys.push_back(fmt::format("cycles: {}", cycles));
    mixer(dftb, keys);
  } else if (const HsdNode* node = dftb.read("Mixer"); node) {
    dftb.note("Mixer", "not taken over, SCC is No");
  }
}

}  // namespace

std::vector<std::string> hamiltonian_keys(HsdSection& root, const InputContext& context) {
  auto [method, dftb] = root.method("Hamiltonian", "");
  Keys keys;
  if (method != "dftb") {
    root.report().problems.push_back(
        fmt::format("Hamiltonian: '{}', only DFTB is converted", method.empty() ? "none" : method));
    for (const auto& entry : dftb.entries()) dftb.read(entry.name);
    return keys;
  }
  slater_koster(dftb, context, keys);
  shells(dftb, keys);
  if (const double charge = dftb.number("Charge", 0.0); charge != 0.0)
    keys.push_back(fmt::format("charge: {}", charge));
  self_consistency(dftb, keys);
  spin(dftb, context, keys);
  third_order(dftb, keys);
  dispersion(dftb, context, keys);
  filling(dftb, keys);
  k_points(dftb, keys);
  differentiation(dftb, keys);
  for (const char* off : {"OrbitalResolvedSCC", "ShellResolvedSCC", "ReadInitialCharges", "OldSKInterpolation"})
    if (dftb.logical(off, false)) dftb.refuse(off, "is not converted");
  if (const std::string forces = lower_case(dftb.text("ForceEvaluation", "traditional")); forces != "traditional")
    dftb.refuse("ForceEvaluation", "only Traditional is converted");
  dftb.leave_out({"Eigensolver", "Solver"});
  return keys;
}

}  // namespace cambium::submatrix
