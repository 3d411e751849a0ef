#pragma once
#include "core/parallel/context.hpp"

namespace cambium::train::testing {

/// A rank by itself.
struct World {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

}  // namespace cambium::train::testing
