#include "plugins/graph/molecules/sample.hpp"

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::graph {

using train::FieldInfo;

std::vector<FieldInfo> molecule_fields(const MoleculeTable& table) {
  std::vector<FieldInfo> out{{"species", "", {-1}, DType::i32},
                             {"position", "Å", {-1, 3}, DType::f64},
                             {"energy", table.energy_unit, {}, DType::f64}};
  if (table.forces) out.push_back({"force", table.energy_unit + "/Å", {-1, 3}, DType::f64});
  if (table.bonds) out.push_back({"bond", "", {-1, 3}, DType::i32});
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
    throw InputError("this network reads molecules: give a data set of the type 'molecules'");
  return {static_cast<const T*>(found->second.data), static_cast<std::size_t>(found->second.elements())};
}

}  // namespace

MoleculeView molecule_of(const train::Sample& sample) {
  MoleculeView out;
  const auto species = numbers<std::int32_t>(sample, "species", true);
  out.species.assign(species.begin(), species.end());
  out.position = numbers<double>(sample, "position", true);
  out.energy = numbers<double>(sample, "energy", true)[0];
  out.force = numbers<double>(sample, "force", false);
  out.bond = numbers<std::int32_t>(sample, "bond", false);
  return out;
}

}  // namespace cambium::graph
