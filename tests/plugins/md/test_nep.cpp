#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/base/error.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/md/potentials/nep.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

/// A model with arbitrary parameters, as a file.
struct Header {
  std::string kind = "nep3", zbl;
  std::string cutoff = "5.1 3.9 100 100", l_max = "4 2 1";
  bool flexible = false;
};

void write_model(const std::string& path, const Header& h) {
  std::ofstream file(path);
  file << h.kind << " 2 Si C\n"
       << h.zbl << "cutoff " << h.cutoff << "\nn_max 3 2\nbasis_size 5 4\nl_max " << h.l_max << "\nANN 6 0\n";
  const int l = h.l_max[0] - '0', terms = l + (h.l_max[2] != '0') + (h.l_max[4] != '0');
  const int dim = 4 + 3 * terms, version = h.kind[3] - '0', one = 6 * (dim + 2);
  const int network = version == 3 ? one + 1 : version == 4 ? 2 * one + 1 : 2 * (one + 1) + 1;
  const int all = network + 4 * (4 * 6 + 3 * 5) + dim;
  for (int k = 0; k < all; ++k)
    file << fmt::format("{:.9f}\n", k < all - dim ? 0.6 * std::sin(1.3 * k * k + 0.4 * k) : 0.3 + 0.1 * std::cos(k));
  if (!h.flexible) return;
  for (int pair = 0; pair < 3; ++pair)
    for (const double x : {0.9 + 0.1 * pair, 2.2 + 0.2 * pair, 0.2, 3.1, 0.5, 0.95, 0.3, 0.4, 0.02, 0.2})
      file << fmt::format("{}\n", x);
}

double legendre(int l, double x) {
  double a = 1.0, b = x;
  for (int k = 2; k <= l; ++k) {
    const double c = ((2 * k - 1) * x * b - (k - 1) * a) / k;
    a = b;
    b = c;
  }
  return l == 0 ? 1.0 : b;
}

double radial(const double* c, int basis, double r, double cut) {
  if (r >= cut) return 0.0;
  double sum = 0.0;
  const double u = 2.0 * (r / cut - 1.0) * (r / cut - 1.0) - 1.0;
  for (int k = 0; k < basis; ++k) sum += c[k] * 0.5 * (std::cos(k * std::acos(u)) + 1.0);
  return sum * 0.5 * (1.0 + std::cos(M_PI * r / cut));
}

struct Neighbour {
  double u[3], r;
  int type;
};

/// Without harmonics: power spectra by Legendre polynomials of angles, the four-body term by a tensor's cube.
double energy_of_atom(const NepFile& m, int type, const std::vector<Neighbour>& near) {
  std::vector<double> q;
  const auto pair = [&](const Neighbour& a) { return type * m.types() + a.type; };
  for (int n = 0; n < m.radial_functions; ++n) {
    double sum = 0.0;
    for (const auto& a : near)
      sum += radial(&m.radial[(pair(a) * m.radial_functions + n) * m.radial_basis], m.radial_basis, a.r,
                    0.5 * (m.rc_radial[type] + m.rc_radial[a.type]));
    q.push_back(sum);
  }
  std::vector<std::vector<double>> by_term(m.terms());
  for (int n = 0; n < m.angular_functions; ++n) {
    std::vector<double> g;
    for (const auto& a : near)
      g.push_back(radial(&m.angular[(pair(a) * m.angular_functions + n) * m.angular_basis], m.angular_basis, a.r,
                         0.5 * (m.rc_angular[type] + m.rc_angular[a.type])));
    std::vector<double> power(m.l_max + 1, 0.0);
    double t[3][3] = {};
    for (std::size_t a = 0; a < near.size(); ++a) {
      for (int x = 0; x < 3; ++x)
        for (int y = 0; y < 3; ++y) t[x][y] += g[a] * (near[a].u[x] * near[a].u[y] - (x == y ? 1.0 / 3.0 : 0.0));
      for (std::size_t b = 0; b < near.size(); ++b) {
        const double cos = near[a].u[0] * near[b].u[0] + near[a].u[1] * near[b].u[1] + near[a].u[2] * near[b].u[2];
        for (int l = 1; l <= m.l_max; ++l) power[l] += g[a] * g[b] * (2 * l + 1) / (4 * M_PI) * legendre(l, cos);
      }
    }
    int term = 0;
    for (int l = 1; l <= m.l_max; ++l) by_term[term++].push_back(power[l]);
    double cube = 0.0;
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 3; ++y)
        for (int z = 0; z < 3; ++z) cube += t[x][y] * t[y][z] * t[z][x];
    if (m.fourth) by_term[term++].push_back(-std::sqrt(2.0 / 35.0) * std::pow(5.0 / (4 * M_PI), 1.5) * 4.5 * cube);
    if (m.fifth) by_term[term++].push_back(7.0 / 15.0 * power[1] * power[1]);
  }
  for (const auto& one : by_term) q.insert(q.end(), one.begin(), one.end());
  const auto& net = m.networks[type];
  double energy = -net.bias;
  for (int n = 0; n < m.neurons; ++n) {
    double in = -net.b0[n];
    for (std::size_t d = 0; d < q.size(); ++d) in += net.w0[n * q.size() + d] * q[d] * m.scale[d];
    energy += net.w1[n] * std::tanh(in);
  }
  for (const auto& a : near) {
    if (m.repulsion.empty()) break;
    const auto& p = m.repulsion[pair(a)];
    if (a.r >= p.outer) continue;
    double phi = 0.0;
    for (int k = 0; k < 4; ++k) phi += p.share[k] * std::exp(-p.rate[k] * p.inverse_a * a.r);
    const double x = std::max(0.0, (a.r - p.inner) / (p.outer - p.inner));
    energy += 0.5 * p.charges * phi / a.r * 0.5 * (1.0 + std::cos(M_PI * x));
  }
  return energy;
}

double plain_energy(const PeriodicSystem& s, const NepFile& m, double reach) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    std::vector<Neighbour> near;
    for (int j = 0; j < s.particles.total(); ++j) {
      Neighbour a;
      for (int k = 0; k < 3; ++k) a.u[k] = x(j, k) - x(i, k);
      a.r = std::sqrt(a.u[0] * a.u[0] + a.u[1] * a.u[1] + a.u[2] * a.u[2]);
      if (j == i || a.r >= reach) continue;
      for (double& c : a.u) c /= a.r;
      a.type = 1 - static_cast<int>(x(j, 3));
      near.push_back(a);
    }
    energy += energy_of_atom(m, 1 - static_cast<int>(x(i, 3)), near);
  }
  return energy;
}

PotentialCase carbide(const std::string& path, World& world) {
  PotentialCase c;
  const double a = 4.1, rows[3][3] = {{a, 0, 0}, {0.4, a, 0}, {-0.3, 0.5, a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {1, 1, 1}, diamond_basis);
  rattle(c.positions, 0.3, 8);
  c.species = {{"C", 12.0}, {"Si", 28.1}};  // another order than the file's
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(i % 3 == 0);
  auto potential = std::make_unique<Nep>(Nep::Params{path}, world.context);
  potential->bind(c.species);
  c.oracle = [model = potential->model(), reach = potential->cutoff()](const PeriodicSystem& s) {
    return plain_energy(s, model, reach);
  };
  c.potential = std::move(potential);
  return c;
}

}  // namespace

TEST_CASE("nep satisfies what every potential must, in all versions and with both repulsions") {
  World world;
  const Scratch scratch("nep");
  const auto path = scratch.file("nep.txt");
  // No distance is close to a cut-off, where second derivatives jump and differences fail.
  const Header headers[] = {{"nep3", "", "5.04 3.83 100 100"},
                            {"nep3_zbl", "zbl 0.8 2.1\n", "5.1 3.9 100 100", "4 0 0"},
                            {"nep4_zbl", "zbl 0 0\n", "5.1 3.9 4.7 3.5 100 100", "4 2 0", true},
                            {"nep4_zbl", "zbl 1.0 2.3 0.9\n", "4.5 4.5 100 100", "2 2 1"},
                            {"nep5", "", "4.73 3.95 100 100", "8 1 1 0"}};
  for (const auto& header : headers) {
    INFO(header.kind << " l_max " << header.l_max);
    write_model(path, header);
    check_potential(carbide(path, world), world);
  }
}

TEST_CASE("nep has the same forces with several threads") {
  World world;
  const Scratch scratch("nep_threads");
  write_model(scratch.file("nep.txt"), {});
  auto c = carbide(scratch.file("nep.txt"), world);
  const auto one = c.positions;
  for (int copy = 1; copy < 8; ++copy)
    for (const auto& p : one) c.positions.push_back({p[0] + 4.1 * copy, p[1], p[2]});
  const auto types = c.types;
  for (int copy = 1; copy < 8; ++copy) c.types.insert(c.types.end(), types.begin(), types.end());
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

TEST_CASE("nep refuses damaged files by line and reason") {
  World world;
  const Scratch scratch("nep_refused");
  const auto path = scratch.file("nep.txt");
  const auto refuses = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto said = message([&] { Nep({path}, world.context); });
    return said.substr(std::min(said.find("nep.txt"), said.size()));
  };
  const std::string kind = "nep3 1 Si\n", cut = "cutoff 5 4 100 100\n", n = "n_max 0 0\n", basis = "basis_size 0 0\n";
  const std::string sizes = kind + cut + n + basis;
  CHECK(refuses("") == "nep.txt:0: the file is empty; expected a line such as `nep4 2 Te Pb`");
  CHECK(
      refuses("nep4_charge1 1 Si\n") ==
      "nep.txt:1: 'nep4_charge1' is not a model of energies that is known here: nep3, nep4, nep5, each also with _zbl "
      "(no dipoles, polarizabilities, charges or temperatures)");
  CHECK(refuses("nep3 2 Si\n") == "nep.txt:1: found 1 species, expected their number and as many symbols");
  CHECK(refuses(kind) == "nep.txt:1: the file ends before the line `cutoff`: it is truncated");
  CHECK(refuses(kind + "n_max 4 4\n") == "nep.txt:2: expected the line `cutoff`, found 'n_max 4 4'");
  CHECK(refuses("nep3 3 Si C N\ncutoff 5 4 3 2 1\n") ==
        "nep.txt:2: `cutoff` has 5 values, expected 4, or 8: two for each species and two counts");
  CHECK(
      refuses(kind + "cutoff 4 5 100 100\n") ==
      "nep.txt:2: the cut-offs are 4 Å and 5 Å; the angular one must be positive and the radial one not smaller, below "
      "100 Å");
  CHECK(refuses(kind + cut + "n_max 4\n") == "nep.txt:3: `n_max` has 1 values, expected 2");
  CHECK(refuses(kind + cut + "n_max 4 99\n") == "nep.txt:3: n_max of the angular functions is 99, expected 0 to 64");
  CHECK(refuses(sizes + "l_max 4 1 1 1\n") ==
        "nep.txt:5: four-body terms of mixed degrees (l_max with a fourth flag that is not 0) are not known here");
  CHECK(refuses(sizes + "l_max 4 1 1 7\n") == "nep.txt:5: a flag of `l_max` is 7, expected 0 to 1");
  CHECK(refuses(sizes + "l_max 1 2 0\n") == "nep.txt:5: four-body terms need l_max of 2 or more");
  const std::string whole = sizes + "l_max 1 0 0\nANN 1 0\n";  // 2 + 1 + 1 + 1 + 2 + 2 numbers
  CHECK(refuses(whole + "1\n2\n") ==
        "nep.txt:8: the file ends within the biases of the network: it is truncated, or its header names other sizes");
  CHECK(refuses(whole + "1\n2 3\n") == "nep.txt:8: found 2 words, expected one value of the weights of the network");
  CHECK(refuses(whole + "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n") ==
        "nep.txt:16: values follow the last parameter: the header names other sizes than the model has");
  CHECK(refuses("nep3_zbl 1 Si\nzbl 2 1\n") ==
        "nep.txt:2: zbl from 2 Å to 1 Å: the outer distance must be the larger one");
  CHECK(refuses("nep3_zbl 1 Xx\nzbl 1 2\n" + cut + n + basis + "l_max 1 0 0\nANN 1 0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n") ==
        "nep.txt:16: the nuclear charge of 'Xx' is not known, which a repulsion needs");
  std::ofstream(path) << whole << "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const std::vector<Species> gold = {{"Au", 197.0}};
  CHECK_THROWS_WITH(Nep({path}, world.context).bind(gold),
                    "species 'Au' is unknown to the potential " + path + "; its species: Si");
}

TEST_CASE("nep has the forces, virials and descriptors of GPUMD's reference", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string folder = (data ? std::string(data) : std::string()) + "/models/nep/";
  std::ifstream xyz(folder + "xyz.in"), forces(folder + "force_analytical_ref.out"), virials(folder + "virial_ref.out"),
      descriptors(folder + "descriptor_ref.out");
  if (!data || !xyz) {
    std::puts("SKIPPED: nep references: CAMBIUM_DATA has no models/nep");
    return;
  }
  World world;
  int atoms = 0;
  double rows[3][3];
  xyz >> atoms;
  for (auto& row : rows)
    for (double& c : row) xyz >> c;
  if (rows[0][0] * (rows[1][1] * rows[2][2] - rows[1][2] * rows[2][1]) -
          rows[0][1] * (rows[1][0] * rows[2][2] - rows[1][2] * rows[2][0]) +
          rows[0][2] * (rows[1][0] * rows[2][1] - rows[1][1] * rows[2][0]) <
      0.0)
    std::swap(rows[0], rows[1]);
  // Into lower-triangular axes: the turn is applied to all references.
  double axis[3][3];
  const auto length = [](const double* v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); };
  for (int k = 0; k < 3; ++k) axis[0][k] = rows[0][k] / length(rows[0]);
  double along = 0.0;
  for (int k = 0; k < 3; ++k) along += rows[1][k] * axis[0][k];
  for (int k = 0; k < 3; ++k) axis[1][k] = rows[1][k] - along * axis[0][k];
  const double rest = length(axis[1]);
  for (double& c : axis[1]) c /= rest;
  for (int k = 0; k < 3; ++k)
    axis[2][k] = axis[0][(k + 1) % 3] * axis[1][(k + 2) % 3] - axis[0][(k + 2) % 3] * axis[1][(k + 1) % 3];
  const auto turned = [&](const double* v) {
    Position p{};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) p[a] += axis[a][b] * v[b];
    return p;
  };
  double h[3][3];
  for (int k = 0; k < 3; ++k) {
    const auto p = turned(rows[k]);
    for (int a = 0; a < 3; ++a) h[k][a] = a > k ? 0.0 : p[a];
  }
  PotentialCase c;
  c.box = Box::from_vectors(h);
  c.species = {{"Te", 127.6}, {"Pb", 207.2}};
  for (int i = 0; i < atoms; ++i) {
    std::string symbol;
    double p[3];
    xyz >> symbol >> p[0] >> p[1] >> p[2];
    c.positions.push_back(turned(p));
    c.types.push_back(symbol == "Pb");
  }
  auto nep = std::make_unique<Nep>(Nep::Params{folder + "nep.txt"}, world.context);
  nep->bind(c.species);
  const auto& model = *nep;
  c.potential = std::move(nep);
  auto s = c.system();
  NeighborList list;
  build_neighbors(s.particles, model.cutoff(), c.skin, list);
  const auto found = test::evaluate(*c.potential, s, list, world);
  double worst = 0.0;
  for (int i = 0; i < atoms; ++i) {
    double f[3];
    forces >> f[0] >> f[1] >> f[2];
    const auto t = turned(f);
    for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(t[k] - found.forces[i][k]));
  }
  CHECK(worst < 1e-12);
  double worst_virial = 0.0;
  for (int i = 0; i < atoms; ++i) {
    double w[9];
    for (double& x : w) virials >> x;
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        double t = 0.0;
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) t += axis[a][k] * w[3 * l + k] * axis[b][l];  // theirs has the distance first
        worst_virial = std::max(worst_virial, std::abs(t - found.atom_virial[i][3 * a + b]));
      }
  }
  CHECK(worst_virial < 1e-11);
  double worst_descriptor = 0.0;
  for (const double q : model.descriptors(s.particles, list)) {
    double reference = 0.0;
    descriptors >> reference;
    worst_descriptor = std::max(worst_descriptor, std::abs(q - reference));
  }
  CHECK(descriptors.good());
  CHECK(worst_descriptor < 1e-12);
}
