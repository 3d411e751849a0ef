#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/relate/records/pair_table.hpp"

namespace cambium::relate {

namespace {

std::string without_padding(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

Side side_of(const io::File& file, const std::string& name, const std::string& text, std::int64_t count) {
  Side out;
  for (auto& each : file.read<std::vector<std::string>>(name + "_" + text))
    out.text.push_back(without_padding(std::move(each)));
  if (std::ssize(out.text) != count)
    throw InputError(
        fmt::format("'{}': /{}_{} holds {} texts, but /affinity has {} of them; its parts belong to "
                    "different data",
                    file.file(), name, text, out.text.size(), count));
  if (file.exists(name + "_id"))
    for (auto& each : file.read<std::vector<std::string>>(name + "_id"))
      out.id.push_back(without_padding(std::move(each)));
  if (!out.id.empty() && std::ssize(out.id) != count)
    throw InputError(fmt::format("'{}': /{}_id holds {} names for {} of them; give each one, or remove the array",
                                 file.file(), name, out.id.size(), count));
  for (std::int64_t k = std::ssize(out.id); k < count; ++k) out.id.push_back(fmt::format("{} {}", name, k));
  if (!file.exists(name + "_similarity")) return out;
  const auto similarity = file.dataset(name + "_similarity");
  if (similarity.shape() != std::vector<std::int64_t>{count, count})
    throw InputError(fmt::format("'{}': /{}_similarity must be {} x {}", file.file(), name, count, count));
  out.similarity = similarity.read<std::vector<double>>();
  for (std::int64_t k = 0; k < std::ssize(out.similarity); ++k) {
    const double s = out.similarity[static_cast<std::size_t>(k)];
    if (!std::isfinite(s) || (k / count == k % count && s <= 0.0))
      throw InputError(
          fmt::format("'{}': /{}_similarity holds {:g} in row {}, column {}; numbers are finite, and above 0 of each "
                      "thing with itself; mend it, or remove the array: similarities of texts are taken then",
                      file.file(), name, s, k / count, k % count));
  }
  return out;
}

/// Words between commas; quotes may enclose one, within which two stand for one.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t k = 0; k < line.size(); ++k) {
    const char c = line[k];
    if (c == '"' && quoted && k + 1 < line.size() && line[k + 1] == '"')
      out.back() += c, ++k;
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else if (c != '\r')
      out.back() += c;
  }
  for (auto& word : out) word = std::string(trim(word));
  return out;
}

/// Things by their names, in the order in which they are met.
class Things {
 public:
  explicit Things(Side& side) : side_(side) {}
  std::int32_t number(const std::string& id, const std::string& text, const std::string& where, const char* kind) {
    const auto [found, fresh] = known_.try_emplace(id, static_cast<std::int32_t>(side_.id.size()));
    if (fresh) {
      side_.id.push_back(id), side_.text.push_back(text);
    } else if (side_.text[static_cast<std::size_t>(found->second)] != text) {
      throw InputError(fmt::format("{}: '{}' had another {} before; give things of different {} different names", where,
                                   id, kind, kind));
    }
    return found->second;
  }

 private:
  Side& side_;
  std::map<std::string, std::int32_t> known_;
};

}  // namespace

PairTable read_pair_h5(const std::string& path) {
  const auto file = io::File::open(path);
  if (!file.exists("affinity"))
    throw InputError(fmt::format("'{}' has no array affinity (compounds, targets); is it a file of pairs?", path));
  const auto shape = file.dataset("affinity").shape();
  if (shape.size() != 2) throw InputError(fmt::format("'{}': /affinity must be compounds x targets", path));
  PairTable out;
  out.source = "'" + path + "'";
  out.answer = "affinity";
  const auto array = file.dataset("affinity");
  for (const char* name : {"unit", "units"})
    if (out.unit.empty() && array.has_attribute(name)) out.unit = array.attribute<std::string>(name);
  out.compounds = side_of(file, "drug", "smiles", shape[0]);
  out.targets = side_of(file, "target", "sequence", shape[1]);
  const auto values = array.read<std::vector<double>>();
  std::vector<int> folds;
  if (file.exists("fold")) {
    if (file.dataset("fold").shape() != shape)
      throw InputError(fmt::format("'{}': /fold must have the shape of /affinity", path));
    folds = file.read<std::vector<int>>("fold");
  }
  for (std::int64_t k = 0; k < std::ssize(values); ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (std::isnan(values[at]) || (!folds.empty() && folds[at] < 0)) continue;
    if (std::isinf(values[at]))
      throw InputError(fmt::format("'{}': /affinity is infinite in row {}, column {}; a value that is not known is NaN",
                                   path, k / shape[1], k % shape[1]));
    out.entries.push_back({static_cast<std::int32_t>(k / shape[1]), static_cast<std::int32_t>(k % shape[1]), values[at],
                           folds.empty() ? -1 : folds[at], k});
  }
  return out;
}

PairTable read_pair_csv(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError(fmt::format("'{}' cannot be read", path));
  PairTable out;
  out.source = "'" + path + "'";
  Things compounds(out.compounds), targets(out.targets);
  std::string line;
  std::vector<std::string> names;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // a mark of spreadsheets
    const std::string where = fmt::format("{}:{}", path, number);
    if (trim(line).empty()) continue;
    const auto words = words_of(line);
    if (names.empty()) {
      names = words;
      const std::vector<std::string> first(names.begin(),
                                           names.begin() + std::min<std::ptrdiff_t>(4, std::ssize(names)));
      if (names.size() < 5 || first != std::vector<std::string>{"compound", "smiles", "target", "sequence"} ||
          (names.size() > 5 && names[5] != "fold") || names.size() > 6)
        throw InputError(fmt::format(
            "{}: the first line must name the columns: compound,smiles,target,sequence,VALUE or ...,VALUE,fold",
            where));
      out.answer = names[4];
      continue;
    }
    if (words.size() != names.size())
      throw InputError(fmt::format("{}: {} columns were expected, but the line has {}; is the file cut short?", where,
                                   names.size(), words.size()));
    const auto value = parse_number(words[4]);
    if (!value) throw InputError(fmt::format("{}: '{}' is no number", where, words[4]));
    const auto fold = words.size() > 5 ? parse_number(words[5]) : std::optional<double>(-1.0);
    if (!fold || !(std::abs(*fold) < 1e9) || *fold != std::floor(*fold))
      throw InputError(fmt::format("{}: the fold '{}' is no whole number", where, words[5]));
    if (words[0].empty() || words[2].empty())
      throw InputError(
          fmt::format("{}: the {} has no name; give it one", where, words[0].empty() ? "compound" : "target"));
    const PairTable::Entry entry{compounds.number(words[0], words[1], where, "SMILES"),
                                 targets.number(words[2], words[3], where, "sequence"), *value, static_cast<int>(*fold),
                                 number};
    if (words.size() < 6 || entry.fold >= 0) out.entries.push_back(entry);
  }
  if (out.entries.empty()) throw InputError(fmt::format("'{}' holds no pairs", path));
  return out;
}

}  // namespace cambium::relate
