#pragma once
#include <vector>

#include "plugins/superres/equations/equation.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Residual of an equation for given data: root mean squares over the volume and the frames that have neighbours in
/// time.
struct Residual {
  double rms = 0.0;      ///< of the sum of all terms
  double largest = 0.0;  ///< of the largest single term
  double relative() const { return largest > 0.0 ? rms / largest : 0.0; }
};

/// Derivatives are taken by interpolation through seven points on the physical coordinates. Walls are included, points
/// whose stencils contain masked points are not. InputError when no point is left, and when the equation has a
/// derivative in time and there are fewer than three frames.
Residual residual_of(const Equation& equation, const FieldData& data);

/// Result of exchanging two axes.
struct Exchange {
  int first = 0, second = 0;
  Residual residual;
};

/// Evaluation of an equation on data: as given, and with its axes exchanged.
struct Verdict {
  Residual residual;
  std::vector<Exchange> exchanges;  ///< only those that change the equation
  /// Exchange with an at least ten times smaller residual, or null.
  const Exchange* better() const;
};
Verdict verify(const Equation& equation, const FieldData& data);

/// "" when the residual is at most `tolerance`, otherwise the reason why the equation is refused, with the values.
std::string refusal(const Verdict& verdict, double tolerance, int number);

}  // namespace cambium::superres
