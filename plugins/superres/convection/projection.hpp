#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/superres/convection/halo.hpp"
#include "plugins/superres/convection/poisson.hpp"

namespace cambium::superres {

/// Makes the velocity free of divergence, to rounding: div grad phi = div u / (alpha dt), u -= alpha dt grad phi.
class Projection {
 public:
  /// For a flow of so many fields.
  Projection(const Comm& comm, const Slab& slab, int fields = 4);
  /// Collective. With `advance_pressure` p gains phi - alpha dt/2 nu d2 phi/dz2 (Verzicco and Orlandi 1996).
  /// Ghosts of `flow` are up to date after finish_ghosts(); until then rows of other ranks are on their way.
  void apply(const Flow& flow, double alpha_dt, bool advance_pressure);
  /// Collective.
  void finish_ghosts(const Flow& flow);
  /// Collective: fills every ghost of `flow`.
  void fill_ghosts(const Flow& flow) {
    start_ghosts(flow);
    finish_ghosts(flow);
  }
  /// B that this rank gave to others so far, in three dimensions.
  std::int64_t bytes_sent() const { return halo_.bytes_sent() + poisson_.bytes_sent(); }

 private:
  void start_ghosts(const Flow& flow);
  void transform_back(const Slab& slab);
  Halo halo_;
  Poisson poisson_;
  Fields phi_;  ///< (1, m+2, columns)
};

/// Largest |div u| of this rank.
double largest_divergence(const Flow& flow);

}  // namespace cambium::superres
