#pragma once
#include <cstdint>

#include "core/deck/describe.hpp"

namespace cambium::io {

/// The keys `checkpoint: {every, keep}` of a stage; one with more keys derives from it.
struct CheckpointKeys {
  std::int64_t every = 0;  ///< steps; 0: only when the run is stopped
  int keep = 2;            ///< files
  static void describe(deck::Describe<CheckpointKeys>& d) { describe_in(d); }

  /// Declares these keys for a P that is or derives from CheckpointKeys.
  template <class P>
  static void describe_in(deck::Describe<P>& d) {
    d("every", &P::every, "number of steps between two checkpoints; 0 writes one only when the run is stopped")
        .at_least(0)
        .def(0);
    d("keep", &P::keep, "number of checkpoints that stay on disk").at_least(1).def(2);
  }
};

}  // namespace cambium::io
