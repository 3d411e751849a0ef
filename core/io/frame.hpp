#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/state/state.hpp"

namespace cambium::io {

/// Which arrays of a frame are wanted beside positions, images and types.
struct FrameParts {
  bool velocity = false;
  bool force = false;
};

/// All particles of all ranks at one moment, ordered by id: the same on any number of ranks. Arrays of three components
/// are row-major.
struct Frame {
  std::int64_t step = 0;
  double time = 0.0;  ///< ps
  Box box;
  std::vector<Species> species;
  std::vector<std::int64_t> id;  ///< rising
  std::vector<int> type;
  std::vector<double> position;  ///< Å, inside the cell
  std::vector<int> image;        ///< unwrapped = position + image . box.h
  std::vector<double> velocity;  ///< Å/ps; empty when not wanted
  std::vector<double> force;     ///< eV/Å; empty when not wanted
  std::int64_t size() const { return std::ssize(id); }
};

/// Collective; rank 0 gets the frame, the others an empty one.
Frame gather_frame(const State& state, const Comm& comm, FrameParts parts = {});

}  // namespace cambium::io
