#include "plugins/md/potentials/lennard_jones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/node.hpp"
#include "core/parallel/sums.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {

namespace {

using constants::pi;

/// Owned atoms of each type.
std::vector<double> count_types(const Particles& particles, int types) {
  const auto x = particles.x;
  std::vector<double> counts(types);
  for (int t = 0; t < types; ++t)
    Kokkos::parallel_reduce(
        "count_type", Range(0, particles.nlocal),
        KOKKOS_LAMBDA(int i, double& s) { s += static_cast<int>(x(i, 3)) == t; }, counts[t]);
  return counts;
}

/// Adds the energy and the diagonal virial of its type, shares(type, 0..1), to every owned atom.
void add_shares(const Particles& particles, View<double* [2]> shares, bool per_atom, ForceOutput& out) {
  const auto x = particles.x;
  const auto atom_energy = out.atom_energy;
  const auto atom_virial = out.atom_virial;
  Sums<2> sums;
  Kokkos::parallel_reduce(
      "lennard_jones_tail", Range(0, particles.nlocal),
      KOKKOS_LAMBDA(int i, Sums<2>& s) {
        const int type = static_cast<int>(x(i, 3));
        s.v[0] += shares(type, 0);
        s.v[1] += shares(type, 1);
        if (!per_atom) return;
        atom_energy(i) += shares(type, 0);
        for (int k = 0; k < 3; ++k) atom_virial(i, 4 * k) += shares(type, 1);
      },
      Kokkos::Sum<Sums<2>>(sums));
  out.energy += sums.v[0];
  for (int k = 0; k < 3; ++k) out.virial[4 * k] += sums.v[1];
}

/// 4 epsilon sigma^12 and 4 epsilon sigma^6.
LennardJonesForm::Model<double> powers(double epsilon, double sigma) {
  const double a6 = 4.0 * epsilon * std::pow(sigma, 6);
  return {a6 * std::pow(sigma, 6), a6};
}

}  // namespace

LennardJonesForm::LennardJonesForm(const Params& params) : params_(params), cutoff_(params.cutoff) {
  double shortest = params_.cutoff;
  for (const auto& p : params_.pairs) {
    if (p.species.size() != 2)
      throw KeyError("lennard_jones.pairs.species", deck::child_path("pairs", &p - params_.pairs.data()),
                     fmt::format("lennard_jones: an entry of `pairs` names {} species; it needs two, like [Ar, Kr]",
                                 p.species.size()));
    const auto same = [&](const Pair& q) {
      return &q != &p && std::is_permutation(q.species.begin(), q.species.end(), p.species.begin(), p.species.end());
    };
    if (std::any_of(params_.pairs.begin(), params_.pairs.end(), same))
      throw KeyError("lennard_jones.pairs.twice", deck::child_path("pairs", &p - params_.pairs.data()),
                     fmt::format("lennard_jones: `pairs` has two entries for [{}, {}]; keep the one that is meant",
                                 p.species[0], p.species[1]));
    cutoff_ = std::max(cutoff_, p.cutoff.value_or(params_.cutoff));
    shortest = std::min(shortest, p.cutoff.value_or(params_.cutoff));
  }
  if (params_.epsilon.has_value() != params_.sigma.has_value())
    throw KeyError("lennard_jones.epsilon_and_sigma", params_.epsilon ? "epsilon" : "sigma",
                   "lennard_jones: give `epsilon` and `sigma` together");
  if (params_.tail && params_.truncation != Truncation::plain)
    throw KeyError(
        "lennard_jones.tail", "tail",
        "lennard_jones: `tail: true` corrects a plain cut-off; with `truncation: shift` or `smooth` leave it out");
  const double width = params_.switch_width.value_or(0.1 * params_.cutoff);
  if (params_.truncation == Truncation::smooth && !(width > 0.0 && width < shortest))
    throw KeyError(
        "lennard_jones.switch_width.range", "switch_width",
        fmt::format("lennard_jones: `switch_width` is {} Å; it must be above 0 and below the shortest cut-off, {} Å",
                    width, shortest));
}

const LennardJonesForm::Pair* LennardJonesForm::explicit_pair(const std::string& a, const std::string& b) const {
  for (const auto& p : params_.pairs)
    if ((p.species[0] == a && p.species[1] == b) || (p.species[0] == b && p.species[1] == a)) return &p;
  return nullptr;
}

/// A misspelt species in `pairs` would silently leave its pair to the mixing rule. Elements that the structure does not
/// have are accepted: one deck may serve several structures.
void LennardJonesForm::require_known(std::span<const Species> species) const {
  std::vector<std::string> known;
  for (const auto& s : species) known.push_back(s.symbol);
  for (const auto& p : params_.pairs)
    for (const auto& symbol : p.species)
      if (atomic_number(symbol) == 0 && std::find(known.begin(), known.end(), symbol) == known.end())
        throw KeyError("lennard_jones.pairs.unknown", deck::child_path("pairs", &p - params_.pairs.data()),
                       fmt::format("lennard_jones: `pairs` names {}, which is no element and not in the structure{}",
                                   symbol, suggestion(symbol, known)));
  if (species.size() == 1 && params_.epsilon && explicit_pair(known[0], known[0]))
    throw KeyError(
        "lennard_jones.pairs.and_epsilon", "pairs",
        fmt::format(
            "lennard_jones: {0} has `epsilon` and `sigma` and an entry [{0}, {0}] in `pairs`; leave one of them "
            "out",
            known[0]));
}

LennardJonesForm::Coefficients LennardJonesForm::coefficients(std::span<const Species> species, int a, int b) const {
  const auto& sa = species[a].symbol;
  const auto& sb = species[b].symbol;
  if (const Pair* p = explicit_pair(sa, sb)) return {p->epsilon, p->sigma, p->cutoff.value_or(params_.cutoff)};
  if (a == b) {
    if (species.size() == 1 && params_.epsilon) return {*params_.epsilon, *params_.sigma, params_.cutoff};
    throw KeyError(
        "lennard_jones.pairs.missing", "pairs",
        fmt::format(
            "lennard_jones has no parameters for {}: add `{{species: [{}, {}], epsilon: ..., sigma: ...}}` to `pairs`",
            sa, sa, sa));
  }
  const Coefficients p = coefficients(species, a, a), q = coefficients(species, b, b);
  return {std::sqrt(p.epsilon * q.epsilon), 0.5 * (p.sigma + q.sigma), params_.cutoff};
}

PairTerms<LennardJonesForm::Model> LennardJonesForm::pair(std::span<const Species> species, int a, int b) const {
  if (a == 0 && b == 0) require_known(species);  // checked once
  const auto [epsilon, sigma, rc] = coefficients(species, a, b);
  const auto [a12, a6] = powers(epsilon, sigma);
  return {{a12, a6}, rc, rc - params_.switch_width.value_or(0.1 * params_.cutoff)};
}

void LennardJonesForm::add_rest(const Particles& particles, const ForceRequest& request, ForceOutput& out,
                                Context& context) {
  if (!params_.tail || !(request.totals || request.per_atom)) return;
  const int types = static_cast<int>(particles.species.size());
  // Recomputed each time: atoms change their type in a host program, and other structures may have as many atoms.
  std::vector<double> type_counts = count_types(particles, types);
  context.comm.sum(type_counts);
  View<double* [2]> shares("tail_shares", types);
  auto host = Kokkos::create_mirror_view(shares);
  for (int a = 0; a < types; ++a)
    for (int b = 0; b < types; ++b) {
      const double density = type_counts[b] / particles.box.volume();
      const auto [epsilon, sigma, rc] = coefficients(particles.species, a, b);
      const auto [a12, a6] = powers(epsilon, sigma);
      const double rc3 = rc * rc * rc, rc9 = rc3 * rc3 * rc3;  // 2 pi times the integrals beyond the cut-off:
      const double energy = 2.0 * pi * (a12 / (9.0 * rc9) - a6 / (3.0 * rc3));
      const double virial = 2.0 * pi * (4.0 * a12 / (9.0 * rc9) - 2.0 * a6 / (3.0 * rc3));
      host(a, 0) += density * energy;
      host(a, 1) += density * virial;
    }
  Kokkos::deep_copy(shares, host);
  add_shares(particles, shares, request.per_atom, out);
}

std::string LennardJonesForm::summary() const {
  const char* word[] = {"plain", "shifted", "smooth"};
  return fmt::format("Lennard-Jones, cut-off {:g} Å ({}{})", cutoff_, word[static_cast<int>(params_.truncation)],
                     params_.tail ? ", with tail correction" : "");
}

std::vector<Citation> LennardJonesForm::citations() const {
  return {{"LennardJones1924",
           "@article{LennardJones1924,\n  author = {Jones, J. E.},\n  title = {On the determination of molecular "
           "fields. {II}. From the equation of state of a gas},\n  journal = {Proceedings of the Royal Society A},\n  "
           "volume = {106},\n  pages = {463--477},\n  year = {1924},\n  doi = {10.1098/rspa.1924.0082}\n}\n"}};
}

}  // namespace cambium::md

template class cambium::PairPotential<cambium::md::LennardJonesForm>;
