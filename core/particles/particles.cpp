#include "core/particles/particles.hpp"

namespace cambium {

void Particles::reserve(int rows) {
  const int need = rows + 1;
  if (capacity() >= need) return;
  const int size = need + need / 8 + 16;
  Kokkos::resize(x, size);
  Kokkos::resize(v, size);
  Kokkos::resize(f, size);
  Kokkos::resize(tag, size);
  Kokkos::resize(image, size);
  Kokkos::resize(group, size);
}

void Particles::place_sentinel() {
  auto row = Kokkos::subview(x, sentinel(), Kokkos::ALL());
  auto host = Kokkos::create_mirror_view(row);
  for (int k = 0; k < 3; ++k) host(k) = 1e15;
  host(3) = 0.0;
  Kokkos::deep_copy(row, host);
}

int Particles::type_of(const std::string& symbol) const {
  for (std::size_t k = 0; k < species.size(); ++k)
    if (species[k].symbol == symbol) return static_cast<int>(k);
  return -1;
}

}  // namespace cambium
