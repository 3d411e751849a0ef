#include "plugins/md/potentials/born_mayer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"

namespace cambium::md {

BornMayerForm::BornMayerForm(const Params& params) : params_(params) {
  for (const auto& p : params_.pairs) {
    const auto key = deck::child_path("pairs", static_cast<std::size_t>(&p - params_.pairs.data()));
    if (p.species.size() != 2)
      throw KeyError("born_mayer.pairs.species", key,
                     fmt::format("born_mayer: an entry of `pairs` names {} species; it needs two, like [Na, Cl]",
                                 p.species.size()));
    const auto same = [&](const Pair& q) {
      return &q != &p && std::is_permutation(q.species.begin(), q.species.end(), p.species.begin(), p.species.end());
    };
    if (std::any_of(params_.pairs.begin(), params_.pairs.end(), same))
      throw KeyError("born_mayer.pairs.twice", key,
                     fmt::format("born_mayer: `pairs` has two entries for [{}, {}]; keep the one that is meant",
                                 p.species[0], p.species[1]));
  }
  if (params_.truncation == Truncation::smooth && !(switch_width() < params_.cutoff))
    throw KeyError("born_mayer.switch_width.range", "switch_width",
                   fmt::format("born_mayer: `switch_width` is {} Å; it must be below the cut-off, {} Å", switch_width(),
                               params_.cutoff));
}

PairTerms<BornMayerForm::Model> BornMayerForm::pair(std::span<const Species> species, int a, int b) const {
  const auto &one = species[a].symbol, &two = species[b].symbol;
  for (const auto& p : params_.pairs)
    if ((p.species[0] == one && p.species[1] == two) || (p.species[0] == two && p.species[1] == one))
      return {
          {p.a * std::exp(p.sigma / p.rho), 1.0 / p.rho, p.c, p.d}, params_.cutoff, params_.cutoff - switch_width()};
  throw KeyError(
      "born_mayer.pairs.missing", "pairs",
      fmt::format("born_mayer: `pairs` has no [{}, {}]; add it, with `a: 0` where the two do not interact", one, two));
}

std::string BornMayerForm::summary() const {
  const char* word[] = {"plain", "shifted", "smooth"};
  return fmt::format("Born-Mayer, cut-off {:g} Å ({})", params_.cutoff, word[static_cast<int>(params_.truncation)]);
}

std::vector<Citation> BornMayerForm::citations() const {
  return {{"HugginsMayer1933",
           "@article{HugginsMayer1933,\n  author = {Huggins, Maurice L. and Mayer, Joseph E.},\n  title = {Interatomic "
           "distances in crystals of the alkali halides},\n  journal = {The Journal of Chemical Physics},\n  volume = "
           "{1},\n  pages = {643--646},\n  year = {1933},\n  doi = {10.1063/1.1749344}\n}\n"}};
}

}  // namespace cambium::md

template class cambium::PairPotential<cambium::md::BornMayerForm>;
