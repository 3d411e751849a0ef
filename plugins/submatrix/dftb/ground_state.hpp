#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/dftb/bands.hpp"
#include "plugins/submatrix/dftb/dispersion.hpp"
#include "plugins/submatrix/dftb/mixer.hpp"
#include "plugins/submatrix/dftb/spin.hpp"

namespace cambium::submatrix {

/// Keys common to the potential and the stage `dftb`.
struct DftbKeys {
  enum class Solver { dense, submatrix, purification };
  SlaterKosterFiles slater_koster;
  std::map<std::string, std::string> shells;
  RepulsionChoice repulsion = RepulsionChoice::automatic;
  double charge = 0.0;
  bool periodic = true;
  KPointKeys k_points;
  bool self_consistent = true;
  std::map<std::string, double> hubbard_derivatives;  ///< hartree per electron; empty: no third order
  double hydrogen_damping = 0.0;
  std::optional<SpinKeys> spin;  ///< none: electrons of both spins are in the same states
  std::optional<DispersionKeys> dispersion;
  double tolerance = 1e-8;
  int cycles = 100;
  MixingKeys mixing;
  FillingKeys filling;
  double derivative_step = 0.0;  ///< bohr
  Solver solver = Solver::dense;
  double eps = 1e-6;
  int error_sample = 8;

  template <class P>
  static void describe_in(deck::Describe<P>& d);
  template <class P>
  static void describe_solution(deck::Describe<P>& d);
  /// Error message for keys that exclude each other; empty if there are none.
  std::string conflict() const;
};

/// Energies, charges and forces of one geometry. Hartree, bohr, electrons.
struct DftbState {
  double total = 0.0;  ///< of all but the entropy
  double mermin = 0.0, band = 0.0, uncharged = 0.0, second_order = 0.0, third_order = 0.0, spin = 0.0, repulsive = 0.0,
         dispersion = 0.0, entropy_term = 0.0;
  double mu = 0.0, mu_down = 0.0, homo = 0.0, lumo = 0.0, electrons = 0.0;
  int cycles = 0, k_points = 1, functions = 0;
  double change = 0.0;                          ///< of the charges and spins in the last cycle
  std::vector<double> populations;              ///< electrons of each atom
  std::vector<double> excess;                   ///< electrons beyond those of the neutral atom
  std::vector<double> shells;                   ///< electrons of the s, p and d shells of each atom
  std::vector<double> spin_shells, spins;       ///< with spin: electrons up less down, of the same shells and atoms
  std::vector<double> forces, virial;           ///< 3 for each atom; 9
  std::optional<std::array<double, 3>> dipole;  ///< e bohr, of a molecule without charge
  std::optional<ErrorEstimate> error;
  double mean_dimension = 0.0;
};

/// Collective: self-consistent charges (or not) and all that follows. Every call begins with neutral atoms. All of the
/// result is the same on every rank. NumericalError where charges do not become self-consistent; KeyError for a charge,
/// spins or parameters that this structure does not allow.
DftbState ground_state(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbKeys& keys,
                       Context& context);

template <class P>
void DftbKeys::describe_in(deck::Describe<P>& d) {
  d("slater_koster", &DftbKeys::slater_koster, "Slater-Koster files of the parameter set");
  d("shells", &DftbKeys::shells,
    "highest shell of each species, s, p or d: {C: p, H: s}; default: the highest one that the neutral atom occupies")
      .def({});
  d("repulsion", &DftbKeys::repulsion,
    "repulsion of the files: spline, polynomial, none; automatic: the spline, or where a file has none the polynomial")
      .options({{"automatic", RepulsionChoice::automatic},
                {"spline", RepulsionChoice::spline},
                {"polynomial", RepulsionChoice::polynomial},
                {"none", RepulsionChoice::none}})
      .def(RepulsionChoice::automatic);
  d("charge", &DftbKeys::charge, "total charge of the system in units of e").def(0.0);
  d("periodic", &DftbKeys::periodic,
    "periodic crystal with images of all atoms and charges; false: one molecule in empty space, however large the cell")
      .def(true);
  d("k_points", &DftbKeys::k_points, "points of the Brillouin zone of a periodic cell; default: the Gamma point");
  d("self_consistent", &DftbKeys::self_consistent,
    "self-consistent charges (DFTB2, also called SCC-DFTB); false: the Hamiltonian of neutral atoms")
      .def(true);
  d("hubbard_derivatives", &DftbKeys::hubbard_derivatives,
    "derivatives of the Hubbard parameters by electrons in hartree, of every species, such as {C: -0.1492, H: -0.1857} "
    "of the set 3ob; with them the third order is added (DFTB3); default: second order")
      .def({});
  d("hydrogen_damping", &DftbKeys::hydrogen_damping,
    "exponent of the damping of gamma between hydrogen and other atoms, 4.0 with the set 3ob; 0: no damping")
      .range(0.0, 20.0)
      .def(0.0);
  d("spin", &DftbKeys::spin, "collinear spin polarisation; default: each state holds electrons of both spins");
  d("dispersion", &DftbKeys::dispersion, "van der Waals dispersion, with parameters of your own; default: none");
  describe_solution(d);
}

template <class P>
void DftbKeys::describe_solution(deck::Describe<P>& d) {
  d("tolerance", &DftbKeys::tolerance,
    "largest change of the charge of an atom, and of the spin of a shell, in the last cycle, electrons")
      .positive()
      .def(1e-8);
  d("cycles", &DftbKeys::cycles, "number of self-consistency cycles after which a step fails").at_least(1).def(100);
  d("mixing", &DftbKeys::mixing, "mixing of charges between cycles");
  d("filling", &DftbKeys::filling, "occupation of states");
  d("derivative_step", &DftbKeys::derivative_step,
    "step of central differences for derivatives of H and S in forces; 0: exact derivatives. DFTB+ takes 0.01 bohr for "
    "inputs up to parser version 4, 1.22e-4 bohr for later ones")
      .unit("bohr")
      .non_negative()
      .less_than(0.1)
      .def(0.0);
  d("solver", &DftbKeys::solver,
    "dense: diagonalisation at each k-point; submatrix: density matrix by the submatrix method, for large systems with "
    "a gap at the Gamma point; purification: the same by polynomials of the full sparse matrix")
      .options({{"dense", DftbKeys::Solver::dense},
                {"submatrix", DftbKeys::Solver::submatrix},
                {"purification", DftbKeys::Solver::purification}})
      .def(DftbKeys::Solver::dense);
  d("eps_filter", &DftbKeys::eps,
    "solver submatrix: blocks of the orthogonalised Hamiltonian with a smaller norm are dropped; solver purification: "
    "also blocks of every iterate")
      .formerly("eps")
      .unit("hartree")
      .positive()
      .less_than(1.0)
      .def(1e-6);
  d("error_sample", &DftbKeys::error_sample,
    "solver submatrix: number of submatrices that are solved again to estimate the error of each step; 0: no estimate")
      .at_least(0)
      .def(8);
}

}  // namespace cambium::submatrix
