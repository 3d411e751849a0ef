#include "plugins/superres/equations/well_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::superres {
namespace {

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The file of "FILE#3".
std::string file_of(const std::string& path) {
  const auto mark = path.rfind('#');
  return mark == std::string::npos || std::filesystem::exists(path) ? path : path.substr(0, mark);
}

void require_boundaries(const io::Group& conditions, const std::vector<std::string>& axes, const std::string& path) {
  for (const auto& name : conditions.list()) {
    if (!conditions.is_group(name)) continue;
    const auto one = conditions.group(name);
    if (!one.has_attribute("bc_type") || !one.has_attribute("associated_dims")) continue;
    const auto along = one.attribute<std::vector<std::string>>("associated_dims");
    if (along.size() != 1) continue;
    const auto found = in_capitals(one.attribute<std::string>("bc_type"));
    const std::string expected = along[0] == axes[0] ? "PERIODIC" : "WALL";
    if (found != expected)
      throw InputError(
          fmt::format("'{}' of '{}' is {} along {}, expected {}: a layer is periodic along {} and lies "
                      "between walls along {}; give such a file",
                      name, path, found, along[0], expected, axes[0], axes[1]));
  }
}

}  // namespace

bool require_layer(const std::string& path) {
  const auto file = io::File::open(file_of(path));
  if (!file.is_group("/t0_fields") || !file.is_group("/dimensions")) return false;
  const auto dimensions = file.group("/dimensions");
  if (!dimensions.has_attribute("spatial_dims"))
    throw InputError(fmt::format(
        "/dimensions of '{}' has no attribute spatial_dims, which The Well's layout requires; write it again with it",
        path));
  const auto axes = dimensions.attribute<std::vector<std::string>>("spatial_dims");
  const auto grid = file.has_attribute("grid_type") ? file.attribute<std::string>("grid_type") : "cartesian";
  if (axes.size() != 2 || grid != "cartesian")
    throw InputError(
        fmt::format("'{}' has {} dimensions on a {} grid, expected 2 on a cartesian one: take a set such as "
                    "rayleigh_benard",
                    path, axes.size(), grid));
  if (file.is_group("/boundary_conditions")) require_boundaries(file.group("/boundary_conditions"), axes, path);
  return true;
}

void shift_buoyancy(FieldData& data, double shift) {
  const std::size_t nz = data.nz();
  for (std::size_t k = 0; k < data.values[1].size(); ++k) {
    data.values[1][k] += shift;
    data.values[0][k] += shift * (data.axis[2][k % nz] - 0.5);
  }
}

Citation well_citation() {
  return {"ohana2024", R"(@inproceedings{ohana2024,
  author = {Ohana, Ruben and McCabe, Michael and Meyer, Lucas and Morel, Rudy and Agocs, Fruzsina J. and others},
  title = {The Well: a Large-Scale Collection of Diverse Physics Simulations for Machine Learning},
  booktitle = {Advances in Neural Information Processing Systems 37, Datasets and Benchmarks Track},
  year = {2024}, eprint = {2412.00568}, archivePrefix = {arXiv}
})"};
}

}  // namespace cambium::superres
