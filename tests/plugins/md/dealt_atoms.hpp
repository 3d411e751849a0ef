#pragma once
// Atoms dealt to ranks, and a brute-force periodic search that knows nothing of ranks or bricks.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/parallel/random.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::test {

using Vec = std::array<double, 3>;

/// Where atom `tag` starts: anywhere within two cells around the cell, the same on every rank.
inline Vec start(const Box& box, std::int64_t tag, int spread) {
  const Random4 random(7, Stream::test, tag, 0);
  double s[3], x[3];
  for (int d = 0; d < 3; ++d) s[d] = spread ? random.uniform(d) * (2 * spread + 1) - spread : random.uniform(d);
  box.to_cartesian(s, x);
  return {x[0], x[1], x[2]};
}

/// `count` atoms dealt to the ranks without regard to place.
inline Particles deal(const Comm& comm, const Box& box, int count, int spread = 2) {
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
    for (int d = 0; d < 3; ++d) {
      x(row, d) = r[d];
      v(row, d) = t + 0.1 * d;
      f(row, d) = -t - 0.1 * d;
    }
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

inline Box skewed(double a, double b, double c) {
  const double rows[3][3] = {{a, 0, 0}, {-0.35 * a, b, 0}, {0.3 * a, 0.25 * b, c}};
  return Box::from_vectors(rows);
}

inline Box moved(Box box, const Vec& origin) {
  for (int k = 0; k < 3; ++k) box.origin[k] = origin[k];
  return box;
}

/// All (tag, distance vector) within `range` of `centre`, periodic images of itself included, itself not.
using Found = std::vector<std::pair<std::int64_t, Vec>>;
inline Found brute_force(const Box& box, const std::vector<Vec>& all, const Vec& centre, double range) {
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
inline void canonical(Found& found) {
  auto key = [](const std::pair<std::int64_t, Vec>& n) {
    return std::make_tuple(n.first, std::llround(n.second[0] * 1e6), std::llround(n.second[1] * 1e6),
                           std::llround(n.second[2] * 1e6));
  };
  std::sort(found.begin(), found.end(), [&](const auto& m, const auto& n) { return key(m) < key(n); });
}

/// Wrapped positions of all atoms by tag, on every rank.
inline std::vector<Vec> gather_positions(const Comm& comm, const Particles& p) {
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
inline int wrong_surroundings(const Comm& comm, const Particles& p, double range) {
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
inline int wrong_types(const Particles& p) {
  const auto x = host(p.x);
  const auto tag = host(p.tag);
  int wrong = 0;
  for (int j = 0; j < p.total(); ++j) wrong += x(j, 3) != static_cast<double>(tag(j) % 2);
  return wrong;
}

inline void shake(Particles& p, double amplitude) {
  auto x = host(p.x);
  const auto tag = host(p.tag);
  for (int i = 0; i < p.nlocal; ++i) {
    const Random4 random(11, Stream::test, tag(i), 1);
    for (int d = 0; d < 3; ++d) x(i, d) += amplitude * (random.uniform(d) - 0.5);
  }
  Kokkos::deep_copy(p.x, x);
}

}  // namespace cambium::test
