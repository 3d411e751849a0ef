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

/// Coulomb energy of fixed point charges, E = 1/2 sum_ij q_i q_j / (4 pi eps0 r_ij) over all periodic images, by
/// Ewald's sum with a conducting surface at infinity: P. P. Ewald, Ann. Phys. 369, 253 (1921); its reciprocal part on a
/// mesh (U. Essmann et al., J. Chem. Phys. 103, 8577 (1995)) or wave by wave; or the damped shifted-force form of
/// C. J. Fennell and J. D. Gezelter, J. Chem. Phys. 124, 234104 (2006), which needs no reciprocal part. No pair is
/// excluded. Parameters follow from accuracy, charges and cell of each call alone.
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
    static void describe(deck::Describe<Params>& d);
  };

  /// Throws InputError for keys that do not fit together, and for a file of charges that cannot be read.
  Coulomb(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  /// Of the last compute(): alpha (1/Å), points of the mesh, largest wave number (1/Å).
  struct Parameters {
    double alpha = 0.0;
    std::array<int, 3> mesh{};
    double k_max = 0.0;
  };
  const Parameters& parameters() const { return now_; }

  // Public, because nvcc takes kernels from no other place.
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
  View<double*> by_type_, by_tag_;  ///< e; by_tag_ where charges come from a file
  View<double*> charge_;            ///< e, of every row
  ParticleMesh mesh_;
};

}  // namespace cambium::md
