#include "plugins/graph/graphs/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#ifdef CAMBIUM_HAVE_ZLIB
#include <zlib.h>
#endif

#include "core/base/error.hpp"

namespace cambium::graph {

namespace {

constexpr int stored = 0, deflated = 8;

/// Little-endian bytes.
std::uint64_t number(const std::string& from, std::size_t at, std::size_t bytes) {
  std::uint64_t out = 0;
  for (std::size_t k = 0; k < bytes; ++k)
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(from.at(at + k))) << (8 * k);
  return out;
}

[[noreturn]] void damaged(const std::string& path) {
  throw InputError(fmt::format("{}: no complete .npz archive; is the file cut short? numpy.load says so, too", path));
}

std::string part_of(std::ifstream& in, std::uint64_t from, std::uint64_t bytes, const std::string& path) {
  in.clear();
  in.seekg(0, std::ios::end);
  const auto all = static_cast<std::uint64_t>(in.tellg());
  if (from > all || bytes > all - from) damaged(path);
  std::string out(bytes, '\0');
  in.seekg(static_cast<std::streamoff>(from));
  in.read(out.data(), static_cast<std::streamsize>(bytes));
  if (!in) damaged(path);
  return out;
}

std::string unpacked(const std::string& packed, std::uint64_t bytes, std::uint32_t check, const std::string& name) {
#ifdef CAMBIUM_HAVE_ZLIB
  std::string out(bytes, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw InternalError("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(bytes);
  const int code = inflate(&stream, Z_FINISH);
  const auto found = stream.total_out;
  inflateEnd(&stream);
  if (code != Z_STREAM_END || found != bytes ||
      crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(bytes)) != check)
    throw InputError(fmt::format("{}: the compressed array is damaged", name));
  return out;
#else
  throw InputError(
      fmt::format("{}: the array is compressed, and this Cambium was built without zlib (Debian: "
                  "zlib1g-dev); write it with numpy.savez",
                  name));
#endif
}

}  // namespace

bool is_npz(const std::string& path) { return path.ends_with(".npz"); }

Npz::Npz(const std::string& path) : path_(path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot be opened for reading", path));
  in.seekg(0, std::ios::end);
  const auto all = static_cast<std::uint64_t>(in.tellg());
  constexpr std::uint64_t end_bytes = 22, most_comment = 65535;
  const auto tail_bytes = std::min(all, end_bytes + most_comment);
  const auto tail = part_of(in, all - tail_bytes, tail_bytes, path);
  const auto end = tail.rfind("PK\x05\x06");
  if (end == std::string::npos || end + end_bytes > tail.size()) damaged(path);
  const auto directory = part_of(in, number(tail, end + 16, 4), number(tail, end + 12, 4), path);
  constexpr std::size_t record = 46;
  for (std::size_t at = 0; at + record <= directory.size();) {
    if (directory.compare(at, 4, "PK\x01\x02") != 0) damaged(path);
    const auto name_bytes = number(directory, at + 28, 2);
    if (at + record + name_bytes > directory.size()) damaged(path);
    auto name = directory.substr(at + record, name_bytes);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    entries_[name] = {static_cast<int>(number(directory, at + 10, 2)),
                      static_cast<std::uint32_t>(number(directory, at + 16, 4)), number(directory, at + 20, 4),
                      number(directory, at + 24, 4), number(directory, at + 42, 4)};
    at += record + name_bytes + number(directory, at + 30, 2) + number(directory, at + 32, 2);
  }
}

std::string Npz::bytes_of(const Entry& entry, const std::string& name) const {
  constexpr std::uint64_t elsewhere = 0xffffffff, header_bytes = 30, most_ratio = 1040;
  if (entry.packed == elsewhere || entry.bytes == elsewhere || entry.header == elsewhere)
    throw InputError(fmt::format("{}: arrays of 4 GiB or more are not read; write the graph as HDF5", name));
  std::ifstream in(path_, std::ios::binary);
  const auto header = part_of(in, entry.header, header_bytes, path_);
  if (header.compare(0, 4, "PK\x03\x04") != 0) damaged(path_);
  const auto begin = entry.header + header_bytes + number(header, 26, 2) + number(header, 28, 2);
  auto packed = part_of(in, begin, entry.packed, path_);
  if (entry.method == stored && entry.packed == entry.bytes) return packed;
  if (entry.method != deflated || entry.bytes / most_ratio > entry.packed)
    throw InputError(
        fmt::format("{}: an array that numpy.savez or numpy.savez_compressed has written was expected", name));
  return unpacked(packed, entry.bytes, entry.check, name);
}

std::vector<std::string> Npz::names() const {
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_) out.push_back(name);
  return out;
}

io::NpyArray Npz::read(const std::string& name) const {
  const auto found = entries_.find(name);
  const auto full = fmt::format("{}: {}", path_, name);
  if (found == entries_.end()) throw InputError(full + " is missing");
  std::istringstream in(bytes_of(found->second, full), std::ios::binary);
  return io::read_npy(in, full);
}

}  // namespace cambium::graph
