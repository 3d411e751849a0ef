#include "plugins/mace/archive/zip_file.hpp"

#include <fmt/format.h>
#include <cerrno>
#include <cstring>

#include <array>
#include <fstream>
#include <iterator>

#include "core/base/error.hpp"

namespace cambium::mace {
namespace {

constexpr std::uint32_t end_mark = 0x06054b50, wide_end_mark = 0x06064b50, wide_locator_mark = 0x07064b50,
                        entry_mark = 0x02014b50, member_mark = 0x04034b50;

std::uint32_t crc32(std::string_view bytes) {
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

ZipFile::ZipFile(const std::string& path) : path_(path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw InputError(
        fmt::format("cannot read the MACE model {}: {}; check the path (relative paths start at the folder where the "
                    "program was started)",
                    path, std::strerror(errno)));
  bytes_.assign(std::istreambuf_iterator<char>(file), {});
  read_directory();
}

std::uint64_t ZipFile::number(std::uint64_t at, int bytes) const {
  if (at > bytes_.size() || bytes_.size() - at < static_cast<std::uint64_t>(bytes))
    throw InputError(fmt::format("{} ends before its directory of members does: the file is damaged", path_));
  std::uint64_t value = 0;
  for (int k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + k]);
  return value;
}

/// The directory stands at the end; archives above 4 GiB, and those of PyTorch, have a second, wider end record.
void ZipFile::read_directory() {
  constexpr std::uint64_t end_size = 22, longest_comment = 65535;
  std::uint64_t at = bytes_.size() < end_size ? 0 : bytes_.size() - end_size;
  const std::uint64_t first = at > longest_comment ? at - longest_comment : 0;
  while (bytes_.size() >= end_size && at > first && number(at, 4) != end_mark) --at;
  if (bytes_.size() < end_size || number(at, 4) != end_mark)
    throw InputError(
        fmt::format("{} is no zip archive, or was cut short; a MACE model is the file that PyTorch writes", path_));
  std::uint64_t count = number(at + 10, 2), entry = number(at + 16, 4);
  if (at >= 20 && number(at - 20, 4) == wide_locator_mark) {
    const std::uint64_t wide = number(at - 12, 8);
    if (number(wide, 4) == wide_end_mark) count = number(wide + 32, 8), entry = number(wide + 48, 8);
  }
  for (std::uint64_t k = 0; k < count; ++k) {
    if (number(entry, 4) != entry_mark) throw InputError(fmt::format("{}: its directory of members is damaged", path_));
    Member m;
    m.method = static_cast<std::uint16_t>(number(entry + 10, 2));
    m.checksum = static_cast<std::uint32_t>(number(entry + 16, 4));
    m.size = number(entry + 24, 4);
    m.offset = number(entry + 42, 4);
    const std::uint64_t name_size = number(entry + 28, 2), extra = number(entry + 30, 2);
    const std::uint64_t stored = number(entry + 20, 4);
    number(entry + 46, 1);
    std::string name = bytes_.substr(entry + 46, name_size);
    std::uint64_t field = entry + 46 + name_size;
    const std::uint64_t fields_end = field + extra;
    while (field + 4 <= fields_end) {  // sizes and offset that do not fit 32 bits stand in the extra field 1
      const std::uint64_t size = number(field + 2, 2);
      std::uint64_t value = field + 4;
      if (number(field, 2) == 1) {
        if (m.size == 0xffffffffu) m.size = number(value, 8), value += 8;
        if (stored == 0xffffffffu) value += 8;
        if (m.offset == 0xffffffffu) m.offset = number(value, 8);
      }
      field += 4 + size;
    }
    const auto slash = name.find('/');
    if (slash != std::string::npos) name.erase(0, slash + 1);
    members_[name] = m;
    entry = fields_end + number(entry + 32, 2);
  }
}

std::string_view ZipFile::read(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end())
    throw InputError(fmt::format("{} has no member '{}': it is another kind of zip archive", path_, name));
  const Member& m = found->second;
  if (m.method != 0)
    throw InputError(
        fmt::format("{}: member '{}' is compressed, which PyTorch does not do; write the file again with torch.save or "
                    "torch.jit.save",
                    path_, name));
  if (number(m.offset, 4) != member_mark)
    throw InputError(fmt::format("{}: its directory of members is damaged", path_));
  const std::uint64_t start = m.offset + 30 + number(m.offset + 26, 2) + number(m.offset + 28, 2);
  if (start > bytes_.size() || m.size > bytes_.size() - start)
    throw InputError(fmt::format("{}: member '{}' was cut short", path_, name));
  const std::string_view bytes = std::string_view(bytes_).substr(start, m.size);
  if (crc32(bytes) != m.checksum)
    throw InputError(fmt::format("{}: member '{}' does not have its checksum: the file is damaged", path_, name));
  return bytes;
}

}  // namespace cambium::mace
