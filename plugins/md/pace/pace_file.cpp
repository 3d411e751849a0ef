#include "plugins/md/pace/pace_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "core/particles/elements.hpp"
#include "plugins/md/pace/yace_tree.hpp"

namespace cambium::md {
namespace {

constexpr int most_functions = 64, most_degree = 16, most_rank = 8, most_densities = 16;

class PaceReader {
 public:
  explicit PaceReader(std::string path) : path_(std::move(path)) {}
  PaceFile read();

 private:
  [[noreturn]] void fail(const YaceNode& at, const std::string& text) const {
    throw InputError(fmt::format("{}:{}: {}", path_, at.line, text));
  }
  void known_format() const;
  const YaceNode& need(const YaceNode& map, const char* key, const char* where) const;
  double real(const YaceNode& map, const char* key, const char* where) const;
  int whole(const YaceNode& map, const char* key, const char* where, int least, int most) const;
  std::vector<double> reals(const YaceNode& map, const char* key, const char* where) const;
  std::vector<int> integers(const YaceNode& map, const char* key, const char* where, std::size_t count) const;
  /// Type index given in a key; -1 for any other text.
  int type_of(std::string_view text) const;

  void species(const YaceNode& root);
  void embeddings(const YaceNode& root);
  PaceFile::Embedding embedding(const YaceNode& map, const std::string& where) const;
  void bonds(const YaceNode& root);
  PaceFile::Bond bond(const YaceNode& map, const std::string& where);
  void coefficients(const YaceNode& map, const std::string& where, PaceFile::Bond& bond) const;
  void inner_cutoff(const YaceNode& map, PaceFile::Bond& bond);
  void functions(const YaceNode& root);
  PaceFile::Function function(const YaceNode& map, int type) const;
  void require_known_sums(const YaceNode& map, const PaceFile::Function& f) const;

  std::string path_;
  PaceFile file_;
  std::string inner_name_;  ///< of the bonds so far
};

/// First words of other files written by pacemaker.
void PaceReader::known_format() const {
  io::TextLines lines(path_);
  for (int k = 0; k < 20 && lines.next(); ++k)
    if (lines.line().find("nelements=") != std::string::npos)
      lines.fail(
          "this is the older text format .ace; convert it with pyace: "
          "ACECTildeBasisSet(\"X.ace\").save_yaml(\"X.yace\")");
}

const YaceNode& PaceReader::need(const YaceNode& map, const char* key, const char* where) const {
  const YaceNode* found = map.find(key);
  if (!found) fail(map, fmt::format("{} has no `{}`", where, key));
  return *found;
}

double PaceReader::real(const YaceNode& map, const char* key, const char* where) const {
  const auto& node = need(map, key, where);
  const auto number = node.kind == YaceNode::Kind::scalar ? io::number_of(node.text) : std::nullopt;
  if (!number) fail(node, fmt::format("`{}` of {} is '{}', expected a number", key, where, node.text));
  return *number;
}

int PaceReader::whole(const YaceNode& map, const char* key, const char* where, int least, int most) const {
  const double x = real(map, key, where);
  if (!(x == std::floor(x) && x >= least && x <= most))
    fail(need(map, key, where),
         fmt::format("`{}` of {} is {}, expected an integer from {} to {}", key, where, x, least, most));
  return static_cast<int>(x);
}

std::vector<double> PaceReader::reals(const YaceNode& map, const char* key, const char* where) const {
  const auto& node = need(map, key, where);
  if (node.kind != YaceNode::Kind::numbers) fail(node, fmt::format("`{}` of {} is no list of numbers", key, where));
  return node.values;
}

std::vector<int> PaceReader::integers(const YaceNode& map, const char* key, const char* where,
                                      std::size_t count) const {
  const auto values = reals(map, key, where);
  if (values.size() != count)
    fail(need(map, key, where), fmt::format("`{}` has {} values, expected {}", key, values.size(), count));
  std::vector<int> out;
  for (const double x : values) {
    if (x != std::floor(x) || std::abs(x) > 1000.0)
      fail(need(map, key, where), fmt::format("`{}` has {}, expected integers", key, x));
    out.push_back(static_cast<int>(x));
  }
  return out;
}

int PaceReader::type_of(std::string_view text) const {
  const auto number = io::number_of(text);
  return number && *number == std::floor(*number) && *number >= 0.0 && *number < file_.types()
             ? static_cast<int>(*number)
             : -1;
}

void PaceReader::species(const YaceNode& root) {
  const auto& list = need(root, "elements", "the file");
  for (const auto& item : list.items) {
    if (std::count(file_.symbols.begin(), file_.symbols.end(), item.text))
      fail(item, fmt::format("`elements` has {} twice", item.text));
    file_.symbols.push_back(item.text);
  }
  if (file_.symbols.empty()) fail(list, "`elements` is no list of symbols");
  file_.e0 = reals(root, "E0", "the file");
  if (file_.e0.size() != file_.symbols.size())
    fail(need(root, "E0", "the file"),
         fmt::format("`E0` has {} values, expected one for each element: {}", file_.e0.size(), file_.symbols.size()));
}

PaceFile::Embedding PaceReader::embedding(const YaceNode& map, const std::string& where) const {
  PaceFile::Embedding out;
  out.densities = whole(map, "ndensity", where.c_str(), 1, most_densities);
  const auto parameters = reals(map, "FS_parameters", where.c_str());
  if (parameters.size() < 2 * static_cast<std::size_t>(out.densities))
    fail(need(map, "FS_parameters", where.c_str()),
         fmt::format("`FS_parameters` of {} has {} values, expected two for each density: {}", where, parameters.size(),
                     2 * out.densities));
  for (int p = 0; p < out.densities; ++p) {
    out.weights.push_back(parameters[2 * p]);
    out.exponents.push_back(parameters[2 * p + 1]);
  }
  const auto& name = need(map, "npoti", where.c_str());
  out.shifted = name.text == "FinnisSinclairShiftedScaled";
  if (!out.shifted && name.text != "FinnisSinclair")
    fail(name, fmt::format("`npoti` of {} is '{}', expected FinnisSinclair or FinnisSinclairShiftedScaled", where,
                           name.text));
  out.core_cutoff = real(map, "rho_core_cutoff", where.c_str());
  out.width = real(map, "drho_core_cutoff", where.c_str());
  if (!(out.width >= 0.0)) fail(map, fmt::format("`drho_core_cutoff` of {} is negative", where));
  return out;
}

void PaceReader::embeddings(const YaceNode& root) {
  const auto& map = need(root, "embeddings", "the file");
  file_.embeddings.resize(file_.symbols.size());
  for (const auto& [key, value] : map.entries) {
    const int type = type_of(key);
    if (type < 0) fail(value, fmt::format("`embeddings` has '{}', expected 0 to {}", key, file_.types() - 1));
    const auto where = fmt::format("the embedding of {}", file_.symbols[type]);
    file_.embeddings[type] = embedding(value, where);
  }
  for (int t = 0; t < file_.types(); ++t)
    if (file_.embeddings[t].densities == 0)
      fail(map, fmt::format("`embeddings` has no entry {} for {}", t, file_.symbols[t]));
}

void PaceReader::inner_cutoff(const YaceNode& map, PaceFile::Bond& bond) {
  if (map.find("rcut_in")) bond.inner = real(map, "rcut_in", "a bond");
  if (map.find("dcut_in")) bond.inner_width = real(map, "dcut_in", "a bond");
  if (!(bond.inner >= 0.0 && bond.inner_width >= 0.0)) fail(map, "`rcut_in` or `dcut_in` of a bond is negative");
  const YaceNode* named = map.find("inner_cutoff_type");
  const std::string name = named ? named->text : "density";
  if (name != "density" && name != "distance" && name != "zbl")
    fail(*named, fmt::format("`inner_cutoff_type` is '{}', expected density, distance or zbl", name));
  if (!inner_name_.empty() && inner_name_ != name)
    fail(named ? *named : map,
         fmt::format("`inner_cutoff_type` is {} here and {} before; all bonds must have the same, because LAMMPS "
                     "applies that of the last one to all",
                     name, inner_name_));
  inner_name_ = name;
  file_.inner = name == "density"    ? PaceFile::Inner::density
                : name == "distance" ? PaceFile::Inner::distance
                                     : PaceFile::Inner::zbl;
  if (file_.inner == PaceFile::Inner::zbl && !(bond.inner_width > 0.0 && bond.width > 0.0))
    fail(map, "the inner cut-off zbl needs a positive `dcut_in` and `dcut`");
}

void PaceReader::coefficients(const YaceNode& map, const std::string& where, PaceFile::Bond& bond) const {
  const auto& table = need(map, "radcoefficients", where.c_str());
  const auto wrong = [&](const YaceNode& at, std::size_t found, std::size_t expected, const char* what) {
    fail(at, fmt::format("`radcoefficients` of {} has {} {}, expected {}", where, found, what, expected));
  };
  // Without rows the table is parsed as an empty list of values.
  if (table.items.size() < static_cast<std::size_t>(bond.functions))
    wrong(table, table.items.size(), static_cast<std::size_t>(bond.functions), "functions (`nradmax`)");
  for (int n = 0; n < bond.functions; ++n) {
    const auto& by_l = table.items[n];
    if (by_l.items.size() < static_cast<std::size_t>(bond.l_max + 1))
      wrong(by_l, by_l.items.size(), static_cast<std::size_t>(bond.l_max + 1), "rows for a function (`lmax` + 1)");
    for (int l = 0; l <= bond.l_max; ++l) {
      const auto& row = by_l.items[l];
      if (row.kind != YaceNode::Kind::numbers || row.values.size() < static_cast<std::size_t>(bond.basis_size))
        wrong(row, row.values.size(), static_cast<std::size_t>(bond.basis_size), "values in a row (`nradbasemax`)");
      bond.coefficients.insert(bond.coefficients.end(), row.values.begin(), row.values.begin() + bond.basis_size);
    }
  }
}

PaceFile::Bond PaceReader::bond(const YaceNode& map, const std::string& where) {
  PaceFile::Bond out;
  const char* const at = where.c_str();
  const auto& name = need(map, "radbasename", at);
  if (name.text == "ChebExpCos")
    out.basis = PaceFile::Basis::cheb_exp_cos;
  else if (name.text == "ChebPow")
    out.basis = PaceFile::Basis::cheb_pow;
  else if (name.text == "ChebLinear")
    out.basis = PaceFile::Basis::cheb_linear;
  else if (name.text == "SBessel" || name.text == "TEST_SBessel")
    out.basis = PaceFile::Basis::bessel;
  else
    fail(name, fmt::format("`radbasename` of {} is '{}', expected ChebExpCos, ChebPow, ChebLinear or SBessel", where,
                           name.text));
  out.functions = whole(map, "nradmax", at, 0, most_functions);
  out.l_max = whole(map, "lmax", at, 0, most_degree);
  out.basis_size = whole(map, "nradbasemax", at, 1, most_functions);
  const auto parameters = reals(map, "radparameters", at);
  if (parameters.empty())
    fail(need(map, "radparameters", at), fmt::format("`radparameters` of {} has 0 values, expected 1", where));
  out.lambda = parameters[0];
  if (out.basis == PaceFile::Basis::cheb_exp_cos && out.lambda == 0.0)
    fail(need(map, "radparameters", at), fmt::format("`radparameters` of {} is 0: ChebExpCos has no meaning", where));
  coefficients(map, where, out);
  out.core_height = std::abs(real(map, "prehc", at));
  out.core_rate = std::abs(real(map, "lambdahc", at));
  out.cutoff = real(map, "rcut", at);
  out.width = real(map, "dcut", at);
  if (!(out.cutoff > 0.0 && out.cutoff < 100.0 && out.width >= 0.0))
    fail(map, fmt::format("`rcut` and `dcut` of {} are {} and {} Å; expected above 0 and below 100, and not negative",
                          where, out.cutoff, out.width));
  inner_cutoff(map, out);
  if (file_.inner == PaceFile::Inner::zbl) out.core_height = real(map, "prehc", at);  // a factor, including its sign
  return out;
}

void PaceReader::bonds(const YaceNode& root) {
  const auto& map = need(root, "bonds", "the file");
  const int types = file_.types();
  file_.bonds.resize(static_cast<std::size_t>(types * types));
  for (const auto& [key, value] : map.entries) {
    const auto comma = key.find(',');
    const int a = type_of(key.substr(0, comma));
    const int b = comma == std::string::npos ? -1 : type_of(key.substr(comma + 1));
    if (a < 0 || b < 0) fail(value, fmt::format("`bonds` has [{}], expected a pair of 0 to {}", key, types - 1));
    const auto name = [&](int t) { return file_.symbols[t]; };
    file_.bonds[a * types + b] = bond(value, fmt::format("the bond {}-{}", name(a), name(b)));
  }
  for (int a = 0; a < types; ++a)
    for (int b = 0; b < types; ++b)
      if (file_.bond(a, b).basis_size == 0)
        fail(map, fmt::format("`bonds` has no entry [{}, {}] for {}-{}", a, b, file_.symbols[a], file_.symbols[b]));
  for (const auto& bond : file_.bonds) {
    file_.n_max = std::max(file_.n_max, bond.functions);
    file_.l_max = std::max(file_.l_max, bond.l_max);
    file_.basis_max = std::max(file_.basis_max, bond.basis_size);
  }
  if (file_.inner != PaceFile::Inner::zbl) return;
  for (const auto& symbol : file_.symbols)
    if (atomic_number(symbol) < 1)
      fail(map, fmt::format("the nuclear charge of '{}' is not known, which the inner cut-off zbl needs", symbol));
}

void PaceReader::require_known_sums(const YaceNode& map, const PaceFile::Function& f) const {
  const int n_most = f.rank == 1 ? file_.basis_max : file_.n_max;
  for (int k = 0; k < f.rank; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (f.types[at] < 0 || f.types[at] >= file_.types())
      fail(map, fmt::format("`mus` of a function has {}, expected 0 to {}", f.types[at], file_.types() - 1));
    if (f.n[at] < 0 || f.n[at] >= n_most)
      fail(map, fmt::format("`ns` of a function of rank {} has {}, expected 1 to {}", f.rank, f.n[at] + 1, n_most));
    if (f.l[at] < 0 || f.l[at] > (f.rank == 1 ? 0 : file_.l_max))
      fail(map, fmt::format("`ls` of a function of rank {} has {}, expected 0 to {}", f.rank, f.l[at],
                            f.rank == 1 ? 0 : file_.l_max));
  }
  for (std::size_t k = 0; k < f.m.size(); ++k)
    if (std::abs(f.m[k]) > f.l[k % static_cast<std::size_t>(f.rank)])
      fail(map, fmt::format("`ms_combs` of a function has {}, but its l is {}", f.m[k],
                            f.l[k % static_cast<std::size_t>(f.rank)]));
}

PaceFile::Function PaceReader::function(const YaceNode& map, int type) const {
  constexpr const char* at = "a function";
  PaceFile::Function f;
  f.rank = whole(map, "rank", at, 1, most_rank);
  const auto rank = static_cast<std::size_t>(f.rank);
  const int densities = file_.embeddings[type].densities;
  if (const int own = whole(map, "mu0", at, 0, file_.types() - 1); own != type)
    fail(map, fmt::format("`mu0` of a function is {}, but it is listed among those of {}", own, type));
  if (const int own = whole(map, "ndensity", at, 1, most_densities); own != densities)
    fail(map, fmt::format("`ndensity` of a function is {}, but that of its embedding is {}", own, densities));
  const auto products = static_cast<std::size_t>(whole(map, "num_ms_combs", at, 1, 1000000));
  if (f.rank == 1 && products != 1) fail(map, "`num_ms_combs` of a function of rank 1 must be 1");
  f.types = integers(map, "mus", at, rank);
  f.n = integers(map, "ns", at, rank);
  for (int& n : f.n) --n;
  f.l = integers(map, "ls", at, rank);
  f.m = integers(map, "ms_combs", at, rank * products);
  f.c = reals(map, "ctildes", at);
  if (f.c.size() != products * static_cast<std::size_t>(densities))
    fail(need(map, "ctildes", at),
         fmt::format("`ctildes` has {} values, expected {}: one for each of {} products and {} densities", f.c.size(),
                     products * static_cast<std::size_t>(densities), products, densities));
  require_known_sums(map, f);
  return f;
}

void PaceReader::functions(const YaceNode& root) {
  const auto& map = need(root, "functions", "the file");
  file_.functions.resize(file_.symbols.size());
  std::set<int> found;
  for (const auto& [key, value] : map.entries) {
    const int type = type_of(key);
    if (type < 0) fail(value, fmt::format("`functions` has '{}', expected 0 to {}", key, file_.types() - 1));
    found.insert(type);
    for (const auto& item : value.items) file_.functions[type].push_back(function(item, type));
  }
  for (int t = 0; t < file_.types(); ++t)
    if (!found.count(t))
      fail(map, fmt::format("`functions` has no entry {} for {}: the file is truncated", t, file_.symbols[t]));
}

PaceFile PaceReader::read() {
  known_format();
  const YaceNode root = read_yace_tree(path_);
  if (root.kind != YaceNode::Kind::map)
    throw InputError(fmt::format("{}: the file is no map of YAML; expected a potential of pacemaker (.yace)", path_));
  if (root.find("species") && !root.find("functions"))
    throw InputError(
        fmt::format("{}: this is a potential before its conversion; write the other form with pacemaker's "
                    "`pace_yaml2yace {}`",
                    path_, path_));
  species(root);
  embeddings(root);
  bonds(root);
  functions(root);
  return std::move(file_);
}

}  // namespace

double PaceFile::cutoff() const {
  double most = 0.0;
  for (const auto& bond : bonds) most = std::max(most, bond.cutoff);
  return most;
}

int PaceFile::rank_max() const {
  int most = 0;
  for (const auto& list : functions)
    for (const auto& f : list) most = std::max(most, f.rank);
  return most;
}

PaceFile read_pace(const std::string& path) { return PaceReader(path).read(); }

}  // namespace cambium::md
