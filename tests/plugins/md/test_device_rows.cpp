// What kernels do on a device with the rows of atoms, against what the host does: the same lists in the same order.
#include "dealt_atoms.hpp"
#include "plugins/md/domain/device_rows.hpp"
#include "plugins/md/domain/spatial_order.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::md;
using namespace cambium::test;

namespace {

std::vector<Box> boxes() {
  return {Box::orthogonal(13, 14, 15), Box::orthogonal(5, 30, 4), skewed(20, 18, 16), skewed(6, 5, 7)};
}

std::vector<std::int64_t> tags(const Particles& p, int first, int last) {
  const auto tag = host(p.tag);
  return {tag.data() + first, tag.data() + last};
}

}  // namespace

TEST_CASE("kernels bring rows into the order of the host, with all that belongs to them") {
  const Comm comm;
  if (comm.size() > 1) return;
  for (const Box& box : boxes()) {
    Particles p = deal(comm, box, 700);
    View<double**> carried("carried", 700, 2);
    const auto filled = Kokkos::create_mirror_view(carried);
    const auto own = host(p.tag);
    for (int i = 0; i < 700; ++i) {
      filled(i, 0) = static_cast<double>(own(i));
      filled(i, 1) = -filled(i, 0);
    }
    Kokkos::deep_copy(carried, filled);
    const double low[3] = {-2, -2, -2}, high[3] = {3, 3, 3};
    const auto order = spatial_order(host(p.x), host(p.tag), p.nlocal, box, low, high);
    std::vector<std::int64_t> expected;
    for (int row : order) expected.push_back(own(row));
    Buckets buckets;
    order_rows_on_device(p, {&carried}, low, high, buckets);
    CHECK(tags(p, 0, p.nlocal) == expected);
    const auto x = host(p.x);
    const auto velocity = host(p.v);
    const auto group = host(p.group);
    const auto moved = host(carried);
    int wrong = 0;
    for (int i = 0; i < p.nlocal; ++i) {
      const auto t = expected[i];
      const Vec at = start(box, t, 2);
      for (int d = 0; d < 3; ++d) wrong += x(i, d) != at[d];
      wrong +=
          velocity(i, 1) != static_cast<double>(t) + 0.1 || group(i) != 5 * t || moved(i, 1) != -static_cast<double>(t);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("kernels list the images of a cell as the host does") {
  const Comm comm;
  if (comm.size() > 1) return;
  for (const Box& box : boxes())
    for (const double range : {1.5, 4.0, 9.0}) {
      Particles p = deal(comm, box, 120);
      Domain domain(comm, box);
      domain.migrate(p);
      domain.borders(p, range);
      View<int* [4]> copies;
      const int found = images_on_device(p, range, copies);
      REQUIRE(found == p.nghost);
      const auto x = host(p.x);
      const auto copy = host(copies);
      double worst = 0.0;
      for (int k = 0; k < found; ++k)
        for (int d = 0; d < 3; ++d) {
          double place = x(copy(k, 0), d);
          for (int e = 0; e < 3; ++e) place += copy(k, e + 1) * box.h[e][d];
          worst = std::max(worst, std::abs(place - x(p.nlocal + k, d)));
        }
      CHECK(worst < 1e-12);

      Buckets buckets;
      entries_by_row(copies, found, p.nlocal, buckets);
      const auto first = host(buckets.start), entry = host(buckets.member);
      int wrong = first(p.nlocal) != found;
      for (int i = 0; i < p.nlocal; ++i)
        for (int e = first(i); e < first(i + 1); ++e)
          wrong += copy(entry(e), 0) != i || (e > first(i) && entry(e) < entry(e - 1));
      CHECK(wrong == 0);
    }
}
