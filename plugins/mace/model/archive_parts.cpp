#include "plugins/mace/model/archive_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::mace {

void misfit(const ModelParts& parts, const std::string& name) {
  throw InputError(fmt::format("{}: '{}' does not fit the rest of the model", parts.path(), name));
}

Irreps ArchiveParts::irreps(const std::string& name) const {
  constexpr int most_channels = 65536, highest_degree = 11;
  Irreps out;
  for (const PickleValue* item : elements(archive_.value(name))) {
    const auto& pair = elements(*item);
    const auto bad = [&] {
      return InputError(fmt::format("{}: '{}' is no list of irreducible representations", path(), name));
    };
    if (pair.size() != 2) throw bad();
    const auto& degree = elements(*pair[1]);
    if (degree.size() != 2) throw bad();
    const int mul = static_cast<int>(pair[0]->integer), l = static_cast<int>(degree[0]->integer);
    if (mul < 0 || mul > most_channels || l < 0 || l > highest_degree) throw bad();
    if (mul > 0) append(out, mul, l);
  }
  return out;
}

int ArchiveParts::index(const PickleValue& value, const std::string& name) const {
  constexpr int most = 1 << 20;
  if (!value.is(PickleValue::Kind::integer) || value.integer < 0 || value.integer > most) misfit(*this, name);
  return static_cast<int>(value.integer);
}

std::vector<Instruction> ArchiveParts::linear(const std::string& name) const {
  std::vector<Instruction> out;
  for (const PickleValue* item : elements(archive_.value(name + ".instructions"))) {
    const auto& fields = elements(*item);
    if (fields.size() < 4) misfit(*this, name);
    out.push_back({index(*fields[0], name), 0, index(*fields[1], name), number(*fields[3])});
  }
  return out;
}

std::vector<Instruction> ArchiveParts::product(const std::string& name, const std::string& mode) const {
  std::vector<Instruction> out;
  for (const PickleValue* item : elements(archive_.value(name + ".instructions"))) {
    const auto& fields = elements(*item);
    if (fields.size() < 6 || fields[3]->text != mode) misfit(*this, name);
    out.push_back({index(*fields[0], name), index(*fields[1], name), index(*fields[2], name), number(*fields[5])});
  }
  return out;
}

double ArchiveParts::activation(const std::string& prefix) const {
  constexpr double expected = 1.679, tolerance = 0.01;  // 1 / rms of SiLU of normal deviates; e3nn used a million
  const std::string beside = prefix + "interactions.0.conv_tp_weights.layer0.act.cst";
  if (archive_.has(beside)) return archive_.real(beside);
  for (const double value : archive_.constants())
    if (std::abs(value - expected) < tolerance) return value;
  throw InputError(
      fmt::format("{}: the normalisation of the activation SiLU (about 1.679) is not among its constants; "
                  "other activations are not supported",
                  path()));
}

}  // namespace cambium::mace
