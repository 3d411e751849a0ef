#pragma once
#include <string>

#include "core/plugin/cost.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/physics/vlasov_maxwell.hpp"
#include "plugins/kinetic/physics/vlasov_poisson.hpp"

namespace cambium::kinetic {

/// Cost of the steps of a kinetic physics. Ranks own bricks of phase space, whose surfaces are exchanged as traces.
/// Moments and fields are those of a rank's cells of configuration space; if velocity space is decomposed, moments are
/// summed over the ranks with the same cells. The potential is decomposed as configuration space is.
class VlasovCost : public Cost {
 public:
  enum class Fields { none, poisson, maxwell };
  /// `components`: number of components of the fields that cells exchange.
  VlasovCost(const CommonParams& params, Fields fields, int components);
  std::string summary() const override;
  std::string item() const override { return "cell"; }
  double items() const override;
  StepCost of(int ranks, double times) const override;

 private:
  double bytes_of(const PhaseGrid& grid) const;
  void add_species(const PhaseGrid& grid, bool collides, bool fused, StepCost& out) const;
  void add_collisions(const std::vector<PhaseGrid>& parts, StepCost& out) const;
  void add_plane(const PhaseGrid& part, int ranks, StepCost& out) const;
  void add_strips(const PhaseGrid& part, int ranks, StepCost& out) const;
  void add_halo(const PhaseGrid& part, StepCost& out) const;
  void add_fields(const std::vector<PhaseGrid>& parts, int ranks, bool fused, StepCost& out) const;
  bool packs_traces(const PhaseGrid& grid) const;

  CommonParams params_;
  Fields fields_;
  double components_;
  std::vector<PhaseGrid> grids_;  ///< of the species, not decomposed
};

template <class P, VlasovCost::Fields fields>
class VlasovCostOf : public VlasovCost {
 public:
  using Params = typename P::Params;
  VlasovCostOf(const Params& params, Context&) : VlasovCost(params, fields, components_of(params)) {}

 private:
  static int components_of(const Params& params) {
    if constexpr (fields == VlasovCost::Fields::maxwell)
      return told_components(
          {.clean_electric = params.fields.clean_electric, .clean_magnetic = params.fields.clean_magnetic});
    else
      return fields == VlasovCost::Fields::none ? 0 : static_cast<int>(params.domain.cells.size());
  }
};

}  // namespace cambium::kinetic
