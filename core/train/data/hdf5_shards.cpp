#include "core/train/data/hdf5_shards.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/h5_chunks.hpp"
#include "core/io/utf8.hpp"
#include "core/train/data/marked_array.hpp"

namespace cambium::train {

namespace {

/// Empty for dimensionless values, which the CF conventions mark as "1" and netCDF by an empty text.
std::string unit_of_array(const io::Dataset& array) {
  for (const char* name : {"unit", "units"})
    if (array.has_attribute(name)) {
      const auto texts = array.attribute<std::vector<std::string>>(name);
      const std::string unit = io::utf8(std::string(texts.empty() ? "" : trim(texts.front())));
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

constexpr std::size_t most_axes = 6;  ///< of a TensorRef

FieldInfo field_of(const std::string& name, const io::Dataset& array) {
  const auto shape = array.shape();
  if (shape.empty())
    throw InputError(
        fmt::format("array '{}' in '{}' is a scalar; a field needs an array whose first axis counts samples",
                    array.path(), array.file()));
  if (shape.size() > most_axes)
    throw InputError(
        fmt::format("array '{}' in '{}' has {} axes, at most {} are read; join some of them: "
                    "values.reshape({}, -1)",
                    array.path(), array.file(), shape.size(), most_axes, shape[0]));
  return {name, unit_of_array(array), {shape.begin() + 1, shape.end()}, array.dtype()};
}

/// Shards of one set must match, or a network would be trained on a mixture.
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

/// MATLAB reverses the order of axes, and stores text and empty arrays as numeric data.
void look_at_matlab(const io::Dataset& array, std::vector<std::string>& remarks) {
  if (!array.has_attribute("MATLAB_class")) return;
  const auto kind = array.attribute<std::string>("MATLAB_class");
  if (kind == "char" || array.has_attribute("MATLAB_empty"))
    throw InputError(fmt::format("array '{}' in '{}' is {} of MATLAB, expected numbers; name another array",
                                 array.path(), array.file(), kind == "char" ? "text" : "an empty array"));
  auto shape = array.shape();  // at least one axis
  if (std::all_of(shape.begin() + 1, shape.end(), [](std::int64_t extent) { return extent == 1; })) return;
  const auto here = fmt::format("{}", fmt::join(shape, ", "));
  std::reverse(shape.begin(), shape.end());
  remarks.push_back(fmt::format(
      "array '{}' in '{}' was written by MATLAB, where its size is {}; in the file it is ({}), so that "
      "samples are counted along MATLAB's last axis: where that is another one, permute the array before it "
      "is saved",
      array.path(), array.file(), fmt::join(shape, " x "), here));
}

/// HDF5 returns zeros for rows that were allocated and never written, for example by an interrupted run.
void look_at_chunks(const io::Dataset& array, std::vector<std::string>& remarks) {
  constexpr std::size_t most_remarks = 5;
  const auto chunks = io::count_chunks(array);
  if (chunks.unwritten == 0 || remarks.size() >= most_remarks) return;
  remarks.push_back(
      fmt::format("array '{}' in '{}': {} of {} chunks were never written, and HDF5 gives zeros (or the array's fill "
                  "value) for them; where the file is not complete, take the samples that are (range: [0, N])",
                  array.path(), array.file(), chunks.unwritten, chunks.all));
}

/// Inspects one array of a shard.
void look_at_array(const io::File& file, const WantedField& wanted, Shards& out, Shards::Shard& shard) {
  const std::string key = deck::child_path("fields", shard.arrays.size());
  const auto array = deck::about_key("hdf5.fields.array", key, [&] { return file.dataset(wanted.path); });
  auto field = deck::about_key("hdf5.fields.shape", key, [&] { return field_of(wanted.name, array); });
  if (wanted.unit != "?" && wanted.unit != field.unit)
    throw KeyError(
        "hdf5.fields.unit", deck::joined_key(key, "unit"),
        fmt::format("array '{}' in '{}' has {}, the deck expects {} for the field '{}'; correct the deck's key "
                    "'unit' or convert the array",
                    array.path(), shard.path, named(field.unit), named(wanted.unit), wanted.name));
  shard.arrays.push_back(storage_of(array));
  if (const auto marked = MarkedArray::of(file, array, wanted.decoding)) {
    shard.arrays.back().marked = true;
    field.dtype = marked->dtype(field.dtype);
  }
  if (out.shards.empty()) look_at_matlab(array, out.remarks);
  look_at_chunks(array, out.remarks);
  const auto number = shard.arrays.size() - 1;
  if (out.shards.empty())
    out.fields.push_back(field);
  else
    require_alike(out.fields[number], out.shards.front().path, field, array);
}

}  // namespace

std::size_t Shards::shard_of(std::int64_t row) const {
  const auto after = std::upper_bound(shards.begin(), shards.end(), row,
                                      [](std::int64_t r, const Shard& shard) { return r < shard.first; });
  return static_cast<std::size_t>(after - shards.begin()) - 1;
}

Shards look_at(std::span<const std::string> files, const std::vector<WantedField>& wanted) {
  Shards out;
  for (const auto& field : wanted) out.paths.push_back(field.path);
  for (const auto& path : files) {
    const auto file =
        deck::about_key("hdf5.files", files.size() == 1 ? "files[0]" : "files", [&] { return io::File::open(path); });
    Shards::Shard shard{path, out.rows(), 0, {}};
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      look_at_array(file, wanted[k], out, shard);
      const std::int64_t rows = file.dataset(wanted[k].path).shape()[0];
      if (k > 0 && rows != shard.rows)
        throw InputError(fmt::format(
            "'{}' holds {} samples in '{}' but {} in '{}'; the first axis of every array counts the same samples", path,
            shard.rows, wanted[0].path, rows, wanted[k].path));
      shard.rows = rows;
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
    for (const auto& a : shard.arrays) arrays.push_back({a.chunk_rows, a.chunk_parts, a.chunk_bytes, a.marked});
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
    for (const auto& a : s[3]) shard.arrays.push_back({a[0], a[1], a[2], a[3]});
    out.shards.push_back(std::move(shard));
  }
  return out;
}

}  // namespace cambium::train
