#include "core/io/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::io {

namespace {

[[noreturn]] void complain(const std::string& path, const std::string& what) {
  throw InputError(fmt::format("{}: {}", path, what));
}

/// The value of a key of the header, a Python dictionary literal, without blanks around it: up to the comma or brace
/// that ends it.
std::string header_value(const std::string& header, const std::string& key, const std::string& path) {
  std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) at = header.find("\"" + key + "\"");
  if (at != std::string::npos) at = header.find_first_not_of(' ', at + key.size() + 2);
  if (at == std::string::npos || header[at] != ':')
    complain(path, fmt::format("the header has no '{}'; is this a .npy file?", key));
  const std::size_t from = at + 1;
  int depth = 0;
  std::size_t to = from;
  for (; to < header.size(); ++to) {
    const char c = header[to];
    if (c == '(' || c == '[') ++depth;
    if ((c == ',' || c == '}') && depth == 0) break;
    if (c == ')' || c == ']') --depth;
  }
  if (to == header.size()) complain(path, fmt::format("the header ends inside of '{}'; is this a .npy file?", key));
  return std::string(trim(std::string_view(header).substr(from, to - from)));
}

std::string read_header(std::istream& in, const std::string& path) {
  unsigned char start[8] = {};
  in.read(reinterpret_cast<char*>(start), 8);
  if (!in || std::memcmp(start, "\x93NUMPY", 6) != 0) complain(path, "not a .npy file");
  if (start[6] < 1 || start[6] > 3)
    complain(path, fmt::format("version {}.{} of NumPy's format is not read; 1 to 3 are", start[6], start[7]));
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
  const std::string text = header_value(header, "shape", path);
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
std::int64_t bytes_left(std::istream& in) {
  const auto here = in.tellg();
  in.seekg(0, std::ios::end);
  const auto end = in.tellg();
  in.seekg(here);
  return static_cast<std::int64_t>(end - here);
}

/// Values of this shape, after requiring that the file contains as many.
template <class T>
std::int64_t count_values(std::istream& in, const std::vector<std::int64_t>& shape, const std::string& path) {
  std::int64_t n = 1, bytes = 0;
  bool counted = true;
  for (auto extent : shape) counted = counted && !__builtin_mul_overflow(n, extent, &n);
  counted = counted && !__builtin_mul_overflow(n, static_cast<std::int64_t>(sizeof(T)), &bytes);
  if (!counted || bytes > bytes_left(in))
    complain(path, fmt::format("the file ends early: its header specifies {} values",
                               counted ? std::to_string(n) : fmt::format("{}", fmt::join(shape, " x "))));
  return n;
}

/// The next values in file order.
template <class T>
std::vector<double> read_values(std::istream& in, std::int64_t n, bool swapped, const std::string& path) {
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  std::vector<T> raw(n);
  auto* first = reinterpret_cast<char*>(raw.data());
  if (!in.read(first, static_cast<std::streamsize>(bytes)))
    complain(path, "the file ended while it was read; another program may be writing it");
  if (swapped)
    for (std::int64_t k = 0; k < bytes; k += static_cast<std::int64_t>(sizeof(T)))
      std::reverse(first + k, first + k + sizeof(T));
  return {raw.begin(), raw.end()};
}

[[noreturn]] void refuse_type(const std::string& type, std::string_view kind, const std::string& path) {
  const std::string what = kind == "f2"                     ? " (half precision)"
                           : kind == "f16" || kind == "f12" ? " (long double)"
                           : type.starts_with("[")          ? " (records)"
                                                            : "";
  if (kind.starts_with("U") || kind.starts_with("S") || kind.starts_with("O"))
    complain(path, fmt::format("the type {} is {}, expected numbers; number them: "
                               "numpy.unique(array, return_inverse=True)[1]",
                               type, kind.starts_with("O") ? "Python objects" : "text"));
  complain(path, fmt::format("values of type {}{} are not read; expected floating-point numbers of 4 or 8 bytes, or "
                             "integers: save it with numpy.save('{}', array.astype('f8'))",
                             type, what, std::filesystem::path(path).filename().string()));
}

/// Calls f.operator()<T>(swapped) with the type named in NumPy's notation, such as "<f8" or "|u1".
template <class F>
auto with_type(const std::string& type, const std::string& path, F f) {
  const char order = type.empty() ? '?' : type[0];
  constexpr bool little = std::endian::native == std::endian::little;
  const bool swapped = order == (little ? '>' : '<');
  const std::string_view kind = std::string_view(type).substr(std::min<std::size_t>(1, type.size()));
  if (std::string_view("<>=|").find(order) != std::string_view::npos) {
    if (kind == "f8") return f.template operator()<double>(swapped);
    if (kind == "f4") return f.template operator()<float>(swapped);
    if (kind == "i8") return f.template operator()<std::int64_t>(swapped);
    if (kind == "i4") return f.template operator()<std::int32_t>(swapped);
    if (kind == "i2") return f.template operator()<std::int16_t>(swapped);
    if (kind == "i1") return f.template operator()<std::int8_t>(swapped);
    if (kind == "u8") return f.template operator()<std::uint64_t>(swapped);
    if (kind == "u4") return f.template operator()<std::uint32_t>(swapped);
    if (kind == "u2") return f.template operator()<std::uint16_t>(swapped);
    if (kind == "u1" || kind == "b1") return f.template operator()<std::uint8_t>(swapped);
  }
  refuse_type(type, kind, path);
}

/// Converts Fortran order, in which the first index runs fastest, to row-major order.
std::vector<double> row_major(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  std::vector<double> out(values.size());
  std::vector<std::int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) stride[k - 1] = stride[k] * shape[k];
  std::int64_t to = 0;
  for (const double value : values) {
    out[to] = value;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      to += stride[k];
      if (++index[k] < shape[k]) break;
      to -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
  return out;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) complain(path, "cannot be opened for reading");
  return read_npy(in, path);
}

/// The header of a file, whose values begin where the stream then is.
struct NpyHeader {
  std::vector<std::int64_t> shape;
  std::string type;
  bool fortran = false;
};

static NpyHeader header_of(std::istream& in, const std::string& path) {
  const std::string header = read_header(in, path);
  const std::string fortran = header_value(header, "fortran_order", path);
  if (fortran != "True" && fortran != "False")
    complain(path, fmt::format("fortran_order is {} in the header, expected True or False", fortran));
  NpyHeader out;
  out.fortran = fortran == "True";
  out.shape = read_shape(header, path);
  out.type = header_value(header, "descr", path);
  if (out.type.size() > 2 && (out.type.front() == '\'' || out.type.front() == '"'))
    out.type = out.type.substr(1, out.type.size() - 2);
  return out;
}

NpyArray read_npy(std::istream& in, const std::string& path) {
  const NpyHeader header = header_of(in, path);
  NpyArray array{header.shape, {}};
  array.values = with_type(header.type, path, [&]<class T>(bool swapped) {
    array.whole = std::is_integral_v<T>;
    return read_values<T>(in, count_values<T>(in, header.shape, path), swapped, path);
  });
  if (header.fortran) array.values = row_major(array.values, array.shape);
  return array;
}

NpyFile::NpyFile(const std::string& path) : path_(path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) complain(path, "cannot be opened for reading");
  const NpyHeader header = header_of(in, path);
  type_ = header.type;
  shape_ = header.shape;
  row_major_ = !header.fortran;
  begin_ = static_cast<std::int64_t>(in.tellg());
  elements_ = with_type(type_, path, [&]<class T>(bool) {
    value_bytes_ = sizeof(T);
    return count_values<T>(in, shape_, path);
  });
}

std::vector<double> NpyFile::read(std::int64_t first, std::int64_t count) const {
  if (first < 0 || count < 0 || first + count > elements_) throw InternalError("values beyond the end of a .npy file");
  std::ifstream in(path_, std::ios::binary);
  if (!in) complain(path_, "cannot be opened for reading");
  in.seekg(begin_ + first * value_bytes_);
  return with_type(type_, path_, [&]<class T>(bool swapped) { return read_values<T>(in, count, swapped, path_); });
}

}  // namespace cambium::io
