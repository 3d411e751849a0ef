#include "my_pair.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/sums.hpp"

namespace cambium::my_pair {

namespace {

/// The formula: energy and -dE/dr of one pair at distance r.
struct Pair {
  double depth, width, distance;

  KOKKOS_INLINE_FUNCTION double energy(double r) const {
    const double y = 1.0 - std::exp(-width * (r - distance));
    return depth * (y * y - 1.0);
  }
  KOKKOS_INLINE_FUNCTION double force(double r) const {
    const double x = std::exp(-width * (r - distance));
    return -2.0 * depth * width * x * (1.0 - x);
  }
};

}  // namespace

void MyPair::Params::describe(deck::Describe<Params>& d) {
  d("depth", &Params::depth, "depth D of the well").unit("eV").positive();
  d("width", &Params::width, "inverse width a of the well").unit("1/angstrom").positive();
  d("distance", &Params::distance, "distance r0 of least energy").unit("angstrom").positive();
  d("cutoff", &Params::cutoff, "distance from which on atoms do not interact").unit("angstrom").positive();
  d.check([](const Params& p) -> std::string {
    if (p.cutoff > p.distance) return "";
    return fmt::format("cutoff ({} angstrom) must be greater than distance ({} angstrom)", p.cutoff, p.distance);
  });
}

MyPair::MyPair(const Params& params, Context&) : params_(params) {}

void MyPair::bind(std::span<const Species> species) {
  if (species.size() == 1) return;
  throw InputError(
      fmt::format("my_pair has one set of parameters, for one species; the structure has {}", species.size()));
}

void MyPair::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                     ForceOutput& out, Context&) {
  const Pair pair{params_.depth, params_.width, params_.distance};
  const double cutoff_squared = params_.cutoff * params_.cutoff, shift = pair.energy(params_.cutoff);
  const auto x = particles.x;
  const auto offset = list.offset;
  const auto count = list.count;
  const auto index = list.index;
  const auto f = out.f;
  const auto atom_energy = out.atom_energy;
  const auto atom_virial = out.atom_virial;
  const bool per_atom = request.per_atom;

  // The list holds every pair twice, once for each of its atoms: all of the force goes to atom i, half of the energy
  // and of the virial.
  Sums<10> sums;
  Kokkos::parallel_reduce(
      "my_pair", Range(0, particles.nlocal),
      KOKKOS_LAMBDA(int i, Sums<10>& total) {
        double force[3] = {0, 0, 0};
        Sums<10> own;  // energy, then the nine components of the virial
        for (std::int64_t k = offset(i); k < offset(i) + count(i); ++k) {
          const int j = index(k);
          const double d[3] = {x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
          const double r_squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
          if (r_squared >= cutoff_squared) continue;
          const double r = std::sqrt(r_squared), force_over_r = pair.force(r) / r;
          own.v[0] += 0.5 * (pair.energy(r) - shift);
          for (int a = 0; a < 3; ++a) force[a] += force_over_r * d[a];
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) own.v[1 + 3 * a + b] += 0.5 * force_over_r * d[a] * d[b];
        }
        for (int a = 0; a < 3; ++a) f(i, a) += force[a];
        total += own;
        if (!per_atom) return;
        atom_energy(i) += own.v[0];
        for (int k = 0; k < 9; ++k) atom_virial(i, k) += own.v[1 + k];
      },
      Kokkos::Sum<Sums<10>>(sums));
  if (!request.totals && !request.per_atom) return;
  out.energy += sums.v[0];
  for (int k = 0; k < 9; ++k) out.virial[k] += sums.v[1 + k];
}

std::string MyPair::summary() const {
  return fmt::format("my_pair, D = {} eV, a = {} 1/Å, r0 = {} Å, cut-off {} Å (shifted)", params_.depth, params_.width,
                     params_.distance, params_.cutoff);
}

std::vector<Citation> MyPair::citations() const {
  return {{"Morse1929",
           "@article{Morse1929,\n  author = {Morse, Philip M.},\n  title = {Diatomic molecules according to the wave "
           "mechanics. {II}. Vibrational levels},\n  journal = {Physical Review},\n  volume = {34},\n  pages = "
           "{57--64},\n  year = {1929},\n  doi = {10.1103/PhysRev.34.57}\n}\n"}};
}

}  // namespace cambium::my_pair
