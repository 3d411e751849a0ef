#pragma once
// A periodic system on one rank, with every periodic image within `range` of the cell as an explicit ghost: what
// potentials and neighbour lists need, without the domain decomposition.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/parallel/ghost_exchange.hpp"
#include "core/parallel/random.hpp"
#include "core/particles/particles.hpp"

namespace cambium::test {

using Position = std::array<double, 3>;

/// Owned atoms and the images around them; ghosts follow their owners through `update`.
class PeriodicSystem : public GhostExchange {
 public:
  Particles particles;
  std::vector<int> owner;       ///< of each ghost
  std::vector<Position> shift;  ///< of each ghost: x_ghost = x_owner + shift

  /// `positions` may lie outside the cell: they are wrapped. `types` may be empty (all 0).
  PeriodicSystem(const Box& box, std::vector<Position> positions, std::vector<int> types, double range,
                 std::vector<Species> species = {{"A", 1.0}}) {
    const int n = static_cast<int>(positions.size());
    types.resize(n, 0);
    particles.box = box;
    particles.species = std::move(species);
    const auto height = box.heights();
    int reach[3];
    for (int k = 0; k < 3; ++k) reach[k] = static_cast<int>(std::ceil(range / height[k]));
    std::vector<Position> fractional(n);
    for (int i = 0; i < n; ++i) {
      box.to_fractional(positions[i].data(), fractional[i].data());
      for (double& s : fractional[i]) s -= std::floor(s);
      box.to_cartesian(fractional[i].data(), positions[i].data());
    }
    for (int a = -reach[0]; a <= reach[0]; ++a)
      for (int b = -reach[1]; b <= reach[1]; ++b)
        for (int c = -reach[2]; c <= reach[2]; ++c) {
          if (a == 0 && b == 0 && c == 0) continue;
          const int image[3] = {a, b, c};
          Position t;
          for (int k = 0; k < 3; ++k) t[k] = a * box.h[0][k] + b * box.h[1][k] + c * box.h[2][k];
          for (int i = 0; i < n; ++i) {
            bool inside = true;
            for (int k = 0; k < 3; ++k) {
              const double s = fractional[i][k] + image[k], margin = range / height[k];
              inside = inside && s >= -margin && s <= 1.0 + margin;
            }
            if (inside) {
              owner.push_back(i);
              shift.push_back(t);
            }
          }
        }
    particles.nlocal = n;
    particles.nghost = static_cast<int>(owner.size());
    particles.nglobal = n;
    particles.reserve(particles.total());
    set(positions, types);
    auto tag = Kokkos::create_mirror_view(particles.tag);
    for (int i = 0; i < particles.total(); ++i) tag(i) = 1 + (i < n ? i : owner[i - n]);
    Kokkos::deep_copy(particles.tag, tag);
  }

  /// New positions of the owned atoms (not wrapped: ghosts keep their shifts); ghosts follow.
  void update(const std::vector<Position>& positions) { set(positions, types_); }

  void forward(View<double*> values) override {
    auto host = Kokkos::create_mirror_view(values);
    Kokkos::deep_copy(host, values);
    for (int g = 0; g < particles.nghost; ++g) host(particles.nlocal + g) = host(owner[g]);
    Kokkos::deep_copy(values, host);
  }
  void reverse_add(View<double* [3]> values) override { reverse(values, 3); }
  void reverse_add(View<double* [9]> values) override { reverse(values, 9); }

 private:
  std::vector<int> types_;

  void set(const std::vector<Position>& positions, const std::vector<int>& types) {
    types_ = types;
    const int n = particles.nlocal;
    auto x = Kokkos::create_mirror_view(particles.x);
    for (int i = 0; i < particles.total(); ++i) {
      const int o = i < n ? i : owner[i - n];
      for (int k = 0; k < 3; ++k) x(i, k) = positions[o][k] + (i < n ? 0.0 : shift[i - n][k]);
      x(i, 3) = types[o];
    }
    Kokkos::deep_copy(particles.x, x);
    particles.place_sentinel();
  }

  template <class V>
  void reverse(V values, int width) {
    auto host = Kokkos::create_mirror_view(values);
    Kokkos::deep_copy(host, values);
    for (int g = 0; g < particles.nghost; ++g)
      for (int k = 0; k < width; ++k) host(owner[g], k) += host(particles.nlocal + g, k);
    Kokkos::deep_copy(values, host);
  }
};

/// Positions of the owned atoms as they are in the system: inside the cell.
inline std::vector<Position> wrapped_positions(const PeriodicSystem& system) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), system.particles.x);
  std::vector<Position> positions;
  for (int i = 0; i < system.particles.nlocal; ++i) positions.push_back({x(i, 0), x(i, 1), x(i, 2)});
  return positions;
}

/// `cells` repeats of a cubic cell of edge `a` per direction with the given fractional basis.
inline std::vector<Position> lattice(double a, std::array<int, 3> cells, const std::vector<Position>& basis) {
  std::vector<Position> positions;
  for (int z = 0; z < cells[2]; ++z)
    for (int y = 0; y < cells[1]; ++y)
      for (int x = 0; x < cells[0]; ++x)
        for (const auto& s : basis) positions.push_back({a * (x + s[0]), a * (y + s[1]), a * (z + s[2])});
  return positions;
}

inline const std::vector<Position> fcc_basis = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
inline const std::vector<Position> diamond_basis = {{0, 0, 0},       {0, .5, .5},     {.5, 0, .5},     {.5, .5, 0},
                                                    {.25, .25, .25}, {.25, .75, .75}, {.75, .25, .75}, {.75, .75, .25}};

/// Adds a uniform displacement in (-amplitude, amplitude) to every component.
inline void rattle(std::vector<Position>& positions, double amplitude, std::uint64_t seed) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Random4 random(seed, Stream::test, i, 0);
    for (int k = 0; k < 3; ++k) positions[i][k] += amplitude * (2.0 * random.uniform(k) - 1.0);
  }
}

/// The order that domain decomposition gives: by small cells of edge `edge`, x fastest.
inline void sort_by_cell(std::vector<Position>& positions, double edge) {
  auto key = [edge](const Position& p) {
    return std::array<int, 3>{static_cast<int>(std::floor(p[2] / edge)), static_cast<int>(std::floor(p[1] / edge)),
                              static_cast<int>(std::floor(p[0] / edge))};
  };
  std::stable_sort(positions.begin(), positions.end(),
                   [&](const Position& a, const Position& b) { return key(a) < key(b); });
}

}  // namespace cambium::test
