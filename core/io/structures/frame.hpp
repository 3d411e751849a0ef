#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/state.hpp"

namespace cambium::io {

/// Arrays of a frame that are requested in addition to positions, images and types.
struct FrameParts {
  bool velocity = false;
  bool force = false;
  bool totals = false;  ///< energy and virial, if the state has them
};

/// All particles of all ranks at one time, ordered by id: the same on any number of ranks. Arrays of three components
/// are row-major. Every vector is in the axes in which the cell was given (GivenAxes), as in files.
struct Frame {
  std::int64_t step = 0;
  double time = 0.0;                                         ///< ps
  std::array<double, 9> cell = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< Å, rows a, b, c
  std::array<double, 3> origin = {0, 0, 0};                  ///< Å, the corner where fractional coordinates are 0
  std::vector<Species> species;
  std::vector<std::int64_t> id;  ///< rising
  std::vector<int> type;
  std::vector<double> position;                 ///< Å, inside the cell
  std::vector<int> image;                       ///< unwrapped = position + image . cell
  std::vector<double> velocity;                 ///< Å/ps; empty unless requested
  std::vector<double> force;                    ///< eV/Å; empty unless requested
  std::optional<double> energy;                 ///< eV, potential energy
  std::optional<std::array<double, 9>> virial;  ///< eV, W_ab = -sum dE/dr_a r_b
  std::int64_t size() const { return std::ssize(id); }
  double volume() const;  ///< Å^3
  /// Takes cell and origin from a box.
  void set_cell(const Box& box, const GivenAxes& axes);
};

/// Collective; rank 0 gets the frame, the others an empty one.
Frame gather_frame(const State& state, const Comm& comm, FrameParts parts = {});

/// A contiguous part of a frame's particles.
struct FrameShare {
  Frame frame;             ///< its rows; step, cell, species and totals are those of the complete frame
  std::int64_t first = 0;  ///< index of the first row in the complete frame
  std::int64_t total = 0;  ///< rows of all parts
  int shares = 1;          ///< the first `shares` ranks hold one
};

/// Collective: distributes the frame in ranges of ids over as many ranks as get at least `rows` rows each, so that none
/// holds all of it. In one part, on rank 0, if it is small, and if ids have gaps.
FrameShare share_frame(const State& state, const Comm& comm, FrameParts parts = {}, std::int64_t rows = 1 << 16);

}  // namespace cambium::io
