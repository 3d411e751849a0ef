#include "plugins/deepmd/datasets/sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "core/base/key_error.hpp"

namespace cambium::deepmd {

namespace {

/// Storage that the fields of a sample point into.
struct Storage {
  std::string species;
  std::vector<std::int32_t> type;
  std::vector<double> coord, box, axes, energy, force, virial, fparam, aparam;
};

template <class V>
void add_field(train::Sample& sample, const std::string& name, V& values, std::vector<std::int64_t> shape,
               DType dtype) {
  if (values.empty()) return;
  TensorRef ref;
  ref.data = const_cast<void*>(static_cast<const void*>(values.data()));
  ref.rank = static_cast<int>(shape.size());
  ref.dtype = dtype;
  ref.is_const = true;
  std::int64_t step = 1;
  for (int k = ref.rank - 1; k >= 0; --k) {
    ref.shape[k] = shape[k];
    ref.stride[k] = step;
    step *= ref.shape[k];
  }
  sample.fields[name] = ref;
  sample.bytes += step * size_of(dtype);
}

std::vector<double> flat(const std::vector<std::array<double, 3>>& rows) {
  std::vector<double> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

std::span<const double> numbers(const train::Sample& sample, std::string_view name) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end()) return {};
  if (found->second.dtype != DType::f64 || !found->second.contiguous())
    throw InputError(
        fmt::format("field '{}' of sample {}: expected float64 values in row-major order", name, sample.id));
  return {static_cast<const double*>(found->second.data), static_cast<std::size_t>(found->second.elements())};
}

const TensorRef& needed(const train::Sample& sample, std::string_view name) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end())
    throw InputError(
        fmt::format("sample {} has no field '{}'; a deep_potential is trained on atomic configurations with the fields "
                    "species, type and coord, such as the data sets deepmd_npy and extxyz give",
                    sample.id, name));
  return found->second;
}

}  // namespace

train::SamplePtr make_sample(std::int64_t id, const std::vector<std::string>& species, std::span<const int> types,
                             const LabelledFrame& frame) {
  auto data = std::make_shared<Storage>();
  auto sample = std::make_shared<train::Sample>();
  sample->id = id;
  data->species = fmt::format("{}", fmt::join(species, " "));
  data->type.assign(types.begin(), types.end());
  data->coord = flat(frame.x);
  data->force = flat(frame.force);
  data->virial = frame.virial;
  data->fparam = frame.fparam;
  data->aparam = frame.aparam;
  if (frame.energy) data->energy = {*frame.energy};
  if (frame.box)
    for (const auto& row : frame.box->h) data->box.insert(data->box.end(), row, row + 3);
  if (frame.axes.turned())
    for (const auto& row : frame.axes.q) data->axes.insert(data->axes.end(), row, row + 3);
  const auto atoms = static_cast<std::int64_t>(types.size());
  add_field(*sample, "species", data->species, {static_cast<std::int64_t>(data->species.size())}, DType::u8);
  add_field(*sample, "type", data->type, {atoms}, DType::i32);
  add_field(*sample, "coord", data->coord, {atoms, 3}, DType::f64);
  add_field(*sample, "box", data->box, {3, 3}, DType::f64);
  add_field(*sample, "axes", data->axes, {3, 3}, DType::f64);
  add_field(*sample, "energy", data->energy, {1}, DType::f64);
  add_field(*sample, "force", data->force, {atoms, 3}, DType::f64);
  add_field(*sample, "virial", data->virial, {3, 3}, DType::f64);
  add_field(*sample, "fparam", data->fparam, {std::ssize(data->fparam)}, DType::f64);
  if (atoms > 0) add_field(*sample, "aparam", data->aparam, {atoms, std::ssize(data->aparam) / atoms}, DType::f64);
  sample->storage = std::move(data);
  return sample;
}

std::vector<train::FieldInfo> sample_fields() {
  return {{"species", "", {-1}, DType::u8},           {"type", "", {-1}, DType::i32},
          {"coord", "angstrom", {-1, 3}, DType::f64}, {"box", "angstrom", {3, 3}, DType::f64},
          {"energy", "eV", {1}, DType::f64},          {"force", "eV/angstrom", {-1, 3}, DType::f64},
          {"virial", "eV", {3, 3}, DType::f64},       {"fparam", "", {-1}, DType::f64},
          {"aparam", "", {-1, -1}, DType::f64}};
}

std::vector<std::string> species_of(const train::Sample& sample) {
  const TensorRef& text = needed(sample, "species");
  std::istringstream in(std::string(static_cast<const char*>(text.data), static_cast<std::size_t>(text.elements())));
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

SampleAtoms atoms_of(const train::Sample& sample, const std::vector<std::string>& type_map) {
  SampleAtoms out;
  std::vector<int> number;
  for (const std::string& symbol : species_of(sample)) {
    const auto found = std::find(type_map.begin(), type_map.end(), symbol);
    number.push_back(found == type_map.end() ? -1 : static_cast<int>(found - type_map.begin()));
  }
  const TensorRef& types = needed(sample, "type");
  const auto n = static_cast<std::size_t>(types.elements());
  for (std::size_t i = 0; i < n; ++i) {
    const auto t = static_cast<std::size_t>(static_cast<const std::int32_t*>(types.data)[i]);
    if (t >= number.size() || number[t] < 0)
      throw KeyError("deep_potential.type_map", "type_map",
                     fmt::format("species '{}' of sample {} is not in the network's type_map: {}",
                                 t < number.size() ? species_of(sample)[t] : fmt::format("number {}", t), sample.id,
                                 fmt::join(type_map, ", ")));
    out.types.push_back(number[t]);
  }
  needed(sample, "coord");
  const auto coord = numbers(sample, "coord"), box = numbers(sample, "box");
  out.positions.resize(n);
  for (std::size_t k = 0; k < 3 * n; ++k) out.positions[k / 3][k % 3] = coord[k];
  if (!box.empty()) {
    out.box.emplace();
    for (std::size_t k = 0; k < 9; ++k) out.box->h[k / 3][k % 3] = box[k];
  }
  const auto fparam = numbers(sample, "fparam"), aparam = numbers(sample, "aparam");
  out.fparam.assign(fparam.begin(), fparam.end());
  out.aparam.assign(aparam.begin(), aparam.end());
  return out;
}

TrainingFrame frame_of(const train::Sample& sample, const std::vector<std::string>& type_map, double rcut) {
  SampleAtoms x = atoms_of(sample, type_map);
  TrainingFrame frame = find_pairs(x.positions, x.types, x.box, static_cast<int>(type_map.size()), rcut);
  const auto energy = numbers(sample, "energy");
  if (const auto axes = numbers(sample, "axes"); !axes.empty())
    for (std::size_t k = 0; k < 9; ++k) frame.axes.q[k / 3][k % 3] = axes[k];
  frame.has_energy = !energy.empty();
  if (frame.has_energy) frame.energy = energy[0];
  const auto force = numbers(sample, "force"), virial = numbers(sample, "virial");
  frame.force.assign(force.begin(), force.end());
  frame.virial.assign(virial.begin(), virial.end());
  frame.fparam = std::move(x.fparam);
  frame.aparam = std::move(x.aparam);
  return frame;
}

std::uint64_t fingerprint(const train::Sample& sample) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const auto& [name, ref] : sample.fields) {
    const auto* bytes = static_cast<const unsigned char*>(ref.data);
    const auto n = static_cast<std::size_t>(ref.elements() * size_of(ref.dtype));
    hash = (hash ^ n) * 0x9e3779b97f4a7c15ull;
    for (std::size_t k = 0; k < n; k += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + k, std::min<std::size_t>(8, n - k));
      hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

}  // namespace cambium::deepmd
