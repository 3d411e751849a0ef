#include "plugins/relate/datasets/pair_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.hpp"

namespace cambium::relate {

namespace {

/// Letters and digits of a name, without the type after a colon.
std::string bare(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, name.find(':')))
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

class Finder {
 public:
  Finder(const std::vector<std::string>& names, const std::string& where) : names_(names), where_(where) {
    for (const auto& name : names) bare_.push_back(bare(name));
    taken_.resize(names.size(), false);
  }

  /// Takes the first column with one of these names, in the order of the names.
  std::optional<std::size_t> take(std::initializer_list<const char*> words) {
    for (const char* word : words)
      for (std::size_t k = 0; k < bare_.size(); ++k)
        if (!taken_[k] && bare_[k] == word) return taken_[k] = true, k;
    return {};
  }
  /// Drops columns of row numbers.
  void drop_index() {
    for (std::size_t k = 0; k < bare_.size(); ++k)
      if (!taken_[k] && (bare_[k].empty() || bare_[k] == "index" || bare_[k] == "unnamed0" || bare_[k] == "unnamed"))
        taken_[k] = true;
  }
  std::vector<std::size_t> left() const {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < taken_.size(); ++k)
      if (!taken_[k]) out.push_back(k);
    return out;
  }
  void take(std::size_t k) { taken_[k] = true; }
  /// InputError if another column has the same name as a used one.
  void require_single(std::size_t used, const std::string& kind) const {
    if (std::count(names_.begin(), names_.end(), names_[used]) > 1)
      refuse(
          fmt::format("two columns are called '{}', one of which is the {}; rename or remove one", names_[used], kind));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(
        fmt::format("{}: {}; the line of names is '{}', and it must name compound, smiles, target, "
                    "sequence and a value, or Drug_ID, Drug, Target_ID, Target and Y",
                    where_, what, fmt::join(names_, ",")));
  }

 private:
  const std::vector<std::string>& names_;
  const std::string& where_;
  std::vector<std::string> bare_;
  std::vector<bool> taken_;
};

}  // namespace

PairColumns pair_columns(const std::vector<std::string>& names, const std::string& value, const std::string& where) {
  Finder find(names, where);
  PairColumns out;
  std::optional<std::size_t> chosen;
  if (!value.empty()) {
    const auto at = std::find(names.begin(), names.end(), value);
    if (at == names.end()) find.refuse(fmt::format("there is no column '{}'", value));
    chosen = static_cast<std::size_t>(at - names.begin());
    find.take(*chosen);
  }
  out.compound = find.take({"compound", "drugid", "compoundid", "ligandid", "moleculeid", "compoundname", "drugname"});
  const auto smiles = find.take({"smiles", "compoundsmiles", "drugsmiles", "ligandsmiles", "canonicalsmiles",
                                 "compoundisosmiles", "isosmiles", "drug", "ligand", "molecule"});
  out.target = find.take({"targetid", "proteinid", "targetname", "proteinname", "uniprotid", "uniprot"});
  auto sequence = find.take({"sequence", "targetsequence", "proteinsequence", "aminoacidsequence", "fasta"});
  if (sequence && !out.target) out.target = find.take({"target", "protein"});
  if (!sequence) sequence = find.take({"target", "protein"});
  out.fold = find.take({"fold"});
  if (!smiles) find.refuse("no column holds SMILES");
  if (!sequence) find.refuse("no column holds sequences");
  out.smiles = *smiles;
  out.sequence = *sequence;
  find.require_single(out.smiles, "SMILES");
  find.require_single(out.sequence, "sequence");
  find.drop_index();
  if (!chosen) {
    const auto left = find.left();
    chosen = left.size() == 1 ? left.front() : find.take({"y", "affinity", "value", "label"});
    if (!chosen && left.empty()) find.refuse("no column is left for the values");
    if (!chosen) {
      std::vector<std::string> candidates;
      for (const auto k : left) candidates.push_back(names[k]);
      find.refuse(fmt::format("'{}' may be values; select one by the key 'value'", fmt::join(candidates, "', '")));
    }
    find.take(*chosen);
  }
  out.value = *chosen;
  find.require_single(out.value, "value");
  for (const auto k : find.left()) out.unused.push_back(names[k]);
  return out;
}

}  // namespace cambium::relate
