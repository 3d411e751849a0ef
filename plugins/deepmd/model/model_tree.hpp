#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cambium::io {
class File;
}

namespace cambium::deepmd {

/// An array of a model file. Values are held as double regardless of the file's type; `dtype` is the file's own name of
/// the type ("float64", "float32", ...), which is used when it is written again.
struct Array {
  std::string dtype = "float64";
  std::vector<std::int64_t> shape;
  std::vector<double> values;  ///< row-major

  std::int64_t elements() const;
};

/// Contents of a model file, independent of the file format: nested maps and lists, in which an array is the leaf
/// {"@array": k}, with its index k in `arrays`. Both formats of DeePMD-kit's backend-free models (`.dp`, `.yaml`) are
/// read into and written from it.
struct ModelTree {
  nlohmann::ordered_json root;
  std::vector<Array> arrays;

  nlohmann::ordered_json add(Array array);
};

/// Reads a `.dp` or `.hlo` (HDF5) or a `.yaml`/`.yml` file, or a `.pb` graph frozen by the TensorFlow back end.
/// InputError for a file that is missing, damaged, not a model, or in a format that only one of DeePMD-kit's back ends
/// can read (the message gives the command that converts it).
ModelTree load_model_tree(const std::string& path);
/// Writes the format named by the suffix, `.dp` or `.yaml`; the file appears complete or not at all.
void save_model_tree(const ModelTree& tree, const std::string& path);

namespace detail {
ModelTree read_yaml(const std::string& path);
ModelTree read_dp(const std::string& path);
ModelTree read_frozen_graph(const std::string& path);
std::string yaml_text(const ModelTree& tree);
void fill_dp(const ModelTree& tree, io::File& file);
}  // namespace detail

/// A node in a tree that knows its own path, so that every error names file and key.
class TreeCursor {
 public:
  TreeCursor(const ModelTree& tree, std::string file) : tree_(&tree), node_(&tree.root), file_(std::move(file)) {}

  bool has(const std::string& key) const;       ///< present and not null
  TreeCursor at(const std::string& key) const;  ///< InputError when missing or null
  TreeCursor at(std::size_t index) const;
  std::size_t size() const { return node_->size(); }
  bool is_null() const { return node_->is_null(); }
  const nlohmann::ordered_json& json() const { return *node_; }

  double number() const;
  int integer() const;
  std::string text() const;
  bool flag(const std::string& key, bool fallback) const;
  double number(const std::string& key, double fallback) const;
  int integer(const std::string& key, int fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  std::vector<std::string> texts() const;
  std::vector<int> integers() const;
  const Array& array() const;

  /// Throws InputError "FILE: PATH: what".
  [[noreturn]] void complain(const std::string& what) const;

 private:
  TreeCursor(const TreeCursor& parent, const nlohmann::ordered_json& node, const std::string& step);
  const ModelTree* tree_;
  const nlohmann::ordered_json* node_;
  std::string file_, path_;
};

}  // namespace cambium::deepmd
