#include "plugins/superres/equations/residual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "plugins/superres/equations/mask.hpp"
#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {
namespace {

using Plane = std::vector<double>;  ///< one snapshot, (x, z)

/// Derivative along x or z of one snapshot.
Plane along(const Plane& in, const FieldData& data, int axis, int order) {
  const int nx = static_cast<int>(data.nx()), nz = static_cast<int>(data.nz());
  const AxisStencil stencil(data.axis[axis], order, axis == 1 ? data.period : 0.0);
  Plane out(in.size());
  for (int i = 0; i < nx; ++i)
    for (int k = 0; k < nz; ++k) {
      const int here = axis == 1 ? i : k, n = axis == 1 ? nx : nz;
      double sum = 0.0;
      int j = stencil.first(here);
      for (double weight : stencil.weights(here)) {
        const int at = (j++ + n) % n;
        sum += weight *
               (axis == 1 ? in[static_cast<std::size_t>(at) * nz + k] : in[static_cast<std::size_t>(i) * nz + at]);
      }
      out[static_cast<std::size_t>(i) * nz + k] = sum;
    }
  return out;
}

/// A derivative at frame t.
Plane derivative(const Derivative& d, const FieldData& data, int t) {
  const std::size_t size = data.nx() * data.nz();
  Plane out(size, 0.0);
  const auto& values = data.values[d.field];
  if (d.order[0] == 0) {
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(t * size), size, out.begin());
  } else {
    const AxisStencil stencil(data.axis[0], d.order[0]);
    int frame = stencil.first(t);
    for (double weight : stencil.weights(t)) {
      const double* from = values.data() + static_cast<std::size_t>(frame++) * size;
      for (std::size_t k = 0; k < size; ++k) out[k] += weight * from[k];
    }
  }
  for (int axis = 1; axis < 3; ++axis)
    if (d.order[axis] > 0) out = along(out, data, axis, d.order[axis]);
  return out;
}

/// Trapezoidal quadrature weight of each point of an axis; 1 if uniform.
std::vector<double> shares(const std::vector<double>& places, bool uniform) {
  const std::size_t n = places.size();
  std::vector<double> out(n, 1.0);
  if (uniform || n < 2) return out;
  for (std::size_t k = 0; k < n; ++k)
    out[k] = 0.5 * ((k + 1 < n ? places[k + 1] : places[k]) - (k > 0 ? places[k - 1] : places[k]));
  return out;
}

}  // namespace

Residual residual_of(const Equation& equation, const FieldData& data) {
  const auto needed = equation.derivatives();
  const bool in_time = std::any_of(needed.begin(), needed.end(), [](const Derivative& d) { return d.order[0] > 0; });
  const int frames = static_cast<int>(data.axis[0].size());
  if (in_time && frames < 3)
    throw InputError(fmt::format("'{}' takes a derivative in time, but '{}' has {} frame(s); at least three are needed",
                                 equation.text, data.file, frames));
  const int first = in_time ? 1 : 0, last = in_time ? frames - 1 : frames;
  const auto wx = shares(data.axis[1], data.period > 0.0), wz = shares(data.axis[2], false);
  std::vector<double> squares(equation.terms.size() + 1, 0.0);
  double weight_sum = 0.0;
  for (int t = first; t < last; ++t) {
    std::map<Derivative, Plane> planes;
    for (const auto& d : needed) planes.emplace(d, derivative(d, data, t));
    const Hidden left_out = touched(needed, data, t);
    for (std::size_t i = 0; i < data.nx(); ++i)
      for (std::size_t k = 0; k < data.nz(); ++k) {
        if (!left_out.empty() && left_out[i * data.nz() + k]) continue;
        const double weight = wx[i] * wz[k];
        double sum = 0.0;
        for (std::size_t n = 0; n < equation.terms.size(); ++n) {
          double product = equation.terms[n].coefficient;
          for (const auto& factor : equation.terms[n].factors) product *= planes.at(factor)[i * data.nz() + k];
          squares[n] += weight * product * product;
          sum += product;
        }
        squares.back() += weight * sum * sum;
        weight_sum += weight;
      }
  }
  require_judged(weight_sum, data, "'" + equation.text + "'");
  Residual out;
  out.rms = std::sqrt(squares.back() / weight_sum);
  for (std::size_t n = 0; n < equation.terms.size(); ++n)
    out.largest = std::max(out.largest, std::sqrt(squares[n] / weight_sum));
  return out;
}

const Exchange* Verdict::better() const {
  const Exchange* best = nullptr;
  for (const auto& exchange : exchanges)
    if (10.0 * exchange.residual.relative() < residual.relative() &&
        (!best || exchange.residual.relative() < best->residual.relative()))
      best = &exchange;
  return best;
}

Verdict verify(const Equation& equation, const FieldData& data) {
  Verdict verdict{residual_of(equation, data), {}};
  for (const auto& [a, b] : {std::pair{1, 2}, {0, 1}, {0, 2}}) {
    const Equation other = equation.exchanged(a, b);
    if (other.same_as(equation)) continue;
    if (data.axis[0].size() < 3 && a == 0) continue;  // no information on changes in time
    verdict.exchanges.push_back({a, b, residual_of(other, data)});
  }
  return verdict;
}

std::string refusal(const Verdict& verdict, double tolerance, int number) {
  if (verdict.residual.relative() <= tolerance) return {};
  std::string text =
      fmt::format("equation {}: the data themselves have a residual of {:.3g} of its largest term, allowed is {:g}",
                  number, verdict.residual.relative(), tolerance);
  if (const auto* exchange = verdict.better())
    return text + fmt::format("; with {} and {} exchanged it is {:.3g}: these axes are swapped in the equation",
                              Vocabulary::axes[exchange->first], Vocabulary::axes[exchange->second],
                              exchange->residual.relative());
  return text + "; check its signs and constants, and whether the frames are close enough for derivatives in time";
}

}  // namespace cambium::superres
