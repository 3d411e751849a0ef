#include "plugins/deepmd/data/system.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "plugins/deepmd/data/npy.hpp"

namespace cambium::deepmd {

namespace fs = std::filesystem;

namespace {

template <class T>
std::vector<T> read_words(const fs::path& path) {
  std::ifstream in(path);
  std::vector<T> out;
  for (T word; in >> word;) out.push_back(word);
  return out;
}

/// An array with one row per frame, or none when the file is not there.
std::optional<NpyArray> read_rows(const std::string& path, std::int64_t frames, std::int64_t row_size) {
  if (!fs::exists(path)) return {};
  NpyArray array = read_npy(path);
  const bool any_width = row_size == 0;
  if ((frames > 0 && array.rows() != frames) || (!any_width && array.row_size() != row_size))
    throw InputError(fmt::format("{}: expected {} row(s) of {} number(s), found shape {}", path, frames, row_size,
                                 fmt::join(array.shape, " x ")));
  for (std::size_t k = 0; k < array.values.size(); ++k)
    if (!std::isfinite(array.values[k])) {
      const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, array.row_size()));
      throw InputError(fmt::format("{}: frame {}, number {} of {} is {}; remove the frame, or compute it again", path,
                                   k / width, k % width, width, array.values[k]));
    }
  return array;
}

std::vector<double> row(const std::optional<NpyArray>& array, std::int64_t k) {
  if (!array) return {};
  const double* first = array->values.data() + k * array->row_size();
  return {first, first + array->row_size()};
}

/// Rows of three, turned by q (x_new = x_old q).
std::vector<std::array<double, 3>> turned(const std::vector<double>& flat, const double q[3][3]) {
  std::vector<std::array<double, 3>> out(flat.size() / 3);
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t r = 0; r < 3; ++r) out[i][k] += flat[3 * i + r] * q[r][k];
  return out;
}

std::vector<double> turned_tensor(const std::vector<double>& w, const double q[3][3]) {
  std::vector<double> out(w.size(), 0.0);
  for (std::size_t a = 0; a < 3 && !w.empty(); ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t s = 0; s < 3; ++s) out[3 * a + b] += q[r][a] * w[3 * r + s] * q[s][b];
  return out;
}

}  // namespace

DataSystem DataSystem::load(const std::string& folder) {
  DataSystem system;
  system.folder_ = folder;
  const fs::path root(folder);
  if (!fs::exists(root / "type.raw"))
    throw InputError(fmt::format("{}: not a deepmd/npy system: there is no type.raw", folder));
  system.types_ = read_words<int>(root / "type.raw");
  system.type_map_ = read_words<std::string>(root / "type_map.raw");
  std::vector<std::string> sets;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_directory() && entry.path().filename().string().rfind("set.", 0) == 0)
      sets.push_back(entry.path().string());
  if (sets.empty()) throw InputError(fmt::format("{}: not a deepmd/npy system: there is no folder set.*", folder));
  std::sort(sets.begin(), sets.end());
  for (const std::string& set : sets) {
    if (fs::exists(set + "/real_atom_types.npy"))
      throw InputError(
          fmt::format("{}: systems of mixed type (real_atom_types.npy) are not read; convert them to deepmd/npy, for "
                      "example with dpdata",
                      set));
    system.load_set(set, !fs::exists(root / "nopbc"));
  }
  return system;
}

void DataSystem::load_set(const std::string& set, bool periodic) {
  const auto atoms = static_cast<std::int64_t>(types_.size());
  const auto coord = read_rows(set + "/coord.npy", 0, 3 * atoms);
  if (!coord) throw InputError(fmt::format("{}/coord.npy: does not exist", set));
  const std::int64_t n = coord->rows();
  const auto box = periodic ? read_rows(set + "/box.npy", n, 9) : std::nullopt;
  if (periodic && !box)
    throw InputError(fmt::format("{}/box.npy: does not exist; for isolated molecules put an empty file 'nopbc' into {}",
                                 set, folder_));
  const auto energy = read_rows(set + "/energy.npy", n, 1), force = read_rows(set + "/force.npy", n, 3 * atoms);
  const auto virial = read_rows(set + "/virial.npy", n, 9), fparam = read_rows(set + "/fparam.npy", n, 0);
  const auto aparam = read_rows(set + "/aparam.npy", n, 0);
  for (std::int64_t k = 0; k < n; ++k) {
    LabelledFrame frame;
    double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (box) {
      double rows[3][3];
      const std::vector<double> h = row(box, k);
      for (std::size_t a = 0; a < 9; ++a) rows[a / 3][a % 3] = h[a];
      try {
        frame.box = Box::from_vectors(rows, q);
        frame.axes = GivenAxes(q);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}/box.npy: frame {}: {}", set, k, error.what()));
      }
    }
    frame.x = turned(row(coord, k), q);
    if (energy) frame.energy = energy->values[static_cast<std::size_t>(k)];
    frame.force = turned(row(force, k), q);
    frame.virial = turned_tensor(row(virial, k), q);
    frame.fparam = row(fparam, k);
    frame.aparam = row(aparam, k);
    frames_.push_back(std::move(frame));
  }
}

std::vector<int> model_types(const DataSystem& system, const std::vector<std::string>& type_map,
                             const std::string& model) {
  std::vector<int> out;
  for (int type : system.types()) {
    if (system.type_map().empty() && type >= 0 && type < static_cast<int>(type_map.size())) {
      out.push_back(type);  // a folder without names uses the model's numbers
      continue;
    }
    if (type < 0 || type >= static_cast<int>(system.type_map().size()))
      throw InputError(fmt::format("{}/type.raw: type {} has no name; type_map.raw lists {}", system.folder(), type,
                                   fmt::join(system.type_map(), ", ")));
    const std::string& symbol = system.type_map()[static_cast<std::size_t>(type)];
    const auto found = std::find(type_map.begin(), type_map.end(), symbol);
    if (found == type_map.end())
      throw InputError(fmt::format("species '{}' of {} is not known to the model {}; it knows: {}", symbol,
                                   system.folder(), model, fmt::join(type_map, ", ")));
    out.push_back(static_cast<int>(found - type_map.begin()));
  }
  return out;
}

}  // namespace cambium::deepmd
