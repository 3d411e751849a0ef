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
#include "plugins/submatrix/matrices/matrix_market.hpp"
#include "plugins/submatrix/matrices/text_elements.hpp"

namespace cambium::submatrix {

namespace {

constexpr std::size_t record = 24;  // marker, row, column, value, marker

std::string first_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out(16, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(std::max<std::streamsize>(in.gcount(), 0));
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

/// A row or two without elements are possible, most of them are not: no memory is taken for what a wrong number
/// announces.
void require_elements(const std::string& path, const MatrixFile& file) {
  if (file.entries.empty()) throw InputError(fmt::format("{} holds no elements; was the file truncated?", path));
  if (static_cast<double>(file.rows) > 1e6 + 100.0 * static_cast<double>(file.entries.size()))
    throw InputError(
        fmt::format("{}: {} rows, but only {} elements; was the file changed?", path, file.rows, file.entries.size()));
}

/// The first line of triples whose value is a whole number may be the line of sizes of a Matrix Market file that has
/// lost its banner.
struct MaybeSizes {
  std::int64_t line = 0;
  LatticeEntry entry{};
};

bool is_whole(std::string_view word) {
  return word.find_first_not_of("0123456789", word.starts_with('+') ? 1 : 0) == std::string_view::npos;
}

void require_no_sizes(const std::string& path, const MaybeSizes& first, const std::vector<LatticeEntry>& entries) {
  for (std::size_t k = 1; k < entries.size(); ++k)
    if (entries[k].row > first.entry.row || entries[k].column > first.entry.column) return;
  throw InputError(fmt::format(
      "{}:{}: {} {} {:g} may be the line of sizes of a Matrix Market file, which has no banner, or an element; put "
      "'%%MatrixMarket matrix coordinate real general' (or symmetric) before it, or write the element as {:.1f}",
      path, first.line, first.entry.row + 1, first.entry.column + 1, first.entry.value, first.entry.value));
}

/// Lines "row column value", from the current one on.
MatrixFile read_triples(io::TextLines& lines) {
  MatrixFile out;
  std::optional<MaybeSizes> sizes;
  do {
    const auto words = io::split(without_mark(lines));
    if (is_market_banner(without_mark(lines)))
      lines.fail("a banner of Matrix Market after elements; was one file appended to another?");
    if (words.empty() || words[0][0] == '%') continue;
    if (words.size() != 3)
      lines.fail(fmt::format("expected row, column and value, found {} words; was the file truncated?", words.size()));
    const Place at = place_in(lines, words[0], words[1], 0);
    out.entries.push_back({{0, 0, 0}, at.row, at.column, element_in(lines, words[2], "an element")});
    if (out.entries.size() == 1 && is_whole(words[2])) sizes = {lines.number(), out.entries.front()};
  } while (lines.next());
  if (sizes) require_no_sizes(lines.path(), *sizes, out.entries);
  return out;
}

/// Completes a file without a banner of one triangle. Zeros may be left out, also on the diagonal; but as it does not
/// say how many elements it has it must have the last one of its diagonal, by which one that was cut off is noticed.
void complete(const std::string& path, MatrixFile& file) {
  bool upper = false, lower = false, last = false;
  if (const auto twice = first_duplicate(file.entries))
    throw InputError(
        fmt::format("{}: row {}, column {} is there twice; in Matrix Market files (which begin with "
                    "'%%MatrixMarket') such elements are added up, elsewhere no rule says what they mean",
                    path, twice->row + 1, twice->column + 1));
  for (const auto& entry : file.entries) {
    upper |= entry.column > entry.row;
    lower |= entry.column < entry.row;
    file.rows = std::max({file.rows, entry.row + 1, entry.column + 1});
  }
  for (const auto& entry : file.entries) last |= entry.row == entry.column && entry.row + 1 == file.rows;
  require_elements(path, file);
  if (!last)
    throw InputError(fmt::format(
        "{}: row {}, the last one, has no diagonal element; was the file truncated? If that element is zero, write it",
        path, file.rows));
  if (upper != lower) add_mirrored(file.entries);
}

/// Text: Matrix Market from its banner on, whatever stands before it, or triples.
MatrixFile read_text(const std::string& path) {
  io::TextLines lines(path);
  if (!lines.next()) throw InputError(fmt::format("{} is empty", path));
  do {
    const auto words = io::split(without_mark(lines));
    if (is_market_banner(without_mark(lines))) {
      MatrixFile out = read_matrix_market(lines);
      require_elements(path, out);
      return out;
    }
    if (!words.empty() && words[0][0] != '%') break;
  } while (lines.next());
  MatrixFile out = read_triples(lines);
  complete(path, out);
  return out;
}

}  // namespace

MatrixFile read_matrix_file(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw InputError(
        fmt::format("matrix file '{}' does not exist; check the path (relative paths start at the folder where the "
                    "program was started)",
                    path));
  const std::string bytes = first_bytes(path);
  if (bytes.starts_with("\x1F\x8B") || bytes.starts_with("BZh") ||
      bytes.starts_with("\xFD"
                        "7zXZ"))
    throw InputError(fmt::format("{} is compressed; unpack it first, for example by gunzip", path));
  if (!is_binary(bytes)) return read_text(path);
  MatrixFile out = read_binary(path);
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
    check_entries(hamiltonian_down, down.entries, 1);
  }
  for (auto& entry : h.entries) entry.value *= to_hartree;
  check_entries(hamiltonian, h.entries, 1);
  if (!overlap.empty()) check_entries(overlap, s.entries, 1);
  CellBasis basis;
  for (int m = 0; m < h.rows / functions; ++m)
    for (int size : molecule) basis.atom_functions.push_back(size), basis.molecule.push_back(m);
  CellSystem out = make_cell(basis, std::move(h.entries), std::move(s.entries), kind, true, std::move(down.entries));
  for (const auto* file : {&h, &s, &down}) out.notes.insert(out.notes.end(), file->notes.begin(), file->notes.end());
  return out;
}

}  // namespace cambium::submatrix
