#include "core/train/data/hdf5_shards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::train {

namespace {

/// Empty for numbers without unit, for which the CF conventions write "1".
std::string unit_of_array(const io::Dataset& array) {
  for (const char* name : {"unit", "units"})
    if (array.has_attribute(name)) {
      const auto unit = array.attribute<std::string>(name);
      return unit == "1" ? "" : unit;
    }
  return "";
}

const char* type_name(DType type) {
  switch (type) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::bf16:
      return "bfloat16";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::u32:
      return "uint32";
    case DType::i8:
      return "int8";
    case DType::u8:
      return "uint8";
  }
  return "?";
}

std::string named(const std::string& unit) { return unit.empty() ? "no unit" : "the unit '" + unit + "'"; }

FieldInfo field_of(const std::string& name, const io::Dataset& array) {
  const auto shape = array.shape();
  if (shape.empty())
    throw InputError(
        fmt::format("array '{}' in '{}' is one number; a field needs an array whose first axis counts samples",
                    array.path(), array.file()));
  return {name, unit_of_array(array), {shape.begin() + 1, shape.end()}, array.dtype()};
}

/// Shards of one set must be alike, or a network would be trained on a mixture.
void require_alike(const FieldInfo& first, const std::string& first_file, const FieldInfo& other,
                   const io::Dataset& array) {
  if (first.shape != other.shape)
    throw InputError(fmt::format(
        "array '{}' has samples of shape ({}) in '{}' but ({}) in '{}'; all shards of a data set need the same shape",
        array.path(), fmt::join(first.shape, ", "), first_file, fmt::join(other.shape, ", "), array.file()));
  if (first.dtype != other.dtype)
    throw InputError(fmt::format("array '{}' is {} in '{}' but {} in '{}'; all shards of a data set need the same type",
                                 array.path(), type_name(first.dtype), first_file, type_name(other.dtype),
                                 array.file()));
  if (first.unit != other.unit)
    throw InputError(
        fmt::format("array '{}' has {} in '{}' but {} in '{}'; convert one of them and correct its attribute 'unit'",
                    array.path(), named(first.unit), first_file, named(other.unit), array.file()));
}

Shards::Array storage_of(const io::Dataset& array) {
  Shards::Array out;
  const auto shape = array.shape(), chunk = array.chunk();
  if (chunk.empty()) return out;
  out.chunk_rows = chunk[0];
  for (std::size_t k = 1; k < chunk.size(); ++k) out.chunk_parts *= (shape[k] + chunk[k] - 1) / chunk[k];
  const std::int64_t chunks = out.chunk_parts * ((shape[0] + chunk[0] - 1) / chunk[0]);
  out.chunk_bytes = chunks > 0 ? array.stored_bytes() / chunks : 0;
  return out;
}

}  // namespace

std::size_t Shards::shard_of(std::int64_t row) const {
  const auto after = std::upper_bound(shards.begin(), shards.end(), row,
                                      [](std::int64_t r, const Shard& shard) { return r < shard.first; });
  return static_cast<std::size_t>(after - shards.begin()) - 1;
}

Shards look_at(std::span<const std::string> files, const std::vector<std::string>& names,
               const std::vector<std::string>& paths, const std::vector<std::string>& units) {
  Shards out;
  out.paths = paths;
  for (const auto& path : files) {
    const auto file =
        deck::about_key("hdf5.files", files.size() == 1 ? "files[0]" : "files", [&] { return io::File::open(path); });
    Shards::Shard shard{path, out.rows(), 0, {}};
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::string key = deck::child_path("fields", k);
      const auto array = deck::about_key("hdf5.fields.array", key, [&] { return file.dataset(paths[k]); });
      const auto field = deck::about_key("hdf5.fields.shape", key, [&] { return field_of(names[k], array); });
      const std::int64_t rows = array.shape()[0];
      if (units[k] != "?" && units[k] != field.unit)
        throw KeyError(
            "hdf5.fields.unit", deck::joined_key(key, "unit"),
            fmt::format("array '{}' in '{}' has {}, the deck expects {} for the field '{}'; correct the deck's key "
                        "'unit' or convert the array",
                        array.path(), path, named(field.unit), named(units[k]), names[k]));
      if (out.shards.empty())
        out.fields.push_back(field);
      else
        require_alike(out.fields[k], out.shards.front().path, field, array);
      if (k > 0 && rows != shard.rows)
        throw InputError(fmt::format(
            "'{}' holds {} samples in '{}' but {} in '{}'; the first axis of every array counts the same samples", path,
            shard.rows, paths[0], rows, paths[k]));
      shard.rows = rows;
      shard.arrays.push_back(storage_of(array));
    }
    out.shards.push_back(std::move(shard));
  }
  return out;
}

std::string to_text(const Shards& s) {
  nlohmann::json out;
  for (std::size_t k = 0; k < s.fields.size(); ++k)
    out["fields"].push_back(
        {s.fields[k].name, s.fields[k].unit, s.fields[k].shape, static_cast<int>(s.fields[k].dtype), s.paths[k]});
  for (const auto& shard : s.shards) {
    nlohmann::json arrays;
    for (const auto& a : shard.arrays) arrays.push_back({a.chunk_rows, a.chunk_parts, a.chunk_bytes});
    out["shards"].push_back({shard.path, shard.first, shard.rows, arrays});
  }
  return out.dump();
}

Shards shards_from(const std::string& text) {
  const auto in = nlohmann::json::parse(text);
  Shards out;
  for (const auto& f : in["fields"]) {
    out.fields.push_back({f[0], f[1], f[2].get<std::vector<std::int64_t>>(), static_cast<DType>(f[3].get<int>())});
    out.paths.push_back(f[4]);
  }
  for (const auto& s : in["shards"]) {
    Shards::Shard shard{s[0], s[1], s[2], {}};
    for (const auto& a : s[3]) shard.arrays.push_back({a[0], a[1], a[2]});
    out.shards.push_back(std::move(shard));
  }
  return out;
}

}  // namespace cambium::train
