#include "plugins/deepmd/data/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {

[[noreturn]] void complain(const std::string& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}", path, what));
}

/// The value of a key of the header, a Python dictionary literal: what stands between ':' and the closing of the value.
std::string header_value(const std::string& header, const std::string& key, char end, const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  const std::size_t from = at == std::string::npos ? at : at + key.size() + 3;
  const std::size_t to = from == std::string::npos ? from : header.find(end, from);
  if (to == std::string::npos) complain(path, fmt::format("the header has no '{}'; is this a .npy file?", key));
  return header.substr(from, to - from);
}

std::string read_header(std::ifstream& in, const std::string& path) {
  unsigned char start[8] = {};
  in.read(reinterpret_cast<char*>(start), 8);
  if (!in || std::memcmp(start, "\x93NUMPY", 6) != 0) complain(path, "not a .npy file");
  unsigned char size[4] = {};
  const int bytes = start[6] == 1 ? 2 : 4;
  in.read(reinterpret_cast<char*>(size), bytes);
  std::size_t length = 0;
  for (int k = 0; k < bytes; ++k) length |= static_cast<std::size_t>(size[k]) << (8 * k);
  if (length > (1u << 20)) complain(path, "the header is damaged");
  std::string header(length, ' ');
  in.read(header.data(), static_cast<std::streamsize>(length));
  if (!in) complain(path, "the file ends inside its header");
  return header;
}

std::vector<std::int64_t> read_shape(const std::string& header, const std::string& path) {
  const std::string text = header_value(header, "shape", ')', path);
  std::vector<std::int64_t> shape;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] < '0' || text[k] > '9') continue;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(text.data() + k, text.data() + text.size(), extent);
    if (error != std::errc()) complain(path, "the shape in the header is damaged");
    shape.push_back(extent);
    k = static_cast<std::size_t>(end - text.data());
  }
  return shape;
}

/// Bytes of the file from here on.
std::int64_t bytes_left(std::ifstream& in) {
  const auto here = in.tellg();
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  in.seekg(here);
  return static_cast<std::int64_t>(end - here);
}

/// No memory is taken for numbers that the file does not hold.
template <class T>
void read_values(std::ifstream& in, NpyArray& array, const std::string& path) {
  std::int64_t n = 1, bytes = 0;
  bool counted = true;
  for (auto extent : array.shape) counted = counted && !__builtin_mul_overflow(n, extent, &n);
  counted = counted && !__builtin_mul_overflow(n, static_cast<std::int64_t>(sizeof(T)), &bytes);
  if (!counted || bytes > bytes_left(in))
    complain(path, fmt::format("the file ends early: its header promises {} numbers",
                               counted ? std::to_string(n) : fmt::format("{}", fmt::join(array.shape, " x "))));
  std::vector<T> raw(static_cast<std::size_t>(n));
  in.read(reinterpret_cast<char*>(raw.data()), static_cast<std::streamsize>(bytes));
  array.values.assign(raw.begin(), raw.end());
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) complain(path, "cannot be opened for reading");
  const std::string header = read_header(in, path);
  if (header_value(header, "fortran_order", ',', path).find("False") == std::string::npos)
    complain(path, "stored in Fortran order; save it with numpy.ascontiguousarray");
  NpyArray array;
  array.shape = read_shape(header, path);
  const std::string type = header_value(header, "descr", ',', path);
  if (type.find("<f4") != std::string::npos)
    read_values<float>(in, array, path);
  else if (type.find("<f8") != std::string::npos)
    read_values<double>(in, array, path);
  else if (type.find("<i4") != std::string::npos)
    read_values<std::int32_t>(in, array, path);
  else if (type.find("<i8") != std::string::npos)
    read_values<std::int64_t>(in, array, path);
  else
    complain(path, fmt::format("numbers of type{} are not read; expected <f4, <f8, <i4 or <i8", type));
  return array;
}

}  // namespace cambium::deepmd
