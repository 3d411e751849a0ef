#include "core/io/zip_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef CAMBIUM_HAVE_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"

namespace cambium::io {
namespace {

constexpr std::uint32_t end_mark = 0x06054b50, wide_end_mark = 0x06064b50, wide_locator_mark = 0x07064b50,
                        entry_mark = 0x02014b50, member_mark = 0x04034b50, elsewhere = 0xffffffff;
constexpr std::uint16_t stored = 0, deflated = 8;

std::uint32_t checksum_of(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t k = 0; k < 256; ++k) {
      std::uint32_t c = k;
      for (int bit = 0; bit < 8; ++bit) c = c & 1u ? 0xedb88320u ^ (c >> 1) : c >> 1;
      t[k] = c;
    }
    return t;
  }();
  std::uint32_t c = ~0u;
  for (const char byte : bytes) c = table[(c ^ static_cast<unsigned char>(byte)) & 255u] ^ (c >> 8);
  return ~c;
}

}  // namespace

ZipFile::ZipFile(const std::string& path, const Origin& origin) : path_(path), origin_(origin) {
  map_file();
  try {
    read_directory();
  } catch (...) {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
    throw;
  }
}

ZipFile::~ZipFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

void ZipFile::map_file() {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  const bool known = file >= 0 && ::fstat(file, &about) == 0;
  const auto size = static_cast<std::size_t>(known ? about.st_size : 0);
  void* at = known && size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!known || at == MAP_FAILED)
    throw InputError(
        fmt::format("cannot read the {} {}: {}; check the path (relative paths start at the folder where the program "
                    "was started)",
                    origin_.what, path_, std::strerror(why)));
  bytes_ = {static_cast<const char*>(at), size};
}

std::uint64_t ZipFile::number(std::uint64_t at, int bytes) const {
  if (at > bytes_.size() || bytes_.size() - at < static_cast<std::uint64_t>(bytes))
    throw InputError(fmt::format("{} ends before its directory of members does: the file is damaged", path_));
  std::uint64_t value = 0;
  for (int k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + k]);
  return value;
}

/// The directory is at the end; archives above 4 GiB, and those of PyTorch, have a second, wider end record.
void ZipFile::read_directory() {
  constexpr std::uint64_t end_size = 22, longest_comment = 65535;
  std::uint64_t at = bytes_.size() < end_size ? 0 : bytes_.size() - end_size;
  const std::uint64_t first = at > longest_comment ? at - longest_comment : 0;
  while (bytes_.size() >= end_size && at > first && number(at, 4) != end_mark) --at;
  if (bytes_.size() < end_size || number(at, 4) != end_mark)
    throw InputError(fmt::format("{} is no zip archive, or was cut short; a {} is the file that {} writes", path_,
                                 origin_.what, origin_.writer));
  std::uint64_t count = number(at + 10, 2), entry = number(at + 16, 4);
  if (at >= 20 && number(at - 20, 4) == wide_locator_mark) {
    const std::uint64_t wide = number(at - 12, 8);
    if (number(wide, 4) == wide_end_mark) count = number(wide + 32, 8), entry = number(wide + 48, 8);
  }
  for (std::uint64_t k = 0; k < count; ++k) entry = read_entry(entry);
}

/// One line of the directory; returns where the next one begins.
std::uint64_t ZipFile::read_entry(std::uint64_t entry) {
  if (number(entry, 4) != entry_mark) throw InputError(fmt::format("{}: its directory of members is damaged", path_));
  Member m;
  m.method = static_cast<std::uint16_t>(number(entry + 10, 2));
  m.checksum = static_cast<std::uint32_t>(number(entry + 16, 4));
  m.packed = number(entry + 20, 4);
  m.size = number(entry + 24, 4);
  m.offset = number(entry + 42, 4);
  const std::uint64_t name_size = number(entry + 28, 2), extra = number(entry + 30, 2);
  number(entry + 46 + name_size, 0);
  const std::string name(bytes_.substr(entry + 46, name_size));
  std::uint64_t field = entry + 46 + name_size;
  const std::uint64_t fields_end = field + extra;
  while (field + 4 <= fields_end) {  // sizes and offset that do not fit 32 bits stand in the extra field 1
    const std::uint64_t size = number(field + 2, 2);
    std::uint64_t value = field + 4;
    if (number(field, 2) == 1)
      for (std::uint64_t* wide : {&m.size, &m.packed, &m.offset})
        if (*wide == elsewhere) {
          *wide = number(value, 8);
          value += 8;
        }
    field += 4 + size;
  }
  members_[name] = m;
  return fields_end + number(entry + 32, 2);
}

std::vector<std::string> ZipFile::names() const {
  std::vector<std::string> out;
  for (const auto& [name, member] : members_) out.push_back(name);
  return out;
}

std::string_view ZipFile::read(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end())
    throw InputError(fmt::format("{} has no member '{}': it is another kind of zip archive", path_, name));
  const Member& m = found->second;
  if (number(m.offset, 4) != member_mark)
    throw InputError(fmt::format("{}: its directory of members is damaged", path_));
  const std::uint64_t start = m.offset + 30 + number(m.offset + 26, 2) + number(m.offset + 28, 2);
  if (start > bytes_.size() || m.packed > bytes_.size() - start)
    throw InputError(fmt::format("{}: member '{}' was cut short", path_, name));
  std::string_view bytes = bytes_.substr(start, m.packed);
  if (m.method != stored && m.method != deflated)
    throw InputError(
        fmt::format("{}: member '{}' is compressed by method {} of zip, of which only 'stored' and 'deflated' are "
                    "read; write the file again with {}",
                    path_, name, m.method, origin_.writer));
  if (m.method == deflated) bytes = inflated(bytes, name, m.size);
  if (bytes.size() != m.size || checksum_of(bytes) != m.checksum)
    throw InputError(fmt::format("{}: member '{}' does not have its checksum: the file is damaged", path_, name));
  return bytes;
}

std::string_view ZipFile::inflated(std::string_view packed, const std::string& name, std::uint64_t size) const {
#ifdef CAMBIUM_HAVE_ZLIB
  const auto known = inflated_.find(name);
  if (known != inflated_.end()) return known->second;
  if (size == 0) return {};
  constexpr std::uint64_t most_ratio = 1040;  // deflate makes nothing smaller than this
  std::string out(size / most_ratio > packed.size() ? 0 : size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib does not start");
  // zlib counts in 32 bits: both ends move on piece by piece.
  constexpr std::size_t piece = 1u << 30;
  int code = Z_OK;
  std::size_t read = 0, written = 0;
  while (code == Z_OK && !out.empty()) {
    if (stream.avail_in == 0) {
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
      stream.avail_in = static_cast<uInt>(std::min(piece, packed.size() - read));
      read += stream.avail_in;
    }
    if (stream.avail_out == 0 && written < out.size()) {
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream.avail_out = static_cast<uInt>(std::min(piece, out.size() - written));
      written += stream.avail_out;
    }
    code = inflate(&stream, Z_NO_FLUSH);
  }
  const bool whole = code == Z_STREAM_END && written == out.size() && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) throw InputError(fmt::format("{}: the compressed member '{}' is damaged", path_, name));
  return inflated_.emplace(name, std::move(out)).first->second;
#else
  (void)packed;
  (void)size;
  throw InputError(
      fmt::format("{}: member '{}' is compressed, and this Cambium was built without zlib (Debian: "
                  "zlib1g-dev)",
                  path_, name));
#endif
}

}  // namespace cambium::io
