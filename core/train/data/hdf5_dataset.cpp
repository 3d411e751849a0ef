#include "core/train/data/hdf5_dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/probe.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/data/shard_files.hpp"

namespace cambium::train {

namespace {

std::int64_t row_elements(const FieldInfo& field) {
  return std::accumulate(field.shape.begin(), field.shape.end(), std::int64_t{1}, std::multiplies<>());
}
std::int64_t row_bytes(const FieldInfo& field) { return row_elements(field) * size_of(field.dtype); }
/// Fields are aligned to cache lines.
std::int64_t room(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

TensorRef tensor(void* data, const FieldInfo& field) {
  TensorRef t;
  t.data = data;
  t.dtype = field.dtype;
  for (auto extent : field.shape) t.shape[t.rank++] = extent;
  for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
  return t;
}

/// First non-finite element, as text; empty if there is none.
template <class T>
std::string bad_number(const TensorRef& t) {
  const T* const values = static_cast<const T*>(t.data);
  for (std::int64_t k = 0; k < t.elements(); ++k)
    if (!std::isfinite(values[k])) return fmt::format("{}", static_cast<double>(values[k]));
  return "";
}

constexpr std::int64_t largest_read = std::int64_t{64} << 20;  ///< bytes per read call

}  // namespace

/// Rows of one array, as read.
struct Hdf5Dataset::Block {
  std::vector<char> bytes;
  std::int64_t first = 0;
  std::map<std::int64_t, double> missing = {};  ///< rows with missing values, each with one of them as stored
};

void Hdf5Dataset::Field::describe(deck::Describe<Field>& d) {
  d("name", &Field::name, "field name that networks refer to").example("energy");
  d("array", &Field::array, "path of the array in the files; default: the field's name").def("");
  d("unit", &Field::unit, "unit that the array must have (its attribute `unit`); default: any").example("eV");
  d("fill", &Field::fill, "additional fill values that mark missing data; attributes of the array are always honoured")
      .def({});
  d("valid_range", &Field::valid_range,
    "units of the attributes valid_range, valid_min and valid_max of packed data; as_file: packed units, refused if "
    "they are real numbers on packed integers")
      .options({{"as_file", io::cf::ValidRange::as_file},
                {"stored", io::cf::ValidRange::stored},
                {"unpacked", io::cf::ValidRange::unpacked},
                {"ignored", io::cf::ValidRange::ignored}})
      .def(io::cf::ValidRange::as_file);
}

void Hdf5Dataset::Params::describe(deck::Describe<Params>& d) {
  d("files", &Params::files, "HDF5 files or patterns, in order").example("[data/train_*.h5]");
  d("fields", &Params::fields, "arrays that make up a sample; their first axis counts samples")
      .example("[{name: energy}]");
  d("range", &Params::range, "index range [first, end) of the samples, counted over all files; default: all")
      .example("[0, 8000]");
  d("scan", &Params::scan, "scan of all data at the start, to find invalid values before training").def(false);
  d("cache", &Params::cache,
    "largest size in MiB of a data set that stays in memory once it was read; 0: samples are read again in every epoch")
      .at_least(0)
      .def(256);
  d.check([](const Params& p) -> std::string {
    if (p.files.empty()) return "files: name at least one HDF5 file or pattern";
    if (p.fields.empty()) return "fields: name at least one array";
    for (std::size_t i = 0; i < p.fields.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (p.fields[i].name == p.fields[j].name) return fmt::format("fields: '{}' is given twice", p.fields[i].name);
    return "";
  });
}

WantedField Hdf5Dataset::wanted(std::size_t k) const {
  const Field& field = params_.fields[k];
  return {field.name,
          field.array.empty() ? field.name : field.array,
          field.unit.value_or("?"),
          {field.fill, field.valid_range}};
}

/// With several files, the message names the file.
static std::string key_of(const std::vector<std::string>& files) { return files.size() == 1 ? "files[0]" : "files"; }

void Hdf5Dataset::open(Context& context) {
  std::string text;
  io::on_root(context.comm, [&] {
    std::vector<WantedField> fields;
    for (std::size_t k = 0; k < params_.fields.size(); ++k) fields.push_back(wanted(k));
    const auto files = deck::about_key("hdf5.files", key_of(params_.files), [&] {
      auto found = shard_files(params_.files);
      io::probe_hdf5(found);
      return found;
    });
    const Shards found = look_at(files, fields);
    for (const auto& remark : found.remarks) context.log.warn(remark);
    text = to_text(found);
  });
  context.comm.broadcast(text);
  shards_ = shards_from(text);
  for (const auto& shard : shards_.shards) io::trust_file(shard.path);  // rank 0 has checked it
  arrays_.clear();
  marked_.clear();
  files_.clear();
  files_.resize(shards_.shards.size());
  if (shards_.rows() == 0)
    throw KeyError(
        "hdf5.files.empty", "files",
        fmt::format("'{}' holds no samples: the first axis of '{}' has the length 0; name files with samples",
                    shards_.shards.front().path, shards_.paths.front()));
  const auto range = params_.range.value_or(std::array<std::int64_t, 2>{0, shards_.rows()});
  first_ = range[0];
  last_ = range[1];
  if (first_ < 0 || last_ > shards_.rows() || first_ >= last_)
    throw KeyError("hdf5.range", "range",
                   fmt::format("range [{}, {}]: the files hold {} samples; give 0 <= first < last <= {}", first_, last_,
                               shards_.rows(), shards_.rows()));
  constexpr double mib = 1048576.0;
  const bool small = static_cast<double>(sample_bytes()) * static_cast<double>(size()) <= params_.cache * mib;
  cached_.assign(small ? static_cast<std::size_t>(size()) : 0, nullptr);
  if (!params_.scan) return;
  io::on_every_rank(context.comm, [&] {
    const std::int64_t begin = size() * context.comm.rank() / context.comm.size();
    const std::int64_t end = size() * (context.comm.rank() + 1) / context.comm.size();
    for (std::int64_t at = begin, next; at < end; at = next) {
      next = std::min(std::max(chunk_of(at).second, at + 256), end);
      std::vector<std::int64_t> ids(next - at);
      std::iota(ids.begin(), ids.end(), at);
      read(ids);
    }
  });
}

std::pair<std::int64_t, std::int64_t> Hdf5Dataset::chunk_of(std::int64_t id) const {
  const auto& shard = shards_.shards[shards_.shard_of(id + first_)];
  std::size_t largest = 0;
  for (std::size_t k = 1; k < shards_.fields.size(); ++k)
    if (row_bytes(shards_.fields[k]) > row_bytes(shards_.fields[largest])) largest = k;
  const std::int64_t rows = shard.arrays[largest].chunk_rows;
  if (rows <= 1) return {id, id + 1};
  const std::int64_t begin = shard.first + (id + first_ - shard.first) / rows * rows;
  const std::int64_t end = std::min(begin + rows, shard.first + shard.rows);
  return {std::max(begin, first_) - first_, std::min(end, last_) - first_};
}

const io::File& Hdf5Dataset::file(std::size_t shard) {
  constexpr std::ptrdiff_t most = 64;  // open at the same time
  if (!files_[shard]) {
    if (std::count_if(files_.begin(), files_.end(), [](const auto& f) { return f.has_value(); }) >= most) {
      arrays_.clear();
      marked_.clear();
      for (auto& other : files_) other.reset();
    }
    files_[shard].emplace(io::File::open(shards_.shards[shard].path, io::File::Reads::exact));
  }
  return *files_[shard];
}

Hdf5Dataset::Block Hdf5Dataset::read_block(std::size_t shard, std::size_t field, std::int64_t first,
                                           std::int64_t rows) {
  const auto& info = shards_.fields[field];
  Block out{std::vector<char>(rows * row_bytes(info)), first};
  TensorRef block;
  block.data = out.bytes.data();
  block.dtype = info.dtype;
  block.shape[block.rank++] = rows;
  for (auto extent : info.shape) block.shape[block.rank++] = extent;
  for (std::int64_t stride = 1, k = block.rank - 1; k >= 0; stride *= block.shape[k--]) block.stride[k] = stride;
  std::vector<std::int64_t> start(block.rank, 0);
  start[0] = first;
  const io::File& in = file(shard);  // may close other files and their arrays
  const std::pair key(shard, field);
  auto found = arrays_.find(key);
  if (found == arrays_.end()) found = arrays_.emplace(key, in.dataset(shards_.paths[field])).first;
  const auto& array = shards_.shards[shard].arrays[field];
  if (array.marked) {
    if (!marked_.contains(key)) marked_.emplace(key, *MarkedArray::of(in, found->second, wanted(field).decoding));
    out.missing = marked_.at(key).read(first, found->second, block);
  } else {
    found->second.read_block(start, block);
  }
  if (array.chunk_rows == 0)
    bytes_read_ += rows * row_bytes(info);
  else
    bytes_read_ +=
        ((first + rows - 1) / array.chunk_rows - first / array.chunk_rows + 1) * array.chunk_parts * array.chunk_bytes;
  return out;
}

void Hdf5Dataset::require_finite(std::size_t shard, std::size_t field, const TensorRef& row,
                                 std::int64_t number) const {
  const std::string bad = row.dtype == DType::f64   ? bad_number<double>(row)
                          : row.dtype == DType::f32 ? bad_number<float>(row)
                                                    : "";
  if (bad.empty()) return;
  const auto& s = shards_.shards[shard];
  throw InputError(
      fmt::format("'{}' holds {} in array '{}', sample {} (row {} of the file); correct it or leave the sample out",
                  s.path, bad, shards_.paths[field], number - first_, number - s.first));
}

void Hdf5Dataset::require_there(std::size_t shard, std::size_t field, const Block& block, std::int64_t row) const {
  const auto found = block.missing.find(row);
  if (found == block.missing.end()) return;
  const auto& s = shards_.shards[shard];
  throw InputError(fmt::format(
      "'{}' holds {} in array '{}', sample {} (row {} of the file), which is missing there by _FillValue, "
      "missing_value, a valid range or the fill of its type; leave the sample out, or correct the attributes "
      "(ncatted)",
      s.path, number_text(found->second), shards_.paths[field], row + s.first - first_, row));
}

/// Size in memory.
std::int64_t Hdf5Dataset::sample_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& field : shards_.fields) bytes += room(row_bytes(field));
  return bytes;
}

/// Reads a run of samples of one shard at once and returns the requested ones.
void Hdf5Dataset::read_run(std::span<const std::int64_t> ids, std::vector<SamplePtr>& out) {
  const std::size_t shard = shards_.shard_of(ids.front() + first_);
  const std::int64_t offset = shards_.shards[shard].first - first_;
  const std::int64_t size = sample_bytes();
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < shards_.fields.size(); ++k)
    blocks.push_back(read_block(shard, k, ids.front() - offset, ids.back() - ids.front() + 1));
  for (const std::int64_t id : ids) {
    auto sample = std::make_shared<Sample>();
    sample->id = id;
    const std::shared_ptr<char> memory(
        static_cast<char*>(::operator new (static_cast<std::size_t>(size), std::align_val_t{64})),
        [](char* p) { ::operator delete (p, std::align_val_t{64}); });
    char* at = memory.get();
    for (std::size_t k = 0; k < shards_.fields.size(); ++k) {
      const std::int64_t bytes = row_bytes(shards_.fields[k]);
      std::memcpy(at, blocks[k].bytes.data() + (id - ids.front()) * bytes, static_cast<std::size_t>(bytes));
      const TensorRef row = tensor(at, shards_.fields[k]);
      require_there(shard, k, blocks[k], id - offset);
      require_finite(shard, k, row, id + first_);
      sample->fields.emplace(shards_.fields[k].name, row);
      at += room(bytes);
    }
    sample->bytes = size;
    sample->storage = memory;
    out.push_back(std::move(sample));
  }
}

std::vector<SamplePtr> Hdf5Dataset::read(std::span<const std::int64_t> ids) {
  const std::lock_guard lock(reading_);
  if (cached_.empty()) return read_files(ids);
  std::vector<std::int64_t> absent;
  for (const std::int64_t id : ids)
    if (!cached_[static_cast<std::size_t>(id)]) absent.push_back(id);
  for (auto& sample : read_files(absent)) cached_[static_cast<std::size_t>(sample->id)] = std::move(sample);
  std::vector<SamplePtr> out;
  for (const std::int64_t id : ids) out.push_back(cached_[static_cast<std::size_t>(id)]);
  return out;
}

std::vector<SamplePtr> Hdf5Dataset::read_files(std::span<const std::int64_t> ids) {
  std::int64_t bytes = 1;
  for (const auto& field : shards_.fields) bytes += row_bytes(field);
  std::vector<SamplePtr> out;
  for (std::size_t begin = 0, end; begin < ids.size(); begin = end) {
    const auto& shard = shards_.shards[shards_.shard_of(ids[begin] + first_)];
    const std::int64_t limit = shard.first + shard.rows - first_;
    for (end = begin + 1; end < ids.size(); ++end) {
      const bool near = ids[end] == ids[end - 1] + 1 || ids[end] < chunk_of(ids[end - 1]).second;
      if (!near || ids[end] >= limit || (ids[end] - ids[begin] + 1) * bytes > largest_read) break;
    }
    read_run(ids.subspan(begin, end - begin), out);
  }
  return out;
}

}  // namespace cambium::train
