#include "plugins/graph/molecules/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/particles/elements.hpp"

namespace cambium::graph {

using train::FieldInfo;

std::vector<FieldInfo> molecule_fields(const MoleculeTable& table) {
  std::vector<FieldInfo> out{{"species", "", {-1}, DType::i32},
                             {"position", "Å", {-1, 3}, DType::f64},
                             {"energy", table.energy_unit, {}, DType::f64}};
  if (table.forces) out.push_back({"force", table.energy_unit + "/Å", {-1, 3}, DType::f64});
  if (table.bonds) out.push_back({"bond", "", {-1, 3}, DType::i32});
  if (table.cells) out.push_back({"cell", "Å", {3, 3}, DType::f64});
  return out;
}

train::SamplePtr molecule_sample(Molecule molecule, const MoleculeTable& table, std::int64_t id) {
  const auto held = std::make_shared<const Molecule>(std::move(molecule));
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  const auto rows = [](const auto& values) { return io::tensor_of(values.data(), {std::ssize(values) / 3, 3}); };
  sample->fields.emplace("species", io::tensor_of(held->species));
  sample->fields.emplace("position", rows(held->position));
  sample->fields.emplace("energy", io::tensor_of(&held->energy, {}));
  if (table.forces) sample->fields.emplace("force", rows(held->force));
  if (table.bonds) sample->fields.emplace("bond", rows(held->bond));
  if (table.cells) sample->fields.emplace("cell", io::tensor_of(held->cell.data(), {3, 3}));
  for (const auto& [name, tensor] : sample->fields) sample->bytes += tensor.elements() * size_of(tensor.dtype);
  sample->storage = held;
  return sample;
}

namespace {

template <class T>
std::span<const T> numbers(const train::Sample& sample, const char* name, bool needed) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end() && !needed) return {};
  if (found == sample.fields.end() || found->second.dtype != dtype_of<T>() || !found->second.contiguous())
    throw InputError(
        "this network reads molecules: give a data set of the type molecules, deepmd_npy or extxyz, with energies");
  return {static_cast<const T*>(found->second.data), static_cast<std::size_t>(found->second.elements())};
}

void set_cell(std::span<const double> given, MoleculeView& out) {
  if (given.size() == 9) std::copy(given.begin(), given.end(), out.cell.begin());
}

void read_frame(const train::Sample& sample, MoleculeView& out) {
  const auto text = numbers<std::uint8_t>(sample, "species", true);
  std::istringstream words(std::string(text.begin(), text.end()));
  std::vector<std::int32_t> number;
  for (std::string word; words >> word;) {
    number.push_back(atomic_number(word));
    if (number.back() == 0) throw InputError(fmt::format("'{}' in sample {} is no element", word, sample.id));
  }
  for (const auto type : numbers<std::int32_t>(sample, "type", true))
    out.species.push_back(number.at(static_cast<std::size_t>(type)));
  out.position = numbers<double>(sample, "coord", true);
  set_cell(numbers<double>(sample, "box", false), out);
}

}  // namespace

MoleculeView molecule_of(const train::Sample& sample) {
  MoleculeView out;
  if (sample.fields.contains("coord")) {
    read_frame(sample, out);
  } else {
    const auto species = numbers<std::int32_t>(sample, "species", true);
    out.species.assign(species.begin(), species.end());
    out.position = numbers<double>(sample, "position", true);
    out.bond = numbers<std::int32_t>(sample, "bond", false);
    set_cell(numbers<double>(sample, "cell", false), out);
  }
  out.energy = numbers<double>(sample, "energy", true)[0];
  out.force = numbers<double>(sample, "force", false);
  return out;
}

}  // namespace cambium::graph
