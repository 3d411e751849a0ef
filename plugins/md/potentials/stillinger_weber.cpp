#include "plugins/md/potentials/stillinger_weber.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/particles/elements.hpp"
#include "plugins/md/potentials/stillinger_weber_blocks.hpp"

namespace cambium::md {

StillingerWeber::StillingerWeber(const Params& params, Context&) : params_(params) {}

void StillingerWeber::bind(std::span<const Species> species) {
  const Params silicon;
  const bool of_silicon = params_.epsilon == silicon.epsilon && params_.sigma == silicon.sigma;
  if (species.size() == 1 && of_silicon && atomic_number(species[0].symbol) != 14 &&
      atomic_number(species[0].symbol) > 0)
    throw KeyError(
        "stillinger_weber.parameters", "",
        fmt::format("stillinger_weber: its default parameters are those of silicon, but the atoms are {0}: give "
                    "`epsilon` and `sigma` (and what else differs) of {0}, or species Si",
                    species[0].symbol));
  if (species.size() == 1) return;
  std::string names;
  for (const auto& s : species) names += (names.empty() ? "" : ", ") + s.symbol;
  throw KeyError("stillinger_weber.one_species", "",
                 fmt::format("stillinger_weber describes one species, but the deck has {}: {}", species.size(), names));
}

void StillingerWeber::compute(const Particles& particles, const NeighborList& list, GhostExchange&,
                              const ForceRequest& request, ForceOutput& out, Context&) {
  dispatch(request, [&]<Outputs outputs>() {
    auto run = [&]<bool standard>() {
      const StillingerWeberKernel<KernelPack, outputs, standard> kernel(params_, particles, list, out);
      if constexpr (device_is_host) {
        using Blocks = StillingerWeberBlocks<KernelPack, outputs, standard>;
        outside_.begin(particles.nlocal, Blocks::atoms_per_block);
        run_atoms<outputs>("stillinger_weber", outside_.parts(), StillingerWeberParts<Blocks>{{kernel}, &outside_},
                           out);
        outside_.add_to(out.f.data());
      } else {
        run_atoms<outputs>("stillinger_weber", particles.nlocal, kernel, out);
      }
    };
    if (params_.p == 4 && params_.q == 0)
      run.template operator()<true>();
    else
      run.template operator()<false>();
  });
}

std::string StillingerWeber::summary() const { return fmt::format("Stillinger-Weber, cut-off {:g} Å", cutoff()); }

std::vector<Citation> StillingerWeber::citations() const {
  return {{"StillingerWeber1985",
           "@article{StillingerWeber1985,\n  author = {Stillinger, Frank H. and Weber, Thomas A.},\n  title = "
           "{Computer simulation of local order in condensed phases of silicon},\n  journal = {Physical Review B},\n  "
           "volume = {31},\n  pages = {5262--5271},\n  year = {1985},\n  doi = {10.1103/PhysRevB.31.5262}\n}\n"}};
}

}  // namespace cambium::md
