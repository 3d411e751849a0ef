#pragma once
#include <string>

#include "core/parallel/context.hpp"
#include "plugins/md/physics/md.hpp"

namespace cambium::md {

/// A system whose speed is compared with LAMMPS: the same atoms, velocities, list rule and number of steps.
struct MdCase {
  std::string key;  ///< "lj" or "sw"
  Md::Params params;
  std::string lammps_pair;    ///< pair_style and pair_coeff lines
  std::string lammps_suffix;  ///< "-sf opt" if that style exists
  int warm_up = 200;          ///< steps before the clock starts
  int steps = 400;            ///< timed steps
};

/// Result of a timed run of one code.
struct MdTimes {
  double atom_steps_per_s = 0.0;
  double start_energy = 0.0;    ///< eV, potential energy at step 0
  double start_pressure = 0.0;  ///< bar, at step 0
  double end_energy = 0.0;      ///< eV, total energy after the timed steps
  double start_total = 0.0;     ///< eV, total energy at step 0
  bool ran = false;
  std::string version;  ///< of the reference implementation
};

/// Argon at the reduced state point 0.8442, 1.44: 32,000 edge^3 atoms, plain cut-off 2.5 sigma, skin 0.3 sigma.
MdCase argon_case(int edge);
/// Stillinger-Weber silicon, 32,768 edge^3 atoms at 1000 K, skin 1 Å.
MdCase silicon_case(int edge);

/// Collective. Runs the case; when `data_file` is not empty writes the starting atoms there as a LAMMPS data file.
MdTimes run_cambium(const MdCase& c, const std::string& data_file, Context& context);
/// Runs the same atoms with the `lmp` program of this machine on `ranks` ranks; `ran` is false if it is missing.
MdTimes run_lammps(const MdCase& c, const std::string& folder, const std::string& data_file, int ranks);

}  // namespace cambium::md
