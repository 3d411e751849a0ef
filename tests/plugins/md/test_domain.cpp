// Ghosts, migration and reverse sums against a brute-force periodic search that knows nothing of ranks or bricks.

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/dealt_atoms.hpp"

using namespace cambium;
using namespace cambium::md;
using namespace cambium::test;

TEST_CASE("every owned atom sees exactly its periodic surroundings") {
  Comm comm;
  struct Case {
    Box box;
    int atoms;
    double range;
  };
  const std::vector<Case> cases = {
      {Box::orthogonal(30, 26, 34), 400, 5.0}, {Box::orthogonal(13, 13, 13), 100, 6.4},
      {Box::orthogonal(40, 12, 12), 150, 5.9}, {skewed(30, 27, 25), 300, 4.0},
      {skewed(20, 18, 16), 120, 5.0},          {moved(skewed(21, 23, 22), {-7.0, 3.5, 11.0}), 150, 5.0}};
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
    for (int i = 0; i < p.nlocal; ++i) {
      e(i, 0) = tag(i) + 0.5;
      e(i, 1) = -tag(i);
    }
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
      const double unwrapped =
          x(i, k) + image(i, 0) * box.h[0][k] + image(i, 1) * box.h[1][k] + image(i, 2) * box.h[2][k];
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
    x(i, 3) = 0;
    tag(i) = static_cast<std::int64_t>(j) + 1;
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
