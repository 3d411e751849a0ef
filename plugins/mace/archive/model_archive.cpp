#include "plugins/mace/archive/model_archive.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::mace {
namespace {

using Kind = PickleValue::Kind;

bool is_tensor(const PickleValue& value) {
  return value.is(Kind::object) &&
         (value.text.find("_rebuild_tensor") != std::string::npos || value.text == "torch._utils._rebuild_parameter");
}

template <class T>
double element(std::string_view bytes, std::int64_t k) {
  T value;
  std::memcpy(&value, bytes.data() + k * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return static_cast<double>(value);
}

struct StoredType {
  const char* storage;
  std::int64_t size;
  double (*get)(std::string_view, std::int64_t);
};
constexpr StoredType stored_types[] = {{"DoubleStorage", 8, element<double>},
                                       {"FloatStorage", 4, element<float>},
                                       {"LongStorage", 8, element<std::int64_t>},
                                       {"IntStorage", 4, element<std::int32_t>},
                                       {"BoolStorage", 1, element<std::uint8_t>}};

std::string last_part(const std::string& name) {
  const auto point = name.rfind('.');
  return point == std::string::npos ? name : name.substr(point + 1);
}

}  // namespace

const std::vector<PickleValue*>& elements(const PickleValue& value) {
  const bool wraps = value.is(Kind::object) && !value.items.empty() &&
                     (value.items[0]->is(Kind::list) || value.items[0]->is(Kind::tuple)) &&
                     (value.items.size() == 1 || value.items[1]->is(Kind::text));
  return wraps ? value.items[0]->items : value.items;
}

double number(const PickleValue& value) {
  if (value.is(Kind::integer) || value.is(Kind::boolean)) return static_cast<double>(value.integer);
  if (value.is(Kind::real)) return value.real;
  throw InputError("a MACE model has a value of another type where a number is expected");
}

ModelArchive::ModelArchive(const std::string& path) : zip_(path, {"MACE model", "PyTorch"}) {
  for (const auto& name : zip_.names())
    if (name.ends_with("/data.pkl") && (folder_.empty() || name.size() < folder_.size() + 8))
      folder_ = name.substr(0, name.size() - 8);
  if (!has_member("data.pkl"))
    throw InputError(
        fmt::format("{} is a zip archive, but none of PyTorch: it has no data.pkl; a MACE model is the file that "
                    "torch.jit.save or torch.save writes",
                    path));
  if (has_member("byteorder") && member("byteorder") != "little")
    throw InputError(fmt::format("{} was written on a big-endian machine, which is not supported", path));
  pickle_ = std::make_unique<Pickle>(member("data.pkl"), path);
  flatten(pickle_->root(), "", 0);
}

void ModelArchive::flatten(const PickleValue& value, const std::string& name, int depth) {
  constexpr std::size_t most = 1000000;
  constexpr int deepest = 40;
  if (entries_.size() > most || depth > deepest)
    throw InputError(fmt::format("{}: its modules refer to each other without end: the file is damaged", path()));
  entries_.emplace(name, &value);
  if (!value.is(Kind::object) || is_tensor(value) || !value.state || !value.state->is(Kind::dict)) return;
  const auto& items = value.state->items;
  for (std::size_t k = 0; k + 1 < items.size(); k += 2) {
    const std::string& key = items[k]->text;
    const std::string start = name.empty() ? "" : name + ".";
    const bool group = key == "_parameters" || key == "_buffers" || key == "_modules";
    if (!group || !items[k + 1]->is(Kind::dict)) {
      flatten(*items[k + 1], start + key, depth + 1);
      continue;
    }
    const auto& members = items[k + 1]->items;
    for (std::size_t m = 0; m + 1 < members.size(); m += 2)
      flatten(*members[m + 1], start + members[m]->text, depth + 1);
  }
}

const PickleValue& ModelArchive::value(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end())
    throw InputError(
        fmt::format("{} has no '{}': it is no MACE model, or one of a version that is not known", path(), name));
  return *found->second;
}

Tensor ModelArchive::tensor(const std::string& name) const { return read_tensor(value(name), "data/", name); }

Tensor ModelArchive::read_tensor(const PickleValue& stored, const std::string& folder, const std::string& name) const {
  const auto broken = [&] { return InputError(fmt::format("{}: '{}' is no tensor that can be read", path(), name)); };
  if (!is_tensor(stored)) throw broken();
  if (stored.text == "torch._utils._rebuild_parameter") {
    if (stored.items.empty()) throw broken();
    return read_tensor(*stored.items[0], folder, name);
  }
  if (stored.items.size() < 4 || !stored.items[0]->is(Kind::storage) || stored.items[0]->items.size() < 3)
    throw broken();
  const std::string kind = last_part(stored.items[0]->items[1]->text);
  const StoredType* type = nullptr;
  for (const StoredType& one : stored_types)
    if (kind == one.storage) type = &one;
  if (!type)
    throw InputError(fmt::format(
        "{}: tensor '{}' has the type {}; supported are float64, float32, int64, int32 and bool", path(), name, kind));
  const std::string_view bytes = member(folder + stored.items[0]->items[2]->text);
  Tensor out;
  const auto available = static_cast<std::int64_t>(bytes.size()) / type->size;
  std::vector<std::int64_t> strides;
  std::int64_t count = 1, last = stored.items[1]->integer;
  if (last < 0) throw broken();
  for (const PickleValue* size : elements(*stored.items[2])) out.shape.push_back(size->integer);
  for (const PickleValue* stride : elements(*stored.items[3])) strides.push_back(stride->integer);
  if (strides.size() != out.shape.size()) throw broken();
  const std::int64_t start = last;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (out.shape[d] < 0 || strides[d] < 0 || out.shape[d] > most || strides[d] > most) throw broken();
    count *= out.shape[d];
    last += (out.shape[d] - 1) * strides[d];
    if (count > most) throw broken();
  }
  if (count > 0 && last >= available)
    throw InputError(fmt::format("{}: the values of tensor '{}' are truncated", path(), name));
  out.values.resize(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t at = start, rest = k;
    for (std::size_t d = strides.size(); d-- > 0; rest /= out.shape[d]) at += rest % out.shape[d] * strides[d];
    out.values[static_cast<std::size_t>(k)] = type->get(bytes, at);
  }
  return out;
}

double ModelArchive::real(const std::string& name) const {
  const PickleValue& v = value(name);
  if (!is_tensor(v)) return number(v);
  const Tensor t = tensor(name);
  if (t.values.size() != 1)
    throw InputError(fmt::format("{}: '{}' has {} elements; it must be one value", path(), name, t.values.size()));
  return t.values[0];
}

bool ModelArchive::flag(const std::string& name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && found->second->is(Kind::boolean) && found->second->integer != 0;
}

std::string ModelArchive::class_of(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() || !found->second->is(Kind::object) ? std::string() : last_part(found->second->text);
}

bool ModelArchive::find_class(const std::vector<std::string>& classes, std::string& prefix) const {
  for (const auto& [name, value] : entries_)
    for (const auto& wanted : classes)
      if (value->is(Kind::object) && last_part(value->text) == wanted) {
        prefix = name.empty() ? "" : name + ".";
        return true;
      }
  return false;
}

std::vector<double> ModelArchive::constants() const {
  if (!has_member("constants.pkl")) return {};
  const Pickle pickle(member("constants.pkl"), path());
  std::vector<double> out;
  for (const PickleValue* item : elements(pickle.root())) {
    if (!is_tensor(*item)) continue;
    const Tensor t = read_tensor(*item, "constants/", "constants");
    if (t.values.size() == 1) out.push_back(t.values[0]);
  }
  return out;
}

}  // namespace cambium::mace
