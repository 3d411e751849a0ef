#include <fmt/format.h>

#include <complex>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/md/pace/pace_file.hpp"
#include "plugins/md/potentials/pace.hpp"
#include "tests/plugins/md/pace_sample.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

constexpr const char* switches =
    "rcut: {}, dcut: {}, rcut_in: {}, dcut_in: {}, inner_cutoff_type: {}, prehc: {}, "
    "lambdahc: {}";

std::string bond(const char* basis, double lambda, int n, int l, int k, const std::string& rest, double phase) {
  return fmt::format(
      "nradmax: {}, lmax: {}, nradbasemax: {}, radbasename: {}, radparameters: [{}], "
      "radcoefficients: {}, {}",
      n, l, k, basis, lambda, pace_coefficients(n, l, k, phase), rest);
}

std::string cut(double rc, double dc, double in, double din, const char* kind, double height, double rate) {
  return fmt::format(fmt::runtime(switches), rc, dc, in, din, kind, height, rate);
}

std::string embedding(const char* kind, int densities, const char* parameters, double core, double width) {
  return fmt::format("ndensity: {}, FS_parameters: [{}], npoti: {}, rho_core_cutoff: {}, drho_core_cutoff: {}",
                     densities, parameters, kind, core, width);
}

std::vector<PaceInvariant> one_species() {
  return {{{0}, {0}, {0}, {}},
          {{0}, {2}, {0}, {}},
          {{0, 0}, {0, 1}, {2, 2}, {}},
          {{0, 0}, {1, 1}, {3, 3}, {}},
          {{0, 0, 0}, {0, 1, 0}, {1, 2, 3}, {3}},
          {{0, 0, 0}, {0, 0, 1}, {2, 2, 2}, {2}},
          {{0, 0, 0, 0}, {0, 1, 0, 1}, {1, 1, 2, 2}, {2, 2}},
          {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1}}};
}

std::vector<PaceInvariant> two_species(int a) {
  const int b = 1 - a;
  return {{{a}, {1}, {0}, {}},
          {{b}, {0}, {0}, {}},
          {{a, b}, {0, 1}, {1, 1}, {}},
          {{b, b}, {1, 0}, {2, 2}, {}},
          {{a, b, b}, {0, 1, 0}, {2, 1, 1}, {1}},
          {{a, a, b, b}, {0, 1, 0, 1}, {1, 2, 2, 1}, {1, 1}},
          {{a, b, a, b, b}, {0, 0, 1, 0, 0}, {1, 1, 1, 0, 1}, {1, 1, 1}},
          {{a, a, b, b, b, a}, {0, 1, 0, 1, 0, 0}, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1}}};
}

/// Polynomial of degree 5 that falls from 1 to 0 over `width` below `end`.
double fall(double x, double end, double width) {
  if (width <= 0.0) return x <= end ? 1.0 : 0.0;
  const double u = std::clamp((end - x) / width, 0.0, 1.0);
  return u * u * u * (10.0 - 15.0 * u + 6.0 * u * u);
}

double sinc(double x) { return x == 0.0 ? 1.0 : std::sin(x) / x; }

std::vector<double> basis_functions(const PaceFile& m, const PaceFile::Bond& b, double r) {
  std::vector<double> g(m.basis_max, 0.0);
  if (r >= b.cutoff || (m.inner != PaceFile::Inner::zbl && r <= b.inner - b.inner_width)) return g;
  double before = 1.0;
  for (int k = 0; k < m.basis_max; ++k) {
    const double x = r / b.cutoff;
    if (b.basis == PaceFile::Basis::cheb_exp_cos) {
      const double e = std::exp(-b.lambda), u = 1.0 - 2.0 * (std::exp(-b.lambda * x) - e) / (1.0 - e);
      g[k] = k == 0 ? 1.0 : 0.5 - 0.5 * std::cos(k * std::acos(std::clamp(u, -1.0, 1.0)));
      g[k] *= 0.5 + 0.5 * std::cos(M_PI * x);
      if (r > b.cutoff - b.width) g[k] *= 0.5 + 0.5 * std::cos(M_PI * (r - b.cutoff + b.width) / b.width);
    } else if (b.basis == PaceFile::Basis::cheb_pow) {
      g[k] = 0.5 - 0.5 * std::cos((k + 1) * std::acos(1.0 - 2.0 * std::pow(1.0 - x, b.lambda)));
    } else if (b.basis == PaceFile::Basis::cheb_linear) {
      g[k] = 0.5 - 0.5 * std::cos((k + 1) * std::acos(1.0 - x));
    } else {
      const double p = k + 1.0, q = k + 2.0;
      const double f = (k % 2 ? -1.0 : 1.0) * std::sqrt(2.0) * M_PI / std::pow(b.cutoff, 1.5) * p * q /
                       std::sqrt(p * p + q * q) * (sinc(p * M_PI * x) + sinc(q * M_PI * x));
      const double e = k * k * q * q / (4.0 * p * p * p * p + 1.0), d = 1.0 - e / before;
      g[k] = k == 0 ? f : (f + std::sqrt(e / before) * g[k - 1]) / std::sqrt(d);
      before = d;
    }
  }
  if (m.inner == PaceFile::Inner::distance)
    for (double& x : g) x *= 1.0 - fall(r, b.inner, b.inner_width);
  return g;
}

struct Neighbour {
  double u[3], r;
  int type;
};

std::complex<double> harmonic(int l, int m, const double* u) {
  const int a = std::abs(m);
  const double theta = std::acos(std::clamp(u[2], -1.0, 1.0)), phi = std::atan2(u[1], u[0]);
  const auto y = std::sqrt(4.0 * M_PI) * std::sph_legendre(l, a, theta) * std::polar(1.0, a * phi);
  return m >= 0 ? y : (a % 2 ? -1.0 : 1.0) * std::conj(y);
}

double radial_function(const PaceFile::Bond& b, const std::vector<double>& g, int n, int l) {
  double sum = 0.0;
  if (n < b.functions && l <= b.l_max)
    for (int k = 0; k < b.basis_size; ++k) sum += b.coefficients[(n * (b.l_max + 1) + l) * b.basis_size + k] * g[k];
  return sum;
}

double embed(double rho, double exponent, bool shifted) {
  const double sign = rho < 0.0 ? -1.0 : 1.0, a = std::abs(rho), q = 1.0 / exponent;
  if (!shifted || exponent == 1.0) return sign * std::pow(a, exponent);  // |rho| is above 1e-5 here
  return sign * (std::pow(std::pow(q, q / (1.0 - q)) * std::exp(-a) + a, exponent) -
                 std::pow(q, 1.0 / (1.0 - q)) * std::exp(-a));
}

double repulsion(const PaceFile& m, const PaceFile::Bond& b, double r) {
  if (m.inner == PaceFile::Inner::zbl) {
    // Silicon alone; shifted to 0 at the cut-off with two derivatives, which are differences here.
    const auto screened = [](double d) {
      const double a = 0.46850 / (2.0 * std::pow(14.0, 0.23)), x = d / a;
      return (0.18175 * std::exp(-3.1998 * x) + 0.50986 * std::exp(-0.94229 * x) + 0.28022 * std::exp(-0.4029 * x) +
              0.02817 * std::exp(-0.20162 * x)) /
             d;
    };
    const double h = 1e-3, c = b.cutoff, w = b.width;
    const double slope =
        (8.0 * (screened(c + h) - screened(c - h)) - screened(c + 2 * h) + screened(c - 2 * h)) / (12 * h);
    const double bend =
        (16.0 * (screened(c + h) + screened(c - h)) - screened(c + 2 * h) - screened(c - 2 * h) - 30.0 * screened(c)) /
        (12 * h * h);
    double shift = -screened(c) + 0.5 * w * slope - w * w / 12.0 * bend;
    if (const double d = r - c + w; d > 0.0)
      shift += (-3.0 * slope + w * bend) / (w * w) / 3.0 * d * d * d +
               (2.0 * slope - w * bend) / (w * w * w) / 4.0 * d * d * d * d;
    return 0.5 * b.core_height * 14.399645351950543 * 196.0 * (screened(r) + shift) * fall(r, c, w);
  }
  if (b.core_rate * r * r >= 50.0) return 0.0;
  const double out = b.core_height * std::exp(-b.core_rate * r * r) / r * (0.5 + 0.5 * std::cos(M_PI * r / b.cutoff));
  return m.inner == PaceFile::Inner::distance ? out * fall(r, b.inner, b.inner_width) : out;
}

/// By the definition: every sum of every product anew, without any recursion.
double energy_of_atom(const PaceFile& m, int type, const std::vector<Neighbour>& near) {
  const auto& e = m.embeddings[type];
  std::vector<double> rho(e.densities, 0.0);
  const auto sum = [&](int other, int n, int l, int order, bool plain) {
    std::complex<double> out = 0.0;
    for (const auto& a : near) {
      if (a.type != other || a.r >= m.bond(type, other).cutoff) continue;
      const auto g = basis_functions(m, m.bond(type, other), a.r);
      out +=
          plain ? std::complex<double>(g[n]) : radial_function(m.bond(type, other), g, n, l) * harmonic(l, order, a.u);
    }
    return out;
  };
  for (const auto& f : m.functions[type])
    for (int product = 0; product < f.products(); ++product) {
      std::complex<double> all = 1.0;
      for (int k = 0; k < f.rank; ++k) all *= sum(f.types[k], f.n[k], f.l[k], f.m[product * f.rank + k], f.rank == 1);
      for (int p = 0; p < e.densities; ++p) rho[p] += f.c[product * e.densities + p] * all.real();
    }
  double energy = 0.0, core = 0.0, closest = 1e9, width = 1.0;
  for (int p = 0; p < e.densities; ++p) energy += e.weights[p] * embed(rho[p], e.exponents[p], e.shifted);
  for (const auto& a : near) {
    const auto& b = m.bond(type, a.type);
    if (a.r >= b.cutoff) continue;
    core += repulsion(m, b, a.r);
    if (a.r - b.inner + b.inner_width < closest) {
      closest = a.r - b.inner + b.inner_width;
      width = b.inner_width;
    }
  }
  if (m.inner == PaceFile::Inner::zbl) {
    const double share = fall(width - closest, width, width);
    return m.e0[type] + share * energy + (1.0 - share) * core;
  }
  return m.e0[type] + energy * fall(core, e.core_cutoff, e.width) + core;
}

/// model_type: by type of the system.
double plain_energy(const PeriodicSystem& s, const PaceFile& m, const std::vector<int>& model_type) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    std::vector<Neighbour> near;
    for (int j = 0; j < s.particles.total(); ++j) {
      Neighbour a;
      for (int k = 0; k < 3; ++k) a.u[k] = x(j, k) - x(i, k);
      a.r = std::sqrt(a.u[0] * a.u[0] + a.u[1] * a.u[1] + a.u[2] * a.u[2]);
      if (j == i || a.r >= m.cutoff()) continue;
      for (double& c : a.u) c /= a.r;
      a.type = model_type[static_cast<int>(x(j, 3))];
      near.push_back(a);
    }
    energy += energy_of_atom(m, model_type[static_cast<int>(x(i, 3))], near);
  }
  return energy;
}

PotentialCase crystal(const std::string& path, bool two, World& world) {
  PotentialCase c;
  const double a = 4.1, rows[3][3] = {{a, 0, 0}, {0.4, a, 0}, {-0.3, 0.5, a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {1, 1, 1}, diamond_basis);
  rattle(c.positions, 0.3, 8);
  c.species = {{"Si", 28.1}};
  if (two) c.species = {{"C", 12.0}, {"Si", 28.1}};  // another order than the file's
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(two && i % 3 == 0);
  auto potential = std::make_unique<Pace>(Pace::Params{path}, world.context);
  potential->bind(c.species);
  c.oracle = [model = read_pace(path), two](const PeriodicSystem& s) {
    return plain_energy(s, model, two ? std::vector<int>{1, 0} : std::vector<int>{0});
  };
  c.potential = std::move(potential);
  return c;
}

PaceSample silicon(const std::string& bond, const std::string& embedding, int densities) {
  return {{"Si"}, {embedding}, {bond}, {one_species()}, {densities}};
}

PaceSample carbide(const char* inner, double height) {
  PaceSample s;
  s.symbols = {"Si", "C"};
  s.embeddings = {embedding("FinnisSinclairShiftedScaled", 2, "1, 1, 0.7, 0.5", 9.0, 7.0),
                  embedding("FinnisSinclair", 3, "1, 1, 0.6, 0.5, -0.2, 1.5", 100000, 250)};
  s.bonds = {bond("ChebExpCos", 3.2, 2, 2, 4, cut(4.03, 0.4, 2.2, 0.7, inner, height, 0.6), 0.3),
             bond("SBessel", 5.25, 2, 2, 5, cut(3.61, 0.01, 2.1, 0.6, inner, height, 0.5), 1.1),
             bond("ChebPow", 2.5, 2, 2, 3, cut(3.57, 0.01, 2.3, 0.8, inner, height, 0.5), 1.9),
             bond("ChebLinear", 1.0, 2, 3, 3, cut(3.3, 0.01, 2.0, 0.5, inner, 2 * height, 0.7), 2.7)};
  s.functions = {two_species(0), two_species(1)};
  s.densities = {2, 3};
  return s;
}

}  // namespace

TEST_CASE("pace satisfies what every potential must, with every radial basis, embedding and inner cut-off") {
  World world;
  const Scratch scratch("pace");
  const auto path = scratch.file("model.yace");
  const auto plain = embedding("FinnisSinclair", 1, "1, 1", 100000, 250);
  const auto two = embedding("FinnisSinclairShiftedScaled", 2, "1, 1, 1, 0.5", 100000, 250);
  struct Case {
    const char* name;
    PaceSample sample;
  };
  // No distance is close to a cut-off, where second derivatives jump and differences fail.
  const Case cases[] = {
      {"ChebExpCos", silicon(bond("ChebExpCos", 4.1, 2, 3, 4, cut(4.6, 0.01, 0, 0, "density", 0, 1), 0.0), plain, 1)},
      {"core repulsion by density",
       silicon(bond("ChebExpCos", 4.1, 2, 3, 4, cut(4.6, 0.3, 0, 0, "density", 9, 0.4), 0.0),
               embedding("FinnisSinclair", 1, "1.3, 0.8", 14.0, 12.0), 1)},
      {"ChebPow", silicon(bond("ChebPow", 2.0, 2, 3, 5, cut(4.6, 0.01, 0, 0, "density", 0, 1), 0.4), two, 2)},
      {"SBessel", silicon(bond("SBessel", 5.25, 2, 3, 6, cut(4.6, 0.01, 0, 0, "distance", 0, 1), 0.8), two, 2)},
      {"ChebLinear", silicon(bond("ChebLinear", 1.0, 2, 3, 4, cut(4.62, 0.01, 0, 0, "density", 0, 1), 0.2), plain, 1)},
      {"zbl", silicon(bond("SBessel", 5.25, 2, 3, 4, cut(4.6, 1.5, 2.1, 0.9, "zbl", 0.02, 1), 0.8), two, 2)},
      {"two species, density", carbide("density", 4.0)},
      {"two species, distance", carbide("distance", 9.0)}};
  for (const auto& one : cases) {
    INFO(one.name);
    one.sample.write(path);
    check_potential(crystal(path, one.sample.symbols.size() == 2, world), world);
  }
}

TEST_CASE("pace has the same forces with several threads") {
  World world;
  const Scratch scratch("pace_threads");
  carbide("distance", 9.0).write(scratch.file("model.yace"));
  auto c = crystal(scratch.file("model.yace"), true, world);
  const auto one = c.positions;
  const auto types = c.types;
  for (int copy = 1; copy < 8; ++copy) {
    for (const auto& p : one) c.positions.push_back({p[0] + 4.1 * copy, p[1], p[2]});
    c.types.insert(c.types.end(), types.begin(), types.end());
  }
  const double rows[3][3] = {{8 * 4.1, 0, 0}, {0.4, 4.1, 0}, {-0.3, 0.5, 4.1}};
  c.box = Box::from_vectors(rows);
  auto s = c.system();
  const auto alone = c.evaluate(s, world);
  const AsIfThreads threads(3);
  const auto shared = c.evaluate(s, world);
  CHECK(shared.energy == Approx(alone.energy).epsilon(1e-13));
  double worst = 0.0;
  for (std::size_t i = 0; i < alone.forces.size(); ++i)
    for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(alone.forces[i][k] - shared.forces[i][k]));
  CHECK(worst < 1e-12 * largest(alone.forces));
}

TEST_CASE("pace adds products that are equal, or conjugate with the other sign of all orders") {
  World world;
  const Scratch scratch("pace_half");
  const std::string head = "elements: [Si]\nE0: [0]\ndeltaSplineBins: 0.001\nembeddings:\n  0: {" +
                           embedding("FinnisSinclair", 1, "1, 1", 100000, 250) + "}\nbonds:\n  [0, 0]: {" +
                           bond("ChebExpCos", 4.1, 2, 3, 4, cut(4.6, 0.01, 0, 0, "density", 0, 1), 0.0) +
                           "}\nfunctions:\n  0:\n";
  const std::string f = "    - {mu0: 0, rank: 2, ndensity: 1, num_ms_combs: ",
                    sums = ", mus: [0, 0], ns: [1, 2], ls: [3, 3]";
  std::ofstream(scratch.file("whole.yace"))
      << head << f << 3 << sums << ", ms_combs: [3, -3, -3, 3, 0, 0], ctildes: [-0.3, -0.3, 0.2]}\n";
  std::ofstream(scratch.file("half.yace"))
      << head << f << 2 << sums << ", ms_combs: [3, -3, 0, 0], ctildes: [-0.6, 0.1]}\n"
      << f << 1 << ", mus: [0, 0], ns: [2, 1], ls: [3, 3], ms_combs: [0, 0], ctildes: [0.1]}\n";
  auto whole = crystal(scratch.file("whole.yace"), false, world),
       half = crystal(scratch.file("half.yace"), false, world);
  auto s = whole.system();
  const auto a = whole.evaluate(s, world), b = half.evaluate(s, world);
  CHECK(b.energy == Approx(a.energy).epsilon(1e-13));
  CHECK(a.energy == Approx(whole.oracle(s)).epsilon(1e-12));
  CHECK(b.energy == Approx(half.oracle(s)).epsilon(1e-12));
  for (std::size_t i = 0; i < a.forces.size(); ++i)
    for (int k = 0; k < 3; ++k) CHECK(std::abs(a.forces[i][k] - b.forces[i][k]) < 1e-12 * largest(a.forces));
}

TEST_CASE("pace refuses damaged files by line and reason") {
  World world;
  const Scratch scratch("pace_refused");
  const auto path = scratch.file("a.yace");
  carbide("distance", 9.0).write(path);
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  const std::string whole = read.str();
  const auto refuses = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto said = message([&] { Pace({path}, world.context); });
    return said.substr(std::min(said.find("a.yace"), said.size()));
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    auto text = whole;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return refuses(text.replace(at, from.size(), to));
  };
  CHECK(refuses("") == "a.yace: the file is no map of YAML; expected a potential of pacemaker (.yace)");
  CHECK(refuses(whole.substr(0, whole.size() - 10)).find("the file is not YAML, or is truncated") != std::string::npos);
  CHECK(refuses(whole.substr(0, whole.find("  1:\n"))) ==
        "a.yace:13: `functions` has no entry 1 for C: the file is truncated");
  CHECK(refuses(whole.substr(0, whole.find("functions:"))) == "a.yace:1: the file has no `functions`");
  CHECK(refuses("# comment\n\nnelements=1\nelements: Cu\n") ==
        "a.yace:3: this is the older text format .ace; convert it with pyace: "
        "ACECTildeBasisSet(\"X.ace\").save_yaml(\"X.yace\")");
  CHECK(refuses("global: {}\nspecies: []\n").find("pace_yaml2yace") != std::string::npos);
  CHECK(with("ChebPow", "TEST4") ==
        "a.yace:10: `radbasename` of the bond C-Si is 'TEST4', expected ChebExpCos, "
        "ChebPow, ChebLinear or SBessel");
  CHECK(with("npoti: FinnisSinclair,", "npoti: GTINV,") ==
        "a.yace:6: `npoti` of the embedding of C is 'GTINV', expected FinnisSinclair or FinnisSinclairShiftedScaled");
  CHECK(with("[1, 1, 0.7, 0.5]", "[1, 1, 0.7]") ==
        "a.yace:5: `FS_parameters` of the embedding of Si has 3 values, expected two for each density: 4");
  CHECK(with("E0: [-1.5, -1.75]", "E0: [-1.5]") == "a.yace:2: `E0` has 1 values, expected one for each element: 2");
  CHECK(with("elements: [Si, C]", "elements: [Si, Si]") == "a.yace:1: `elements` has Si twice");
  CHECK(with("  [1, 0]:", "  [1, 2]:") == "a.yace:10: `bonds` has [1,2], expected a pair of 0 to 1");
  CHECK(with("  [1, 0]:", "  [1, 1]:") == "a.yace:8: `bonds` has no entry [1, 0] for C-Si");
  CHECK(with("nradmax: 2", "nradmax: 3") ==
        "a.yace:8: `radcoefficients` of the bond Si-Si has 2 functions (`nradmax`), expected 3");
  CHECK(with("nradbasemax: 4", "nradbasemax: 5") ==
        "a.yace:8: `radcoefficients` of the bond Si-Si has 4 values in a row (`nradbasemax`), expected 5");
  CHECK(with("rcut: 4.03", "rcut: wide") == "a.yace:8: `rcut` of the bond Si-Si is 'wide', expected a number");
  CHECK(with("inner_cutoff_type: distance", "inner_cutoff_type: density") ==
        "a.yace:9: `inner_cutoff_type` is distance here and density before; all bonds must have the same, because "
        "LAMMPS applies that of the last one to all");
  CHECK(with("rank: 2, ndensity: 2, num_ms_combs: 3, mus: [0, 1]", "rank: 2, ndensity: 2, num_ms_combs: 3, mus: [0]") ==
        "a.yace:16: `mus` has 1 values, expected 2");
  CHECK(with("mus: [0, 1]", "mus: [0, 2]") == "a.yace:16: `mus` of a function has 2, expected 0 to 1");
  CHECK(with("ns: [1, 2]", "ns: [1, 4]") == "a.yace:16: `ns` of a function of rank 2 has 4, expected 1 to 2");
  CHECK(with("ls: [1, 1]", "ls: [1, 0]") == "a.yace:16: `ms_combs` of a function has 1, but its l is 0");
  CHECK(with("ndensity: 2, num", "ndensity: 1, num") ==
        "a.yace:14: `ndensity` of a function is 1, but that of its embedding is 2");
  CHECK(with("num_ms_combs: 3", "num_ms_combs: 4") == "a.yace:16: `ms_combs` has 6 values, expected 8");
  carbide("distance", 9.0).write(path);
  const std::vector<Species> gold = {{"Au", 197.0}};
  CHECK_THROWS_WITH(Pace({path}, world.context).bind(gold),
                    "species 'Au' is unknown to the potential " + path + "; its species: Si, C");
}
