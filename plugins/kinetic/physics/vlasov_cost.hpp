#pragma once
#include <string>

#include "core/plugin/cost/cost.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/physics/vlasov_poisson.hpp"

namespace cambium::kinetic {

/// What steps of a kinetic physics cost. Ranks have bricks of phase space, whose surface is traces; but the moments of
/// every cell of configuration space are summed over all ranks in each stage, and every rank keeps them and the fields
/// whole.
class VlasovCost : public Cost {
 public:
  enum class Fields { none, poisson, maxwell };
  VlasovCost(const CommonParams& params, Fields fields);
  std::string summary() const override;
  std::string item() const override { return "cell"; }
  double items() const override;
  StepCost of(int ranks, double times) const override;

 private:
  double bytes_of(const PhaseGrid& grid) const;
  void add_species(const PhaseGrid& grid, bool collides, bool fused, StepCost& out) const;
  void add_collisions(const std::vector<PhaseGrid>& parts, double conf, StepCost& out) const;
  bool packs_traces(const PhaseGrid& grid) const;

  CommonParams params_;
  Fields fields_;
  std::vector<PhaseGrid> grids_;  ///< of the species, not cut
};

template <class P, VlasovCost::Fields fields>
class VlasovCostOf : public VlasovCost {
 public:
  using Params = typename P::Params;
  VlasovCostOf(const Params& params, Context&) : VlasovCost(params, fields) {}
};

}  // namespace cambium::kinetic
