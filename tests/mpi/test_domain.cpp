// Ghosts, migration and reverse sums against a brute-force periodic search that knows nothing of ranks or bricks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "core/state/domain.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

using Vec = std::array<double, 3>;

/// Where atom `tag` starts: anywhere within two cells around the cell, the same on every rank.
Vec start(const Box& box, std::int64_t tag, int spread) {
  const Random4 random(7, Stream::test, tag, 0);
  double s[3], x[3];
  for (int d = 0; d < 3; ++d) s[d] = spread ? random.uniform(d) * (2 * spread + 1) - spread : random.uniform(d);
  box.to_cartesian(s, x);
  return {x[0], x[1], x[2]};
}

/// `count` atoms dealt to the ranks without regard to place.
Particles deal(const Comm& comm, const Box& box, int count, int spread = 2) {
  Particles p;
  p.box = box;
  p.nglobal = count;
  p.species = {{"A", 1.0}, {"B", 2.0}};
  for (int t = 1; t <= count; ++t) p.nlocal += (t * 7 / 3) % comm.size() == comm.rank();
  p.reserve(p.nlocal);
  auto x = Kokkos::create_mirror_view(p.x);
  auto v = Kokkos::create_mirror_view(p.v);
  auto f = Kokkos::create_mirror_view(p.f);
  auto tag = Kokkos::create_mirror_view(p.tag);
  auto group = Kokkos::create_mirror_view(p.group);
  int row = 0;
  for (int t = 1; t <= count; ++t) {
    if ((t * 7 / 3) % comm.size() != comm.rank()) continue;
    const Vec r = start(box, t, spread);
    for (int d = 0; d < 3; ++d) x(row, d) = r[d], v(row, d) = t + 0.1 * d, f(row, d) = -t - 0.1 * d;
    x(row, 3) = t % 2;
    tag(row) = t;
    group(row) = 5 * t;
    ++row;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.v, v);
  Kokkos::deep_copy(p.f, f);
  Kokkos::deep_copy(p.tag, tag);
  Kokkos::deep_copy(p.group, group);
  return p;
}

template <class V>
auto host(const V& view) {
  auto h = Kokkos::create_mirror_view(view);
  Kokkos::deep_copy(h, view);
  return h;
}

Box skewed(double a, double b, double c) {
  const double rows[3][3] = {{a, 0, 0}, {-0.35 * a, b, 0}, {0.3 * a, 0.25 * b, c}};
  return Box::from_vectors(rows);
}

Box moved(Box box, const Vec& origin) {
  for (int k = 0; k < 3; ++k) box.origin[k] = origin[k];
  return box;
}

/// All (tag, distance vector) within `range` of `centre`, periodic images of itself included, itself not.
using Found = std::vector<std::pair<std::int64_t, Vec>>;
Found brute_force(const Box& box, const std::vector<Vec>& all, const Vec& centre, double range) {
  const auto height = box.heights();
  int layers[3];
  for (int d = 0; d < 3; ++d) layers[d] = static_cast<int>(range / height[d]) + 2;
  Found found;
  for (std::size_t j = 0; j < all.size(); ++j)
    for (int a = -layers[0]; a <= layers[0]; ++a)
      for (int b = -layers[1]; b <= layers[1]; ++b)
        for (int c = -layers[2]; c <= layers[2]; ++c) {
          Vec d;
          for (int k = 0; k < 3; ++k)
            d[k] = all[j][k] - centre[k] + a * box.h[0][k] + b * box.h[1][k] + c * box.h[2][k];
          const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
          if (r2 > 1e-12 && r2 < range * range) found.push_back({static_cast<std::int64_t>(j) + 1, d});
        }
  return found;
}

/// Order by tag, then by distance vector rounded so that both sides sort alike.
void canonical(Found& found) {
  auto key = [](const std::pair<std::int64_t, Vec>& n) {
    return std::make_tuple(n.first, std::llround(n.second[0] * 1e6), std::llround(n.second[1] * 1e6),
                           std::llround(n.second[2] * 1e6));
  };
  std::sort(found.begin(), found.end(), [&](const auto& m, const auto& n) { return key(m) < key(n); });
}

/// Wrapped positions of all atoms by tag, on every rank.
std::vector<Vec> gather_positions(const Comm& comm, const Particles& p) {
  std::vector<double> flat(3 * p.nglobal, 0.0);
  const auto x = host(p.x);
  const auto tag = host(p.tag);
  for (int i = 0; i < p.nlocal; ++i)
    for (int k = 0; k < 3; ++k) flat[3 * (tag(i) - 1) + k] = x(i, k);
  comm.sum(flat);
  std::vector<Vec> all(p.nglobal);
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = {flat[3 * j], flat[3 * j + 1], flat[3 * j + 2]};
  return all;
}

/// Number of owned atoms whose surroundings differ from the brute-force answer.
int wrong_surroundings(const Comm& comm, const Particles& p, double range) {
  const auto all = gather_positions(comm, p);
  const auto x = host(p.x);
  const auto tag = host(p.tag);
  int wrong = 0;
  for (int i = 0; i < p.nlocal; ++i) {
    Found found;
    for (int j = 0; j < p.total(); ++j) {
      const Vec d = {x(j, 0) - x(i, 0), x(j, 1) - x(i, 1), x(j, 2) - x(i, 2)};
      const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (j != i && r2 < range * range) found.push_back({tag(j), d});
    }
    Found expected = brute_force(p.box, all, {x(i, 0), x(i, 1), x(i, 2)}, range);
    canonical(found);
    canonical(expected);
    bool same = found.size() == expected.size();
    for (std::size_t n = 0; same && n < found.size(); ++n) {
      same = found[n].first == expected[n].first;
      for (int k = 0; k < 3; ++k) same = same && std::fabs(found[n].second[k] - expected[n].second[k]) < 1e-9;
    }
    wrong += !same;
  }
  return wrong;
}

/// Number of ghosts whose type is not their tag's.
int wrong_types(const Particles& p) {
  const auto x = host(p.x);
  const auto tag = host(p.tag);
  int wrong = 0;
  for (int j = 0; j < p.total(); ++j) wrong += x(j, 3) != static_cast<double>(tag(j) % 2);
  return wrong;
}

void shake(Particles& p, double amplitude) {
  auto x = host(p.x);
  const auto tag = host(p.tag);
  for (int i = 0; i < p.nlocal; ++i) {
    const Random4 random(11, Stream::test, tag(i), 1);
    for (int d = 0; d < 3; ++d) x(i, d) += amplitude * (random.uniform(d) - 0.5);
  }
  Kokkos::deep_copy(p.x, x);
}

}  // namespace

TEST_CASE("every owned atom sees exactly its periodic surroundings") {
  Comm comm;
  struct Case {
    Box box;
    int atoms;
    double range;
  };
  const std::vector<Case> cases = {{Box::orthogonal(30, 26, 34), 400, 5.0},
                                   {Box::orthogonal(13, 13, 13), 100, 6.4},
                                   {Box::orthogonal(40, 12, 12), 150, 5.9},
                                   {skewed(30, 27, 25), 300, 4.0},
                                   {skewed(20, 18, 16), 120, 5.0},
                                   {moved(skewed(21, 23, 22), {-7.0, 3.5, 11.0}), 150, 5.0}};
  for (const auto& c : cases) {
    Particles p = deal(comm, c.box, c.atoms);
    Domain domain(comm, c.box, {}, c.range);
    domain.migrate(p);
    domain.borders(p, c.range);
    CHECK(comm.sum(static_cast<std::int64_t>(p.nlocal)) == c.atoms);
    CHECK(wrong_surroundings(comm, p, c.range) == 0);
    CHECK(wrong_types(p) == 0);
    CHECK(host(p.x)(p.sentinel(), 0) == 1e15);

    shake(p, 0.5);
    domain.forward_positions(p);
    CHECK(wrong_surroundings(comm, p, c.range - 2.0) == 0);
    CHECK(wrong_types(p) == 0);
  }
}

TEST_CASE("a cell much smaller than the range has several layers of images") {
  Comm comm;
  if (comm.size() > 1) return;
  for (const Box& box : {Box::orthogonal(3.6, 3.6, 3.6), skewed(3.6, 3.4, 3.0)}) {
    Particles p = deal(comm, box, 4);
    Domain domain(comm, box, {}, 9.0);
    domain.migrate(p);
    domain.borders(p, 9.0);
    CHECK(wrong_surroundings(comm, p, 9.0) == 0);
  }
}

TEST_CASE("bricks narrower than the range get ghosts from beyond the next rank") {
  Comm comm;
  const Box box = Box::orthogonal(24, 20, 22);
  Particles p = deal(comm, box, 200);
  Domain domain(comm, box, std::array<int, 3>{comm.size(), 1, 1}, 9.0);  // 4 ranks: bricks of 6 Å
  domain.migrate(p);
  domain.borders(p, 9.0);
  CHECK(wrong_surroundings(comm, p, 9.0) == 0);
}

TEST_CASE("atoms take all that is theirs along, and unwrapped positions stay") {
  Comm comm;
  const Box box = skewed(22, 21, 20);
  const int count = 300;
  Particles p = deal(comm, box, count);
  Domain domain(comm, box);
  View<double**> extra("extra", p.capacity(), 2);
  {
    auto e = host(extra);
    const auto tag = host(p.tag);
    for (int i = 0; i < p.nlocal; ++i) e(i, 0) = tag(i) + 0.5, e(i, 1) = -tag(i);
    Kokkos::deep_copy(extra, e);
  }
  domain.carry(&extra);
  domain.migrate(p);
  const auto x = host(p.x);
  const auto v = host(p.v);
  const auto f = host(p.f);
  const auto tag = host(p.tag);
  const auto image = host(p.image);
  const auto group = host(p.group);
  const auto e = host(extra);
  std::vector<double> seen(count, 0.0);
  int wrong = 0, outside = 0;
  for (int i = 0; i < p.nlocal; ++i) {
    const std::int64_t t = tag(i);
    seen[t - 1] += 1.0;
    for (int d = 0; d < 3; ++d) wrong += v(i, d) != t + 0.1 * d || f(i, d) != -t - 0.1 * d;
    wrong += group(i) != static_cast<std::uint32_t>(5 * t) || x(i, 3) != static_cast<double>(t % 2);
    wrong += e(i, 0) != t + 0.5 || e(i, 1) != -static_cast<double>(t);
    const Vec r = start(box, t, 2);
    double s[3];
    const double here[3] = {x(i, 0), x(i, 1), x(i, 2)};
    box.to_fractional(here, s);
    for (int k = 0; k < 3; ++k) {
      const double unwrapped = x(i, k) + image(i, 0) * box.h[0][k] + image(i, 1) * box.h[1][k] +
                               image(i, 2) * box.h[2][k];
      wrong += std::fabs(unwrapped - r[k]) > 1e-10;
      outside += s[k] < 0.0 || s[k] >= 1.0 || domain.grid().brick_index(s[k], k) != domain.brick()[k];
    }
  }
  CHECK(wrong == 0);
  CHECK(outside == 0);
  comm.sum(seen);
  CHECK(std::all_of(seen.begin(), seen.end(), [](double n) { return n == 1.0; }));
}

TEST_CASE("the order of rows is a function of positions and tags alone") {
  Comm comm;
  const Box box = Box::orthogonal(20, 24, 22);
  auto order_of = [&](Particles& p, Domain& domain) {
    domain.migrate(p);
    const auto tag = host(p.tag);
    return std::vector<std::int64_t>(tag.data(), tag.data() + p.nlocal);
  };
  Domain domain(comm, box);
  Particles p = deal(comm, box, 500);
  const auto first = order_of(p, domain);
  const auto bits = host(p.x);
  const std::vector<double> before(bits.data(), bits.data() + 4 * p.nlocal);
  CHECK(order_of(p, domain) == first);  // sorting again changes nothing
  const auto again = host(p.x);
  CHECK(std::vector<double>(again.data(), again.data() + 4 * p.nlocal) == before);

  // The same atoms, all handed to rank 0 in reverse.
  const auto all = gather_positions(comm, p);
  Particles q;
  q.box = box;
  q.nlocal = comm.root() ? static_cast<int>(all.size()) : 0;
  q.reserve(q.nlocal);
  auto x = Kokkos::create_mirror_view(q.x);
  auto tag = Kokkos::create_mirror_view(q.tag);
  for (int i = 0; i < q.nlocal; ++i) {
    const std::size_t j = all.size() - 1 - i;
    for (int k = 0; k < 3; ++k) x(i, k) = all[j][k];
    x(i, 3) = 0, tag(i) = static_cast<std::int64_t>(j) + 1;
  }
  Kokkos::deep_copy(q.x, x);
  Kokkos::deep_copy(q.tag, tag);
  CHECK(order_of(q, domain) == first);
  CHECK(q.nglobal == 500);
}

TEST_CASE("reverse sums reach the owner from every ghost, the same bits each time") {
  Comm comm;
  for (const Box& box : {Box::orthogonal(13, 14, 15), skewed(20, 18, 16)}) {
    Particles p = deal(comm, box, 150);
    Domain domain(comm, box, {}, 6.0);
    domain.migrate(p);
    domain.borders(p, 6.0);
    const auto tag = host(p.tag);
    const auto x = host(p.x);
    // What a ghost holds depends on where it is, so that a sum that reaches the wrong row is seen.
    auto value = [&](int j, int c) { return tag(j) * (1.0 + c) + 0.25 * c * std::floor(x(j, c % 3)); };
    std::vector<double> expected(9 * p.nglobal, 0.0);
    View<double* [3]> f("f", p.total());
    View<double* [9]> w("w", p.total());
    auto fh = Kokkos::create_mirror(f);
    auto wh = Kokkos::create_mirror(w);
    for (int j = 0; j < p.total(); ++j)
      for (int c = 0; c < 9; ++c) {
        expected[9 * (tag(j) - 1) + c] += value(j, c);
        wh(j, c) = value(j, c);
        if (c < 3) fh(j, c) = value(j, c);
      }
    comm.sum(expected);
    std::vector<double> first;
    for (int repeat = 0; repeat < 2; ++repeat) {
      Kokkos::deep_copy(f, fh);
      Kokkos::deep_copy(w, wh);
      domain.reverse_add(f);
      domain.reverse_add(w);
      const auto fs = host(f);
      const auto ws = host(w);
      std::vector<double> sums;
      double worst = 0.0;
      for (int i = 0; i < p.nlocal; ++i)
        for (int c = 0; c < 9; ++c) {
          sums.push_back(ws(i, c));
          worst = std::max(worst, std::fabs(ws(i, c) - expected[9 * (tag(i) - 1) + c]));
          if (c < 3) worst = std::max(worst, std::fabs(fs(i, c) - expected[9 * (tag(i) - 1) + c]));
        }
      CHECK(worst < 1e-9);
      if (repeat == 0) first = sums;
      CHECK(sums == first);
    }
  }
}

TEST_CASE("one number per atom reaches every ghost") {
  Comm comm;
  const Box box = Box::orthogonal(25, 14, 15);
  Particles p = deal(comm, box, 200);
  Domain domain(comm, box, {}, 6.0);
  domain.migrate(p);
  domain.borders(p, 6.0);
  const auto tag = host(p.tag);
  View<double*> density("density", p.total());
  auto d = host(density);
  for (int i = 0; i < p.nlocal; ++i) d(i) = 3.0 * tag(i);
  Kokkos::deep_copy(density, d);
  domain.forward(density);
  const auto got = host(density);
  int wrong = 0;
  for (int j = 0; j < p.total(); ++j) wrong += got(j) != 3.0 * tag(j);
  CHECK(p.nghost > 0);
  CHECK(wrong == 0);
}

TEST_CASE("a cell that changes takes bricks and ghosts along") {
  Comm comm;
  const Box box = skewed(24, 23, 22);
  Particles p = deal(comm, box, 250);
  Domain domain(comm, box, {}, 5.5);
  domain.migrate(p);
  domain.borders(p, 5.5);
  Box larger = box;
  for (auto& row : larger.h)
    for (double& value : row) value *= 1.03;
  auto x = host(p.x);
  for (int i = 0; i < p.nlocal; ++i)
    for (int k = 0; k < 3; ++k) x(i, k) *= 1.03;
  Kokkos::deep_copy(p.x, x);
  p.box = larger;
  domain.forward_positions(p);
  CHECK(wrong_surroundings(comm, p, 5.5) == 0);
  domain.migrate(p);
  domain.borders(p, 5.5);
  CHECK(wrong_surroundings(comm, p, 5.5) == 0);
}

TEST_CASE("atoms on faces of the cell and just below zero are wrapped once") {
  Comm comm;
  const Box box = Box::orthogonal(20, 20, 20);
  Particles p = deal(comm, box, 8, 0);
  auto x = host(p.x);
  const auto tag = host(p.tag);
  const double awkward[8] = {0.0, -1e-17, 20.0, 10.0, std::nextafter(20.0, 0.0), std::nextafter(10.0, 0.0), -20.0, 5.0};
  for (int i = 0; i < p.nlocal; ++i) x(i, 0) = awkward[tag(i) - 1], x(i, 1) = x(i, 2) = 2.0 * tag(i);
  Kokkos::deep_copy(p.x, x);
  Domain domain(comm, box, {}, 4.0);
  domain.migrate(p);
  domain.borders(p, 4.0);
  x = host(p.x);
  for (int i = 0; i < p.nlocal; ++i) CHECK((x(i, 0) >= 0.0 && x(i, 0) < 20.0));
  CHECK(wrong_surroundings(comm, p, 4.0) == 0);
}

TEST_CASE("a divided direction narrower than twice the range is refused with the way out") {
  Comm comm;
  const Box box = Box::orthogonal(30, 9, 30);
  const int n = comm.size();
  if (n == 1) {
    CHECK_NOTHROW(Domain(comm, box, std::array<int, 3>{1, 1, 1}, 7.0));
    CHECK_THROWS_WITH(Domain(comm, box, std::array<int, 3>{1, 2, 2}, 7.0),
                      "the grid of ranks 1 x 2 x 2 does not fit 1 rank: give three positive counts whose product is 1");
    return;
  }
  const std::string text = "the cell is 9.0 Å wide along b, which " + std::to_string(n) +
                           " ranks divide: a divided direction must be at least 14.0 Å wide (twice the cut-off plus "
                           "skin of 7.0 Å); use 1 rank along b or a larger cell";
  CHECK_THROWS_AS(Domain(comm, box, std::array<int, 3>{1, n, 1}, 7.0), InputError);
  CHECK_THROWS_WITH(Domain(comm, box, std::array<int, 3>{1, n, 1}, 7.0), text);
  Particles p = deal(comm, box, 50);
  Domain domain(comm, box, std::array<int, 3>{1, n, 1});
  domain.migrate(p);
  CHECK_THROWS_WITH(domain.borders(p, 7.0), text);
  // Left to itself the grid avoids the narrow direction.
  CHECK(Domain(comm, box, {}, 7.0).grid().count[1] == 1);
}

TEST_CASE("the grid of ranks has the least surface") {
  CHECK(BrickGrid::choose(8, Box::orthogonal(10, 10, 10), 0).count[0] == 2);
  const auto flat = BrickGrid::choose(12, Box::orthogonal(60, 40, 20), 0);
  CHECK(std::array<int, 3>{flat.count[0], flat.count[1], flat.count[2]} == std::array<int, 3>{4, 3, 1});
  const auto wire = BrickGrid::choose(6, Box::orthogonal(10, 10, 200), 0);
  CHECK(wire.count[2] == 6);
}

TEST_CASE("a lost atom is named on every rank") {
  Comm comm;
  const Box box = Box::orthogonal(20, 20, 20);
  Particles p = deal(comm, box, 60, 0);
  Domain domain(comm, box);
  domain.migrate(p);
  const auto tag = host(p.tag);
  auto x = host(p.x);
  int owner = 0;
  for (int i = 0; i < p.nlocal; ++i)
    if (tag(i) == 17) {
      owner = comm.rank();
      x(i, 0) = std::nan(""), x(i, 1) = 2.5, x(i, 2) = 3.0;
    }
  owner = comm.max(owner);
  Kokkos::deep_copy(p.x, x);
  CHECK_THROWS_WITH(domain.migrate(p), "atom 17 on rank " + std::to_string(owner) +
                                           " is lost: its position is (nan, 2.5, 3) Å; use a shorter time step, or "
                                           "look for atoms that start too close together");
  Particles q = deal(comm, box, 60, 0);
  q.nglobal = 61;
  CHECK_THROWS_AS(domain.migrate(q), NumericalError);
}
