#pragma once
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/writers/time_correlation.hpp"

namespace cambium::md {

/// A quantity as a function of the lag: one curve for all particles and one per species.
struct CurveSet {
  std::string name, unit, doc;
  std::vector<std::vector<double>> curve;
};

/// Collective: InputError, a warning in `cambium check`, if rank 0 has too little memory for sums over that many lags.
void require_room_for_lags(int length, Context& context);

/// Writes <name>.h5 (group /<name>: time, origins, species, the curve sets as [species][lag], diffusion) and <name>.csv
/// into the run directory. `diffusion`: coefficients of all particles and of each species (Å²/ps). Rank 0 only.
void write_correlation(const std::string& name, const Context& context, const std::vector<Species>& species,
                       const TimeCorrelation::Result& result, const std::vector<CurveSet>& sets,
                       const std::vector<double>& diffusion, const std::string& diffusion_doc);

}  // namespace cambium::md
