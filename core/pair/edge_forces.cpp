#include "core/pair/edge_forces.hpp"

namespace cambium {

EdgeForces::EdgeForces(const ForceRequest& request, ForceOutput& out)
    : request_(request), out_(out), f_(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f)) {
  if (!request.per_atom) return;
  atom_energy_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  atom_virial_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
}

void EdgeForces::add_edge(int i, int j, const double gradient[3], const double vector[3]) {
  for (int a = 0; a < 3; ++a) {
    f_(i, a) -= gradient[a];
    f_(j, a) += gradient[a];
  }
  if (!request_.totals && !request_.per_atom) return;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const double w = -gradient[a] * vector[b];
      out_.virial[3 * a + b] += w;
      if (!request_.per_atom) continue;
      atom_virial_(i, 3 * a + b) += 0.5 * w;
      atom_virial_(j, 3 * a + b) += 0.5 * w;
    }
}

void EdgeForces::add_energy(int i, double energy) {
  if (!request_.totals && !request_.per_atom) return;
  out_.energy += energy;
  if (request_.per_atom) atom_energy_(i) += energy;
}

void EdgeForces::finish() {
  Kokkos::deep_copy(out_.f, f_);
  if (!request_.per_atom) return;
  Kokkos::deep_copy(out_.atom_energy, atom_energy_);
  Kokkos::deep_copy(out_.atom_virial, atom_virial_);
}

}  // namespace cambium
