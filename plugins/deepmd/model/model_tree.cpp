#include "plugins/deepmd/model/model_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/model_seal.hpp"

namespace cambium::deepmd {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::int64_t Array::elements() const {
  std::int64_t n = 1;
  for (auto extent : shape) n *= extent;
  return n;
}

Json ModelTree::add(Array array) {
  arrays.push_back(std::move(array));
  return Json{{"@array", arrays.size() - 1}};
}

namespace {

/// Formats that only the back end that wrote them can read, and their descriptions.
const std::map<std::string, std::string> foreign_formats = {{".pbtxt", "a TensorFlow graph as text"},
                                                            {".pth", "a TorchScript program"},
                                                            {".pt", "a PyTorch checkpoint"},
                                                            {".pt2", "a PyTorch exported program"},
                                                            {".pte", "an ExecuTorch program"},
                                                            {".savedmodel", "a TensorFlow saved model"},
                                                            {".savedmodeltf", "a TensorFlow saved model"},
                                                            {".jax", "a JAX checkpoint"},
                                                            {".pd", "a Paddle checkpoint"}};

std::string models_beside(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto suffix = entry.path().extension();
    if (suffix == ".dp" || suffix == ".yaml" || suffix == ".yml" || suffix == ".pb")
      names.push_back(entry.path().filename().string());
  }
  if (error) return fmt::format("; the folder '{}' does not exist either", folder.string());
  std::sort(names.begin(), names.end());
  if (names.size() > 8) names.resize(8);
  return names.empty() ? std::string() : fmt::format("; model files there: {}", fmt::join(names, ", "));
}

std::string suffix_of(const fs::path& path) {
  fs::path name = path.filename().empty() ? path.parent_path() : path;  // "model.savedmodel/" is a folder
  return name.extension().string();
}

[[noreturn]] void refuse_format(const fs::path& path, const std::string& what) {
  fs::path plain = path.filename().empty() ? path.parent_path() : path;
  fs::path target = plain;
  target.replace_extension(".dp");
  throw InputError(
      fmt::format("{} is {}, which needs the library that wrote it; DeePMD-kit makes a readable model of it with\n  dp "
                  "convert-backend {} {}",
                  plain.string(), what, plain.string(), target.string()));
}

}  // namespace

ModelTree load_model_tree(const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (auto foreign = foreign_formats.find(suffix); foreign != foreign_formats.end())
    refuse_format(path, foreign->second);
  if (!fs::exists(path)) throw InputError(fmt::format("model file '{}' does not exist{}", path, models_beside(path)));
  const bool hdf5 = suffix == ".dp" || suffix == ".hlo", yaml = suffix == ".yaml" || suffix == ".yml";
  if (hdf5 || yaml) {
    io::require_sound_model(path);
    return hdf5 ? detail::read_dp(path) : detail::read_yaml(path);
  }
  if (suffix == ".pb") return detail::read_frozen_graph(path);
  throw InputError(fmt::format("{}: suffix '{}' is not one of a model file; expected .dp, .yaml or .pb", path, suffix));
}

void save_model_tree(const ModelTree& tree, const std::string& path) {
  const std::string suffix = suffix_of(path);
  const bool yaml = suffix == ".yaml" || suffix == ".yml";
  if (!yaml && suffix != ".dp")
    throw InputError(fmt::format("{}: suffix '{}' is not one of a model file; expected .dp or .yaml", path, suffix));
  if (yaml)
    io::write_file_atomically(path, io::sealed_text(detail::yaml_text(tree)));
  else
    io::write_sealed_h5(path, [&](io::File& file) { detail::fill_dp(tree, file); });
}

TreeCursor::TreeCursor(const TreeCursor& parent, const Json& node, const std::string& step)
    : tree_(parent.tree_), node_(&node), file_(parent.file_), path_(parent.path_ + step) {}

void TreeCursor::complain(const std::string& what) const {
  throw InputError(path_.empty() ? fmt::format("{}: {}", file_, what) : fmt::format("{}: {}: {}", file_, path_, what));
}

bool TreeCursor::has(const std::string& key) const {
  return node_->is_object() && node_->contains(key) && !node_->at(key).is_null();
}

TreeCursor TreeCursor::at(const std::string& key) const {
  if (!has(key)) complain(fmt::format("key '{}' is missing", key));
  return TreeCursor(*this, node_->at(key), path_.empty() ? key : "." + key);
}

TreeCursor TreeCursor::at(std::size_t index) const {
  if (!node_->is_array() || index >= node_->size()) complain(fmt::format("entry {} is missing", index));
  return TreeCursor(*this, node_->at(index), fmt::format("[{}]", index));
}

double TreeCursor::number() const {
  if (node_->is_number()) return node_->get<double>();
  complain(fmt::format("expected a number, found {}", node_->dump().substr(0, 60)));
}

int TreeCursor::integer() const {
  if (node_->is_number_integer()) {
    const bool huge = node_->is_number_unsigned() &&
                      node_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    const std::int64_t value = huge ? 0 : node_->get<std::int64_t>();
    if (!huge && value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max())
      return static_cast<int>(value);
    complain(fmt::format("{} does not fit 32 bits", node_->dump()));
  }
  complain(fmt::format("expected an integer, found {}", node_->dump().substr(0, 60)));
}

std::string TreeCursor::text() const {
  if (node_->is_string()) return node_->get<std::string>();
  complain(fmt::format("expected a text, found {}", node_->dump().substr(0, 60)));
}

bool TreeCursor::flag(const std::string& key, bool fallback) const {
  if (!has(key)) return fallback;
  const TreeCursor value = at(key);
  if (value.node_->is_boolean()) return value.node_->get<bool>();
  value.complain(fmt::format("expected true or false, found {}", value.node_->dump().substr(0, 60)));
}

double TreeCursor::number(const std::string& key, double fallback) const {
  return has(key) ? at(key).number() : fallback;
}
int TreeCursor::integer(const std::string& key, int fallback) const { return has(key) ? at(key).integer() : fallback; }
std::string TreeCursor::text(const std::string& key, const std::string& fallback) const {
  return has(key) ? at(key).text() : fallback;
}

std::vector<std::string> TreeCursor::texts() const {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < size(); ++k) out.push_back(at(k).text());
  return out;
}

std::vector<int> TreeCursor::integers() const {
  if (node_->is_number_integer()) return {integer()};
  std::vector<int> out;
  for (std::size_t k = 0; k < size(); ++k) out.push_back(at(k).integer());
  return out;
}

const Array& TreeCursor::array() const {
  if (!node_->is_object() || !node_->contains("@array"))
    complain(fmt::format("expected an array, found {}", node_->dump().substr(0, 60)));
  const Json& number = node_->at("@array");  // inserted by us, unless the file has such a key of its own
  if (!number.is_number_unsigned() || number.get<std::size_t>() >= tree_->arrays.size())
    complain(fmt::format("expected an array, found {}", node_->dump().substr(0, 60)));
  return tree_->arrays[number.get<std::size_t>()];
}

}  // namespace cambium::deepmd
