#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/relate/datasets/pair_table.hpp"

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
    const double s = out.similarity[k];
    if (!std::isfinite(s) || (k / count == k % count && s <= 0.0))
      throw InputError(
          fmt::format("'{}': /{}_similarity holds {:g} in row {}, column {}; values are finite, and above 0 on the "
                      "diagonal; fix it, or remove the array: similarities of texts are used then",
                      file.file(), name, s, k / count, k % count));
  }
  return out;
}

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

}  // namespace cambium::relate
