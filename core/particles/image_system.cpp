#include "core/particles/image_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium {

namespace {

using Position = std::array<double, 3>;

std::vector<Position> wrapped(std::span<const Position> positions, const Box& box) {
  std::vector<Position> out(positions.begin(), positions.end());
  for (Position& x : out) {
    double s[3];
    box.to_fractional(x.data(), s);
    for (double& value : s) value -= std::floor(value);
    box.to_cartesian(s, x.data());
  }
  return out;
}

/// A cell around all positions with room for the range: bins need one even without periodicity.
Box enclosing(std::span<const Position> positions, double range) {
  double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
  for (int k = 0; k < 3; ++k) {
    low[k] = std::numeric_limits<double>::max();
    high[k] = std::numeric_limits<double>::lowest();
    for (const Position& x : positions) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  }
  Box box = Box::orthogonal(high[0] - low[0] + range, high[1] - low[1] + range, high[2] - low[2] + range);
  for (int k = 0; k < 3; ++k) box.origin[k] = low[k] - 0.5 * range;
  return box;
}

template <class V>
void reverse(const V& values, int first_ghost, const std::vector<int>& owner) {
  auto host = Kokkos::create_mirror_view(values);
  Kokkos::deep_copy(host, values);
  for (std::size_t g = 0; g < owner.size(); ++g)
    for (std::size_t k = 0; k < values.extent(1); ++k) host(owner[g], k) += host(first_ghost + g, k);
  Kokkos::deep_copy(values, host);
}

}  // namespace

ImageSystem::ImageSystem(std::span<const Position> positions, std::span<const int> types, const std::optional<Box>& box,
                         std::vector<Species> species, double range, double skin) {
  particles_.species = std::move(species);
  particles_.nlocal = static_cast<int>(positions.size());
  particles_.nglobal = particles_.nlocal;
  particles_.box = box ? *box : enclosing(positions, range + skin);
  const std::vector<Position> x =
      box ? wrapped(positions, *box) : std::vector<Position>(positions.begin(), positions.end());
  const std::vector<Image> ghosts = box ? images(x, *box, range + skin) : std::vector<Image>();
  fill(x, types, ghosts);
  build_neighbors(particles_, range, skin, list_);
}

std::vector<ImageSystem::Image> ImageSystem::images(const std::vector<Position>& x, const Box& box,
                                                    double range) const {
  const std::array<double, 3> height = box.heights();
  std::array<int, 3> reach;
  for (std::size_t k = 0; k < 3; ++k) reach[k] = static_cast<int>(std::ceil(range / height[k]));
  std::vector<Image> out;
  for (int a = -reach[0]; a <= reach[0]; ++a)
    for (int b = -reach[1]; b <= reach[1]; ++b)
      for (int c = -reach[2]; c <= reach[2]; ++c) {
        if (a == 0 && b == 0 && c == 0) continue;
        const int image[3] = {a, b, c};
        for (std::size_t i = 0; i < x.size(); ++i) {
          double s[3];
          box.to_fractional(x[i].data(), s);
          bool near = true;
          for (std::size_t k = 0; k < 3; ++k) {
            s[k] += image[k];
            const double margin = range / height[k];
            near = near && s[k] >= -margin && s[k] <= 1.0 + margin;
          }
          if (!near) continue;
          Position shifted = x[i];
          for (std::size_t k = 0; k < 3; ++k)
            for (std::size_t r = 0; r < 3; ++r) shifted[k] += image[r] * box.h[r][k];
          out.push_back({static_cast<int>(i), shifted});
        }
      }
  return out;
}

void ImageSystem::fill(const std::vector<Position>& x, std::span<const int> types, const std::vector<Image>& ghosts) {
  const int n = particles_.nlocal;
  particles_.nghost = static_cast<int>(ghosts.size());
  particles_.reserve(particles_.total());
  auto rows = Kokkos::create_mirror_view(particles_.x);
  auto tags = Kokkos::create_mirror_view(particles_.tag);
  for (int i = 0; i < particles_.total(); ++i) {
    const int owner = i < n ? i : ghosts[i - n].owner;
    const Position& p = i < n ? x[i] : ghosts[i - n].x;
    for (int k = 0; k < 3; ++k) rows(i, k) = p[k];
    rows(i, 3) = types[owner];
    tags(i) = owner + 1;
    if (i >= n) owner_.push_back(owner);
  }
  Kokkos::deep_copy(particles_.x, rows);
  Kokkos::deep_copy(particles_.tag, tags);
  particles_.place_sentinel();
}

void ImageSystem::forward(View<double*> per_atom) {
  auto host = Kokkos::create_mirror_view(per_atom);
  Kokkos::deep_copy(host, per_atom);
  for (std::size_t g = 0; g < owner_.size(); ++g) host(particles_.nlocal + static_cast<int>(g)) = host(owner_[g]);
  Kokkos::deep_copy(per_atom, host);
}

void ImageSystem::reverse_add(View<double* [3]> per_atom) { reverse(per_atom, particles_.nlocal, owner_); }
void ImageSystem::reverse_add(View<double* [9]> per_atom) { reverse(per_atom, particles_.nlocal, owner_); }

}  // namespace cambium
