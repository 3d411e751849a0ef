#include "plugins/submatrix/dftb/repulsion.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

Repulsion::Value value_of(const SplineRepulsion& s, double r) {
  if (r < s.start.front()) {
    const double e = std::exp(-s.head[0] * r + s.head[1]);
    return {e + s.head[2], -s.head[0] * e};
  }
  const auto k = static_cast<std::size_t>(std::upper_bound(s.start.begin(), s.start.end(), r) - s.start.begin()) - 1;
  const double x = r - s.start[k];
  Repulsion::Value out;
  for (int power = 5; power >= 0; --power) {
    out.slope = out.slope * x + out.energy;
    out.energy = out.energy * x + s.coefficients[k][power];
  }
  return out;
}

Repulsion::Value value_of(const PolynomialRepulsion& p, double r) {
  const double x = p.cutoff - r;
  double energy = 0.0, slope = 0.0;
  for (int k = 7; k >= 0; --k) {
    slope = slope * x + energy;
    energy = energy * x + p.coefficients[k];
  }
  return {energy * x * x, -(slope * x * x + 2.0 * energy * x)};
}

}  // namespace

double Repulsion::cutoff() const {
  if (const auto* s = std::get_if<SplineRepulsion>(&form_)) return s->cutoff;
  if (const auto* p = std::get_if<PolynomialRepulsion>(&form_)) return p->cutoff;
  return 0.0;
}

Repulsion::Value Repulsion::at(double r) const {
  if (r >= cutoff()) return {};
  if (const auto* s = std::get_if<SplineRepulsion>(&form_)) return value_of(*s, r);
  return value_of(std::get<PolynomialRepulsion>(form_), r);
}

}  // namespace cambium::submatrix
