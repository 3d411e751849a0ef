// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/md/bench/bench_md.hpp"
#include "plugins/md/bench/bench_pair.hpp"
#include "plugins/md/integrators/csvr.hpp"
#include "plugins/md/integrators/fire.hpp"
#include "plugins/md/integrators/langevin.hpp"
#include "plugins/md/integrators/npt.hpp"
#include "plugins/md/integrators/nve.hpp"
#include "plugins/md/physics/md.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"
#include "plugins/md/potentials/stillinger_weber.hpp"
#include "plugins/md/potentials/sum.hpp"
#include "plugins/md/potentials/sutton_chen.hpp"
#include "plugins/md/potentials/zbl.hpp"
#include "plugins/md/writers/msd.hpp"
#include "plugins/md/writers/rdf.hpp"
#include "plugins/md/writers/vacf.hpp"

namespace cambium::md {
void register_types(Registry& registry) {
  registry.add<Md>("md", "molecular dynamics of particles in a periodic cell");
  registry.add<Nve>("nve", "constant energy, velocity Verlet");
  registry.add<Langevin>("langevin", "constant temperature, Langevin dynamics (BAOAB)");
  registry.add<Csvr>("csvr", "constant temperature, stochastic velocity rescaling");
  registry.add<Npt>("npt", "constant pressure and temperature, stochastic cell rescaling");
  registry.add<Fire>("fire", "minimisation of the energy at fixed cell");
  registry.add<LennardJones>("lennard_jones", "12-6 pair potential of rare gases and their mixtures");

  registry.add<SuttonChen>("sutton_chen", "many-body potential of fcc metals");
  registry.add<StillingerWeber>("stillinger_weber", "two- and three-body potential of silicon");
  registry.add<Zbl>("zbl", "screened repulsion of nuclei at short range");
  registry.add<Sum>("sum", "several potentials added");
  registry.add<Rdf>("rdf", "radial distribution functions by pair of species");
  registry.add<Msd>("msd", "mean squared displacement by species");
  registry.add<Vacf>("vacf", "velocity autocorrelation by species, and diffusion by Green and Kubo");

  registry.add_bench(bench_md());
  registry.add_bench(bench_pair());
}

}  // namespace cambium::md
