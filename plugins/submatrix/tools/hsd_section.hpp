#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/submatrix/tools/hsd.hpp"

namespace cambium::submatrix {

/// Problems of an input, and what was converted otherwise.
struct HsdReport {
  std::vector<std::string> problems;  ///< "line 3: Hamiltonian.DFTB.Solvation: ..."
  std::vector<std::string> notes;
};

/// Keys of one block, which records those that are read. Names have any case, as in DFTB+. Problems are collected, and
/// a default is returned instead.
class HsdSection {
 public:
  /// A block of a key, or of its method. Without a node it has no keys.
  HsdSection(const HsdNode* node, std::string path, HsdReport& report);
  HsdSection(HsdSection&& other) noexcept
      : node_(other.node_), path_(std::move(other.path_)), report_(other.report_), read_(std::move(other.read_)) {
    other.node_ = nullptr;
  }
  /// Keys that were not read become problems.
  ~HsdSection();

  bool has(const std::string& name) const { return find(name) != nullptr; }
  const HsdNode* read(const std::string& name);
  std::vector<const HsdNode*> read_all(const std::string& name);
  const std::vector<HsdNode>& entries() const;  ///< all of them, which count as read
  HsdSection part(const std::string& name);     ///< Name { ... }
  /// Name = Method { ... }: the method in lower case, or `fallback`, and its keys.
  std::pair<std::string, HsdSection> method(const std::string& name, const std::string& fallback);

  std::string text(const std::string& name, const std::string& fallback);
  double number(const std::string& name, double fallback);
  long integer(const std::string& name, long fallback);
  bool logical(const std::string& name, bool fallback);
  /// A number with its unit as a deck has it, such as "2.9 angstrom"; without brackets in `unit`.
  std::optional<std::string> quantity(const std::string& name, const std::string& unit);
  /// The problem of a key that is read, but not converted.
  void refuse(const std::string& name, const std::string& problem);
  void note(const std::string& name, const std::string& text);
  /// Reads keys that change no result; those that are there are noted.
  void leave_out(std::initializer_list<const char*> names);
  const std::string& path() const { return path_; }
  HsdReport& report() const { return *report_; }

 private:
  const HsdNode* find(const std::string& name) const;
  std::string where(const HsdNode& node) const;

  const HsdNode* node_;
  std::string path_;
  HsdReport* report_;
  std::vector<std::string> read_;
};

/// Words of the text of a node, and numbers; an empty list and a problem where one is no number.
std::vector<std::string> hsd_words(const HsdNode& node);
std::vector<double> hsd_numbers(const HsdNode& node, HsdReport& report);
std::string lower_case(std::string text);
/// Name of a unit of DFTB+ in a deck; empty for one that is not known.
std::string deck_unit(const std::string& unit);

}  // namespace cambium::submatrix
