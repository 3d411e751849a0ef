#include "plugins/submatrix/matrices/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/submatrix/matrices/dbcsr_text.hpp"
#include "plugins/submatrix/matrices/elsi_file.hpp"
#include "plugins/submatrix/matrices/hdf5_csr.hpp"
#include "plugins/submatrix/matrices/matrix_market.hpp"

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

/// The records of this rank.
void read_records(const std::string& path, std::int64_t first, std::int64_t end, std::vector<LatticeEntry>& out) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(first) * static_cast<std::streamoff>(record));
  std::array<char, record> bytes{};
  for (; first < end && in.read(bytes.data(), record); ++first) {
    std::int32_t row = 0, column = 0;
    double value = 0.0;
    std::memcpy(&row, bytes.data() + 4, 4);
    std::memcpy(&column, bytes.data() + 8, 4);
    std::memcpy(&value, bytes.data() + 12, 8);
    if (row < 1 || column < 1) throw InputError(not_counted_from_one(path, row, column));
    out.push_back({{0, 0, 0}, row - 1, column - 1, value});
  }
}

/// A file of triples does not contain their number: it must have the last element of its diagonal, by which truncation
/// is detected.
void end_triples(StoredElements& stored, const FileRanks& ranks) {
  int rows = 0, last = 0;
  for (const auto& entry : stored.entries) rows = std::max({rows, entry.row + 1, entry.column + 1});
  stored.rows = ranks.max(rows);
  for (const auto& entry : stored.entries) last |= entry.row == entry.column && entry.row + 1 == stored.rows ? 1 : 0;
  require_elements(stored, ranks);
  if (ranks.max(last) == 0)
    throw InputError(fmt::format(
        "{}: row {}, the last one, has no diagonal element; was the file truncated? If that element is zero, write it",
        stored.path, stored.rows));
}

StoredElements read_binary(const std::string& path, const FileRanks& ranks) {
  StoredElements out{path, 0, {}, Triangle::as_found};
  ranks.agree([&] {
    const auto size = std::filesystem::file_size(path);
    if (size % record != 0)
      throw InputError(fmt::format(
          "{}: {} bytes are no whole number of records of {}; the file is truncated or no binary CSR file of CP2K",
          path, size, record));
    const auto records = static_cast<std::int64_t>(size / record);
    read_records(path, ranks.first(records, ranks.rank()), ranks.first(records, ranks.rank() + 1), out.entries);
  });
  end_triples(out, ranks);
  return out;
}

/// First line of triples, if its value is an integer: it may be the line of sizes of a Matrix Market file that has lost
/// its banner.
struct MaybeSizes {
  std::int64_t line = 0;
  LatticeEntry entry{};
};

bool is_whole(std::string_view word) {
  return word.find_first_not_of("0123456789", word.starts_with('+') ? 1 : 0) == std::string_view::npos;
}

/// Collective. `own`: the first element where this rank has it and it may be sizes.
void require_no_sizes(const std::string& path, const std::optional<MaybeSizes>& own,
                      const std::vector<LatticeEntry>& entries, const FileRanks& ranks) {
  double first[4] = {0.0, 0.0, 0.0, -1e300};  // line, row, column from 1, value
  if (own)
    first[0] = static_cast<double>(own->line), first[1] = own->entry.row + 1, first[2] = own->entry.column + 1,
    first[3] = own->entry.value;
  ranks.max(first);
  if (first[0] == 0.0) return;
  int beyond = 0;
  for (const auto& entry : entries) beyond |= entry.row >= first[1] || entry.column >= first[2] ? 1 : 0;
  if (ranks.max(beyond) > 0) return;
  throw InputError(fmt::format(
      "{}:{}: {} {} {:g} may be the line of sizes of a Matrix Market file, which has no banner, or an element; put "
      "'%%MatrixMarket matrix coordinate real general' (or symmetric) before it, or write the element as {:.1f}",
      path, first[0], first[1], first[2], first[3], first[3]));
}

/// Lines "row column value" after `head`.
StoredElements read_triples(io::TextLines& lines, io::TextLines::Mark head, const FileRanks& ranks) {
  StoredElements out{lines.path(), 0, {}, Triangle::as_found};
  std::optional<MaybeSizes> sizes;
  const TextPart part = part_of(lines, head, ranks);
  ranks.agree([&] {
    while (next_in(lines, part)) {
      const auto words = io::split(without_mark(lines));
      if (is_market_banner(without_mark(lines)))
        lines.fail("a banner of Matrix Market after elements; was one file appended to another?");
      if (words.empty() || words[0][0] == '%') continue;
      if (words.size() != 3)
        lines.fail(
            fmt::format("expected row, column and value, found {} words; was the file truncated?", words.size()));
      const Place at = place_in(lines, words[0], words[1], 0);
      out.entries.push_back({{0, 0, 0}, at.row, at.column, element_in(lines, words[2], "an element")});
      if (part.elements_before == 0 && out.entries.size() == 1 && is_whole(words[2]))
        sizes = {lines.number(), out.entries.front()};
    }
  });
  require_no_sizes(lines.path(), sizes, out.entries, ranks);
  end_triples(out, ranks);
  return out;
}

enum class TextKind { market, dbcsr, triples };

/// Text: Matrix Market from its banner on, after any other lines, the output of DBCSR, or triples.
StoredElements read_text(const std::string& path, const FileRanks& ranks) {
  std::optional<io::TextLines> lines;
  io::TextLines::Mark head{};  // before the current line
  TextKind kind = TextKind::triples;
  ranks.agree([&] {
    lines.emplace(path);
    head = lines->mark();
    if (!lines->next()) throw InputError(fmt::format("{} is empty", path));
    do {
      const auto words = io::split(without_mark(*lines));
      if (is_market_banner(without_mark(*lines))) kind = TextKind::market;
      if (is_dbcsr_line(without_mark(*lines))) kind = TextKind::dbcsr;
      if (kind != TextKind::triples || (!words.empty() && words[0][0] != '%')) break;
      head = lines->mark();
    } while (lines->next());
  });
  if (kind == TextKind::triples) return read_triples(*lines, head, ranks);
  StoredElements out =
      kind == TextKind::market ? read_matrix_market(*lines, ranks) : read_dbcsr_text(*lines, head, ranks);
  require_elements(out, ranks);
  return out;
}

void require_readable(const std::string& path, const std::string& bytes) {
  if (!std::filesystem::exists(path))
    throw InputError(
        fmt::format("matrix file '{}' does not exist; check the path (relative paths start at the folder where the "
                    "program was started)",
                    path));
  if (bytes.starts_with("\x1F\x8B") || bytes.starts_with("BZh") ||
      bytes.starts_with("\xFD"
                        "7zXZ"))
    throw InputError(fmt::format("{} is compressed; unpack it first, for example by gunzip", path));
}

}  // namespace

StoredElements read_stored_elements(const std::string& path, const FileRanks& ranks) {
  std::string bytes;
  const auto [file, group] = split_group(path);
  ranks.agree([&, name = file] {
    bytes = first_bytes(name);
    require_readable(name, bytes);
    if (!group.empty() && !is_hdf5(bytes))
      throw InputError(fmt::format("{} is no HDF5 file and has no group '{}'; leave ':{}' out", name, group, group));
  });
  StoredElements out = is_hdf5(bytes)     ? read_hdf5_csr(path, ranks)
                       : is_elsi(bytes)   ? read_elsi(path, ranks)
                       : is_binary(bytes) ? read_binary(path, ranks)
                                          : read_text(path, ranks);
  find_triangle(out, ranks);
  return out;
}

MatrixFile read_matrix_file(const std::string& path) {
  StoredElements stored = read_stored_elements(path, {});
  complete(stored);
  return {stored.rows, std::move(stored.entries), std::move(stored.notes)};
}

}  // namespace cambium::submatrix
