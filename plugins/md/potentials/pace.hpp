#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/pair/outside_forces.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/md/pace/pace_model.hpp"

namespace cambium::md {

/// Atomic cluster expansion from a file of pacemaker (PaceFile), as read by LAMMPS' pair style `pace`: energies of
/// atoms from products of sums over neighbours, of any rank. On devices it runs on the host.
class Pace : public Potential, public CostsPerAtom {
 public:
  struct Params {
    std::string file;
    static void describe(deck::Describe<Params>& d) {
      d("file", &Params::file, "potential file of pacemaker, .yace, as LAMMPS' pair style pace reads it")
          .example("Cu.yace");
    }
  };

  /// Reads the file, except in a dry run one that an earlier stage writes. InputError names the file and the error.
  Pace(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  bool writes_ghost_forces() const override { return true; }
  /// Per-atom virials are divided equally between atom and neighbour, as in LAMMPS.
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  AtomCost atom_cost(double neighbours) const override;

 private:
  Params params_;
  PaceModel model_;
  std::vector<int> model_type_;  ///< by type of the deck
  double cutoff_ = 0.0;
  OutsideForces outside_;
};

}  // namespace cambium::md
