#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/md/coulomb/ewald_error.hpp"
#include "plugins/md/coulomb/particle_mesh.hpp"

namespace cambium::md {

/// Coulomb energy of fixed point charges, E = 1/2 sum_ij q_i q_j / (4 pi eps0 r_ij) over all periodic images, by an
/// Ewald sum with a conducting surface at infinity: P. P. Ewald, Ann. Phys. 369, 253 (1921); its reciprocal part on a
/// mesh (U. Essmann et al., J. Chem. Phys. 103, 8577 (1995)) or wave by wave; or by the damped shifted-force form of C.
/// J. Fennell and J. D. Gezelter, J. Chem. Phys. 124, 234104 (2006), which has no reciprocal part. No pair is excluded.
/// Parameters depend only on accuracy, charges and cell of each call.
class Coulomb : public Potential {
 public:
  enum class Method { mesh, ewald, dsf };
  struct Params {
    std::map<std::string, double> charges;
    std::string charges_from;
    Method method = Method::mesh;
    double accuracy = 1e-5;
    std::optional<double> cutoff, alpha, k_max;
    std::optional<std::array<int, 3>> mesh;
    int order = 6;
    bool background = false;
    static void describe(deck::Describe<Params>& d) {
      d("charges", &Params::charges, "charges by species, in elementary charges").def({}).example("{Na: 1, Cl: -1}");
      d("charges_from", &Params::charges_from,
        "file of each atom's charge, by id: extended XYZ with a column charge, charges, initial_charges or q, or "
        "LAMMPS data with charges, in the units that its first line names (units = si); without it, charges by species")
          .def("");
      d("method", &Params::method,
        "mesh: smooth particle-mesh Ewald; ewald: Ewald sum wave by wave, for small cells; dsf: damped shifted force "
        "within the cut-off, without a reciprocal part")
          .options({{"mesh", Method::mesh}, {"ewald", Method::ewald}, {"dsf", Method::dsf}})
          .def(Method::mesh);
      d("accuracy", &Params::accuracy,
        "estimated root mean square error of forces, relative to the force between two elementary charges 1 angstrom "
        "apart "
        "(14.4 eV/angstrom); alpha, mesh and k_max follow from it")
          .positive()
          .def(1e-5);
      d("cutoff", &Params::cutoff,
        "cut-off of the real-space part; 3 angstrom times the root of ln(1/accuracy) when absent, 12 angstrom of dsf")
          .unit("angstrom")
          .positive();
      d("alpha", &Params::alpha,
        "damping of the real-space part, erfc(alpha r)/r; chosen by accuracy when absent, 0.2 of dsf")
          .unit("1/angstrom")
          .positive();
      d("mesh", &Params::mesh, "mesh points along a, b and c, even; chosen by accuracy when absent");
      d("order", &Params::order, "order of the B-splines of the mesh: 4, 6, 8, 10 or 12").def(6);
      d("k_max", &Params::k_max, "largest wave number of the Ewald sum; chosen by accuracy when absent")
          .unit("1/angstrom")
          .positive();
      d("background", &Params::background,
        "allow a charged cell, neutralised by a uniform background; refused when false")
          .def(false);
    }
  };

  /// Throws InputError for inconsistent keys, and for a file of charges that cannot be read.
  Coulomb(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  bool needs_periodic_cell() const override { return params_.method != Method::dsf; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  /// Values of the last compute(): alpha (1/Å), points of the mesh, largest wave number (1/Å).
  struct Parameters {
    double alpha = 0.0;
    std::array<int, 3> mesh{};
    double k_max = 0.0;
  };
  const Parameters& parameters() const { return now_; }

  // Public, because nvcc does not accept kernels in private members.
  void place_charges(const Particles&);
  void add_self_energy(const Particles&, double per_square, double per_charge, double volume_virial,
                       const ForceRequest&, ForceOutput&) const;

 private:
  void read_charges(Context& context);
  void require_charges(const Particles&) const;
  std::array<double, 3> sums(const Particles&, const Comm&) const;
  void require_neutral(double total, double squares) const;
  void choose(const ChargedCell& cell);
  void choose_mesh_size(const ChargedCell& cell, double error);
  void add_real_space(const Particles&, const NeighborList&, const ForceRequest&, ForceOutput&) const;

  Params params_;
  double cutoff_ = 0.0;
  Parameters now_;
  View<double*> by_type_, by_tag_;  ///< e; by_tag_ if charges come from a file
  View<double*> charge_;            ///< e, of every row
  ParticleMesh mesh_;
};

}  // namespace cambium::md
