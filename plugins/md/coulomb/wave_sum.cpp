#include "plugins/md/coulomb/wave_sum.hpp"

#include <cmath>
#include <vector>

#include "core/pair/lanes.hpp"
#include "plugins/md/coulomb/reciprocal.hpp"

namespace cambium::md {

namespace {

using constants::pi;

/// Calls f(m0, m1, m2, k, k^2) for one of each pair of waves k and -k.
template <class F>
void for_waves(const Box& box, double k_max, const F& f) {
  const Reciprocal reciprocal(box);
  int most[3];
  for (int d = 0; d < 3; ++d) {
    double square = 0.0;
    for (int a = 0; a <= d; ++a) square += box.h[d][a] * box.h[d][a];
    most[d] = static_cast<int>(k_max * std::sqrt(square) / (2.0 * pi));
  }
  for (int m0 = 0; m0 <= most[0]; ++m0)
    for (int m1 = m0 == 0 ? 0 : -most[1]; m1 <= most[1]; ++m1)
      for (int m2 = m0 == 0 && m1 == 0 ? 1 : -most[2]; m2 <= most[2]; ++m2) {
        double k[3];
        const double square = reciprocal.wave(m0, m1, m2, k);
        if (square <= k_max * k_max) f(m0, m1, m2, k, square);
      }
}

/// cos and sin of 2 pi m s_d of every atom, m = -most .. most, by multiplication from m = 1.
class Phases {
 public:
  Phases(const std::vector<double>& fractional, int atoms, int most) : atoms_(atoms), most_(most) {
    c_.resize(static_cast<std::size_t>(2 * most + 1) * atoms);
    s_.resize(c_.size());
    for (int i = 0; i < atoms; ++i) {
      const double c1 = std::cos(2.0 * pi * fractional[i]), s1 = std::sin(2.0 * pi * fractional[i]);
      double c = 1.0, s = 0.0;
      for (int m = 0; m <= most; ++m) {
        c_[at(m) + i] = c_[at(-m) + i] = c;
        s_[at(m) + i] = s;
        s_[at(-m) + i] = -s;
        const double next = c * c1 - s * s1;
        s = c * s1 + s * c1;
        c = next;
      }
    }
  }
  const double* c(int m) const { return c_.data() + at(m); }
  const double* s(int m) const { return s_.data() + at(m); }

 private:
  std::size_t at(int m) const { return static_cast<std::size_t>(m + most_) * atoms_; }
  int atoms_, most_;
  std::vector<double> c_, s_;
};

/// Atoms of this rank, and exp(i k r) of each for one wave.
class AtomPhases {
 public:
  AtomPhases(const Particles& p, const View<const double*>& charge, double k_max) : n_(p.nlocal), q_(p.nlocal) {
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.x);
    const auto q = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), charge);
    std::vector<double> s[3];
    for (int i = 0; i < n_; ++i) {
      double fractional[3];
      p.box.to_fractional(&x(i, 0), fractional);
      for (int d = 0; d < 3; ++d) s[d].push_back(fractional[d]);
      q_[i] = q(i);
    }
    for (int d = 0; d < 3; ++d) {
      double square = 0.0;
      for (int a = 0; a <= d; ++a) square += p.box.h[d][a] * p.box.h[d][a];
      axes_.emplace_back(s[d], n_, static_cast<int>(k_max * std::sqrt(square) / (2.0 * pi)));
    }
    c_.resize(n_);
    s_.resize(n_);
  }
  int count() const { return n_; }
  double charge(int i) const { return q_[i]; }
  double c(int i) const { return c_[i]; }
  double s(int i) const { return s_[i]; }

  void set(int m0, int m1, int m2) {
    const double *ac = axes_[0].c(m0), *as = axes_[0].s(m0), *bc = axes_[1].c(m1), *bs = axes_[1].s(m1);
    const double *cc = axes_[2].c(m2), *cs = axes_[2].s(m2);
    for (int i = 0; i < n_; ++i) {
      const double c = ac[i] * bc[i] - as[i] * bs[i], s = ac[i] * bs[i] + as[i] * bc[i];
      c_[i] = c * cc[i] - s * cs[i];
      s_[i] = c * cs[i] + s * cc[i];
    }
  }

 private:
  int n_;
  std::vector<double> q_, c_, s_;
  std::vector<Phases> axes_;
};

/// sum_i q_i exp(i k r_i) of all waves, over all ranks.
std::vector<double> structure_factors(AtomPhases& atoms, const Box& box, double k_max, const Comm& comm) {
  std::vector<double> out;
  for_waves(box, k_max, [&](int m0, int m1, int m2, const double*, double) {
    atoms.set(m0, m1, m2);
    double re = 0.0, im = 0.0;
    for (int i = 0; i < atoms.count(); ++i) {
      re += atoms.charge(i) * atoms.c(i);
      im += atoms.charge(i) * atoms.s(i);
    }
    out.push_back(re);
    out.push_back(im);
  });
  comm.sum(out);
  return out;
}

}  // namespace

std::int64_t count_waves(const Box& box, double k_max) {
  std::int64_t count = 0;
  for_waves(box, k_max, [&](int, int, int, const double*, double) { ++count; });
  return count;
}

void add_wave_sum(const Particles& particles, const View<const double*>& charge, double alpha, double k_max,
                  const ForceRequest& request, ForceOutput& out, const Comm& comm) {
  AtomPhases atoms(particles, charge, k_max);
  const auto sums = structure_factors(atoms, particles.box, k_max, comm);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  const auto atom_energy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto atom_virial = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  const double front = 4.0 * pi * constants::coulomb / particles.box.volume();
  const bool totals = request.totals || request.per_atom;
  std::size_t wave = 0;
  for_waves(particles.box, k_max, [&](int m0, int m1, int m2, const double* k, double square) {
    const double re = sums[wave++], im = sums[wave++];
    const double factor = front * std::exp(-0.25 * square / (alpha * alpha)) / square;
    atoms.set(m0, m1, m2);
    double w[6] = {}, own = 0.0;
    for (int c = 0; totals && c < 6; ++c) w[c] = wave_virial(c, k, square, alpha);
    for (int i = 0; i < atoms.count(); ++i) {
      const double strength = factor * atoms.charge(i);
      const double push = 2.0 * strength * (re * atoms.s(i) - im * atoms.c(i));
      for (int a = 0; a < 3; ++a) f(i, a) += push * k[a];
      if (!totals) continue;
      const double energy = strength * (re * atoms.c(i) + im * atoms.s(i));
      own += energy;
      if (!request.per_atom) continue;
      atom_energy(i) += energy;
      double virial[6];
      for (int c = 0; c < 6; ++c) virial[c] = energy * w[c];
      add_symmetric(&atom_virial(i, 0), virial);
    }
    if (!totals) return;
    out.energy += own;
    for (double& c : w) c *= own;
    add_symmetric(out.virial, w);
  });
  Kokkos::deep_copy(out.f, f);
  if (!request.per_atom) return;
  Kokkos::deep_copy(out.atom_energy, atom_energy);
  Kokkos::deep_copy(out.atom_virial, atom_virial);
}

}  // namespace cambium::md
