#include "plugins/kinetic/physics/cross_collisions.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/node.hpp"
#include "plugins/kinetic/collisions/on_ranks.hpp"

namespace cambium::kinetic {

CrossCollisions::CrossCollisions(const std::vector<CrossCollisionParams>& pairs, const Plasma& plasma) {
  for (std::size_t k = 0; k < pairs.size(); ++k)
    deck::about_key("", deck::child_path("collisions", k), [&] { add(pairs[k], plasma); });
}

void CrossCollisions::add(const CrossCollisionParams& params, const Plasma& plasma) {
  Species* found[2] = {};
  for (int k = 0; k < 2; ++k)
    for (auto& s : plasma.species())
      if (s->name() == params.species[k]) found[k] = s.get();
  std::string names;
  for (const auto& s : plasma.species()) names += (names.empty() ? "" : ", ") + s->name();
  for (int k = 0; k < 2; ++k)
    if (!found[k])
      throw KeyError("kinetic.collisions.species", deck::child_path("species", k),
                     fmt::format("collisions: there is no species '{}'; the species are {}", params.species[k], names));
  auto &a = *found[0], &b = *found[1];
  const std::string what = fmt::format("collisions of '{}' with '{}'", a.name(), b.name());
  if (a.solver().grid().vdim != b.solver().grid().vdim)
    throw KeyError("kinetic.collisions.dimensions", "",
                   fmt::format("{}: they have {} and {} velocity dimensions; give both the same number", what,
                               a.solver().grid().vdim, b.solver().grid().vdim));
  for (const auto& pair : pairs_)
    if ((pair.a == &a && pair.b == &b) || (pair.a == &b && pair.b == &a))
      throw KeyError("kinetic.collisions.twice", "",
                     fmt::format("{} are given twice; one frequency determines both directions", what));
  CollisionFrequency frequency(params.frequency, what, a.conf(),
                               {"n_" + a.name(), "T_" + a.name(), "n_" + b.name(), "T_" + b.name()}, a.values());
  BetweenSpecies op({a.dougherty_with({}), a.mass()}, {b.dougherty_with({}), b.mass()}, frequency.constant());
  pairs_.push_back({&a, &b, std::move(op), std::move(frequency), params.scheme});
}

void CrossCollisions::act(Pair& pair, double dt, const Comm& comm) {
  Solver &a = pair.a->solver(), &b = pair.b->solver();
  if (pair.frequency.varies())
    on_ranks(comm, [&] {
      const auto first = pair.a->density_and_temperature(), second = pair.b->density_and_temperature();
      pair.op.set_frequency(pair.frequency({first[0], first[1], second[0], second[1]}));
    });
  bool implicit = pair.scheme == CollisionScheme::implicit;
  if (pair.scheme == CollisionScheme::automatic)
    implicit = comm.max(pair.op.explicit_steps(pair.a->moments(0), pair.b->moments(0), dt)) > 1.0;
  on_ranks(comm, [&] { implicit ? pair.op.act_implicitly(a, b, dt) : pair.op.act(a, b, dt); });
}

void CrossCollisions::act(double dt, const Comm& comm) {
  for (auto& pair : pairs_) {
    act(pair, dt, comm);
    pair.a->solver().changed(0);
    pair.b->solver().changed(0);
    pair.a->compute_moments();
    pair.b->compute_moments();
  }
}

}  // namespace cambium::kinetic
