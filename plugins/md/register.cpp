// Registers all types of this plugin that a deck can name.
#include "core/plugin/registry.hpp"
#include "plugins/md/integrators/csvr.hpp"
#include "plugins/md/integrators/fire.hpp"
#include "plugins/md/integrators/langevin.hpp"
#include "plugins/md/integrators/nose_hoover.hpp"
#include "plugins/md/integrators/npt.hpp"
#include "plugins/md/integrators/nve.hpp"
#include "plugins/md/physics/md.hpp"
#include "plugins/md/physics/md_cost.hpp"
#include "plugins/md/potentials/born_mayer.hpp"
#include "plugins/md/potentials/coulomb.hpp"
#include "plugins/md/potentials/eam.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"
#include "plugins/md/potentials/nep.hpp"
#include "plugins/md/potentials/pace.hpp"
#include "plugins/md/potentials/stillinger_weber.hpp"
#include "plugins/md/potentials/sum.hpp"
#include "plugins/md/potentials/sutton_chen.hpp"
#include "plugins/md/potentials/zbl.hpp"
#include "plugins/md/tasks/ipi.hpp"
#include "plugins/md/writers/msd.hpp"
#include "plugins/md/writers/rdf.hpp"
#include "plugins/md/writers/vacf.hpp"

namespace cambium::md {
void register_types(Registry& registry) {
  registry.add<Md>("md", "molecular dynamics of particles in a periodic cell")
      .synonyms({"molecular_dynamics", "lammps", "particles"});
  registry.add<MdCost>("md", "atoms, ghosts and messages of a step of molecular dynamics");
  registry.add<Nve>("nve", "constant energy, velocity Verlet")
      .synonyms({"verlet", "velocity_verlet", "leapfrog", "leap_frog", "microcanonical", "constant_energy"});
  registry.add<Langevin>("langevin", "constant temperature, Langevin dynamics (BAOAB)")
      .synonyms({"nvt", "thermostat", "canonical", "baoab", "brownian", "langevin_dynamics", "nvt_langevin",
                 "stochastic_dynamics"});
  registry.add<Csvr>("csvr", "constant temperature, stochastic velocity rescaling")
      .synonyms({"nvt", "thermostat", "canonical", "berendsen", "andersen", "bussi", "svr", "v_rescale",
                 "velocity_rescale", "velocity_rescaling", "temp_rescale", "nvt_berendsen", "nvt_bussi"});
  registry.add<NoseHoover>("nose_hoover", "constant temperature, chain of Nose-Hoover thermostats")
      .synonyms({"nvt", "thermostat", "canonical", "nose_hoover_chain", "nose_hoover_chains", "nose", "nhc",
                 "nvt_nose_hoover"});
  registry.add<Npt>("npt", "constant pressure and temperature, stochastic cell rescaling")
      .synonyms({"nph", "barostat", "isobaric", "isothermal_isobaric", "parrinello_rahman", "mtk", "mttk", "c_rescale",
                 "scr", "cell_rescale", "press_berendsen", "npt_nose_hoover", "npt_berendsen", "npt_bussi"});
  registry.add<Fire>("fire", "minimisation of the energy, at fixed cell or at a pressure")
      .synonyms({"minimize", "minimise", "minimization", "minimisation", "minimizer", "relax", "relaxation", "optimize",
                 "optimise", "geometry_optimization", "cg", "conjugate_gradient", "bfgs", "lbfgs", "l_bfgs",
                 "steepest_descent"});
  registry.add<LennardJones>("lennard_jones", "12-6 pair potential of rare gases and their mixtures")
      .synonyms({"lj", "lj_cut", "lj126", "lj_12_6", "12_6", "lennardjones"});

  registry.add<Coulomb>("coulomb", "long-range electrostatics of fixed charges, by Ewald sums")
      .synonyms({"ewald", "pppm", "p3m", "pme", "spme", "charges", "electrostatics", "coul_long", "dsf", "coul_dsf",
                 "wolf", "coul_wolf", "kspace"});
  registry.add<BornMayer>("born_mayer", "repulsion and dispersion of ions, by pairs of species")
      .synonyms({"buckingham", "buck", "born", "bmh", "born_mayer_huggins", "tosi_fumi", "fumi_tosi", "huggins_mayer"});
  registry.add<Eam>("eam", "embedded-atom method with tables of a file")
      .synonyms({"eam_alloy", "eam_fs", "finnis_sinclair", "embedded_atom", "embedded_atom_method", "setfl", "funcfl"});
  registry.add<Nep>("nep", "neuroevolution potential of GPUMD")
      .synonyms({"nep3", "nep4", "nep5", "neuroevolution", "neuroevolution_potential", "gpumd"});
  registry.add<Pace>("pace", "atomic cluster expansion of pacemaker, of a .yace file")
      .synonyms({"ace", "yace", "ml_pace", "pacemaker", "atomic_cluster_expansion"});
  registry.add<SuttonChen>("sutton_chen", "many-body potential of fcc metals").synonyms({"gupta", "sc"});
  registry.add<StillingerWeber>("stillinger_weber", "two- and three-body potential of silicon")
      .synonyms({"sw", "stillingerweber"});
  registry.add<Zbl>("zbl", "screened repulsion of nuclei at short range")
      .synonyms({"ziegler_biersack_littmark", "universal_repulsion", "screened_coulomb"});
  registry.add<Sum>("sum", "several potentials added")
      .synonyms({"hybrid", "overlay", "hybrid_overlay", "combined", "plus"});
  registry.add<Ipi>("ipi", "forces for i-PI or ASE over a socket").synonyms({"i_pi", "socket", "serve", "driver"});
  registry.add<Rdf>("rdf", "radial distribution functions by pair of species")
      .synonyms({"gr", "g_r", "g(r)", "radial_distribution", "radial_distribution_function", "pair_correlation",
                 "pair_distribution"});
  registry.add<Msd>("msd", "mean squared displacement by species")
      .synonyms({"diffusion", "mean_squared_displacement", "mean_square_displacement"});
  registry.add<Vacf>("vacf", "velocity autocorrelation by species, and diffusion by Green and Kubo")
      .synonyms({"diffusion", "green_kubo", "velocity_autocorrelation", "velocity_autocorrelation_function"});
}

}  // namespace cambium::md
