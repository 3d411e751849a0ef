// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/deepmd/bench/bench_deepmd.hpp"
#include "plugins/deepmd/bench/bench_few_bits.hpp"
#include "plugins/deepmd/bench/bench_md.hpp"
#include "plugins/deepmd/bench/bench_train.hpp"
#include "plugins/deepmd/deep_potential/deep_potential.hpp"
#include "plugins/deepmd/label/label.hpp"
#include "plugins/deepmd/md/integrators/csvr.hpp"
#include "plugins/deepmd/md/integrators/fire.hpp"
#include "plugins/deepmd/md/integrators/langevin.hpp"
#include "plugins/deepmd/md/integrators/npt.hpp"
#include "plugins/deepmd/md/integrators/nve.hpp"
#include "plugins/deepmd/md/md.hpp"
#include "plugins/deepmd/observables/msd.hpp"
#include "plugins/deepmd/observables/rdf.hpp"
#include "plugins/deepmd/observables/vacf.hpp"
#include "plugins/deepmd/potentials/lennard_jones.hpp"
#include "plugins/deepmd/potentials/stillinger_weber.hpp"
#include "plugins/deepmd/potentials/sum.hpp"
#include "plugins/deepmd/potentials/sutton_chen.hpp"
#include "plugins/deepmd/potentials/zbl.hpp"
#include "plugins/deepmd/tools/test_stage.hpp"
#include "plugins/deepmd/tools/tools.hpp"
#include "plugins/deepmd/train/datasets.hpp"
#include "plugins/deepmd/train/deep_potential_network.hpp"

namespace cambium::deepmd {

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
  registry.add<DeepPotential>("deep_potential", "Deep Potential models of DeePMD-kit (.dp, .yaml)");

  registry.add<Rdf>("rdf", "radial distribution functions by pair of species");
  registry.add<Msd>("msd", "mean squared displacement by species");
  registry.add<Vacf>("vacf", "velocity autocorrelation by species, and diffusion by Green and Kubo");

  registry.add<Label>("label", "sample configurations, evaluate a potential on them, write training data");
  registry.add<TestStage>("test", "errors of a Deep Potential on labelled data, and tables for parity plots");
  registry.add<DeepmdNpy>("deepmd_npy", "labelled configurations in DeePMD-kit's folders of .npy files");
  registry.add<ExtxyzSet>("extxyz", "labelled configurations in extended XYZ files");
  registry.add<DeepPotentialNetwork>("deep_potential", "Deep Potential, trained on energies, forces and virials");

  registry.add_bench(bench_md());
  registry.add_bench(bench_deepmd());
  registry.add_bench(bench_few_bits());

  registry.add_bench(bench_train());

  for (Command& command : model_commands()) registry.add_command(std::move(command));
}

}  // namespace cambium::deepmd
