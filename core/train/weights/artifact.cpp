#include "core/train/weights/artifact.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/model_seal.hpp"
#include "core/io/provenance.hpp"
#include "core/io/reading.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/weights/artifact_in_parts.hpp"

namespace cambium::train {

constexpr int format = 2, format_without_grids = 1;

static void write_fields(io::File& file, const ArtifactInfo& info) {
  for (const auto& field : info.fields) {
    auto group = file.create_group("/fields/" + field.info.name);
    group.set_attribute("unit", field.info.unit);
    group.set_attribute("lowest", field.lowest);
    group.set_attribute("highest", field.highest);
    if (!field.info.shape.empty()) group.set_attribute("shape", field.info.shape);
    if (!field.info.categories.empty()) group.write("categories", field.info.categories);
    if (!field.info.columns.empty()) {
      std::vector<std::string> names, units;
      for (const auto& column : field.info.columns) {
        names.push_back(column.name);
        units.push_back(column.unit);
      }
      group.write("columns", names);
      group.write("column_units", units);
    }
    if (field.each_lowest.empty()) continue;
    group.set_attribute("each_lowest", field.each_lowest);
    group.set_attribute("each_highest", field.each_highest);
  }
  for (const auto& entry : info.card) file.write("/card/" + entry.name, entry.value).set_attribute("unit", entry.unit);
}

static TensorRef shaped(TensorRef values, const std::vector<std::int64_t>& shape) {
  values.rank = 0;
  for (auto extent : shape) values.shape[values.rank++] = extent;
  for (std::int64_t stride = 1, d = values.rank - 1; d >= 0; stride *= values.shape[d--]) values.stride[d] = stride;
  return values;
}

/// Writes values that are on the grid.
static void write_on_grid(io::File& file, const std::string& name, const ParameterInfo& info,
                          std::span<const float> values, const Grid& grid) {
  std::vector<std::uint8_t> packed(grid.bytes(std::ssize(values)));
  round_onto_grid(grid, values, {}, true, std::as_writable_bytes(std::span(packed)));
  if (grid.ternary()) {
    file.write(name, packed).set_attribute("shape", info.shape);
  } else {
    const auto* bytes = reinterpret_cast<const std::int8_t*>(packed.data());
    file.write(name, shaped(io::tensor_of(bytes, {}), info.shape));
  }
  file.dataset(name).set_attribute("scale_factor", grid.step);
}

/// Writes the values of one parameter; on `grid` unless it is null.
static void write_tensor(io::File& file, const ParameterInfo& info, const TensorRef& values, const Grid* grid) {
  const std::string name = "/weights/" + info.name;
  if (grid) {
    const auto* numbers = static_cast<const float*>(values.data);
    return write_on_grid(file, name, info, {numbers, static_cast<std::size_t>(values.elements())}, *grid);
  }
  with_real(values.dtype, [&]<class T>() {
    file.write(name, shaped(io::tensor_of(static_cast<const T*>(values.data), {}), info.shape));
  });
}

/// For each tensor its grid, or null.
static std::vector<const Grid*> grids_of(const FlatLayout& layout, std::span<const Grid> grids) {
  std::vector<const Grid*> out;
  std::size_t matrix = 0;
  for (const auto& tensor : layout.tensors())
    out.push_back(tensor.info.linear && !grids.empty() ? &grids[matrix++] : nullptr);
  return out;
}

static void write_weights(io::File& file, const FlatBuffer& weights, std::span<const Grid> all) {
  const auto& tensors = weights.layout().tensors();
  const auto grids = grids_of(weights.layout(), all);
  for (std::size_t k = 0; k < tensors.size(); ++k)
    with_real(weights.dtype(), [&]<class T>() {
      write_tensor(file, tensors[k].info, io::tensor_of(weights.values<T>(k).data(), {tensors[k].elements}), grids[k]);
    });
}

static void write_head(io::File& file, const ArtifactInfo& info, const Context& context) {
  io::write_provenance(file, io::provenance_of(context));
  auto model = file.create_group("/model");
  model.set_attribute("format", info.grids.empty() ? format_without_grids : format);
  model.set_attribute("type", info.type);
  model.write("config", info.config);
  model.write("state", info.state);
  if (!info.training.empty()) model.write("training", info.training);
  if (!info.chosen_by.empty()) model.write("chosen_by", info.chosen_by);
  write_fields(file, info);
}

void write_artifact(const std::string& path, const ArtifactInfo& info, const FlatBuffer& weights,
                    const Context& context, Tables* tables, bool best) {
  ServingRows serving(tables, context.comm);
  io::on_root(context.comm, [&] {
    const ServingRows::Root root(serving);
    io::write_sealed_h5(path, [&](io::File& file) {
      write_head(file, info, context);
      write_weights(file, weights, info.grids);
      if (tables) tables->write(file, best ? Tables::For::best_model : Tables::For::model);
    });
  });
}

void write_artifact_in_parts(const std::string& path, const ArtifactInfo& info, const FlatLayout& layout,
                             ByModule& weights, bool best, const Context& context) {
  const auto grids = grids_of(layout, info.grids);
  std::optional<io::AtomicFile> target;
  std::optional<io::File> file;
  std::exception_ptr refused;
  // Write errors are reported once the other ranks have completed their communication.
  const auto keep_problem = [&](auto&& write) {
    if (!context.comm.root() || refused) return;
    try {
      write();
    } catch (const InputError&) {
      refused = std::current_exception();
    }
  };
  keep_problem([&] {
    target.emplace(path);
    file.emplace(io::File::create(target->part(), path));
    write_head(*file, info, context);
  });
  weights.each_tensor(best, [&](std::size_t k, const TensorRef& values) {
    keep_problem([&] { write_tensor(*file, layout.tensors()[k].info, values, grids[k]); });
  });
  io::on_root(context.comm, [&] {
    if (refused) std::rethrow_exception(refused);
    file->close();
    io::seal(target->part(), path);
    target->commit();
  });
}

static ArtifactInfo read_info(const io::File& file) {
  if (!file.exists("/model") || !file.group("/model").has_attribute("format"))
    throw InputError(fmt::format(
        "'{}' is no model file of Cambium: it has no /model; give a model.h5 that a train stage wrote", file.file()));
  const auto model = file.group("/model");
  if (const int found = model.attribute<int>("format"); found < 1 || found > format)
    throw InputError(
        fmt::format("'{}' has model format {}, but this program reads up to {}; use the Cambium that wrote it",
                    file.file(), found, format));
  ArtifactInfo info;
  info.type = model.attribute<std::string>("type");
  info.config = model.read<std::string>("config");
  info.state = model.read<std::string>("state");
  if (model.exists("training")) info.training = model.read<std::string>("training");
  if (model.exists("chosen_by")) info.chosen_by = model.read<std::string>("chosen_by");
  if (file.exists("/fields"))
    for (const auto& name : file.group("/fields").list()) {
      const auto group = file.group("/fields/" + name);
      FieldRange field{{name, group.attribute<std::string>("unit"), {}, DType::f64, {}, {}},
                       group.attribute<double>("lowest"),
                       group.attribute<double>("highest")};
      if (group.has_attribute("shape")) field.info.shape = group.attribute<std::vector<std::int64_t>>("shape");
      if (group.exists("categories")) field.info.categories = group.read<std::vector<std::string>>("categories");
      if (group.exists("columns") && group.exists("column_units")) {
        const auto names = group.read<std::vector<std::string>>("columns"),
                   units = group.read<std::vector<std::string>>("column_units");
        for (std::size_t k = 0; k < std::min(names.size(), units.size()); ++k)
          field.info.columns.push_back({names[k], units[k]});
      }
      if (group.has_attribute("each_lowest") && group.has_attribute("each_highest")) {
        field.each_lowest = group.attribute<std::vector<double>>("each_lowest");
        field.each_highest = group.attribute<std::vector<double>>("each_highest");
      }
      info.fields.push_back(field);
    }
  if (file.exists("/card"))
    for (const auto& name : file.group("/card").list()) {
      const auto entry = file.dataset("/card/" + name);
      info.card.push_back({name, entry.attribute<std::string>("unit"), entry.read<double>()});
    }
  return info;
}

/// Shape of the values stored in an array.
static std::vector<std::int64_t> shape_of(const io::Dataset& array) {
  return array.has_attribute("shape") ? array.attribute<std::vector<std::int64_t>>("shape") : array.shape();
}

/// Reads values written by write_on_grid().
static Grid read_on_grid(const io::Dataset& array, std::span<float> values) {
  const Grid grid{array.has_attribute("shape") ? 1 : 127, array.attribute<float>("scale_factor")};
  if (!grid.ternary()) {
    const auto bytes = array.read<std::vector<std::int8_t>>();
    unpack_grid(grid, std::as_bytes(std::span(bytes)), values);
    return grid;
  }
  const auto packed = array.read<std::vector<std::uint8_t>>();
  if (std::ssize(packed) != grid.bytes(std::ssize(values)))
    throw InputError(fmt::format("'{}': {} holds {} bytes, but ternary weights of its shape take {}", array.file(),
                                 array.path(), packed.size(), grid.bytes(std::ssize(values))));
  unpack_grid(grid, std::as_bytes(std::span(packed)), values);
  return grid;
}

/// The array of a parameter.
static io::Dataset array_of(const io::File& file, const ParameterInfo& info) {
  const std::string name = "/weights/" + info.name;
  if (!file.exists(name) || shape_of(file.dataset(name)) != info.shape)
    throw InputError(fmt::format(
        "'{}': the model needs {} of shape [{}], but the file has {}; it was written by another version or changed "
        "afterwards",
        file.file(), name, fmt::join(info.shape, ", "),
        file.exists(name) ? fmt::format("[{}]", fmt::join(shape_of(file.dataset(name)), ", ")) : "no such array"));
  return file.dataset(name);
}

/// Reads a tensor and returns its grid, if it has one.
static std::optional<Grid> read_tensor(const io::File& file, const ParameterInfo& info, const TensorRef& view) {
  const auto array = array_of(file, info);
  if (!array.has_attribute("scale_factor")) {
    array.read_into(view);
    return {};
  }
  if (view.dtype != DType::f32)
    throw InputError(
        fmt::format("'{}': {} is packed, as quantised weights of float32 are, but the model computes in float64; its "
                    "configuration was changed afterwards",
                    file.file(), "/weights/" + info.name));
  return read_on_grid(array, {static_cast<float*>(view.data), static_cast<std::size_t>(view.elements())});
}

/// Reads all weights and returns the grids of matrices.
static std::vector<Grid> read_weights(const io::File& file, FlatBuffer& weights) {
  const auto views = weights.views();
  const auto& tensors = weights.layout().tensors();
  std::vector<Grid> grids;
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (const auto grid = read_tensor(file, tensors[k].info, views[k])) grids.push_back(*grid);
  return grids;
}

/// The same without the values; checks that the arrays match the layout.
static std::vector<Grid> grids_in_file(const io::File& file, const FlatLayout& layout) {
  std::vector<Grid> grids;
  for (const auto& tensor : layout.tensors()) {
    const auto array = array_of(file, tensor.info);
    if (array.has_attribute("scale_factor"))
      grids.push_back({array.has_attribute("shape") ? 1 : 127, array.attribute<float>("scale_factor")});
  }
  return grids;
}

void fill_from_file(const std::string& path, const FlatLayout& layout, std::span<const TensorRef> views) {
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    for (std::size_t k = 0; k < views.size(); ++k)
      if (views[k].data) read_tensor(file, layout.tensors()[k].info, views[k]);
  });
}

/// Reads everything except weights and tables.
static LoadedModel read_head(const io::File& file, const std::string& path, Context& context) {
  LoadedModel out;
  out.info = read_info(file);
  out.network =
      context.registry->make<Network>(out.info.type, deck::parse(out.info.config, path + ":/model/config"), context);
  out.network->restore(out.info.state);
  out.layout = std::make_unique<FlatLayout>(out.network->parameters(), 1'000'000);
  return out;
}

LoadedModel load_artifact(const std::string& path, Context& context) {
  LoadedModel out;
  const bool sealed = io::require_sound_model(path);
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    out = read_head(file, path, context);
    out.weights = FlatBuffer(*out.layout, out.network->dtype());
    out.info.grids = read_weights(file, out.weights);
    if (const UsesTables* user = out.network->traits().tables) {
      TableKeys keys;
      keys.optimizer = TableKeys::Rule::sgd;  // stateless
      out.tables = make_tables(user->tables(), keys, out.network->dtype(), context);
      out.tables->read(file, Tables::For::model);
    }
  });
  if (!sealed) context.log.info(io::no_checksum_note(path));
  return out;
}

LoadedModel load_head(const std::string& path, Context& context) {
  LoadedModel out;
  const bool sealed = io::require_sound_model(path);
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    out = read_head(file, path, context);
    out.info.grids = grids_in_file(file, *out.layout);
  });
  if (!sealed) context.log.info(io::no_checksum_note(path));
  return out;
}

LoadedModel load_without_weights(const std::string& path, Context& context) {
  auto out = load_head(path, context);
  if (!works_by_module(*out.network))
    throw KeyError("train.memory_limit.network", "memory_limit",
                   fmt::format("memory_limit takes the weights of one module at a time, but {} needs all of them; "
                               "remove memory_limit",
                               out.info.type));
  return out;
}

StoredModules::StoredModules(const std::string& path, const LoadedModel& model, std::int64_t limit)
    : path_(path), model_(model), first_(model.network->modules()) {
  const int modules = static_cast<int>(first_.size());
  first_.push_back(static_cast<int>(model.layout->tensors().size()));
  for (int m = 0; m < modules; ++m) largest_ = std::max(largest_, bytes_of(m));
  const auto mb = [](std::int64_t n) { return 1e-6 * static_cast<double>(n); };
  if (largest_ > limit)
    throw KeyError("train.memory_limit.module", "memory_limit",
                   fmt::format("memory_limit is {:.3f} MB, but the largest module of '{}' takes {:.3f} MB; raise "
                               "memory_limit",
                               mb(limit), path, mb(largest_)));
}

std::int64_t StoredModules::bytes_of(int module) const {
  const auto m = static_cast<std::size_t>(module);
  std::int64_t numbers = 0;
  for (int k = first_[m]; k < first_[m + 1]; ++k)
    numbers += model_.layout->tensors()[static_cast<std::size_t>(k)].elements;
  return numbers * size_of(model_.network->dtype());
}

void StoredModules::forward(const std::function<void(const Pass&)>& use) const {
  const auto& tensors = model_.layout->tensors();
  const DType dtype = model_.network->dtype();
  std::vector<TensorRef> views;
  for (const auto& tensor : tensors)
    with_real(dtype, [&]<class T>() {
      views.push_back(shaped(io::tensor_of(static_cast<T*>(nullptr), {}), tensor.info.shape));
    });
  for (auto& view : views) view.is_const = false;
  MemoryLedger memory;
  Block window;
  const auto file = io::File::open(path_);
  const auto read = [&](int module) {
    const auto m = static_cast<std::size_t>(module);
    window = Block(memory, Held::windows, bytes_of(module));
    std::byte* at = window.data();
    io::reading(path_, [&] {
      for (auto k = static_cast<std::size_t>(first_[m]); k < static_cast<std::size_t>(first_[m + 1]); ++k) {
        views[k].data = at;
        read_tensor(file, tensors[k].info, views[k]);
        at += tensors[k].elements * size_of(dtype);
      }
    });
  };
  const auto release = [&](int module) {
    const auto m = static_cast<std::size_t>(module);
    for (auto k = static_cast<std::size_t>(first_[m]); k < static_cast<std::size_t>(first_[m + 1]); ++k)
      views[k].data = nullptr;
    window = {};
  };
  const auto none = [](int) {};
  use({views, {}, ReadyCallback(none, read, none, release)});
}

template <class T>
static void widen(FieldRange& range, const TensorRef& tensor) {
  const auto* values = static_cast<const T*>(tensor.data);
  const bool each = std::ssize(range.each_lowest) == tensor.elements();
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const auto value = static_cast<double>(values[k]);
    range.lowest = std::min(range.lowest, value);
    range.highest = std::max(range.highest, value);
    if (!each) continue;
    range.each_lowest[k] = std::min(range.each_lowest[k], value);
    range.each_highest[k] = std::max(range.each_highest[k], value);
  }
}

static void widen(FieldRange& range, const TensorRef& tensor) {
  switch (tensor.dtype) {
    case DType::f64:
      return widen<double>(range, tensor);
    case DType::f32:
      return widen<float>(range, tensor);
    case DType::i64:
      return widen<std::int64_t>(range, tensor);
    case DType::i32:
      return widen<std::int32_t>(range, tensor);
    case DType::u32:
      return widen<std::uint32_t>(range, tensor);
    case DType::i8:
      return widen<std::int8_t>(range, tensor);
    case DType::u8:
      return widen<std::uint8_t>(range, tensor);
    case DType::bf16:
      break;
  }
}

std::vector<FieldRange> field_ranges(Dataset& data, std::int64_t samples) {
  constexpr std::int64_t row = 64, small = 256, samples_if_small = 4096, at_once = 256;
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<FieldRange> out;
  std::int64_t values = 0;
  bool sized = true;  // all samples have the same number of values
  for (const auto& field : data.fields()) {
    out.push_back({field, none, -none});
    for (const auto extent : field.shape) sized = sized && extent >= 0;
    values += std::accumulate(field.shape.begin(), field.shape.end(), std::int64_t{1}, std::multiplies<>());
    if (field.shape.size() != 1 || field.shape[0] < 2 || field.shape[0] > row) continue;
    out.back().each_lowest.assign(static_cast<std::size_t>(field.shape[0]), none);
    out.back().each_highest.assign(static_cast<std::size_t>(field.shape[0]), -none);
  }
  if (sized && values <= small) samples = std::max(samples, samples_if_small);
  const std::int64_t n = std::min(samples, data.size());
  for (std::int64_t at = 0; at < n; at += at_once) {
    std::vector<std::int64_t> ids;
    for (std::int64_t k = at; k < std::min(n, at + at_once); ++k) ids.push_back(data.size() * k / n);
    for (const auto& sample : data.read(ids))
      for (auto& range : out) {
        const auto found = sample->fields.find(range.info.name);
        if (found != sample->fields.end() && found->second.contiguous()) widen(range, found->second);
      }
  }
  return out;
}

}  // namespace cambium::train
