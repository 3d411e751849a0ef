#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::kinetic {

/// A species of which only moments are evolved.
struct FluidParams {
  enum class Equation { five_moment, ten_moment };
  enum class Limiter { none, minmod, monotonized_central, first_order };
  std::string name;
  std::string charge = "0", mass = "1";
  Equation equation = Equation::five_moment;
  std::string density, pressure;
  std::vector<std::string> velocity, pressure_tensor;
  std::string adiabatic_index, k0;
  Limiter limiter = Limiter::monotonized_central;
  std::optional<int> subcells;  ///< of a cell along each dimension
  static void describe(deck::Describe<FluidParams>& d);
};

}  // namespace cambium::kinetic
