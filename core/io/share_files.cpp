#include "core/io/share_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/gather.hpp"

namespace cambium::io {

namespace fs = std::filesystem;

namespace {

constexpr int share_format = 1;
constexpr std::int64_t seal_bytes = 32;

struct ShareHeader {
  std::array<char, 16> name{'C', 'a', 'm', 'b', 'i', 'u', 'm', ' ', 's', 'h', 'a', 'r', 'e', '\n'};
  std::int32_t version = share_format, rank = 0, ranks = 1, unused = 0;
  std::array<char, 32> room{};
};
static_assert(sizeof(ShareHeader) == 64);

constexpr std::pair<DType, const char*> type_names[] = {
    {DType::f64, "float64"}, {DType::f32, "float32"}, {DType::bf16, "bfloat16"}};

const char* type_name(DType dtype) {
  for (const auto& [type, name] : type_names)
    if (type == dtype) return name;
  throw InternalError("per-rank files hold no values of this type");
}

std::string share_path(const std::string& manifest, const std::string& token, int rank) {
  return (fs::path(shares_folder(manifest)) / fmt::format("{}.{:05}", token, rank)).string();
}

/// Size and checksum stored in a seal.
std::array<std::int64_t, 2> said_by(const char* seal) {
  std::array<std::int64_t, 2> out;
  std::memcpy(out.data(), seal + 16, sizeof out);
  return out;
}

std::array<std::int64_t, 2> seal_in(const std::string& path) {
  std::array<char, seal_bytes> last{};
  const int file = ::open(path.c_str(), O_RDONLY);
  const off_t end = file < 0 ? 0 : ::lseek(file, 0, SEEK_END);
  const bool there = end >= seal_bytes && ::pread(file, last.data(), last.size(), end - seal_bytes) == seal_bytes;
  if (file >= 0) ::close(file);
  return there ? said_by(last.data()) : std::array<std::int64_t, 2>{-1, 0};
}

std::string random_name() {
  std::random_device dice;
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  return fmt::format("{:08x}{:08x}", dice(), static_cast<std::uint32_t>(now ^ (now >> 32)));
}

}  // namespace

std::string shares_folder(const std::string& manifest) { return fs::path(manifest).replace_extension("shares"); }

/// A rank file that is written as data arrive.
struct ShareWriter::Disk {
  explicit Disk(const std::string& path) : target(path), named(path) {
    file = ::open(target.part().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) refuse_write(named, std::strerror(errno));
  }
  ~Disk() { close(); }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  void write(const void* data, std::size_t size) {
    const char* from = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t put = ::write(file, from, size);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) refuse_write(named, std::strerror(errno));
      from += put;
      size -= static_cast<std::size_t>(put);
    }
  }
  void close() {
    if (file >= 0) ::close(file);
    file = -1;
  }
  AtomicFile target;
  std::string named;
  int file = -1;
};

ShareWriter::ShareWriter(std::string manifest, std::vector<SharedArray> arrays, std::vector<Extent> extents,
                         std::optional<std::vector<char>> behind, const Comm& comm)
    : comm_(comm), manifest_(std::move(manifest)), arrays_(std::move(arrays)), extents_(std::move(extents)) {
  if (comm.root()) token_ = random_name();
  comm.broadcast(token_);
  path_ = share_path(manifest_, token_, comm.rank());
  bytes_ = sizeof(ShareHeader);
  for (const auto& array : arrays_)
    for (const auto& extent : extents_) bytes_ += extent.count * size_of(array.dtype);
  on_every_rank(comm, [&] {
    std::error_code error;  // each rank: the memory of a node is visible to its own ranks only
    fs::create_directories(shares_folder(manifest_), error);
    if (error) refuse_write(shares_folder(manifest_), error.message());
    if (behind) {
      memory_ = std::move(*behind);
      memory_.clear();
      memory_.reserve(static_cast<std::size_t>(bytes_ + seal_bytes));
    } else {
      disk_ = std::make_unique<Disk>(path_);
    }
    ShareHeader header;
    header.rank = comm.rank();
    header.ranks = comm.size();
    put(std::as_bytes(std::span(&header, 1)));
  });
}

ShareWriter::~ShareWriter() = default;

void ShareWriter::put(std::span<const std::byte> numbers) {
  put_ += std::ssize(numbers);
  if (disk_) return disk_->write(numbers.data(), numbers.size());
  const auto* first = reinterpret_cast<const char*>(numbers.data());
  memory_.insert(memory_.end(), first, first + numbers.size());
}

void ShareWriter::require_all_put() const {
  if (put_ != bytes_) throw InternalError("a shard received another number of bytes than its extents have");
}

void ShareWriter::start() {
  require_all_put();
  thread_ = std::async(std::launch::async, [this] {
    seal(memory_);
    sealed_ = said_by(memory_.data() + memory_.size() - seal_bytes);
    write_file_atomically(path_, std::string_view(memory_.data(), memory_.size()));
  });
}

ShareWriter::State ShareWriter::state() {
  if (!thread_.valid()) return State::done;
  return thread_.wait_for(std::chrono::seconds(0)) == std::future_status::ready ? State::done : State::running;
}

/// Seals a file that was written as its data arrived, and gives it its name.
void ShareWriter::complete() {
  require_all_put();
  disk_->close();
  seal(disk_->target.part(), path_);
  sealed_ = seal_in(disk_->target.part());
  disk_->target.commit();
  disk_.reset();
}

void ShareWriter::finish() {
  on_every_rank(comm_, [&] {
    if (disk_)
      complete();
    else if (thread_.valid())
      thread_.get();
    else
      throw InternalError("the data of a shard are in memory, and no thread writes them");
  });
  gather_index();
}

void ShareWriter::gather_index() {
  std::vector<std::int64_t> mine;
  for (const auto& extent : extents_) mine.insert(mine.end(), {extent.first, extent.count});
  sizes_ = comm_.all_gather(sealed_[0]);
  checksums_ = comm_.all_gather(sealed_[1]);
  lengths_ = comm_.all_gather(std::ssize(extents_));
  all_extents_ = gather(mine, comm_);
}

void ShareWriter::describe(Group& manifest) const {
  Group out = manifest.create_group("/shares");
  out.set_attribute("format", share_format);
  out.set_attribute("files", token_);
  std::vector<std::string> names, types;
  for (const auto& array : arrays_) {
    names.push_back(array.name);
    types.emplace_back(type_name(array.dtype));
  }
  out.write("arrays", names);
  out.write("types", types);
  out.write("bytes", sizes_);
  out.write("checksums", checksums_);
  out.write("lengths", lengths_);
  out.write("extents", all_extents_);
}

void ShareWriter::remove_others() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(shares_folder(manifest_), ignored))
    if (!entry.path().filename().string().starts_with(token_)) fs::remove(entry.path(), ignored);
}

struct ShareReader::Open {
  ~Open() { close(); }
  Open() = default;
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  void close() {
    if (file >= 0) ::close(file);
    file = -1;
  }
  int file = -1, rank = -1;
};

ShareReader::ShareReader(const File& file) : manifest_(file.file()), open_(std::make_unique<Open>()) {
  const Group list = file.group("/shares");
  if (const int found = list.attribute<int>("format"); found != share_format)
    throw InputError(
        fmt::format("'{}' stores its arrays in shards of format {}, this Cambium reads format {}; resume with the "
                    "version that wrote it",
                    manifest_, found, share_format));
  token_ = list.attribute<std::string>("files");
  const auto names = list.read<std::vector<std::string>>("arrays"),
             types = list.read<std::vector<std::string>>("types");
  sizes_ = list.read<std::vector<std::int64_t>>("bytes");
  checksums_ = list.read<std::vector<std::int64_t>>("checksums");
  const auto lengths = list.read<std::vector<std::int64_t>>("lengths"),
             extents = list.read<std::vector<std::int64_t>>("extents");
  const auto sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  const bool fits = names.size() == types.size() && !sizes_.empty() && sizes_.size() == checksums_.size() &&
                    sizes_.size() == lengths.size() && 2 * sum == std::ssize(extents) &&
                    std::all_of(lengths.begin(), lengths.end(), [](auto n) { return n >= 0; }) &&
                    std::all_of(extents.begin(), extents.end(), [](auto n) { return n >= 0; });
  for (std::size_t k = 0; fits && k < names.size(); ++k)
    for (const auto& [type, name] : type_names)
      if (types[k] == name) arrays_.push_back({names[k], type});
  if (!fits || arrays_.size() != names.size())
    throw InputError(fmt::format(
        "'{}' lists inconsistent shards; the file is damaged or was changed, resume from another one", manifest_));
  make_pieces(lengths, extents);
}

ShareReader::~ShareReader() = default;
ShareReader::ShareReader(ShareReader&&) noexcept = default;

void ShareReader::make_pieces(const std::vector<std::int64_t>& lengths, const std::vector<std::int64_t>& extents) {
  std::size_t at = 0;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    std::int64_t begin = 0;
    for (std::int64_t k = 0; k < lengths[rank]; ++k, at += 2) {
      pieces_.push_back({extents[at], extents[at + 1], static_cast<int>(rank), begin});
      begin += extents[at + 1];
    }
    counts_.push_back(begin);
    elements_ += begin;
  }
  std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
}

std::string ShareReader::path(int rank) const { return share_path(manifest_, token_, rank); }

bool ShareReader::holds(const std::string& array) const {
  return std::any_of(arrays_.begin(), arrays_.end(), [&](const auto& one) { return one.name == array; });
}

std::string ShareReader::damage(int rank) const {
  const auto named = fmt::format("shard {} of {} ('{}')", rank + 1, ranks(), path(rank));
  const auto at = static_cast<std::size_t>(rank);
  if (!fs::exists(path(rank))) return named + " is missing";
  if (seal_of(path(rank)) != Seal::sound) return named + " is damaged: what it holds is not what was written";
  if (seal_in(path(rank)) != std::array{sizes_[at], checksums_[at]}) return named + " belongs to another checkpoint";
  return {};
}

void ShareReader::read(const std::string& name, Extent extent, DType dtype, std::byte* to) {
  const auto array = std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& one) { return one.name == name; });
  if (array == arrays_.end() || array->dtype != dtype)
    throw InputError(fmt::format(
        "'{}' has no array {} of this type in its shards; resume with the model and optimizer that wrote it", manifest_,
        name));
  const auto k = static_cast<std::size_t>(array - arrays_.begin());
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), extent.first,
                                [](std::int64_t first, const Piece& one) { return first < one.first; });
  if (piece != pieces_.begin()) --piece;
  while (extent.count > 0) {
    if (piece == pieces_.end() || extent.first < piece->first || extent.first >= piece->first + piece->count)
      throw InputError(fmt::format(
          "'{}' has no shard with element {} of {}; the file is damaged or was changed, resume from another one",
          manifest_, extent.first, name));
    const std::int64_t count = std::min(extent.count, piece->first + piece->count - extent.first);
    read_from(*piece, k, {extent.first, count}, to);
    to += count * size_of(dtype);
    extent = {extent.first + count, extent.count - count};
    do ++piece;
    while (piece != pieces_.end() && piece->count == 0);
  }
}

void ShareReader::read_from(const Piece& piece, std::size_t array, Extent part, std::byte* to) {
  if (open_->rank != piece.rank) {
    open_->close();
    open_->file = ::open(path(piece.rank).c_str(), O_RDONLY);
    open_->rank = piece.rank;
  }
  std::int64_t from = sizeof(ShareHeader);
  for (std::size_t k = 0; k < array; ++k)
    from += counts_[static_cast<std::size_t>(piece.rank)] * size_of(arrays_[k].dtype);
  from += (piece.begin + part.first - piece.first) * size_of(arrays_[array].dtype);
  std::int64_t left = part.count * size_of(arrays_[array].dtype);
  while (left > 0) {
    const ssize_t got = ::pread(open_->file, to, static_cast<std::size_t>(left), from);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw InputError(
          fmt::format("'{}' cannot be read to its end ({}); put back a copy of it, or resume from another "
                      "checkpoint",
                      path(piece.rank), got < 0 ? std::strerror(errno) : "it is too short"));
    to += got, from += got, left -= got;
  }
}

std::string share_damage(const std::string& manifest, const Comm& comm) {
  std::optional<ShareReader> reader;
  on_every_rank(comm, [&] {
    const File file = File::open(manifest);
    if (ShareReader::lists(file)) reader.emplace(file);
  });
  if (!reader) return {};
  std::string mine;
  for (int rank = comm.rank(); rank < reader->ranks() && mine.empty(); rank += comm.size()) mine = reader->damage(rank);
  const int first = -comm.max(mine.empty() ? -comm.size() : -comm.rank());
  if (first < comm.size()) comm.broadcast(mine, first);
  return mine;
}

void remove_with_shares(const std::string& manifest) {
  std::error_code ignored;
  fs::remove(manifest, ignored);
  fs::remove_all(shares_folder(manifest), ignored);
}

void remove_stray_shares(const std::string& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (const auto manifest = fs::path(entry.path()).replace_extension("h5").string();
        entry.path().extension() == ".shares" && !fs::exists(manifest, ignored) &&
        !fs::exists(manifest + ".damaged", ignored))
      found.push_back(entry.path());
  for (const auto& path : found) fs::remove_all(path, ignored);
}

}  // namespace cambium::io
