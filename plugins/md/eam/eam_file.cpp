#include "plugins/md/eam/eam_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/text_lines.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {
namespace {

using io::TextLines;

/// Reads the file from top to bottom.
class EamReader {
 public:
  explicit EamReader(const std::string& path) : lines_(path) {}

  EamFile funcfl();
  EamFile setfl(bool finnis_sinclair);

 private:
  void header(EamFile& file);
  /// Atomic number and mass (and further entries, which are not used). `among_densities`: in a Finnis-Sinclair file
  /// more densities would be here.
  EamFile::Element element(bool among_densities);
  std::vector<double> values(int count, const std::string& what);
  void end(bool finnis_sinclair);
  void line(const char* what);
  /// Words of the next non-empty line, without comments.
  std::vector<std::string_view> words(const char* what);

  TextLines lines_;
};

std::string_view without_remark(std::string_view line) { return line.substr(0, line.find('#')); }

void EamReader::line(const char* what) {
  if (!lines_.next()) lines_.fail(fmt::format("the file ends before {}: it is truncated", what));
}

std::vector<std::string_view> EamReader::words(const char* what) {
  std::vector<std::string_view> found;
  do {
    line(what);
    found = io::split(without_remark(lines_.line()));
  } while (found.empty());
  return found;
}

void EamReader::header(EamFile& file) {
  const auto words = this->words("the numbers of points, their spacings and the cut-off");
  if (words.size() < 5)
    lines_.fail(fmt::format("found {} words, expected five values: nrho, drho, nr, dr, cut-off", words.size()));
  constexpr int fewest = 6, most = 10'000'000;
  const auto points = [&](int word, const char* what) {
    const auto n = lines_.integer(words[word], what);
    if (n < fewest || n > most)
      lines_.fail(fmt::format("{} is {}; a table has {} to {} points", what, n, fewest, most));
    return static_cast<int>(n);
  };
  const auto positive = [&](int word, const char* what) {
    const double x = lines_.real(words[word], what);
    if (!(x > 0.0)) lines_.fail(fmt::format("{} is {}; it must be positive", what, x));
    return x;
  };
  file.nrho = points(0, "nrho");
  file.drho = positive(1, "drho");
  file.nr = points(2, "nr");
  file.dr = positive(3, "dr");
  file.cutoff = positive(4, "the cut-off");
  if (file.cutoff > (file.nr + 1) * file.dr)
    lines_.fail(
        fmt::format("the cut-off is {} Å, but nr = {} points with dr = {} end at {:.6g} Å; one of them is wrong",
                    file.cutoff, file.nr, file.dr, (file.nr - 1) * file.dr));
}

EamFile::Element EamReader::element(bool among_densities) {
  const auto words = this->words("atomic number and mass of an element");
  if (words.size() < 2) lines_.fail("expected atomic number, mass, lattice constant and lattice of an element");
  if (among_densities && words[0].find_first_not_of("0123456789") != std::string_view::npos)
    lines_.fail(
        fmt::format("expected the atomic number of an element, found '{}'; write `format: finnis_sinclair` where "
                    "the file has a density for each pair of elements",
                    words[0]));
  EamFile::Element element;
  element.symbol =
      element_symbol(static_cast<int>(std::clamp<std::int64_t>(lines_.integer(words[0], "atomic number"), 0, 1000)));
  element.mass = lines_.real(words[1], "mass");
  if (!(element.mass > 0.0)) lines_.fail(fmt::format("the mass is {} g/mol; it must be positive", element.mass));
  return element;
}

std::vector<double> EamReader::values(int count, const std::string& what) {
  std::vector<double> out;
  out.reserve(count);
  std::vector<std::string_view> words;
  while (static_cast<int>(out.size()) < count) {
    if (!lines_.next())
      lines_.fail(
          fmt::format("the file ends after {} of {} values of {}: it is truncated, or the numbers of points in its "
                      "header are wrong",
                      out.size(), count, what));
    io::split(without_remark(lines_.line()), words);
    if (out.size() + words.size() > static_cast<std::size_t>(count))
      lines_.fail(fmt::format("{} has more than {} values; the numbers of points in the header do not fit the tables",
                              what, count));
    for (const auto word : words) out.push_back(lines_.real(word, what));
  }
  return out;
}

void EamReader::end(bool finnis_sinclair) {
  while (lines_.next())
    if (!io::split(without_remark(lines_.line())).empty())
      lines_.fail(fmt::format("values follow the last table; the numbers of points in the header are wrong{}",
                              finnis_sinclair ? "" : ", or write `format: finnis_sinclair` for such a file"));
}

EamFile EamReader::funcfl() {
  EamFile file;
  file.format = EamFormat::funcfl;
  line("a title");
  file.elements.push_back(element(false));
  header(file);
  auto& own = file.elements[0];
  own.embedding = values(file.nrho, "the embedding function");
  auto charge = values(file.nr, "the effective charge");
  own.density.push_back(values(file.nr, "the density"));
  end(true);
  constexpr double hartree = 27.2, bohr = 0.529;  // as in LAMMPS and DYNAMO
  for (double& z : charge) z *= hartree * bohr * z;
  file.pair.push_back(std::move(charge));
  own.embedding.pop_back();
  own.density[0].pop_back();
  file.pair[0].pop_back();
  --file.nrho;
  --file.nr;
  return file;
}

EamFile EamReader::setfl(bool finnis_sinclair) {
  EamFile file;
  file.format = finnis_sinclair ? EamFormat::finnis_sinclair : EamFormat::setfl;
  for (int k = 0; k < 3; ++k) line("a title");
  std::vector<std::string> names;
  for (const auto word : words("the number of elements and their names")) names.emplace_back(word);
  const auto count = names.empty() ? 0 : lines_.integer(names[0], "number of elements");
  if (count < 1 || static_cast<std::size_t>(count) + 1 != names.size())
    lines_.fail(fmt::format("found {} names, expected the number of elements and as many names",
                            names.empty() ? 0 : names.size() - 1));
  names.erase(names.begin());
  header(file);
  for (const auto& name : names) {
    auto own = element(!finnis_sinclair && !file.elements.empty());
    own.symbol = name;
    own.embedding = values(file.nrho, "the embedding function of " + name);
    if (finnis_sinclair)
      for (const auto& other : names) own.density.push_back(values(file.nr, "the density of " + name + " at " + other));
    else
      own.density.push_back(values(file.nr, "the density of " + name));
    file.elements.push_back(std::move(own));
  }
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = 0; b <= a; ++b)
      file.pair.push_back(values(file.nr, "the pair function of " + names[a] + " and " + names[b]));
  end(finnis_sinclair);
  return file;
}

EamFormat format_of(const std::string& path) {
  if (path.ends_with(".fs")) return EamFormat::finnis_sinclair;
  TextLines lines(path);
  if (!lines.skip(3) || !lines.next()) return EamFormat::funcfl;
  const auto words = io::split(without_remark(lines.line()));
  return words.size() > 1 && io::number_of(words[0]) && !io::number_of(words[1]) ? EamFormat::setfl : EamFormat::funcfl;
}

}  // namespace

EamFile read_eam(const std::string& path, EamFormat format) {
  if (format == EamFormat::automatic) format = format_of(path);
  EamReader reader(path);
  return format == EamFormat::funcfl ? reader.funcfl() : reader.setfl(format == EamFormat::finnis_sinclair);
}

}  // namespace cambium::md
