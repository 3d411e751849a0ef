#pragma once
// What a run on several ranks and one on one rank differ by.
#include "kinetic_run.hpp"
#include "tests/catch.hpp"

namespace cambium::kinetic {

/// Largest difference between this rank's part of a run and the same cells of a run on one rank.
template <class P>
double difference(KineticRun<P>& part, KineticRun<P>& whole) {
  const auto& a = part.physics->species().front()->solver();
  const auto& b = whole.physics->species().front()->solver();
  a.to_host_const(0);
  b.to_host_const(0);
  std::vector<double> f(a.basis().modes), g(a.basis().modes);
  double worst = 0.0;
  for (int ic = 0; ic < a.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < a.grid().local_velocity_cells(); ++iv) {
      const auto v = a.grid().local_velocity(iv);
      int index = 0;
      for (int d = 0; d < a.grid().vdim; ++d)
        index = index * a.grid().velocity(d).cells + a.grid().velocity(d).first + v[d];
      a.get(0, ic, iv, f.data());
      b.get(0, a.grid().conf_index(a.grid().local_conf(ic)), index, g.data());
      for (std::size_t k = 0; k < f.size(); ++k) worst = std::max(worst, std::abs(f[k] - g[k]));
    }
  return part.comm.max(worst);
}

inline double furthest(const std::vector<double>& a, const std::vector<double>& b) {
  double out = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) out = std::max(out, std::abs(a[k] - b[k]));
  return out;
}

/// Largest difference of moments and fields between a run on several ranks and one on one.
template <class P>
double furthest_fields(KineticRun<P>& part, KineticRun<P>& whole) {
  double worst = 0.0;
  for (std::size_t s = 0; s < whole.physics->species().size(); ++s)
    for (int c = 0; c < whole.physics->species()[s]->components(); ++c)
      worst = std::max(worst, furthest(all_cells(*part.physics, part.physics->species()[s]->moment(c)),
                                       whole.physics->species()[s]->moment(c)));
  const auto mine = part.physics->fields()->output(), wanted = whole.physics->fields()->output();
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto all = all_cells(*part.physics, mine[k].values);
    for (std::size_t i = 0; i < all.size(); ++i) worst = std::max(worst, std::abs(all[i] - wanted[k].values[i]));
  }
  return worst;
}

/// No array of moments has more than a rank's own cells.
inline void check_shares(const Vlasov& physics) {
  for (const auto& s : physics.species())
    for (int slot = 0; slot < 3; ++slot) {
      const auto& solver = s->solver();
      CHECK(std::ssize(s->moments(slot)) ==
            std::int64_t{solver.grid().local_conf_cells()} * s->components() * solver.basis().conf);
    }
}

}  // namespace cambium::kinetic
