#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/pair/outside_forces.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/md/nep/nep_file.hpp"

namespace cambium::md {

/// Neuroevolution potential from a file of GPUMD: energies of atoms from networks with one hidden layer and radial and
/// angular descriptors (NepFile), with screened nuclear repulsion if the file has it. On devices it runs on the host.
class Nep : public Potential, public CostsPerAtom {
 public:
  struct Params {
    std::string file;
    static void describe(deck::Describe<Params>& d) {
      d("file", &Params::file, "model file nep.txt of GPUMD, version 3, 4 or 5").example("nep.txt");
    }
  };

  /// Reads the file, except in a dry run one that an earlier stage writes. InputError names the file and the error.
  Nep(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  bool writes_ghost_forces() const override { return true; }
  /// Per-atom virials are assigned to the neighbour of each distance, as in GPUMD.
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  AtomCost atom_cost(double neighbours) const override;

  const NepFile& model() const { return model_; }
  /// Descriptors of the owned atoms, (atoms, dim), scaled as for the network.
  std::vector<double> descriptors(const Particles& particles, const NeighborList& list) const;

 private:
  Params params_;
  NepFile model_;
  std::vector<int> model_type_;  ///< by type of the deck
  double cutoff_ = 0.0;
  OutsideForces outside_;
};

}  // namespace cambium::md
