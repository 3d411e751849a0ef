#include <algorithm>
#include <sstream>

#include "core/io/cf/variable.hpp"
#include "core/train/data/hdf5_dataset.hpp"

namespace cambium::train {

namespace {

/// Values of a one-dimensional numeric variable; none for other variables.
std::optional<Coordinate> coordinate_of(const io::cf::Container& file, const std::string& path, std::int64_t length) {
  const auto variable = file.variable(path);
  if (!variable || !variable->type() || variable->shape() != std::vector{length}) return {};
  Coordinate out;
  out.name = variable->name();
  out.units = variable->text("units");
  if (out.units == "1") out.units.clear();
  out.calendar = variable->text("calendar");
  out.long_name = variable->text("long_name");
  out.values = io::cf::decoded(*variable, file.path());
  return out;
}

/// Coordinates of one array of a file: of its dimensions, and the auxiliary ones that it names.
std::vector<Coordinate> coordinates_in(const io::cf::Container& file, const std::string& array,
                                       const std::string& field) {
  std::vector<Coordinate> out;
  const auto variable = file.variable(array);
  if (!variable) return out;
  const auto shape = variable->shape();
  const auto names = variable->dimensions();
  const std::string group = array.find('/') == std::string::npos ? "" : array.substr(0, array.rfind('/') + 1);
  const auto add = [&](const std::string& name, int axis, bool beside) {
    auto found = coordinate_of(file, name, shape[static_cast<std::size_t>(axis)]);
    if (!found && name.find('/') == std::string::npos && !group.empty())
      found = coordinate_of(file, group + name, shape[static_cast<std::size_t>(axis)]);
    if (!found) return;
    found->field = field;
    found->axis = axis;
    found->beside = beside;
    out.push_back(std::move(*found));
  };
  for (std::size_t axis = 0; axis < names.size() && axis < shape.size(); ++axis)
    if (!names[axis].empty()) add(names[axis], static_cast<int>(axis), false);
  std::istringstream words(variable->text("coordinates"));
  for (std::string word; words >> word;) add(word, 0, true);
  return out;
}

}  // namespace

std::vector<Coordinate> Hdf5Dataset::coordinates() {
  std::vector<Coordinate> out;
  for (std::size_t s = 0; s < shards_.shards.size(); ++s) {
    const auto file = io::cf::open_hdf5_container(shards_.shards[s].path);
    std::vector<Coordinate> here;
    for (std::size_t k = 0; k < shards_.fields.size(); ++k)
      for (auto& c : coordinates_in(*file, shards_.paths[k], shards_.fields[k].name)) here.push_back(std::move(c));
    if (s == 0) {
      out = std::move(here);
      continue;
    }
    for (auto& c : out) {
      if (c.axis != 0) continue;
      const auto same = std::find_if(here.begin(), here.end(), [&](const Coordinate& other) {
        return other.name == c.name && other.field == c.field && other.axis == 0 && other.units == c.units &&
               other.calendar == c.calendar;
      });
      if (same != here.end()) c.values.insert(c.values.end(), same->values.begin(), same->values.end());
    }
  }
  std::erase_if(out, [&](const Coordinate& c) { return c.axis == 0 && std::ssize(c.values) != shards_.rows(); });
  for (auto& c : out)
    if (c.axis == 0) c.values = {c.values.begin() + first_, c.values.begin() + last_};
  std::vector<Coordinate> unique;  // several fields share the sample axis
  for (auto& c : out) {
    const auto known = [&](const Coordinate& other) { return c.axis == 0 && other.axis == 0 && other.name == c.name; };
    const auto first = [&](const Coordinate& other) { return other.axis == 0 && !other.beside; };
    if (std::any_of(unique.begin(), unique.end(), known)) continue;
    if (c.axis == 0 && !c.beside) c.beside = std::any_of(unique.begin(), unique.end(), first);
    unique.push_back(std::move(c));
  }
  return unique;
}

}  // namespace cambium::train
