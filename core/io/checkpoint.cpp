#include "core/io/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5_image.hpp"
#include "core/io/hdf5/h5_recode.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {
namespace {

constexpr int format = 1;

const char* place_name(At at) {
  switch (at) {
    case At::particle:
      return "particle";
    case At::cell:
      return "cell";
    case At::node:
      return "node";
    case At::global:
      return "global";
  }
  throw InternalError("a field belongs to no kind of entity");
}

/// A field to store, with its offset among all ranks' rows.
struct Stored {
  const FieldSpec* field;
  TensorRef rows;
  std::vector<std::int64_t> counts;  ///< per rank; empty for global fields
  std::int64_t first = 0;            ///< of this rank
  std::vector<std::int64_t> shape() const {
    std::vector<std::int64_t> all(rows.shape, rows.shape + rows.rank);
    if (!counts.empty()) all[0] = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return all;
  }
};

/// Collective: the fields to store, with sizes agreed on by all ranks.
std::vector<Stored> stored_fields(const State& state, const Comm& comm) {
  std::vector<Stored> all;
  for (const auto& field : state.fields()) {
    if (!field.restart) continue;
    Stored s{&field, field.tensor(), {}};
    if (field.at != At::global) {
      s.counts = comm.all_gather(s.rows.shape[0]);
      s.first = std::accumulate(s.counts.begin(), s.counts.begin() + comm.rank(), std::int64_t{0});
    }
    all.push_back(std::move(s));
  }
  return all;
}

void write_head(File& file, const State& state, const Provenance& provenance) {
  write_provenance(file, provenance);
  Group head = file.create_group("/checkpoint");
  head.set_attribute("format", format);
  head.set_attribute("step", state.step);
  head.set_attribute("time", state.time);
  head.set_attribute("ranks", provenance.ranks);
  const Box& box = state.particles.box;
  file.write("/box/vectors", tensor_of(&box.h[0][0], {3, 3}));
  file.write("/box/origin", tensor_of(&box.origin[0], {3}));
  std::vector<std::string> symbols;
  std::vector<double> masses;
  for (const auto& species : state.particles.species) {
    symbols.push_back(species.symbol);
    masses.push_back(species.mass);
  }
  if (symbols.empty()) return;
  file.write("/species/symbol", symbols);
  file.write("/species/mass", masses).set_attribute("unit", "g/mol");
}

/// Makes the datasets with their room; rows follow.
void allocate_fields(File& file, const std::vector<Stored>& fields) {
  for (const auto& s : fields) {
    Dataset set = file.allocate("/fields/" + s.field->name, s.rows.dtype, s.shape());
    set.set_attribute("unit", s.field->unit);
    set.set_attribute("at", place_name(s.field->at));
    if (!s.field->doc.empty()) set.set_attribute("doc", s.field->doc);
    const std::string ranks = std::string("/ranks/") + place_name(s.field->at);
    if (s.counts.empty() || file.exists(ranks)) continue;
    file.write(ranks, s.counts);
  }
}

/// Rows through rank 0. `file` is null on other ranks.
void gather_field(File* file, const Stored& s, const Comm& comm) {
  if (s.counts.empty()) {
    if (!file) return;
    const OnHost value(s.rows);
    file->dataset("/fields/" + s.field->name).write_block(std::vector<std::int64_t>(s.rows.rank, 0), value.tensor());
    return;
  }
  gather_rows(comm, s.rows, [&](std::int64_t first, const TensorRef& piece) {
    std::vector<std::int64_t> start(piece.rank, 0);
    start[0] = first;
    file->dataset("/fields/" + s.field->name).write_block(start, piece);
  });
}

/// Allocates the blocks of a file that MPI-IO will fill: a full disk is better detected here, where it can be reported,
/// than inside a collective write. File systems without preallocation skip this.
void reserve(const std::string& part, const std::string& path) {
  const int descriptor = ::open(part.c_str(), O_WRONLY);
  if (descriptor < 0) return;
  const int failed = posix_fallocate(descriptor, 0, static_cast<off_t>(std::filesystem::file_size(part)));
  ::close(descriptor);
  if (failed == ENOSPC || failed == EFBIG || failed == EDQUOT) refuse_write(path, std::strerror(failed));
}

/// Rows by all ranks at once.
void write_collectively(const std::string& part, const std::vector<Stored>& fields, const Comm& comm) {
  File file = File::open_collective(part, comm);
  for (const auto& s : fields) {
    const OnHost value(s.rows);
    TensorRef rows = value.tensor();
    std::vector<std::int64_t> start(rows.rank, 0);
    if (s.counts.empty() && !comm.root()) {
      if (rows.rank == 0) continue;  // a single value: the root writes it independently
      rows.shape[0] = 0;
    } else if (!s.counts.empty()) {
      start[0] = s.first;
    }
    file.dataset("/fields/" + s.field->name)
        .write_block(start, rows, rows.rank ? Dataset::Transfer::collective : Dataset::Transfer::independent);
  }
  file.close();
}

/// The finished file in fewer bytes, with a seal of its own.
void make_smaller(const std::string& part, const Compression& compress) {
  const std::string smaller = part + ".smaller";
  std::filesystem::remove(smaller);
  try {
    require_bound(part, smaller, compress, compress_file(part, smaller, compress));
  } catch (...) {
    std::filesystem::remove(smaller);
    throw;
  }
  std::filesystem::rename(smaller, part);
}

}  // namespace

void write_checkpoint(const std::string& path, const State& state, const Comm& comm, const Provenance& provenance,
                      const std::function<void(Group&)>& save, Transfer transfer,
                      const std::optional<Compression>& compress) {
  const auto fields = stored_fields(state, comm);
  std::optional<AtomicFile> target;
  std::optional<File> file;
  on_root(comm, [&] {
    target.emplace(path);
    file.emplace(File::create(target->part(), path));
    write_head(*file, state, provenance);
    allocate_fields(*file, fields);
  });
  if (comm.root()) {
    save(*file);
  } else {
    File nowhere = File::in_memory(path);
    save(nowhere);
  }
  const bool gather = transfer == Transfer::gather;
  if (gather)
    for (const auto& s : fields) gather_field(file ? &*file : nullptr, s, comm);
  on_root(comm, [&] {
    file->close();
    if (gather && !compress)
      seal(target->part(), path);
    else if (!gather)
      reserve(target->part(), path);
  });
  if (!gather) {
    write_collectively(path + ".part", fields, comm);
    if (!compress) seal(path + ".part", path, comm);
  }
  on_root(comm, [&] {
    if (compress) make_smaller(target->part(), *compress);
    target->commit();
  });
}

void write_checkpoint_later(const std::string& path, const State& state, const Comm& comm, const Provenance& provenance,
                            const std::function<void(Group&)>& save, BackgroundFile& disk,
                            std::function<void()> allowed, std::function<void()> after) {
  on_root(comm, [&] { disk.wait(); });
  const auto fields = stored_fields(state, comm);
  FileInMemory file(path);
  on_root(comm, [&] {
    write_head(file, state, provenance);
    allocate_fields(file, fields);
  });
  save(file);
  for (const auto& s : fields) gather_field(comm.root() ? &file : nullptr, s, comm);
  on_root(comm, [&] { disk.write(path, file.sealed_image(), std::move(allowed), std::move(after)); });
}

namespace {

/// Other restart files in the folder of one that cannot be used.
std::string alternatives(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code ignored;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("restart.") && name.ends_with(".h5") && name != fs::path(path).filename())
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? "" : fmt::format("; the folder also holds {}", fmt::join(names, ", "));
}

}  // namespace

bool require_sound(const std::string& path, const Comm& comm) {
  const Seal found = seal_of(path, comm);
  if (found == Seal::broken)
    throw InputError(
        fmt::format("'{}' is damaged: what it holds is not what was written; remove it, and the run resumes from an "
                    "earlier checkpoint, or afresh{}",
                    path, alternatives(path)));
  return found == Seal::sound;
}

namespace {

File open_checkpoint(const std::string& path) {
  try {
    return File::open(path);
  } catch (const InputError& error) {
    throw InputError(error.what() + alternatives(path));
  }
}

}  // namespace

Checkpoint::Checkpoint(const std::string& path, const Comm& comm) : comm_(comm), sealed_(require_sound(path, comm)) {
  on_every_rank(comm, [&] {
    file_.emplace(open_checkpoint(path));
    if (!file_->is_group("/checkpoint"))
      throw InputError(
          fmt::format("'{}' is not a checkpoint of Cambium: it has no group '/checkpoint', it holds: {}; give a file "
                      "named restart.<step>.h5 from a run directory",
                      path, fmt::join(file_->list(), ", ")));
    const Group head = file_->group("/checkpoint");
    const int found = head.attribute<int>("format");
    if (found != format)
      throw InputError(fmt::format(
          "'{}' is a checkpoint of format {}, this Cambium reads format {}; resume with the version that wrote it ({})",
          path, found, format, read_provenance(*file_).version));
    step_ = head.attribute<std::int64_t>("step");
    time_ = head.attribute<double>("time");
    ranks_ = head.attribute<std::int64_t>("ranks");
    same_ranks_ = ranks_ == comm.size();
    if (step_ < 0 || !std::isfinite(time_) || ranks_ < 1)
      throw InputError(fmt::format("'{}' has step {}, time {} and {} ranks; the file is damaged or was changed{}", path,
                                   step_, time_, ranks_, alternatives(path)));
  });
}

constexpr std::int64_t most_rows = std::int64_t{1} << 40;  // of a rank; more is a damaged file

Checkpoint::Share Checkpoint::share(At at) const {
  const std::string name = std::string("/ranks/") + place_name(at);
  if (!file_->exists(name)) return {};
  const auto counts = file_->read<std::vector<std::int64_t>>(name);
  const bool counted =
      std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0 && n <= most_rows; });
  if (std::ssize(counts) != ranks_ || !counted)
    throw InputError(fmt::format("'{}': {} does not hold the rows of {} ranks; the file is damaged or was changed{}",
                                 file_->file(), name, ranks_, alternatives(file_->file())));
  if (same_ranks_)
    return {std::accumulate(counts.begin(), counts.begin() + comm_.rank(), std::int64_t{0}), counts[comm_.rank()]};
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t first = all * comm_.rank() / comm_.size();
  return {first, all * (comm_.rank() + 1) / comm_.size() - first};
}

std::int64_t Checkpoint::rows(At at) const { return share(at).rows; }

Checkpoint::Share Checkpoint::share_of(const State& state, At at) const {
  std::int64_t rows = 0;
  for (const auto& field : state.fields())
    if (field.restart && field.at == at) rows = field.tensor().shape[0];
  const std::int64_t written = comm_.sum(share(at).rows);
  return written == comm_.sum(rows) ? Share{comm_.exclusive_sum(rows), rows} : Share{0, -1};
}

void Checkpoint::restore_field(const FieldSpec& field, Share mine) const {
  const std::string name = "/fields/" + field.name;
  if (!file_->exists(name))
    throw InputError(fmt::format(
        "the checkpoint '{}' has no field '{}' (it has: {}): it was written by another physics; resume with the deck "
        "that wrote it or start afresh",
        file_->file(), field.name,
        fmt::join(file_->exists("/fields") ? file_->group("/fields").list() : std::vector<std::string>{}, ", ")));
  const TensorRef target = field.tensor();
  const Dataset set = file_->dataset(name);
  std::vector<std::int64_t> start(target.rank, 0), expected(target.shape, target.shape + target.rank);
  auto found = set.shape();
  if (field.at != At::global && !found.empty()) {
    if (target.shape[0] != mine.rows || mine.first + mine.rows > found[0])
      found.clear();
    else
      found[0] = expected[0];
    start[0] = mine.first;
  }
  if (found != expected || set.dtype() != target.dtype)
    throw InputError(
        fmt::format("field '{}' of the checkpoint '{}' has rows of another shape or type than this deck needs; resume "
                    "with the deck that wrote it or start afresh",
                    field.name, file_->file()));
  std::vector<char> bytes(target.elements() * size_of(target.dtype));
  TensorRef packed = target;
  packed.data = bytes.data();
  packed.space = Space::host;
  for (std::int64_t k = packed.rank - 1, stride = 1; k >= 0; stride *= packed.shape[k--]) packed.stride[k] = stride;
  set.read_block(start, packed);
  copy_from_host(bytes.data(), target);
}

void Checkpoint::restore(State& state, const std::function<void(std::int64_t)>& resize) const {
  state.step = step_;
  state.time = time_;
  Particles& particles = state.particles;
  const auto vectors = file_->read<std::vector<double>>("/box/vectors"),
             origin = file_->read<std::vector<double>>("/box/origin");
  std::vector<std::string> symbols;
  std::vector<double> masses;
  if (file_->exists("/species")) {
    symbols = file_->read<std::vector<std::string>>("/species/symbol");
    masses = file_->read<std::vector<double>>("/species/mass");
  }
  if (vectors.size() != 9 || origin.size() != 3 || symbols.size() != masses.size())
    throw InputError(fmt::format(
        "'{}' holds a cell of {} and {} values, {} species and {} masses; the file is damaged or was changed{}",
        file_->file(), vectors.size(), origin.size(), symbols.size(), masses.size(), alternatives(file_->file())));
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) particles.box.h[r][k] = vectors[3 * r + k];
  for (int k = 0; k < 3; ++k) particles.box.origin[k] = origin[k];
  particles.species.clear();
  for (std::size_t k = 0; k < symbols.size(); ++k) particles.species.push_back({symbols[k], masses[k]});
  resize(rows(At::particle));
  const Share particle = share(At::particle), cell = share_of(state, At::cell), node = share_of(state, At::node);
  for (const auto& field : state.fields())
    if (field.restart) restore_field(field, field.at == At::cell ? cell : field.at == At::node ? node : particle);
}

}  // namespace cambium::io
