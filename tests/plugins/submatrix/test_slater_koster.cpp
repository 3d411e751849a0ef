// Slater-Koster files: what is read, what lies between the rows, and how integrals turn with the direction.
#include "core/parallel/random.hpp"
#include "plugins/submatrix/dftb/coulomb.hpp"
#include "plugins/submatrix/dftb/parameters.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dftb_set.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;

namespace {

const Scratch scratch("slater_koster");
const std::string folder = scratch.file("dftb_set");

std::string file_of(const std::string& text) {
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/one.skf";
  std::ofstream(path) << text;
  return path;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

using Matrix = std::array<std::array<double, 3>, 3>;

/// Rotation that takes z to the direction of the last column.
Matrix rotation(std::uint64_t id) {
  const Random4 u(7, Stream::external, id, 0);
  const double a = 6.28 * u.uniform(0), b = std::acos(2.0 * u.uniform(1) - 1.0);
  return {{{std::cos(a) * std::cos(b), -std::sin(a), std::cos(a) * std::sin(b)},
           {std::sin(a) * std::cos(b), std::cos(a), std::sin(a) * std::sin(b)},
           {-std::sin(b), 0.0, std::cos(b)}}};
}

/// Value of a function of a shell at a point of the unit sphere: x, y, z; xy, yz, zx, x2-y2, 3z2-r2.
double function(int l, int i, const std::array<double, 3>& v) {
  if (l == 0) return 1.0;
  if (l == 1) return v[i];
  const double root3 = std::sqrt(3.0);
  switch (i) {
    case 0:
      return root3 * v[0] * v[1];
    case 1:
      return root3 * v[1] * v[2];
    case 2:
      return root3 * v[2] * v[0];
    case 3:
      return 0.5 * root3 * (v[0] * v[0] - v[1] * v[1]);
    default:
      return 0.5 * (3.0 * v[2] * v[2] - 1.0);
  }
}

/// Function i of a shell, as a sum over functions along the bond: the integral of products over the sphere, by
/// Gauss's rule of the corners, edges and faces of a cube, which is exact to the fifth power.
double component(int l, int i, int along, const Matrix& r) {
  double sum = 0.0;
  const auto add = [&](std::array<double, 3> p, double weight) {
    const double length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    std::array<double, 3> turned{};
    for (double& c : p) c /= length;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) turned[a] += r[a][b] * p[b];
    sum += weight * (2 * l + 1) * function(l, i, turned) * function(l, along, p);
  };
  for (int x = -1; x <= 1; ++x)
    for (int y = -1; y <= 1; ++y)
      for (int z = -1; z <= 1; ++z) {
        const int kind = std::abs(x) + std::abs(y) + std::abs(z);
        if (kind == 0) continue;
        constexpr double weight[4] = {0.0, 40.0 / 840.0, 32.0 / 840.0, 27.0 / 840.0};
        add({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)}, weight[kind]);
      }
  return sum;
}

/// 0 sigma, 1 pi, 2 delta, and which of the two.
std::array<int, 2> kind_of(int l, int i) {
  if (l == 0) return {0, 0};
  if (l == 1) return i == 2 ? std::array{0, 0} : std::array{1, i};
  constexpr std::array<std::array<int, 2>, 5> d{{{2, 0}, {1, 1}, {1, 0}, {2, 1}, {0, 0}}};
  return d[i];
}

int first_column(int low, int high) {
  constexpr int place[3][3] = {{9, 8, 7}, {8, 5, 3}, {7, 3, 0}};
  return place[low][high];
}

}  // namespace

TEST_CASE("rows of a file are read with repeated numbers, commas and the extended header") {
  const SkfFile c = read_skf(file_of(test::set_file("C", "C")), true);
  CHECK(c.spacing == 0.02);
  CHECK(c.rows.size() == 400);
  CHECK(c.onsite == std::array{-0.50, -0.19, 0.0});
  CHECK(c.hubbard == std::array{0.365, 0.36, 0.36});
  CHECK(c.electrons == std::array{2.0, 2.0, 0.0});
  CHECK(c.polynomial.coefficients[1] == -0.002);
  CHECK(c.polynomial.cutoff == 3.5);
  REQUIRE(c.spline);
  CHECK(c.spline->cutoff == 4.0);
  CHECK(c.rows[99][9] == Approx(test::set_formula("C", "C", 9, false).value(2.0)).epsilon(1e-14));
  CHECK(c.rows[99][15] == Approx(test::set_formula("C", "C", 5, true).value(2.0)).epsilon(1e-14));

  std::string text = "@ with f\n0.1 12\n9.0 -0.1 -0.2 -0.3 0 0.5 0.1 0.2 0.3 0 0 2 2\n1.0 19*0.0\n";
  for (int k = 1; k < 12; ++k) {
    for (int i = 0; i < 40; ++i) text += fmt::format(" {}", 100 * k + i);
    text += "\n";
  }
  const SkfFile f = read_skf(file_of(text), true);
  CHECK(f.onsite == std::array{-0.3, -0.2, -0.1});
  CHECK(f.hubbard == std::array{0.3, 0.2, 0.1});
  CHECK(f.rows[0] == std::array<double, 20>{107, 108, 109, 112, 113, 114, 115, 117, 118, 119,
                                            127, 128, 129, 132, 133, 134, 135, 137, 138, 139});
  CHECK_FALSE(f.spline);
}

TEST_CASE("integrals between rows follow the formula, and the tail ends with two derivatives") {
  const SkfFile file = read_skf(file_of(test::set_file("C", "C", 100)), true);
  const RadialTable table(file);
  CHECK(table.cutoff() == Approx(3.0));
  for (double r : {0.03, 0.5001, 1.239, 1.9999}) {
    const auto at = table.at(r);
    for (int i : {5, 6, 8, 9}) {
      const auto h = test::set_formula("C", "C", i, false), s = test::set_formula("C", "C", i, true);
      CHECK(at.value[i] == Approx(h.value(r)).epsilon(1e-11));
      CHECK(at.slope[i] == Approx(h.slope(r)).epsilon(1e-9));
      CHECK(at.value[i + 10] == Approx(s.value(r)).epsilon(1e-11));
    }
  }
  const auto below = table.at(2.0 - 1e-9), above = table.at(2.0 + 1e-9), last = table.at(3.0 - 1e-4);
  CHECK(above.value[9] == Approx(below.value[9]).epsilon(1e-8));
  CHECK(above.slope[9] == Approx(below.slope[9]).epsilon(1e-7));
  CHECK(std::abs(last.value[9]) < 1e-11);
  CHECK(std::abs(last.slope[9]) < 1e-7);
  CHECK(table.at(3.0).value[9] == 0.0);
  for (double r : {2.2, 2.7}) {
    const double h = 1e-4;
    CHECK(table.at(r).slope[9] ==
          Approx((table.at(r + h).value[9] - table.at(r - h).value[9]) / (2 * h)).epsilon(1e-6));
  }
}

TEST_CASE("repulsion: exponential, splines, tail, polynomial") {
  const SkfFile file = read_skf(file_of(test::set_file("C", "C")), true);
  const Repulsion spline(*file.spline), polynomial(file.polynomial);
  const double strength = 0.04;
  for (double r : {2.0, 2.5, 2.7, 3.1, 3.6, 3.999}) {
    CHECK(spline.at(r).energy == Approx(strength * std::pow(4.0 - r, 3)).epsilon(1e-12).margin(1e-15));
    CHECK(spline.at(r).slope == Approx(-3.0 * strength * std::pow(4.0 - r, 2)).epsilon(1e-12).margin(1e-15));
  }
  CHECK(spline.at(1.9999999).energy == Approx(spline.at(2.0).energy).epsilon(1e-6));
  CHECK(spline.at(4.0).energy == 0.0);
  for (double r : {1.0, 3.0}) {
    const double x = 3.5 - r;
    CHECK(polynomial.at(r).energy == Approx(0.01 * x * x - 0.002 * x * x * x).epsilon(1e-13));
    CHECK(polynomial.at(r).slope == Approx(-0.02 * x + 0.006 * x * x).epsilon(1e-13));
    CHECK(spline.at(r).slope == Approx((spline.at(r + 1e-5).energy - spline.at(r - 1e-5).energy) / 2e-5).epsilon(1e-6));
  }
}

TEST_CASE("blocks of s, p and d functions are those along the bond, turned") {
  const auto set = test::write_set(folder);
  const std::vector<Species> species{{"X", 1.0}, {"C", 1.0}};
  const DftbParameters p({set}, {{"X", "d"}}, RepulsionChoice::automatic, species);
  CHECK(p.elements()[0].functions() == 9);
  CHECK(p.elements()[1].functions() == 4);
  CHECK(p.elements()[0].valence() == 4.0);
  for (std::uint64_t id = 0; id < 4; ++id) {
    const Matrix turn = rotation(id);
    const double r = 2.1 + 0.3 * static_cast<double>(id);
    const double d[3] = {r * turn[0][2], r * turn[1][2], r * turn[2][2]};
    for (auto [ta, tb] : {std::array{0, 1}, std::array{1, 0}, std::array{0, 0}}) {
      PairBlocks blocks;
      p.blocks(ta, tb, true, d, true, blocks);
      const auto &a = p.elements()[ta], &b = p.elements()[tb];
      for (int la = 0; la <= a.highest; ++la)
        for (int lb = 0; lb <= b.highest; ++lb)
          for (int i = 0; i < 2 * la + 1; ++i)
            for (int j = 0; j < 2 * lb + 1; ++j) {
              double h = 0.0;
              for (int m = 0; m < 2 * la + 1; ++m)
                for (int n = 0; n < 2 * lb + 1; ++n) {
                  if (kind_of(la, m) != kind_of(lb, n)) continue;
                  const bool turned = la > lb;
                  const int column = first_column(std::min(la, lb), std::max(la, lb)) + kind_of(la, m)[0];
                  const auto formula = turned ? test::set_formula(b.symbol, a.symbol, column, false)
                                              : test::set_formula(a.symbol, b.symbol, column, false);
                  const double sign = turned && (la + lb) % 2 ? -1.0 : 1.0;
                  h += sign * formula.value(r) * component(la, i, m, turn) * component(lb, j, n, turn);
                }
              CHECK(blocks.h[(la * la + i) * b.functions() + lb * lb + j] == Approx(h).margin(1e-10));
            }
    }
  }
}

TEST_CASE("derivatives of blocks are slopes of the blocks") {
  const std::vector<Species> species{{"X", 1.0}, {"C", 1.0}};
  const DftbParameters p({test::write_set(folder)}, {{"X", "d"}}, RepulsionChoice::automatic, species);
  // Along an axis, where spherical angles have poles, and elsewhere; inside the table and in the tail.
  for (const std::array<double, 3> at :
       {std::array{0.0, 0.0, 2.505}, std::array{1.1, -0.8, 1.7}, std::array{5.0, 5.1, 4.3}})
    for (auto [ta, tb] : {std::array{0, 1}, std::array{1, 0}, std::array{0, 0}}) {
      PairBlocks blocks, more, less;
      p.blocks(ta, tb, true, at.data(), true, blocks);
      const auto size = static_cast<std::size_t>(p.elements()[ta].functions() * p.elements()[tb].functions());
      for (std::size_t k = 0; k < 3; ++k) {
        constexpr double h = 1e-4;
        auto d = at;
        d[k] += h;
        p.blocks(ta, tb, true, d.data(), false, more);
        d[k] -= 2.0 * h;
        p.blocks(ta, tb, true, d.data(), false, less);
        for (std::size_t e = 0; e < size; ++e) {
          CHECK(blocks.dh[k][e] == Approx((more.h[e] - less.h[e]) / (2 * h)).margin(1e-8));
          CHECK(blocks.ds[k][e] == Approx((more.s[e] - less.s[e]) / (2 * h)).margin(1e-8));
        }
      }
    }
}

TEST_CASE("gamma at short range: onsite limit, equal and unequal Hubbard parameters, slope") {
  for (auto [a, b] : {std::array{0.42, 0.42}, std::array{0.42, 0.365}, std::array{0.3, 0.3001}}) {
    // 1/r - S tends to a value between the two parameters: U for equal ones.
    const double near = 1e-3, value = 1.0 / near - short_gamma(near, a, b).value;
    CHECK(value < std::max(a, b) + 1e-6);
    CHECK(value > std::min(a, b) - 1e-3);
    for (double r : {0.7, 2.0, 6.0}) {
      const double h = 1e-4, slope = (short_gamma(r + h, a, b).value - short_gamma(r - h, a, b).value) / (2.0 * h);
      CHECK(short_gamma(r, a, b).slope == Approx(slope).epsilon(1e-6));
      CHECK(short_gamma(r, a, b).value == Approx(short_gamma(r, b, a).value).epsilon(1e-12));
    }
  }
  for (const double damping : {0.0, 4.0})
    for (const auto& [a, b] : {std::pair{0.42, 0.36}, {0.36, 0.42}, {0.4, 0.4}})
      for (const double r : {0.9, 2.5, 6.0}) {
        const double h = 1e-3;
        const auto up = short_gamma(r, a + h, b, damping), down = short_gamma(r, a - h, b, damping),
                   by = short_gamma_by_hubbard(r, a, b, damping);
        CHECK(by.value == Approx((up.value - down.value) / (2.0 * h)).epsilon(1e-4).margin(1e-7));
        CHECK(by.slope == Approx((up.slope - down.slope) / (2.0 * h)).epsilon(1e-4).margin(1e-7));
        const double slope =
            (short_gamma(r + 1e-4, a, b, damping).value - short_gamma(r - 1e-4, a, b, damping).value) / 2e-4;
        CHECK(short_gamma(r, a, b, damping).slope == Approx(slope).epsilon(1e-6));
      }
  CHECK(short_gamma(2.0, 0.42, 0.4206).value == Approx(short_gamma(2.0, 0.4203, 0.4203).value).epsilon(1e-5));
}

TEST_CASE("files that cannot be used are refused with place and remedy") {
  const std::string good = test::set_file("C", "C", 20);
  const auto says = [&](const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH(read_skf(file_of(text), true), Catch::Matchers::Contains(message));
  };
  says(good.substr(0, good.size() / 2), ": it is truncated, or the number of distances in its first line is wrong");
  says(good.substr(0, good.find("Spline") + 8),
       "the file ends before the number of intervals and the cut-off of the repulsion");
  says(replaced(good, "-0.50", "nan"), "on-site energies, Hubbard parameters and occupations");
  says(replaced(good, "-0.50", "-13.6"),
       "the on-site energy of the s shell is -13.6; expected hartree, at most 5 in size. Is it in eV?");
  says(replaced(good, "0.365", "9.9"),
       "the Hubbard parameter of the s shell is 9.9; expected hartree, at most 2. Is it in eV?");
  says(replaced(good, "0 2 2", "0 2 3"),
       "the s shell has 3 electrons; expected 0 to 2. Is this a file of two elements?");
  says("@\n0.1 12\n0 -0.1 -0.2 -0.3 0 0.5 0.1 0.2 0.3 7 0 2 2\n",
       "the f shell has 7 electrons; dftb has s, p and d shells: name a set whose atoms have no f electrons");
  says(replaced(good, "0.02, 21", "2.0, 21"), "the spacing of the distances is 2; expected 0 to 1 bohr");
  says(replaced(good, "0.02, 21", "0.02, 4.5"),
       "the number of distances is 4.5; expected a whole number of 10 to 1000000");
  says(replaced(good, "0.02, 21, remark", "0.02"),
       "expected the spacing of the distances in bohr and their number, such as 0.02 500");
  says(replaced(good, "10*0.0", "5000*0.0"),
       "'5000*0.0' repeats a value 5000 times; expected 1 to 1000 for mass and "
       "polynomial repulsion");
  says(replaced(good, "12.01, 0.01 -0.002 6*0.0 3.5, 10*0.0,", "12.01, 0.01"),
       "22 values up to here for mass and polynomial repulsion, expected 20: a value is missing in the lines before");
  says(replaced(good, "Spline\n3", "Spline\n3.5"),
       "the repulsion has 3.5 intervals; expected a whole number from 1 on");
  says(replaced(good, "\n2.7 3.3", "\n2.8 3.3"),
       "interval 2 of the repulsion is 2.8 to 3.3 bohr; expected one that begins "
       "where the one before ends, in ascending order");
  const std::vector<Species> species{{"C", 1.0}, {"N", 1.0}};
  const auto set = test::write_set(folder);
  const auto make = [&](std::map<std::string, std::string> shells, RepulsionChoice repulsion, std::size_t count) {
    return DftbParameters({set}, shells, repulsion, std::span(species).first(count));
  };
  CHECK_THROWS_WITH(make({}, RepulsionChoice::automatic, 2),
                    "there is no file " + folder +
                        "/C-N.skf for the pair C and N; name the folder of a set that has it, and its "
                        "separator and suffix");
  CHECK_THROWS_WITH(make({{"C", "f"}}, RepulsionChoice::automatic, 1),
                    "shells gives C an f shell; dftb has s, p and d shells. Name a set without f, or s, p or d");
  CHECK_THROWS_WITH(make({{"C", "sp"}}, RepulsionChoice::automatic, 1),
                    "shells gives C 'sp'; expected its highest shell: s, p or d");
  CHECK_THROWS_WITH(make({{"O", "p"}}, RepulsionChoice::automatic, 1),
                    "shells names O, which the structure does not have; leave it out");
  std::ofstream(set + "/C-C.skf") << good.substr(0, good.find("Spline"));
  CHECK_THROWS_WITH(
      make({}, RepulsionChoice::spline, 1),
      folder + "/C-C.skf has no line 'Spline': no spline repulsion; write repulsion: polynomial, or none");
  CHECK(make({}, RepulsionChoice::automatic, 1).repulsion(0, 0).cutoff() == 3.5);
}
