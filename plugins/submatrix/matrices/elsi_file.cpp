#include "plugins/submatrix/matrices/elsi_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

constexpr std::int32_t elsi_version = 170915;

std::int32_t word_at(std::string_view bytes, std::size_t at) {
  std::int32_t out = 0;
  if (bytes.size() >= at + sizeof out) std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

/// The parts of such a file.
class ElsiFile {
 public:
  explicit ElsiFile(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    std::array<char, 8> first{};
    in_.read(first.data(), first.size());
    width_ = word_at({first.data(), first.size()}, 4) == 0 ? 8 : 4;  // high half of a version in 8 bytes
    if (size() < static_cast<std::int64_t>(16 * width_)) truncated(static_cast<std::int64_t>(16 * width_));
    const auto head = integers(0, 16);
    complex = head[2] == 1;
    if (head[2] != 0 && head[2] != 1)
      throw InputError(fmt::format("{}: the header of ELSI specifies data of kind {}; expected 0 (real) or 1 (complex)",
                                   path_, head[2]));
    rows = head[3], electrons = head[4], elements = head[5];
    if (rows < 1 || rows >= std::numeric_limits<int>::max() || elements < 1 || elements / rows > rows)
      throw InputError(fmt::format("{}: the header of ELSI specifies {} rows and {} elements; was the file changed?",
                                   path_, rows, elements));
    const std::int64_t whole = values_at(elements);
    if (size() < whole) truncated(whole);
  }

  /// Integers of the header or of the column pointers, from byte `at` on.
  std::vector<std::int64_t> integers(std::int64_t at, std::int64_t count) {
    if (width_ == 8) return read<std::int64_t>(at, count);
    const auto narrow = read<std::int32_t>(at, count);
    return {narrow.begin(), narrow.end()};
  }
  /// Column pointers of `first` to `end` - 1, and the end of the last column, counted from 0.
  std::vector<std::int64_t> starts(std::int64_t first, std::int64_t end) {
    const bool last = end == rows;
    auto out = integers(width_ * (16 + first), end - first + (last ? 0 : 1));
    if (last) out.push_back(elements + 1);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (--out[k] < 0 || out[k] > elements || (k > 0 && out[k] < out[k - 1]))
        throw InputError(
            fmt::format("{}: column {} begins at element {}, which does not follow the one before; was the file "
                        "changed?",
                        path_, first + static_cast<std::int64_t>(k) + 1, out[k] + 1));
    return out;
  }
  std::vector<std::int32_t> rows_of(std::int64_t first, std::int64_t end) {
    return read<std::int32_t>(rows_at(first), end - first);
  }
  std::vector<double> values_of(std::int64_t first, std::int64_t end) {
    return read<double>(values_at(first), (end - first) * (complex ? 2 : 1));
  }

  bool complex = false;
  std::int64_t rows = 0, electrons = 0, elements = 0;

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(std::filesystem::file_size(path_)); }
  std::int64_t rows_at(std::int64_t element) const { return width_ * (16 + rows) + 4 * element; }
  std::int64_t values_at(std::int64_t element) const { return rows_at(elements) + (complex ? 16 : 8) * element; }
  [[noreturn]] void truncated(std::int64_t whole) const {
    throw InputError(fmt::format("{}: {} bytes, but a matrix of ELSI with this head has {}; the file is truncated",
                                 path_, size(), whole));
  }
  template <class T>
  std::vector<T> read(std::int64_t at, std::int64_t count) {
    std::vector<T> out(static_cast<std::size_t>(count));
    in_.clear();
    in_.seekg(at);
    in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size() * sizeof(T)));
    return out;
  }

  std::string path_;
  std::ifstream in_;
  std::int64_t width_ = 8;  ///< of integers of the head
};

void read_columns(ElsiFile& file, std::int64_t first, std::int64_t end, StoredElements& out) {
  if (first >= end) return;
  const auto starts = file.starts(first, end);
  const auto rows = file.rows_of(starts.front(), starts.back());
  const auto values = file.values_of(starts.front(), starts.back());
  const std::size_t parts = file.complex ? 2 : 1;
  for (std::size_t c = 0; c + 1 < starts.size(); ++c)
    for (auto e = static_cast<std::size_t>(starts[c] - starts[0]);
         e < static_cast<std::size_t>(starts[c + 1] - starts[0]); ++e) {
      const auto column = static_cast<int>(first) + static_cast<int>(c);
      if (rows[e] < 1 || rows[e] > file.rows)
        throw InputError(
            fmt::format("{}: row {} in column {} of a matrix of {} rows", out.path, rows[e], column + 1, file.rows));
      out.entries.push_back(
          {{0, 0, 0}, rows[e] - 1, column, values[parts * e], file.complex ? values[parts * e + 1] : 0.0});
    }
}

}  // namespace

bool is_elsi(std::string_view bytes) { return word_at(bytes, 0) == elsi_version; }

StoredElements read_elsi(const std::string& path, const FileRanks& ranks) {
  StoredElements out{path, 0, {}, Triangle::as_found};
  ranks.agree([&] {
    ElsiFile file(path);
    out.rows = static_cast<int>(file.rows);
    out.complex = file.complex;
    out.electrons = file.electrons > 0 ? static_cast<double>(file.electrons) : 0.0;
    read_columns(file, ranks.first(file.rows, ranks.rank()), ranks.first(file.rows, ranks.rank() + 1), out);
  });
  return out;
}

}  // namespace cambium::submatrix
