// The `.dp` format: an HDF5 file with one root attribute `json` (the tree) and one dataset per array; inside an
// "@variables" map every string is the name of such a dataset.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/deepmd/model/model_tree.hpp"

namespace cambium::deepmd::detail {

using Json = nlohmann::ordered_json;

namespace {

Array read_array(const io::File& file, const std::string& name) {
  const io::Dataset dataset = file.dataset(name);
  Array array;
  array.dtype = dataset.dtype() == DType::f32 ? "float32" : "float64";
  array.shape = dataset.shape();
  array.values = dataset.read<std::vector<double>>();
  return array;
}

/// Replaces the dataset names below "@variables" by arrays.
void load_variables(const io::File& file, Json& node, bool variables, ModelTree& tree) {
  if (node.is_object()) {
    for (auto& [key, item] : node.items()) load_variables(file, item, variables || key == "@variables", tree);
  } else if (node.is_array()) {
    for (Json& item : node) load_variables(file, item, variables, tree);
  } else if (variables && node.is_string()) {
    node = tree.add(read_array(file, node.get<std::string>()));
  }
}

void store_array(io::File& file, const std::string& name, const Array& array) {
  auto put = [&](const auto* data) {
    TensorRef tensor = io::tensor_of(data, {});
    tensor.rank = static_cast<int>(array.shape.size());
    for (std::int64_t stride = 1, k = tensor.rank - 1; k >= 0; --k) {
      tensor.shape[k] = array.shape[k];
      tensor.stride[k] = stride;
      stride *= array.shape[k];
    }
    file.write(name, tensor);
  };
  if (array.dtype == "float32") {
    const std::vector<float> values(array.values.begin(), array.values.end());
    put(values.data());
  } else {
    put(array.values.data());
  }
}

/// Writes every array in the order of the tree and replaces it by its dataset name.
void store_variables(io::File& file, Json& node, const ModelTree& tree, int& counter) {
  if (node.is_object() && node.contains("@array")) {
    const std::string name = fmt::format("/variable_{:04d}", counter++);
    store_array(file, name, tree.arrays[node.at("@array").get<std::size_t>()]);
    node = name;
  } else if (node.is_structured()) {
    for (auto& item : node) store_variables(file, item, tree, counter);
  }
}

}  // namespace

ModelTree read_dp(const std::string& path) {
  const io::File file = io::File::open(path);
  if (!file.has_attribute("json"))
    throw InputError(
        fmt::format("{}: an HDF5 file, but not a DeePMD-kit model: it has no root attribute 'json'", path));
  ModelTree tree;
  try {
    tree.root = Json::parse(file.attribute<std::string>("json"));
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: the root attribute 'json' is damaged: {}", path, error.what()));
  }
  load_variables(file, tree.root, false, tree);
  return tree;
}

void fill_dp(const ModelTree& tree, io::File& file) {
  Json root = tree.root;
  int counter = 0;
  store_variables(file, root, tree, counter);
  file.set_attribute("json", root.dump());
}

}  // namespace cambium::deepmd::detail
