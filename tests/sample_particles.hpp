#pragma once
#include <array>
#include <cmath>

#include "core/parallel/comm.hpp"
#include "core/particles/state.hpp"

namespace cambium {

/// What a particle of the sample is at a step: a plain function of its id, so that any rank can make it and any reader
/// check it.
struct SampleParticle {
  std::array<double, 3> x, v, f;
  std::array<int, 3> image;
  int type;
};

constexpr int sample_size = 23;

inline Box sample_box(bool triclinic) {
  const double rows[3][3] = {
      {8.0, 0, 0}, {triclinic ? 1.5 : 0.0, 9.0, 0}, {triclinic ? -0.75 : 0.0, triclinic ? 0.5 : 0.0, 10.0}};
  Box box = Box::from_vectors(rows);
  box.origin[0] = -1.0;
  box.origin[2] = 2.0;
  return box;
}

inline SampleParticle sample_particle(const Box& box, std::int64_t id, std::int64_t step) {
  SampleParticle p;
  double s[3];
  // Fractions from -0.05 to 1.05: some particles have left the cell since the last rebuild of the list.
  for (int k = 0; k < 3; ++k)
    s[k] = 0.5 + 0.55 * std::sin(1.7 * static_cast<double>(id) + 0.9 * k + 0.01 * static_cast<double>(step));
  box.to_cartesian(s, p.x.data());
  for (int k = 0; k < 3; ++k) {
    p.v[k] = std::cos(0.3 * static_cast<double>(id) + k) / 3.0;
    p.f[k] = std::sin(0.2 * static_cast<double>(id) - k) / 7.0;
    p.image[k] = static_cast<int>((id + k) % 3) - 1;
  }
  p.type = static_cast<int>(id % 2);
  return p;
}

/// The sample on the ranks of `comm`: rows dealt like cards, in falling order of ids, with one ghost row each.
inline State sample_state(const Comm& comm, std::int64_t step, bool triclinic) {
  State state;
  state.step = step;
  state.time = 0.001 * static_cast<double>(step);
  Particles& p = state.particles;
  p.box = sample_box(triclinic);
  p.species = {{"Cu", 63.546}, {"O", 15.999}};
  p.nglobal = sample_size;
  for (std::int64_t id = sample_size; id >= 1; --id) p.nlocal += id % comm.size() == comm.rank();
  p.nghost = 1;
  p.reserve(p.total());
  auto x = Kokkos::create_mirror_view(p.x);
  auto v = Kokkos::create_mirror_view(p.v);
  auto f = Kokkos::create_mirror_view(p.f);
  auto tag = Kokkos::create_mirror_view(p.tag);
  auto image = Kokkos::create_mirror_view(p.image);
  int row = 0;
  for (std::int64_t id = sample_size; id >= 1; --id) {
    if (id % comm.size() != comm.rank()) continue;
    const SampleParticle particle = sample_particle(p.box, id, step);
    for (int k = 0; k < 3; ++k) {
      x(row, k) = particle.x[k];
      v(row, k) = particle.v[k];
      f(row, k) = particle.f[k];
      image(row, k) = particle.image[k];
    }
    x(row, 3) = particle.type;
    tag(row++) = id;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.v, v);
  Kokkos::deep_copy(p.f, f);
  Kokkos::deep_copy(p.tag, tag);
  Kokkos::deep_copy(p.image, image);
  return state;
}

}  // namespace cambium
