#include "plugins/md/nep/nep_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/io/text_lines.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {
namespace {

/// Single-bond radii in pm: P. Pyykkö and M. Atsumi, Chem. Eur. J. 15, 186 (2009), with those of metals reduced by a
/// tenth, as in the dispersion correction D3; H to Pu. Repulsion by species ends at multiples of 4/3 of them.
constexpr int covalent_radius[] = {32,  46,  120, 94,  77,  75,  71,  63,  64,  67,  140, 125, 113, 104, 110, 102,
                                   99,  96,  176, 154, 133, 122, 121, 110, 107, 104, 100, 99,  101, 109, 112, 109,
                                   115, 110, 114, 117, 189, 167, 147, 139, 132, 124, 115, 113, 113, 108, 115, 123,
                                   128, 126, 126, 123, 132, 131, 209, 176, 162, 147, 158, 157, 156, 155, 151, 152,
                                   151, 150, 149, 149, 148, 153, 146, 137, 131, 123, 118, 116, 111, 112, 113, 132,
                                   130, 130, 136, 131, 138, 142, 201, 181, 167, 158, 152, 153, 154, 155};

class NepReader {
 public:
  explicit NepReader(const std::string& path) : lines_(path) {}
  NepFile read();

 private:
  std::vector<std::string_view> words(const char* key, std::size_t least, std::size_t most);
  int whole(std::string_view word, const char* what, int least, int most);
  void kind(NepFile& file);
  void cutoffs(NepFile& file);
  void sizes(NepFile& file);
  void angular_terms(NepFile& file);
  void repulsion(NepFile& file, double inner, double outer, double factor);
  void parameters(NepFile& file);
  double value(const char* what);
  std::vector<double> values(std::size_t count, const char* what);

  io::TextLines lines_;
  bool repels_ = false;
  double inner_ = 0.0, outer_ = 0.0, factor_ = 0.0;  ///< from the line zbl
};

std::vector<std::string_view> NepReader::words(const char* key, std::size_t least, std::size_t most) {
  if (!lines_.next()) lines_.fail(fmt::format("the file ends before the line `{}`: it is truncated", key));
  auto found = io::split(lines_.line());
  if (found.empty() || found[0] != key)
    lines_.fail(fmt::format("expected the line `{}`, found '{}'", key, lines_.line().substr(0, 40)));
  found.erase(found.begin());
  if (found.size() < least || found.size() > most)
    lines_.fail(fmt::format("`{}` has {} values, expected {}{}", key, found.size(), least,
                            least == most ? "" : fmt::format(" to {}", most)));
  return found;
}

int NepReader::whole(std::string_view word, const char* what, int least, int most) {
  const auto n = lines_.integer(word, what);
  if (n < least || n > most) lines_.fail(fmt::format("{} is {}, expected {} to {}", what, n, least, most));
  return static_cast<int>(n);
}

void NepReader::kind(NepFile& file) {
  if (!lines_.next()) lines_.fail("the file is empty; expected a line such as `nep4 2 Te Pb`");
  const auto found = io::split(lines_.line());
  const std::string name(found.empty() ? "" : found[0]);
  const std::string head = name.substr(0, 4);
  repels_ = name.ends_with("_zbl");
  if ((head != "nep3" && head != "nep4" && head != "nep5") || (name.size() != 4 && name != head + "_zbl"))
    lines_.fail(
        fmt::format("'{}' is not a model of energies that is known here: nep3, nep4, nep5, each also with _zbl "
                    "(no dipoles, polarizabilities, charges or temperatures)",
                    name));
  file.version = head[3] - '0';
  const auto count = found.size() > 1 ? lines_.integer(found[1], "number of species") : 0;
  if (count < 1 || static_cast<std::size_t>(count) + 2 != found.size())
    lines_.fail(fmt::format("found {} species, expected their number and as many symbols",
                            std::max<std::size_t>(found.size(), 2) - 2));
  for (std::size_t k = 2; k < found.size(); ++k) file.symbols.emplace_back(found[k]);
}

void NepReader::cutoffs(NepFile& file) {
  const std::size_t types = file.symbols.size();
  const auto found = words("cutoff", 4, std::max<std::size_t>(4, 2 * types + 2));
  if (found.size() != 4 && found.size() != 2 * types + 2)
    lines_.fail(fmt::format("`cutoff` has {} values, expected 4, or {}: two for each species and two counts",
                            found.size(), 2 * types + 2));
  for (std::size_t t = 0; t < types; ++t) {
    const std::size_t at = found.size() == 4 ? 0 : 2 * t;
    file.rc_radial.push_back(lines_.real(found[at], "radial cut-off"));
    file.rc_angular.push_back(lines_.real(found[at + 1], "angular cut-off"));
    if (!(file.rc_angular[t] > 0.0 && file.rc_angular[t] <= file.rc_radial[t] && file.rc_radial[t] < 100.0))
      lines_.fail(
          fmt::format("the cut-offs are {} Å and {} Å; the angular one must be positive and the radial one not "
                      "smaller, below 100 Å",
                      file.rc_radial[t], file.rc_angular[t]));
  }
}

void NepReader::sizes(NepFile& file) {
  auto found = words("n_max", 2, 2);
  file.radial_functions = whole(found[0], "n_max of the radial functions", 0, 64) + 1;
  file.angular_functions = whole(found[1], "n_max of the angular functions", 0, 64) + 1;
  found = words("basis_size", 2, 2);
  file.radial_basis = whole(found[0], "basis_size of the radial functions", 0, 31) + 1;
  file.angular_basis = whole(found[1], "basis_size of the angular functions", 0, 31) + 1;
  angular_terms(file);
  found = words("ANN", 2, 2);
  file.neurons = whole(found[0], "number of neurons", 1, 10000);
}

void NepReader::angular_terms(NepFile& file) {
  const auto found = words("l_max", 3, 7);
  file.l_max = whole(found[0], "l_max", 1, 8);
  const int four = whole(found[1], "l_max of four-body terms", 0, 2);
  file.fourth = four > 0;
  file.fifth = whole(found[2], "l_max of five-body terms", 0, 1) == 1;
  for (std::size_t k = 3; k < found.size(); ++k)
    if (whole(found[k], "a flag of `l_max`", 0, 1) != 0)
      lines_.fail("four-body terms of mixed degrees (l_max with a fourth flag that is not 0) are not known here");
  if (file.fourth && file.l_max < 2) lines_.fail("four-body terms need l_max of 2 or more");
}

double NepReader::value(const char* what) {
  if (!lines_.next())
    lines_.fail(fmt::format("the file ends within {}: it is truncated, or its header names other sizes", what));
  const auto found = io::split(lines_.line());
  if (found.size() != 1) lines_.fail(fmt::format("found {} words, expected one value of {}", found.size(), what));
  return lines_.real(found[0], what);
}

std::vector<double> NepReader::values(std::size_t count, const char* what) {
  std::vector<double> out(count);
  for (double& x : out) x = value(what);
  return out;
}

void NepReader::parameters(NepFile& file) {
  const std::size_t types = file.symbols.size(), dim = file.dim();
  for (std::size_t t = 0; t < types; ++t) {
    if (t > 0 && file.version == 3) {
      file.networks.push_back(file.networks[0]);
      continue;
    }
    auto& own = file.networks.emplace_back();
    own.w0 = values(file.neurons * dim, "the weights of the network");
    own.b0 = values(file.neurons, "the biases of the network");
    own.w1 = values(file.neurons, "the weights of the network");
    if (file.version == 5) own.bias = value("the biases of the network");
  }
  const double common = value("the biases of the network");
  for (auto& own : file.networks) own.bias += common;
  // In the file the types vary fastest.
  const auto coefficients = [&](int functions, int basis) {
    const auto c = values(types * types * functions * basis, "the coefficients of the descriptor");
    std::vector<double> turned;
    for (std::size_t pair = 0; pair < types * types; ++pair)
      for (int k = 0; k < functions * basis; ++k) turned.push_back(c[k * types * types + pair]);
    return turned;
  };
  file.radial = coefficients(file.radial_functions, file.radial_basis);
  file.angular = coefficients(file.angular_functions, file.angular_basis);
  file.scale = values(dim, "the scales of the descriptor");
}

void NepReader::repulsion(NepFile& file, double inner, double outer, double factor) {
  constexpr double coulomb = 14.399645, screening = 2.134563;  // eV Å and 1/Å, as in GPUMD
  constexpr double universal[8] = {0.18175, 3.1998, 0.50986, 0.94229, 0.28022, 0.4029, 0.02817, 0.20162};
  const int types = file.types();
  file.repulsion.resize(types * types);
  std::vector<int> z;
  for (const auto& symbol : file.symbols) {
    z.push_back(atomic_number(symbol));
    if (z.back() < 1 || z.back() > static_cast<int>(std::size(covalent_radius)))
      lines_.fail(fmt::format("the nuclear charge of '{}' is not known, which a repulsion needs", symbol));
  }
  for (int a = 0; a < types; ++a)
    for (int b = a; b < types; ++b) {
      NepFile::Repulsion r;
      r.charges = coulomb * z[a] * z[b];
      r.inverse_a = (std::pow(z[a], 0.23) + std::pow(z[b], 0.23)) * screening;
      std::vector<double> own(universal, universal + 8);
      r.inner = inner;
      r.outer = outer;
      if (factor > 0.0) {
        r.inner = 0.0;
        r.outer = std::min(outer, factor * (covalent_radius[z[a] - 1] + covalent_radius[z[b] - 1]) / 75.0);
      }
      if (inner == 0.0 && outer == 0.0) {
        own = values(10, "the repulsion");
        r.inner = own[0];
        r.outer = own[1];
        own.erase(own.begin(), own.begin() + 2);
      }
      for (int k = 0; k < 4; ++k) {
        r.share[k] = own[2 * k];
        r.rate[k] = own[2 * k + 1];
      }
      file.repulsion[a * types + b] = file.repulsion[b * types + a] = r;
    }
}

NepFile NepReader::read() {
  NepFile file;
  kind(file);
  if (repels_) {
    const auto found = words("zbl", 2, 3);
    inner_ = lines_.real(found[0], "inner distance of zbl");
    outer_ = lines_.real(found[1], "outer distance of zbl");
    if (found.size() == 3) factor_ = lines_.real(found[2], "factor of zbl");
    if (!(inner_ >= 0.0 && (outer_ > inner_ || outer_ == 0.0) && factor_ >= 0.0))
      lines_.fail(fmt::format("zbl from {} Å to {} Å: the outer distance must be the larger one", inner_, outer_));
  }
  cutoffs(file);
  sizes(file);
  parameters(file);
  if (repels_) repulsion(file, inner_, outer_, factor_);
  while (lines_.next())
    if (!io::split(lines_.line()).empty())
      lines_.fail("values follow the last parameter: the header names other sizes than the model has");
  return file;
}

}  // namespace

NepFile read_nep(const std::string& path) { return NepReader(path).read(); }

}  // namespace cambium::md
