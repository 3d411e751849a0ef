#include "core/io/hdf5/seal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/probe.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {
namespace {

struct Trailer {
  std::array<char, 16> name{'C', 'a', 'm', 'b', 'i', 'u', 'm', ' ', 's', 'e', 'a', 'l', ' ', '1', '\n', '\0'};
  std::uint64_t bytes = 0, checksum = 0;  ///< of all preceding bytes
};
/// True if a name is that of a seal, some letters of which may be damaged: a bit flip must not hide a seal.
bool resembles(std::string_view found, std::string_view name) {
  std::size_t same = 0;
  for (std::size_t k = 0; k < name.size(); ++k) same += found[k] == name[k];
  return 4 * same >= 3 * name.size();
}

static_assert(sizeof(Trailer) == 32);

constexpr std::uint64_t block_bytes = std::uint64_t{8} << 20;

std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
  sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
  return sum ^ std::rotr(sum, 29);
}

/// Four sums over every fourth word, so that the CPU can overlap four multiplications.
std::uint64_t sum_of(const char* data, std::size_t size) {
  std::array<std::uint64_t, 4> sums{1, 2, 3, 4};
  std::array<std::uint64_t, 4> words;
  std::size_t at = 0;
  for (; at + sizeof words <= size; at += sizeof words) {
    std::memcpy(words.data(), data + at, sizeof words);
    for (std::size_t k = 0; k < 4; ++k) sums[k] = mixed(sums[k], words[k]);
  }
  words = {};
  std::memcpy(words.data(), data + at, size - at);
  std::uint64_t all = size;
  for (std::size_t k = 0; k < 4; ++k) all = mixed(all, mixed(sums[k], words[k]));
  return all;
}

/// A file that is open; reading it past its end, or one that cannot be opened, gives fewer bytes.
class Descriptor {
 public:
  Descriptor(const std::string& path, int mode) : id_(::open(path.c_str(), mode)) {
    struct stat status {};
    if (id_ >= 0 && fstat(id_, &status) == 0 && S_ISREG(status.st_mode))
      size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~Descriptor() {
    if (id_ >= 0) ::close(id_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  std::uint64_t size() const { return size_; }
  bool read(std::uint64_t at, char* to, std::size_t size) const {
    while (size > 0) {
      const ssize_t got = pread(id_, to, size, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      at += static_cast<std::uint64_t>(got);
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }
  /// errno; 0 when all was written.
  int write(std::uint64_t at, const void* from, std::size_t size) const {
    const ssize_t put = pwrite(id_, from, size, static_cast<off_t>(at));
    if (put < 0) return errno;
    return static_cast<std::size_t>(put) == size ? 0 : ENOSPC;
  }

 private:
  int id_;
  std::uint64_t size_ = 0;
};

/// Collective: of the first `bytes` of a file. Rank r sums blocks r, r + ranks, ...; the sum of the blocks' sums in
/// their order counts.
std::uint64_t checksum(const Descriptor& file, std::uint64_t bytes, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<std::uint64_t> sums((bytes + block_bytes - 1) / block_bytes, 0);
  std::vector<char> block(std::min(bytes, block_bytes));
  for (std::size_t b = static_cast<std::size_t>(rank); b < sums.size(); b += static_cast<std::size_t>(ranks)) {
    const std::uint64_t from = b * block_bytes, size = std::min(block_bytes, bytes - from);
    sums[b] = file.read(from, block.data(), size) ? sum_of(block.data(), size) : 0;
  }
  if (ranks > 1) MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_BXOR, comm);
  return sum_of(reinterpret_cast<const char*>(sums.data()), sizeof(std::uint64_t) * sums.size());
}

void append_trailer(const std::string& path, const std::string& named, std::uint64_t bytes, std::uint64_t sum) {
  Trailer trailer;
  trailer.bytes = bytes;
  trailer.checksum = sum;
  const Descriptor file(path, O_WRONLY);
  if (const int failed = file.write(bytes, &trailer, sizeof trailer)) refuse_write(named, std::strerror(failed));
}

}  // namespace

void seal(const std::string& path, const std::string& named) {
  const Descriptor file(path, O_RDONLY);
  append_trailer(path, named, file.size(), checksum(file, file.size(), MPI_COMM_SELF));
  trust_file(path);
}

void seal(const std::string& path, const std::string& named, const Comm& comm) {
  std::uint64_t bytes = 0, sum = 0;
  {
    const Descriptor file(path, O_RDONLY);
    bytes = file.size();
    MPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, comm.handle());
    sum = checksum(file, bytes, comm.handle());
  }
  on_root(comm, [&] { append_trailer(path, named, bytes, sum); });
}

void seal(std::vector<char>& file) {
  std::vector<std::uint64_t> sums;
  for (std::size_t from = 0; from < file.size(); from += block_bytes)
    sums.push_back(sum_of(file.data() + from, std::min<std::size_t>(block_bytes, file.size() - from)));
  Trailer trailer;
  trailer.bytes = file.size();
  trailer.checksum = sum_of(reinterpret_cast<const char*>(sums.data()), sizeof(std::uint64_t) * sums.size());
  const auto* end = reinterpret_cast<const char*>(&trailer);
  file.insert(file.end(), end, end + sizeof trailer);
}

void write_sealed_h5(const std::string& path, const std::function<void(File&)>& fill) {
  AtomicFile target(path);
  File file = File::create(target.part(), path);
  fill(file);
  file.close();
  seal(target.part(), path);
  target.commit();
}

namespace {

/// Collective over `comm`.
Seal seal_within(const std::string& path, MPI_Comm comm) {
  const Descriptor file(path, O_RDONLY);
  Trailer found, expected;
  const std::uint64_t before = file.size() < sizeof found ? 0 : file.size() - sizeof found;
  bool there = file.size() >= sizeof found && file.read(before, reinterpret_cast<char*>(&found), sizeof found);
  there = there && resembles({found.name.data(), found.name.size()}, {expected.name.data(), expected.name.size()});
  std::uint64_t all[4] = {there ? 1u : 0u, found.bytes, found.checksum, found.name == expected.name ? 1u : 0u};
  MPI_Bcast(all, 4, MPI_UINT64_T, 0, comm);
  if (!all[0]) return Seal::absent;
  if (!all[3]) return Seal::broken;
  // Every rank checks the file that rank 0 sees; another length means another file.
  std::uint64_t size = before;
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm);
  if (all[1] != size) return Seal::broken;
  if (checksum(file, size, comm) != all[2]) return Seal::broken;
  trust_file(path);
  return Seal::sound;
}

}  // namespace

Seal seal_of(const std::string& path, const Comm& comm) { return seal_within(path, comm.handle()); }

Seal seal_of(const std::string& path) { return seal_within(path, MPI_COMM_SELF); }

void require_unbroken(const std::string& path) {
  if (seal_of(path) != Seal::broken) return;
  throw InputError(fmt::format(
      "'{}' is damaged: what it holds is not what was written; put back a copy of it, or have the stage that "
      "wrote it write it again",
      path));
}

constexpr std::string_view comment = "# Cambium seal 1: ";

static std::string seal_line(std::string_view text) {
  return fmt::format("{}{:012} bytes, sum {:016x}\n", comment, text.size(), sum_of(text.data(), text.size()));
}

std::string sealed_text(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return text + seal_line(text);
}

Seal seal_of_text(std::string_view text) {
  const std::size_t length = seal_line({}).size();
  if (text.size() < length) return Seal::absent;
  const auto before = text.substr(0, text.size() - length), found = text.substr(before.size());
  if (!resembles(found, comment)) return Seal::absent;
  return found == seal_line(before) ? Seal::sound : Seal::broken;
}

}  // namespace cambium::io
