#include "core/train/run/data_of_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/probe.hpp"
#include "core/io/npz.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/data/hdf5_dataset.hpp"
#include "core/train/data/memory_set.hpp"

namespace cambium::train {

namespace {

/// A field of the deck by which the model was trained; if the deck is unknown, its array has the field's name.
Hdf5Dataset::Field trained_field(const ArtifactInfo& info, const std::string& name) {
  Hdf5Dataset::Field out;
  out.name = out.array = name;
  if (info.training.empty()) return out;
  const auto keys = deck::parse(info.training, "training");
  for (const auto& field : keys["fields"].items())
    if (field.is_map() && field["name"].text() == name && !field["array"].text().empty())
      out.array = field["array"].text();
  return out;
}

/// The model's fields that the file has, its inputs first; those that it lacks are refused when it is opened.
Hdf5Dataset::Params arrays_for_model(const AppliedModel& model, const std::string& path, const Comm& comm) {
  Hdf5Dataset::Params out;
  out.files = {path};
  for (const auto& input : model.inputs()) out.fields.push_back(trained_field(model.loaded().info, input.name));
  std::string there;  // of other fields, one character each
  io::on_root(comm, [&] {
    io::probe_hdf5({path});
    const auto file = io::File::open(path);
    for (const auto& field : model.loaded().info.fields)
      there += file.exists(trained_field(model.loaded().info, field.info.name).array) ? '1' : '0';
  });
  comm.broadcast(there);
  for (std::size_t k = 0; k < there.size(); ++k) {
    const auto field = trained_field(model.loaded().info, model.loaded().info.fields[k].info.name);
    const auto same = [&](const auto& other) { return other.name == field.name; };
    if (there[k] == '1' && std::none_of(out.fields.begin(), out.fields.end(), same)) out.fields.push_back(field);
  }
  return out;
}

/// Keys of a table, found on rank 0, on every rank.
CsvDataset::Params shared_table(const AppliedModel& model, const std::string& path, Context& context) {
  CsvDataset::Params out;
  std::string text;
  io::on_root(context.comm, [&] {
    out = table_for_model(model, path, context.log);
    nlohmann::json fields;
    for (const auto& f : out.fields)
      fields.push_back({f.name, f.columns, f.unit.has_value(), f.unit.value_or(""), f.categories});
    text =
        nlohmann::json{fields, out.files, out.delimiter, static_cast<int>(out.decimal), static_cast<int>(out.missing)}
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  });
  context.comm.broadcast(text);
  if (context.comm.root()) return out;
  const auto json = nlohmann::json::parse(text);
  for (const auto& f : json[0]) {
    auto& field = out.fields.emplace_back();
    field.name = f[0];
    field.columns = f[1].get<std::vector<std::string>>();
    if (f[2].get<bool>()) field.unit = f[3].get<std::string>();
    field.categories = f[4].get<std::vector<std::string>>();
  }
  out.files = json[1].get<std::vector<std::string>>();
  out.delimiter = json[2];
  out.decimal = static_cast<CsvForm::Decimal>(json[3].get<int>());
  out.missing = static_cast<CsvDataset::Missing>(json[4].get<int>());
  return out;
}

/// An array of numpy for a field of the model.
struct NamedArray {
  std::string name, unit;
  io::NpyArray array;
};

void require_finite(const std::string& path, const NamedArray& given) {
  const auto& values = given.array.values;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      throw InputError(fmt::format("'{}' holds {} in array '{}', sample {}; correct it or leave the sample out", path,
                                   values[k], given.name,
                                   static_cast<std::int64_t>(k) / std::max<std::int64_t>(1, given.array.row_size())));
}

/// The arrays of a file that the model was trained on, its inputs first.
std::vector<NamedArray> numpy_arrays(const AppliedModel& model, const std::string& path) {
  std::vector<NamedArray> out;
  const auto& inputs = model.inputs();
  if (!io::is_npz(path)) {
    if (inputs.size() != 1)
      throw InputError(
          fmt::format("'{}' holds one array, but model '{}' reads {} fields; write them by their names: "
                      "numpy.savez",
                      path, model.path(), inputs.size()));
    out.push_back({inputs[0].name, inputs[0].unit, io::read_npy(path)});
  } else {
    const io::Npz file(path, "file of arrays");
    const auto names = file.names();
    const auto add = [&](const FieldInfo& field, bool required) {
      const auto array = trained_field(model.loaded().info, field.name).array;
      const auto& name = file.exists(array) ? array : field.name;
      if (file.exists(name))
        out.push_back({field.name, field.unit, file.read(name)});
      else if (required)
        throw InputError(fmt::format("'{}' has no array '{}', which model '{}' reads; it has: {}", path, field.name,
                                     model.path(), fmt::join(names, ", ")));
    };
    for (const auto& input : inputs) add(input, true);
    for (const auto& field : model.loaded().info.fields)
      if (std::none_of(inputs.begin(), inputs.end(), [&](const auto& f) { return f.name == field.info.name; }))
        add(field.info, false);
  }
  for (const auto& each : out) require_finite(path, each);
  return out;
}

/// Values as doubles, or as integers by their bits.
std::string bytes_of(const io::NpyArray& array) {
  std::string out(8 * array.values.size(), '\0');
  std::vector<std::int64_t> whole;
  if (array.whole) whole.assign(array.values.begin(), array.values.end());
  const void* from = array.whole ? static_cast<const void*>(whole.data()) : array.values.data();
  if (!out.empty()) std::memcpy(out.data(), from, out.size());
  return out;
}

/// Reads the arrays on rank 0; every rank stores them.
std::unique_ptr<Dataset> numpy_set(const AppliedModel& model, const std::string& path, const Comm& comm) {
  std::vector<std::string> bytes;
  std::string text;
  io::on_root(comm, [&] {
    io::reading(path, [&] {
      nlohmann::json json = nlohmann::json::array();
      for (const auto& given : numpy_arrays(model, path)) {
        json.push_back({given.name, given.unit, given.array.shape, given.array.whole});
        bytes.push_back(bytes_of(given.array));
      }
      text = json.dump();
    });
  });
  comm.broadcast(text);
  const auto json = nlohmann::json::parse(text);
  bytes.resize(json.size());
  std::vector<HostArray> arrays;
  for (std::size_t k = 0; k < json.size(); ++k) {
    comm.broadcast(bytes[k]);
    HostArray array{json[k][0], {}, json[k][1]};
    TensorRef& t = array.values;
    t.data = bytes[k].data();
    t.dtype = json[k][3].get<bool>() ? DType::i64 : DType::f64;
    const auto shape = json[k][2].get<std::vector<std::int64_t>>();
    if (shape.size() > std::size(t.shape))
      throw InputError(fmt::format("'{}': array '{}' has {} axes, at most {} are read", path, array.name, shape.size(),
                                   std::size(t.shape)));
    for (const auto extent : shape) t.shape[t.rank++] = extent;
    for (std::int64_t stride = 1, axis = t.rank - 1; axis >= 0; stride *= t.shape[axis--]) t.stride[axis] = stride;
    arrays.push_back(array);
  }
  auto out = std::make_unique<MemorySet>(arrays);
  if (out->size() == 0)
    throw InputError(fmt::format("'{}' holds no samples: the first axis of its arrays has the length 0", path));
  return out;
}

/// Ending of a file's name in small letters.
std::string ending_of(const std::string& path) {
  auto out = std::filesystem::path(path).extension().string();
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::unique_ptr<Dataset> data_of_file(const AppliedModel& model, const std::string& path, Context& context) {
  const auto ending = ending_of(path);
  std::unique_ptr<Dataset> out;
  if (ending == ".npz" || ending == ".npy") return numpy_set(model, path, context.comm);
  if (ending == ".csv" || ending == ".tsv" || ending == ".tab" || ending == ".txt")
    out = std::make_unique<CsvDataset>(shared_table(model, path, context), context);
  else
    out = std::make_unique<Hdf5Dataset>(arrays_for_model(model, path, context.comm), context);
  out->open(context);
  return out;
}

}  // namespace cambium::train
