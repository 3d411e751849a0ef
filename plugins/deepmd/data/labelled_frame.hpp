#pragma once
#include <array>
#include <optional>
#include <vector>

#include "core/particles/box.hpp"
#include "core/particles/given_axes.hpp"

namespace cambium::deepmd {

/// One labelled configuration; positions, forces and virial are rotated with the cell into Box's form, and back when
/// they are written.
struct LabelledFrame {
  std::vector<std::array<double, 3>> x;      ///< Å
  std::optional<Box> box;                    ///< absent: nothing is periodic
  GivenAxes axes = {};                       ///< in which everything was given
  std::optional<double> energy;              ///< eV
  std::vector<std::array<double, 3>> force;  ///< eV/Å, or empty
  std::vector<double> virial;                ///< eV, nine values or empty
  std::vector<double> fparam, aparam;        ///< empty when the system has none
  std::array<bool, 3> open = {};             ///< directions with vacuum wider than the interaction range
  std::vector<int> types;                    ///< of a frame of a system of mixed type; empty: those of the system
};

}  // namespace cambium::deepmd
