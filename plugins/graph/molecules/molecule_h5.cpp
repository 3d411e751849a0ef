#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

namespace {

class GroupReader {
 public:
  GroupReader(const io::File& file, const std::string& name)
      : file_(file), name_(name), group_(name.empty() ? io::Group(file) : opened(file, name)) {}

  bool has(const std::string& array) const { return group_.exists(array); }
  std::string place() const {
    return name_.empty() ? fmt::format("'{}'", file_.file()) : fmt::format("'{}', group '{}'", file_.file(), name_);
  }

  io::Dataset dataset(const std::string& array) const {
    if (!has(array))
      throw InputError(fmt::format("{}: there is no array '{}'; molecules need offset, species, position and energy{}",
                                   place(), array, name_.empty() ? other_groups() : ""));
    return group_.dataset(array);
  }

  /// An array of `rows` rows of `width` values (1: one-dimensional).
  template <class T>
  std::vector<T> read(const std::string& array, std::int64_t rows, std::int64_t width) const {
    const auto data = dataset(array);
    const auto shape = data.shape();
    const std::vector<std::int64_t> wanted =
        width == 1 ? std::vector<std::int64_t>{rows} : std::vector<std::int64_t>{rows, width};
    if (shape != wanted)
      throw InputError(fmt::format("{}: '{}' has the shape ({}), expected ({})", place(), array, fmt::join(shape, ", "),
                                   fmt::join(wanted, ", ")));
    return data.read<std::vector<T>>();
  }

  /// Row offsets of the molecules, including the end: ascending from 0.
  std::vector<std::int64_t> offsets(const std::string& array, std::int64_t least) const {
    const auto out = dataset(array).read<std::vector<std::int64_t>>();
    if (out.size() < 2 || out[0] != 0)
      throw InputError(
          fmt::format("{}: '{}' must begin with 0 and have one entry more than there are molecules", place(), array));
    for (std::size_t m = 1; m < out.size(); ++m)
      if (out[m] < out[m - 1] + least)
        throw InputError(fmt::format("{}: {}[{}] is {} after {}; it must rise by {} at least", place(), array, m,
                                     out[m], out[m - 1], least));
    return out;
  }

 private:
  static io::Group opened(const io::File& file, const std::string& name) {
    if (!file.exists(name) || !file.is_group(name))
      throw InputError(
          fmt::format("'{}' has no group '{}'; it has: {}", file.file(), name, fmt::join(file.list(), ", ")));
    return file.group(name);
  }
  std::string other_groups() const {
    std::vector<std::string> groups;
    for (const auto& name : file_.list())
      if (file_.is_group(name)) groups.push_back(name);
    return groups.empty() ? "" : fmt::format("; or name a group: {}", fmt::join(groups, ", "));
  }

  const io::File& file_;
  std::string name_;
  io::Group group_;
};

template <class T>
std::vector<T> rows_of(const std::vector<T>& all, std::int64_t first, std::int64_t last, std::int64_t width) {
  return all.empty() ? std::vector<T>() : std::vector<T>(all.begin() + first * width, all.begin() + last * width);
}

std::string unit_of_array(const io::Dataset& array) {
  for (const char* name : {"unit", "units"})
    if (array.has_attribute(name))
      if (const auto texts = array.attribute<std::vector<std::string>>(name); !texts.empty()) return texts.front();
  return "";
}

/// Lengths in bohr would be misread as almost twice as long ones.
void require_angstrom(const GroupReader& in, const std::string& array, const std::string& energy) {
  auto text = unit_of_array(in.dataset(array));
  if (text.empty()) return;
  for (const char* spelling : {"angstroms", "Angstroms", "Angstrom", "Ang"})  // parse_unit knows "angstrom" and "Å"
    if (const auto at = text.find(spelling); at != std::string::npos)
      text.replace(at, std::string(spelling).size(), "angstrom");
  if (text == "A" || text.ends_with("/A")) text.replace(text.size() - 1, 1, "angstrom");
  const auto expected = energy.empty() ? std::string("angstrom") : energy + "/angstrom";
  const auto found = parse_unit(text), wanted = parse_unit(expected);
  if (!wanted || (found && found->dimension == wanted->dimension &&
                  std::abs(found->factor - wanted->factor) < 1e-6 * wanted->factor))
    return;
  throw InputError(fmt::format("{}: '{}' has the unit '{}', expected {}; convert the array and correct the attribute",
                               in.place(), array, unit_of_array(in.dataset(array)), expected));
}

MoleculeTable read_group(const GroupReader& in) {
  MoleculeTable out;
  const auto offset = in.offsets("offset", 1);
  const auto molecules = std::ssize(offset) - 1, atoms = offset.back();
  const auto species = in.read<std::int32_t>("species", atoms, 1);
  const auto position = in.read<double>("position", atoms, 3);
  const auto energy = in.read<double>("energy", molecules, 1);
  out.energy_unit = unit_of_array(in.dataset("energy"));
  require_angstrom(in, "position", "");
  if (in.has("force") && !out.energy_unit.empty()) require_angstrom(in, "force", out.energy_unit);
  std::vector<double> force;
  if ((out.forces = in.has("force"))) force = in.read<double>("force", atoms, 3);
  std::vector<std::int32_t> bond;
  std::vector<std::int64_t> bond_offset(offset.size(), 0);
  if ((out.bonds = in.has("bond"))) {
    bond_offset = in.offsets("bond_offset", 0);
    if (bond_offset.size() != offset.size())
      throw InputError(
          fmt::format("{}: 'bond_offset' has {} entries, 'offset' {}; both have one more than there are "
                      "molecules",
                      in.place(), bond_offset.size(), offset.size()));
    bond = in.read<std::int32_t>("bond", bond_offset.back(), 3);
  }
  if (in.has("fold")) out.fold = in.read<std::int32_t>("fold", molecules, 1);
  for (std::int64_t m = 0; m < molecules; ++m) {
    const auto first = offset[m], last = offset[m + 1];
    out.molecules.push_back({rows_of(species, first, last, 1), rows_of(position, first, last, 3), energy[m],
                             rows_of(force, first, last, 3), rows_of(bond, bond_offset[m], bond_offset[m + 1], 3)});
    require_sound(out.molecules.back(), fmt::format("{}, molecule {}", in.place(), m));
  }
  return out;
}

}  // namespace

MoleculeTable read_molecule_h5(const std::string& path, const std::string& group) {
  MoleculeTable out;
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    out = read_group(GroupReader(file, group));
  });
  return out;
}

}  // namespace cambium::graph
