#include "plugins/submatrix/tools/hsd_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>

#include "core/base/text.hpp"

namespace cambium::submatrix {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> hsd_words(const HsdNode& node) {
  std::istringstream stream(node.text);
  std::vector<std::string> out;
  for (std::string word; stream >> word;) out.push_back(word);
  return out;
}

std::vector<double> hsd_numbers(const HsdNode& node, HsdReport& report) {
  std::vector<double> out;
  for (const auto& word : hsd_words(node)) {
    std::string text = lower_case(word);
    std::replace(text.begin(), text.end(), 'd', 'e');  // Fortran's exponents
    const auto value = parse_number(text);
    if (!value) {
      report.problems.push_back(fmt::format("line {}: {}: '{}' is no number", node.line, node.name, word));
      return {};
    }
    out.push_back(*value);
  }
  return out;
}

std::string deck_unit(const std::string& unit) {
  constexpr std::array<std::array<const char*, 2>, 23> names{{{"aa", "angstrom"},
                                                              {"angstrom", "angstrom"},
                                                              {"bohr", "bohr"},
                                                              {"nm", "nm"},
                                                              {"nanometer", "nm"},
                                                              {"pm", "pm"},
                                                              {"hartree", "hartree"},
                                                              {"ha", "hartree"},
                                                              {"ev", "eV"},
                                                              {"electronvolt", "eV"},
                                                              {"rydberg", "rydberg"},
                                                              {"ry", "rydberg"},

                                                              {"kelvin", "K"},
                                                              {"k", "K"},
                                                              {"fs", "fs"},
                                                              {"femtosecond", "fs"},
                                                              {"ps", "ps"},
                                                              {"picosecond", "ps"},
                                                              {"ev/aa", "eV/angstrom"},
                                                              {"ev/angstrom", "eV/angstrom"},
                                                              {"ha/bohr", "hartree/bohr"},
                                                              {"hartree/bohr", "hartree/bohr"},
                                                              {"aa^3", "angstrom^3"}}};
  const std::string wanted = lower_case(unit);
  if (wanted == "angstrom^3") return "angstrom^3";
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& name) { return name[0] == wanted; });
  return found == names.end() ? std::string() : (*found)[1];
}

HsdSection::HsdSection(const HsdNode* node, std::string path, HsdReport& report)
    : node_(node), path_(std::move(path)), report_(&report) {}

HsdSection::~HsdSection() {
  if (!node_) return;
  for (const auto& child : node_->children)
    if (std::find(read_.begin(), read_.end(), lower_case(child.name)) == read_.end())
      report_->problems.push_back(where(child) + ": is not converted");
}

const std::vector<HsdNode>& HsdSection::entries() const {
  static const std::vector<HsdNode> none;
  return node_ ? node_->children : none;
}

std::string HsdSection::where(const HsdNode& node) const {
  return fmt::format("line {}: {}{}", node.line, path_.empty() ? "" : path_ + ".", node.name);
}

const HsdNode* HsdSection::find(const std::string& name) const {
  for (const auto& child : entries())
    if (lower_case(child.name) == lower_case(name)) return &child;
  return nullptr;
}

const HsdNode* HsdSection::read(const std::string& name) {
  const auto all = read_all(name);
  if (all.size() > 1) report_->problems.push_back(where(*all[1]) + ": the key is given twice");
  return all.empty() ? nullptr : all[0];
}

std::vector<const HsdNode*> HsdSection::read_all(const std::string& name) {
  read_.push_back(lower_case(name));
  std::vector<const HsdNode*> out;
  for (const auto& child : entries())
    if (lower_case(child.name) == read_.back()) out.push_back(&child);
  return out;
}

HsdSection HsdSection::part(const std::string& name) {
  return {read(name), path_.empty() ? name : path_ + "." + name, *report_};
}

std::pair<std::string, HsdSection> HsdSection::method(const std::string& name, const std::string& fallback) {
  const HsdNode* node = read(name);
  const std::string path = path_.empty() ? name : path_ + "." + name;
  if (!node || (node->children.empty() && node->text.empty())) return {fallback, HsdSection(nullptr, path, *report_)};
  if (node->children.empty()) return {lower_case(node->text), HsdSection(nullptr, path, *report_)};
  const HsdNode& method = node->children[0];
  if (node->children.size() > 1)
    report_->problems.push_back(where(*node) + ": expected one method, Name = Method { ... }");
  return {lower_case(method.name), HsdSection(&method, path + "." + method.name, *report_)};
}

std::string HsdSection::text(const std::string& name, const std::string& fallback) {
  const HsdNode* node = read(name);
  return node ? std::string(trim(node->text)) : fallback;
}

double HsdSection::number(const std::string& name, double fallback) {
  const HsdNode* node = read(name);
  if (!node) return fallback;
  const auto values = hsd_numbers(*node, *report_);
  if (values.size() == 1 && node->unit.empty()) return values[0];
  report_->problems.push_back(where(*node) + ": expected one number without a unit");
  return fallback;
}

long HsdSection::integer(const std::string& name, long fallback) {
  const double value = number(name, static_cast<double>(fallback));
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<long>(value);
  refuse(name, "expected a whole number");
  return fallback;
}

bool HsdSection::logical(const std::string& name, bool fallback) {
  const HsdNode* node = read(name);
  if (!node) return fallback;
  const std::string word = lower_case(std::string(trim(node->text)));
  if (word == "yes" || word == "true" || word == "1") return true;
  if (word == "no" || word == "false" || word == "0") return false;
  report_->problems.push_back(where(*node) + fmt::format(": '{}', expected Yes or No", word));
  return fallback;
}

std::optional<std::string> HsdSection::quantity(const std::string& name, const std::string& unit) {
  const HsdNode* node = read(name);
  if (!node) return std::nullopt;
  const auto values = hsd_numbers(*node, *report_);
  const std::string bracket = lower_case(node->unit);
  // DFTB+ has the calorie of the steam tables (0.0015946683859874898 hartree for kcal/mol).
  constexpr double kcal_per_mol = 0.0015946683859874898;
  if (values.size() == 1 && bracket == "kcal/mol") return number_text(kcal_per_mol * values[0]) + " hartree";
  const std::string own = bracket.empty() || bracket == "au" || bracket == "a.u." ? unit : deck_unit(node->unit);
  if (values.size() == 1 && !own.empty()) return number_text(values[0]) + " " + own;
  report_->problems.push_back(where(*node) + (own.empty() ? fmt::format(": the unit [{}] is not converted", node->unit)
                                                          : std::string(": expected one number")));
  return std::nullopt;
}

void HsdSection::refuse(const std::string& name, const std::string& problem) {
  if (const HsdNode* node = find(name)) report_->problems.push_back(where(*node) + ": " + problem);
}

void HsdSection::note(const std::string& name, const std::string& text) {
  report_->notes.push_back(fmt::format("{}{}: {}", path_.empty() ? "" : path_ + ".", name, text));
}

void HsdSection::leave_out(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (read(name)) note(name, "not taken over, it changes no result");
}

}  // namespace cambium::submatrix
