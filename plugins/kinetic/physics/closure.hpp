#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"

namespace cambium::kinetic {

/// Substitute for the heat flux in the moment equations.
struct ClosureParams {
  enum class Type { none, hammett_perkins, model };
  Type type = Type::none;
  std::string model;
  static void describe(deck::Describe<ClosureParams>& d);
};

/// Multipliers of the waves k = 0, 1, ... : q_k = T_k (real + i imaginary) + u_k velocity, in units of n0 vt, n0 vt and
/// n0 T0.
struct ClosureTable {
  std::vector<double> real, imaginary, velocity;
};

/// Evaluates the closure for every wave number (times the Debye length); the first, 0, has no heat flux. A learned one
/// is read from its file and evaluated here, once: it is a function of the wave number only. InputError when it is
/// another network.
ClosureTable tabulate(const ClosureParams& params, const std::vector<double>& wavenumbers, Context& context);

}  // namespace cambium::kinetic
