#include "plugins/submatrix/dftb/skf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/io/text_lines.hpp"

namespace cambium::submatrix {

namespace {

/// Reads values as a list-directed READ of Fortran does: commas are blanks, "3*0.5" is three values, and the rest of
/// the last line of a record is a comment.
class SkfReader {
 public:
  explicit SkfReader(const std::string& path) : lines_(path) {}
  SkfFile read(bool homonuclear);

 private:
  void header(SkfFile& file);
  void atom(SkfFile& file);
  void table(SkfFile& file);
  void require_hartree(const SkfFile& file) const;
  std::optional<SplineRepulsion> spline();
  void line(const std::string& what);
  std::vector<double> words(const std::string& what, std::size_t most) const;
  std::vector<double> record(std::size_t count, const std::string& what);

  io::TextLines lines_;
  bool extended_ = false;
  std::size_t points_ = 0;
};

void SkfReader::line(const std::string& what) {
  if (!lines_.next())
    lines_.fail(fmt::format(
        "the file ends before {}: it is truncated, or the number of distances in its first line is wrong", what));
}

/// Values of the current line, at most `most`.
std::vector<double> SkfReader::words(const std::string& what, std::size_t most) const {
  std::string text = lines_.line();
  std::replace(text.begin(), text.end(), ',', ' ');
  std::vector<double> out;
  for (const auto word : io::split(text)) {
    if (out.size() >= most) break;
    const auto star = word.find('*');
    std::int64_t times = 1;
    if (star != std::string_view::npos) times = lines_.integer(word.substr(0, star), what);
    if (times < 1 || times > 1000)
      lines_.fail(fmt::format("'{}' repeats a value {} times; expected 1 to 1000 for {}", word, times, what));
    const double value = lines_.real(star == std::string_view::npos ? word : word.substr(star + 1), what);
    for (std::int64_t k = 0; k < times; ++k) out.push_back(value);
  }
  return out;
}

/// `count` values: the first ones of one line, or all of several lines.
std::vector<double> SkfReader::record(std::size_t count, const std::string& what) {
  line(what);
  std::vector<double> out = words(what, count);
  while (out.size() < count) {
    line(what);
    const auto more = words(what, count + 1);
    out.insert(out.end(), more.begin(), more.end());
    if (out.size() > count)
      lines_.fail(fmt::format("{} values up to here for {}, expected {}: a value is missing in the lines before",
                              out.size(), what, count));
  }
  out.resize(count);
  return out;
}

void SkfReader::header(SkfFile& file) {
  line("the spacing and the number of distances");
  if (const auto at = lines_.line().find_first_not_of(" \t"); at != std::string::npos && lines_.line()[at] == '@') {
    extended_ = true;
    line("the spacing and the number of distances");
  }
  const auto numbers = words("the spacing and the number of distances", 2);
  if (numbers.size() < 2)
    lines_.fail("expected the spacing of the distances in bohr and their number, such as 0.02 500");
  file.spacing = numbers[0];
  if (!(file.spacing > 0.0 && file.spacing < 1.0))
    lines_.fail(fmt::format("the spacing of the distances is {}; expected 0 to 1 bohr", file.spacing));
  constexpr double fewest = 10, most = 1e6;
  if (numbers[1] != std::floor(numbers[1]) || numbers[1] < fewest || numbers[1] > most)
    lines_.fail(
        fmt::format("the number of distances is {}; expected a whole number of {} to {}", numbers[1], fewest, most));
  points_ = static_cast<std::size_t>(numbers[1]) - 1;
}

/// On-site energies, Hubbard parameters and occupations: the highest shell first.
void SkfReader::atom(SkfFile& file) {
  const std::size_t shells = extended_ ? 4 : 3;
  const auto v = record(3 * shells + 1, "on-site energies, Hubbard parameters and occupations");
  for (std::size_t l = 0; l < most_shells; ++l) {
    file.onsite[l] = v[shells - 1 - l];
    file.hubbard[l] = v[shells + 1 + shells - 1 - l];
    file.electrons[l] = v[2 * shells + 1 + shells - 1 - l];
  }
  if (extended_ && v[2 * shells + 1] > 0.0)
    lines_.fail(
        fmt::format("the f shell has {} electrons; dftb has s, p and d shells: name a set whose atoms have no f "
                    "electrons",
                    v[2 * shells + 1]));
  require_hartree(file);
}

void SkfReader::require_hartree(const SkfFile& file) const {
  constexpr double largest_energy = 5.0,
                   largest_hubbard = 2.0;  // of valence shells; in eV they would be 27 times as large
  for (std::size_t l = 0; l < most_shells; ++l) {
    if (file.electrons[l] < 0.0 || file.electrons[l] > 4.0 * static_cast<double>(l) + 2.0)
      lines_.fail(fmt::format("the {} shell has {} electrons; expected 0 to {}. Is this a file of two elements?",
                              "spd"[l], file.electrons[l], 4 * l + 2));
    if (file.electrons[l] > 0.0 && std::abs(file.onsite[l]) > largest_energy)
      lines_.fail(
          fmt::format("the on-site energy of the {} shell is {}; expected hartree, at most {} in size. Is it in eV?",
                      "spd"[l], file.onsite[l], largest_energy));
    if (file.electrons[l] > 0.0 && std::abs(file.hubbard[l]) > largest_hubbard)
      lines_.fail(fmt::format("the Hubbard parameter of the {} shell is {}; expected hartree, at most {}. Is it in eV?",
                              "spd"[l], file.hubbard[l], largest_hubbard));
  }
}

void SkfReader::table(SkfFile& file) {
  constexpr std::array<std::size_t, SkfFile::integrals> of_extended{7, 8, 9, 12, 13, 14, 15, 17, 18, 19};
  const std::size_t columns = extended_ ? 20 : SkfFile::integrals;
  for (std::size_t k = 0; k < points_; ++k) {
    const auto v = record(2 * columns, fmt::format("H and S at distance {} of {}", k + 1, points_));
    auto& row = file.rows.emplace_back();
    for (std::size_t i = 0; i < SkfFile::integrals; ++i) {
      const std::size_t at = extended_ ? of_extended[i] : i;
      row[i] = v[at];
      row[SkfFile::integrals + i] = v[columns + at];
    }
  }
}

std::optional<SplineRepulsion> SkfReader::spline() {
  for (;;) {
    if (!lines_.next()) return {};
    if (const auto found = io::split(lines_.line()); !found.empty() && found[0] == "Spline") break;
  }
  SplineRepulsion out;
  const auto size = record(2, "the number of intervals and the cut-off of the repulsion");
  if (size[0] != std::floor(size[0]) || size[0] < 1.0 || size[0] > 1e5)
    lines_.fail(fmt::format("the repulsion has {} intervals; expected a whole number from 1 on", size[0]));
  const auto head = record(3, "the exponential of the repulsion");
  std::copy(head.begin(), head.end(), out.head.begin());
  const auto intervals = static_cast<std::size_t>(size[0]);
  for (std::size_t k = 0; k < intervals; ++k) {
    const std::size_t powers = k + 1 == intervals ? 6 : 4;
    const auto v = record(2 + powers, fmt::format("interval {} of {} of the repulsion", k + 1, intervals));
    if (!(v[1] > v[0]) || (k > 0 && std::abs(v[0] - out.cutoff) > 1e-8))
      lines_.fail(
          fmt::format("interval {} of the repulsion is {} to {} bohr; expected one that begins where the one "
                      "before ends, in ascending order",
                      k + 1, v[0], v[1]));
    out.start.push_back(v[0]);
    auto& c = out.coefficients.emplace_back();
    std::copy(v.begin() + 2, v.end(), c.begin());
    out.cutoff = v[1];
  }
  return out;
}

SkfFile SkfReader::read(bool homonuclear) {
  SkfFile file;
  file.path = lines_.path();
  header(file);
  if (homonuclear) atom(file);
  const auto v = record(20, "mass and polynomial repulsion");
  file.mass = v[0];
  std::copy(v.begin() + 1, v.begin() + 9, file.polynomial.coefficients.begin());
  file.polynomial.cutoff = v[9];
  table(file);
  file.spline = spline();
  return file;
}

}  // namespace

SkfFile read_skf(const std::string& path, bool homonuclear) { return SkfReader(path).read(homonuclear); }

}  // namespace cambium::submatrix
