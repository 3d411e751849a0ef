// Cells cut by planes: every place has one owner, ghosts and migration against a brute-force search, equal shares of
// the work of atoms that lie unevenly.
#include "core/base/error.hpp"
#include "plugins/md/domain/balanced_cuts.hpp"
#include "plugins/md/domain/cut_borders.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/dealt_atoms.hpp"

using namespace cambium;
using namespace cambium::md;
using namespace cambium::test;

namespace {

/// Numbers of a case, the same on every rank.
struct Dice {
  std::uint64_t seed, next = 0;
  double operator()() { return Random4(seed, Stream::test, 77, next++).uniform(0); }
  double between(double low, double high) { return low + (high - low) * (*this)(); }
};

/// Planes anywhere, in any order of directions; one of four is almost at a face.
CutTree random_tree(int ranks, Dice& dice, int first = 0, int last = -1, FractionalBox box = {},
                    CutTree* tree = nullptr) {
  CutTree own(ranks);
  if (!tree) {
    tree = &own;
    last = ranks;
  }
  if (last - first > 1) {
    const int half = CutTree::middle(first, last), d = static_cast<int>(3.0 * dice());
    const double share = dice() < 0.25 ? 0.01 : dice.between(0.05, 0.95);
    const double at = box.low[d] + share * (box.high[d] - box.low[d]);
    tree->plane(half) = {d, at};
    FractionalBox below = box, above = box;
    below.high[d] = above.low[d] = at;
    random_tree(ranks, dice, first, half, below, tree);
    random_tree(ranks, dice, half, last, above, tree);
  }
  return own;
}

Box random_cell(Dice& dice) {
  const double a = dice.between(16, 30), b = dice.between(16, 30), c = dice.between(16, 30);
  Box box = Box::orthogonal(a, b, c);
  if (dice() < 0.5) {
    const double rows[3][3] = {
        {a, 0, 0}, {dice.between(-0.4, 0.4) * a, b, 0}, {dice.between(-0.4, 0.4) * a, dice.between(-0.4, 0.4) * b, c}};
    box = Box::from_vectors(rows);
  }
  return moved(box, {dice.between(-9, 9), dice.between(-9, 9), dice.between(-9, 9)});
}

/// Where atom `tag` of a shape lies, as fractions of the cell; the same on every rank.
using Shape = Vec (*)(Dice&);
Vec droplet(Dice& dice) {
  while (true) {
    const Vec s = {dice(), dice(), dice()};
    const double r2 = (s[0] - 0.4) * (s[0] - 0.4) + (s[1] - 0.55) * (s[1] - 0.55) + (s[2] - 0.5) * (s[2] - 0.5);
    if (r2 < 0.2 * 0.2) return s;
  }
}
Vec slab(Dice& dice) { return {dice(), dice(), 0.2 + 0.1 * dice()}; }
Vec gradient(Dice& dice) { return {std::sqrt(dice()), dice() * dice(), dice()}; }
Vec over_a_corner(Dice& dice) {
  Vec s = droplet(dice);
  for (int d = 0; d < 3; ++d) s[d] -= 0.45;  // outside of the cell on all sides
  return s;
}

Particles shaped(const Comm& comm, const Box& box, int count, Shape shape) {
  Particles p = deal(comm, box, count, 0);
  const auto x = host(p.x);
  const auto tag = host(p.tag);
  for (int i = 0; i < p.nlocal; ++i) {
    Dice dice{static_cast<std::uint64_t>(1000 + tag(i))};
    double r[3];
    box.to_cartesian(shape(dice).data(), r);
    for (int k = 0; k < 3; ++k) x(i, k) = r[k];
  }
  Kokkos::deep_copy(p.x, x);
  return p;
}

/// What atom `tag` costs: some much more than others.
double cost(std::int64_t tag) { return tag % 5 == 0 ? 9.0 : 1.0 + static_cast<double>(tag % 3); }

std::vector<double> costs(const Particles& p) {
  const auto tag = host(p.tag);
  std::vector<double> work;
  for (int i = 0; i < p.nlocal; ++i) work.push_back(cost(tag(i)));
  return work;
}

double sum(const std::vector<double>& a) {
  double total = 0.0;
  for (double w : a) total += w;
  return total;
}

/// Owned atoms that are not in this rank's box, or did not bring all that is theirs.
int misplaced(const Comm& comm, const Particles& p, const CutTree& cuts) {
  const auto x = host(p.x);
  const auto v = host(p.v);
  const auto tag = host(p.tag);
  int wrong = 0;
  for (int i = 0; i < p.nlocal; ++i) {
    const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    p.box.to_fractional(r, s);
    wrong += cuts.rank_of(s) != comm.rank() || v(i, 1) != static_cast<double>(tag(i)) + 0.1;
  }
  return wrong;
}

std::int64_t tags_together(const Comm& comm, const Particles& p) {
  const auto tag = host(p.tag);
  std::int64_t sum = 0;
  for (int i = 0; i < p.nlocal; ++i) sum += tag(i);
  return comm.sum(sum);
}

}  // namespace

TEST_CASE("every place has one owner, and boxes see each other") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice{seed};
    const int ranks = 1 + static_cast<int>(12 * dice());
    const CutTree tree = random_tree(ranks, dice);
    for (int n = 0; n < 50; ++n) {
      const double s[3] = {dice(), dice(), dice()};
      int owners = 0;
      for (int k = 0; k < ranks; ++k) {
        const FractionalBox box = tree.box_of(k);
        bool inside = true;
        for (int d = 0; d < 3; ++d) inside = inside && box.low[d] <= s[d] && s[d] < box.high[d];
        owners += inside;
        if (inside) CHECK(tree.rank_of(s) == k);
      }
      CHECK(owners == 1);
    }
    const CutTree again = CutTree::of(tree.numbers(), ranks, "a file");
    CHECK(again.numbers() == tree.numbers());
    const double reach[3] = {dice.between(0.0, 0.6), dice.between(0.0, 0.6), dice.between(0.0, 1.4)};
    std::vector<std::array<int, 5>> seen;
    for (int k = 0; k < ranks; ++k)
      for (const auto& n : boxes_near(tree, k, reach))
        seen.push_back({k, n.rank, n.translation[0], n.translation[1], n.translation[2]});
    int alone = 0;
    for (const auto& s : seen)
      alone += std::count(seen.begin(), seen.end(), std::array{s[1], s[0], -s[2], -s[3], -s[4]}) != 1;
    CHECK(alone == 0);
  }
}

TEST_CASE("numbers that are no planes are refused with their file") {
  const std::string says =
      "'restart.5.h5' holds planes that do not partition the cell into one box for each of 3 ranks; the file is "
      "damaged or was changed, resume from another one";
  for (const std::vector<double>& numbers :
       {std::vector<double>{0, 0.5}, {0, 0.5, 3, 0.5}, {0, 0.5, 0, 1.0}, {0, 0.3, 0, 0.2}, {0, std::nan(""), 1, 0.5}}) {
    CHECK_THROWS_AS(CutTree::of(numbers, 3, "restart.5.h5"), InputError);
    CHECK_THROWS_WITH(CutTree::of(numbers, 3, "restart.5.h5"), says);
  }
  CHECK_NOTHROW(CutTree::of(std::vector<double>{0, 0.3, 0, 0.7}, 3, "restart.5.h5"));
}

TEST_CASE("atoms in boxes of any planes see exactly their periodic surroundings") {
  Comm comm;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Dice dice{seed};
    const Box box = random_cell(dice);
    const auto height = box.heights();
    const double narrowest = *std::min_element(height.begin(), height.end());
    const double range = dice.between(2.0, 0.49 * narrowest);
    const int count = 60 + static_cast<int>(120 * dice());
    Particles p = deal(comm, box, count);
    Domain domain(comm, box, {}, range);
    INFO("seed " << seed << ", range " << range);
    for (int turn = 0; turn < 3; ++turn) {  // other planes each time, the last of them bricks again
      if (turn < 2)
        domain.cut(random_tree(comm.size(), dice));
      else
        domain.cut({});
      domain.migrate(p);
      domain.borders(p, range);
      CHECK(comm.sum(static_cast<std::int64_t>(p.nlocal)) == count);
      CHECK(tags_together(comm, p) == std::int64_t{count} * (count + 1) / 2);
      if (domain.cuts()) CHECK(misplaced(comm, p, *domain.cuts()) == 0);
      CHECK(wrong_surroundings(comm, p, range) == 0);
      CHECK(wrong_types(p) == 0);
      shake(p, 0.3);  // to neighbours at most, so without a message to all
      domain.forward_positions(p);
      CHECK(wrong_surroundings(comm, p, range - 1.2) == 0);
      domain.migrate(p);
      domain.borders(p, range);
      CHECK(wrong_surroundings(comm, p, range) == 0);
    }
  }
}

TEST_CASE("an atom that leaps beyond the neighbours arrives") {
  Comm comm;
  const Box box = Box::orthogonal(80, 10, 10);
  Particles p = deal(comm, box, 160, 0);
  Domain domain(comm, box, std::array<int, 3>{comm.size(), 1, 1}, 2.0);
  domain.migrate(p);
  domain.borders(p, 2.0);
  auto x = host(p.x);
  const auto tag = host(p.tag);
  for (int i = 0; i < p.nlocal; ++i)
    if (tag(i) % 40 == 7) x(i, 0) += 40.0;
  Kokkos::deep_copy(p.x, x);
  domain.migrate(p);
  domain.borders(p, 2.0);
  CHECK(tags_together(comm, p) == 160 * 161 / 2);
  CHECK(wrong_surroundings(comm, p, 2.0) == 0);
}

TEST_CASE("planes give all ranks the same work") {
  Comm comm;
  const double rows[3][3] = {{60, 0, 0}, {-12, 50, 0}, {9, 14, 70}};
  for (const Box& box : {Box::orthogonal(60, 50, 70), Box::from_vectors(rows)})
    for (Shape shape : {droplet, slab, gradient, over_a_corner}) {
      const int count = 3000;
      Particles p = shaped(comm, box, count, shape);
      const auto found = balanced_cuts(p, costs(p), 6.0, comm);
      CHECK(found.largest <= 1.05 * found.mean);
      Domain domain(comm, box, {}, 6.0);
      domain.migrate(p);
      const double equal = comm.max(sum(costs(p)));
      if (comm.size() == 8 && shape == droplet) CHECK(equal > 1.5 * found.mean);
      // The same planes from wherever the atoms are now.
      CHECK(balanced_cuts(p, costs(p), 6.0, comm).cuts.numbers() == found.cuts.numbers());
      domain.cut(found.cuts);
      domain.migrate(p);
      domain.borders(p, 6.0);
      CHECK(comm.max(sum(costs(p))) == found.largest);
      CHECK(comm.sum(sum(costs(p))) == found.mean * comm.size());
      CHECK(balanced_cuts(p, costs(p), 6.0, comm).cuts.numbers() == found.cuts.numbers());
      CHECK(tags_together(comm, p) == std::int64_t{count} * (count + 1) / 2);
    }
}

TEST_CASE("layers of a crystal are cut between them, and few atoms are enough") {
  Comm comm;
  const Box box = Box::orthogonal(48, 12, 12);
  Particles p = deal(comm, box, 480, 0);
  const auto place_in_layers = [&](int layers) {
    const auto x = host(p.x);
    const auto tag = host(p.tag);
    for (int i = 0; i < p.nlocal; ++i) x(i, 0) = 48.0 / layers * static_cast<double>(tag(i) % layers);
    Kokkos::deep_copy(p.x, x);
  };
  place_in_layers(24);
  const std::vector<double> ones(p.nlocal, 1.0);
  const auto found = balanced_cuts(p, ones, 2.0, comm);
  if (24 % comm.size() == 0) CHECK(found.largest == found.mean);
  for (int k = 1; k < comm.size(); ++k) {
    const auto plane = found.cuts.plane(k);
    const double layer = plane.at * 24.0;
    if (plane.direction == 0) CHECK(std::fabs(layer - std::floor(layer) - 0.5) < 1e-9);
  }
  for (int atoms : {1, 2}) {  // more ranks than atoms, on a face of the cell
    Particles few = deal(comm, box, atoms, 0);
    const auto x = host(few.x);
    for (int i = 0; i < few.nlocal; ++i) x(i, 0) = x(i, 1) = x(i, 2) = 0.0;
    Kokkos::deep_copy(few.x, x);
    Domain domain(comm, box);
    domain.cut(balanced_cuts(few, std::vector<double>(few.nlocal, 1.0), 2.0, comm).cuts);
    domain.migrate(few);
    domain.borders(few, 2.0);
    CHECK(comm.sum(static_cast<std::int64_t>(few.nlocal)) == atoms);
    for (int k = 0; k < comm.size(); ++k) {
      const FractionalBox part = domain.cuts()->box_of(k);
      for (int d = 0; d < 3; ++d) CHECK(part.low[d] < part.high[d]);
    }
  }
}

TEST_CASE("a narrow direction stays undivided, and a cell that became narrow is refused with the way out") {
  Comm comm;
  if (comm.size() == 1) return;
  const Box flat = Box::orthogonal(60, 60, 11);
  Particles p = shaped(comm, flat, 500, gradient);
  const auto found = balanced_cuts(p, costs(p), 6.0, comm);
  CHECK(!found.cuts.cuts(2));
  Domain domain(comm, flat, {}, 6.0);
  domain.cut(found.cuts);
  domain.migrate(p);
  domain.borders(p, 6.0);
  CHECK(wrong_surroundings(comm, p, 6.0) == 0);
  const char d = found.cuts.cuts(0) ? 'a' : 'b';
  CHECK_THROWS_WITH(domain.borders(p, 31.0),
                    std::string("the cell is 60.0 Å wide along ") + d + " for " + std::to_string(comm.size()) +
                        " ranks: a partitioned direction must be at least 62.0 Å wide (twice the cut-off plus skin "
                        "of 31.0 Å); use 1 rank along " +
                        d + " or a larger cell");
  CHECK_THROWS_AS(balanced_cuts(p, costs(p), 31.0, comm), InputError);
}
