#pragma once
#include "plugins/kinetic/solver/edges.hpp"

namespace cambium::kinetic {

// The kernels of Edges as objects with names: which dimension an edge has is found by generic lambdas, and nvcc takes
// no device lambda inside those. Each works on one edge of dimension D.

/// Packs part i of what leaves through an edge of a configuration dimension.
template <int D, class Work>
struct PackTraces {
  Work w;
  bool high;
  int all;  ///< moving cells of a block
  typename Work::T* buffer;
  CAMBIUM_FN void operator()(int i) const { w.template pack_part<D>(high, i, 0, all, buffer); }
};

/// Packs cell i of an edge of velocity dimension D.
template <int D, class Work, class P>
struct PackVelocity {
  Work w;
  bool high;
  P* buffer;
  CAMBIUM_FN void operator()(int i) const { w.template pack_velocity<D>(high, i, buffer); }
};

/// Adds what enters through a wall at block e of the edge.
template <int D, class Work>
struct Inflow {
  Work w;
  bool high, mirrored;
  int n;  ///< cells that move inwards
  CAMBIUM_FN void operator()(int e) const {
    for (int i = 0; i < n; ++i) w.template wall<D>(high, mirrored, e, i);
  }
};

/// The same at cell i of the edge's blocks, where moments are summed afterwards: a thread for each cell.
template <int D, class Work>
struct InflowOfCells {
  Work w;
  bool high, mirrored;
  int n;
  CAMBIUM_FN void operator()(int i) const { w.template wall<D>(high, mirrored, i / n, i % n); }
};

/// Adds the flux through a cut of velocity dimension D to a block.
template <int D, class Work, class P>
struct UnpackVelocity {
  Work w;
  bool high;
  const P* buffer;
  CAMBIUM_FN void operator()(int block) const { w.template unpack_velocity<D>(high, block, buffer); }
};

}  // namespace cambium::kinetic
