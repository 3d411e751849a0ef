#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/superres/convection/halo.hpp"
#include "plugins/superres/convection/poisson.hpp"

namespace cambium::superres {

/// Makes the velocity divergence-free, to rounding: div grad phi = div u / (alpha dt), u -= alpha dt grad phi.
class Projection {
 public:
  /// For a flow of `fields` fields; transforms take `batch` rows at a time.
  Projection(const Comm& comm, const Slab& slab, int fields, int batch);
  /// Takes the divergence of rows first..last-1, at most one batch, for a step alpha dt. Fills ghost columns of the
  /// transported fields in these rows; w in the row above must be final.
  void take(const Flow& flow, double alpha_dt, int first, int last);
  /// Collective, after take() of all rows. With `advance_pressure`, phi - alpha dt/2 nu d2 phi/dz2 is added to p
  /// (Verzicco and Orlandi 1996). Ghosts of `flow` are up to date after finish_ghosts(); until then messages of other
  /// ranks' rows are pending.
  void apply(const Flow& flow, double alpha_dt, bool advance_pressure);
  int batch() const { return batch_; }
  /// Collective.
  void finish_ghosts(const Flow& flow);
  /// Collective: fills every ghost of `flow`.
  void fill_ghosts(const Flow& flow);
  /// Bytes sent by this rank to others so far, in three dimensions.
  std::int64_t bytes_sent() const { return halo_.bytes_sent() + poisson_.bytes_sent(); }

 private:
  void start_ghosts(const Flow& flow);
  void transform_back(int first, int last);
  void correct_rows(const Flow& flow, double alpha_dt, bool advance_pressure, int first, int last) const;
  Slab slab_;
  int batch_;
  Halo halo_;
  Poisson poisson_;
  Fields phi_;  ///< (1, m+2, columns)
};

/// Largest |div u| of this rank.
double largest_divergence(const Flow& flow);

}  // namespace cambium::superres
