#pragma once
#include "core/parallel/comm.hpp"
#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

/// Fills the ghost rows between ranks: row 0 from the rank below, row m+1 from the rank above.
class Halo {
 public:
  Halo(const Comm& comm, const Slab& slab);
  /// Collective: fields first..first+count-1 (at most four), whole rows.
  void exchange(const Fields& fields, int first, int count);

 private:
  const Comm& comm_;
  int rows_, below_, above_;
  View<double***> sent_, received_;  ///< (below or above, field, column)
};

}  // namespace cambium::superres
