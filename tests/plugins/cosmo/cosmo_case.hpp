#pragma once
// Structure growth from a deck's text, without files.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/constants.hpp"
#include "plugins/cosmo/physics/particle_mesh.hpp"
#include "tests/physics_case.hpp"

namespace cambium::cosmo::test {

inline constexpr double pi = constants::pi;

using Case = cambium::test::PhysicsCase<ParticleMeshPhysics>;

/// Rows of a view, one after another.
inline std::vector<double> numbers(const View<double**>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.size()};
}

/// A view of numbers.
template <class T>
View<T*> on_device(const std::vector<T>& values) {
  View<T*> out("test", values.size());
  const auto host = Kokkos::create_mirror_view(out);
  std::copy(values.begin(), values.end(), host.data());
  Kokkos::deep_copy(out, host);
  return out;
}

/// f(x, y, z) at the points of a mesh, in units of its edge.
template <class F>
View<double*> on_mesh(int n, F&& f) {
  std::vector<double> values;
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) values.push_back(f(1.0 * x / n, 1.0 * y / n, 1.0 * z / n));
  return on_device(values);
}

}  // namespace cambium::cosmo::test
