#include "plugins/submatrix/matrices/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/submatrix/matrices/checks.hpp"

namespace cambium::submatrix {

namespace {

constexpr std::size_t record = 24;  // marker, row, column, value, marker

std::string first_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out(16, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return out;
}

bool is_binary(const std::string& bytes) {
  std::int32_t marker = 0;
  if (bytes.size() >= sizeof marker) std::memcpy(&marker, bytes.data(), sizeof marker);
  return marker == 16;
}

std::string not_counted_from_one(const std::string& path, std::int64_t row, std::int64_t column) {
  return fmt::format("{}: row {}, column {}; rows and columns are counted from 1", path, row, column);
}

/// A row or a column, counted from 0 in the result.
int index_in(io::TextLines& lines, std::string_view word, std::string_view what) {
  const std::int64_t value = lines.integer(word, what);
  if (value > std::numeric_limits<int>::max())
    lines.fail(
        fmt::format("{} {} is more than can be counted; at most {}", what, value, std::numeric_limits<int>::max()));
  return static_cast<int>(std::max<std::int64_t>(value, 0)) - 1;
}

MatrixFile read_binary(const std::string& path) {
  const auto size = std::filesystem::file_size(path);
  if (size % record != 0)
    throw InputError(fmt::format(
        "{}: {} bytes are no whole number of records of {}; the file is truncated or no binary CSR file of CP2K", path,
        size, record));
  std::ifstream in(path, std::ios::binary);
  MatrixFile out;
  std::array<char, record> bytes{};
  while (in.read(bytes.data(), record)) {
    std::int32_t row = 0, column = 0;
    double value = 0.0;
    std::memcpy(&row, bytes.data() + 4, 4);
    std::memcpy(&column, bytes.data() + 8, 4);
    std::memcpy(&value, bytes.data() + 12, 8);
    if (row < 1 || column < 1) throw InputError(not_counted_from_one(path, row, column));
    out.entries.push_back({{0, 0, 0}, row - 1, column - 1, value});
  }
  return out;
}

/// Lines "row column value"; stops at the end of the file.
MatrixFile read_triples(io::TextLines& lines, bool have_line) {
  MatrixFile out;
  while (have_line || lines.next()) {
    have_line = false;
    const auto words = io::split(lines.line());
    if (words.empty() || words[0][0] == '%') continue;
    if (words.size() != 3)
      lines.fail(fmt::format("expected row, column and value, found {} words; was the file truncated?", words.size()));
    out.entries.push_back({{0, 0, 0},
                           index_in(lines, words[0], "a row"),
                           index_in(lines, words[1], "a column"),
                           lines.real(words[2], "an element")});
  }
  return out;
}

MatrixFile read_matrix_market(io::TextLines& lines) {
  const auto words = io::split(lines.line());
  if (words.size() != 5 || words[1] != "matrix" || words[2] != "coordinate" ||
      (words[3] != "real" && words[3] != "integer") || (words[4] != "symmetric" && words[4] != "general"))
    lines.fail("expected '%%MatrixMarket matrix coordinate real symmetric' (or general)");
  std::vector<std::string_view> sizes;
  while (lines.next())
    if (sizes = io::split(lines.line()); !sizes.empty() && sizes[0][0] != '%') break;
  if (sizes.size() != 3) lines.fail("expected the numbers of rows, columns and elements");
  const auto rows = lines.integer(sizes[0], "the number of rows"),
             columns = lines.integer(sizes[1], "the number of columns"),
             count = lines.integer(sizes[2], "the number of elements");
  if (rows < 1 || rows > std::numeric_limits<int>::max())
    lines.fail(fmt::format("{} rows; expected 1 to {}", rows, std::numeric_limits<int>::max()));
  if (rows != columns) lines.fail(fmt::format("{} rows and {} columns; the matrix must be square", rows, columns));
  MatrixFile out = read_triples(lines, false);
  if (std::ssize(out.entries) != count)
    throw InputError(fmt::format("{}: {} elements announced, {} found; the file is truncated", lines.path(), count,
                                 out.entries.size()));
  out.rows = static_cast<int>(rows);
  return out;
}

/// Completes a file of one triangle. Zeros may be left out, also on the diagonal; but a file that does not say how many
/// elements it has must have the last one of its diagonal, by which one that was cut off is noticed.
void complete(const std::string& path, MatrixFile& file) {
  bool upper = false, lower = false;
  int largest = -1;
  for (const auto& entry : file.entries) {
    if (entry.row < 0 || entry.column < 0)
      throw InputError(not_counted_from_one(path, entry.row + 1, entry.column + 1));
    upper |= entry.column > entry.row, lower |= entry.column < entry.row;
    largest = std::max({largest, entry.row, entry.column});
  }
  const bool announced = file.rows > 0;
  if (!announced) file.rows = largest + 1;
  if (largest >= file.rows)
    throw InputError(fmt::format("{}: row or column {} of a matrix of {} rows", path, largest + 1, file.rows));
  if (file.entries.empty()) throw InputError(fmt::format("{} holds no elements; was the file truncated?", path));
  // A row or two without elements are possible, most of them are not: no memory is taken for what a wrong number
  // announces.
  if (static_cast<double>(file.rows) > 1e6 + 100.0 * static_cast<double>(file.entries.size()))
    throw InputError(
        fmt::format("{}: {} rows, but only {} elements; was the file changed?", path, file.rows, file.entries.size()));
  bool last = announced;
  const auto count = file.entries.size();
  for (std::size_t k = 0; k < count; ++k) {
    const LatticeEntry entry = file.entries[k];
    if (entry.row == entry.column)
      last |= entry.row + 1 == file.rows;
    else if (upper != lower)
      file.entries.push_back({entry.cell, entry.column, entry.row, entry.value});
  }
  if (!last)
    throw InputError(fmt::format(
        "{}: row {}, the last one, has no diagonal element; was the file truncated? If that element is zero, write it",
        path, file.rows));
}

}  // namespace

MatrixFile read_matrix_file(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw InputError(
        fmt::format("matrix file '{}' does not exist; check the path (relative paths start at the folder where the "
                    "program was started)",
                    path));
  MatrixFile out;
  if (is_binary(first_bytes(path))) {
    out = read_binary(path);
  } else {
    io::TextLines lines(path);
    if (!lines.next()) throw InputError(fmt::format("{} is empty", path));
    out = lines.line().starts_with("%%MatrixMarket") ? read_matrix_market(lines) : read_triples(lines, true);
  }
  complete(path, out);
  return out;
}

CellSystem read_matrix_files(const std::string& hamiltonian, const std::string& overlap,
                             const std::vector<int>& molecule, BlockKind kind, double to_hartree,
                             const std::string& hamiltonian_down) {
  MatrixFile h = read_matrix_file(hamiltonian), s;
  if (!overlap.empty()) {
    s = read_matrix_file(overlap);
    if (s.rows != h.rows)
      throw InputError(fmt::format("{} has {} rows, {} has {}; they must be of the same basis", hamiltonian, h.rows,
                                   overlap, s.rows));
  } else {
    for (int i = 0; i < h.rows; ++i) s.entries.push_back({{0, 0, 0}, i, i, 1.0});
  }
  const int functions = std::accumulate(molecule.begin(), molecule.end(), 0);
  if (functions < 1 || h.rows % functions != 0)
    throw InputError(
        fmt::format("{} has {} rows, which are no whole number of molecules of {} functions; 'molecule' holds the "
                    "functions of each atom of one molecule",
                    hamiltonian, h.rows, functions));
  MatrixFile down;
  if (!hamiltonian_down.empty()) {
    down = read_matrix_file(hamiltonian_down);
    if (down.rows != h.rows)
      throw InputError(fmt::format("{} has {} rows, {} has {}; they must be of the same basis", hamiltonian, h.rows,
                                   hamiltonian_down, down.rows));
    for (auto& entry : down.entries) entry.value *= to_hartree;
    check_entries(hamiltonian_down, down.entries);
  }
  for (auto& entry : h.entries) entry.value *= to_hartree;
  check_entries(hamiltonian, h.entries);
  if (!overlap.empty()) check_entries(overlap, s.entries);
  CellBasis basis;
  for (int m = 0; m < h.rows / functions; ++m)
    for (int size : molecule) basis.atom_functions.push_back(size), basis.molecule.push_back(m);
  return make_cell(basis, std::move(h.entries), std::move(s.entries), kind, true, std::move(down.entries));
}

}  // namespace cambium::submatrix
