#include "plugins/superres/networks/plates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

void Plates::describe(deck::Describe<Plates>& d) {
  d("z", &Plates::z, "z coordinates of the lower and the upper plate").def({0.0, 1.0});
  d("lower", &Plates::lower, "value by field on the lower plate").example("{b: 0.5, u: 0, w: 0}");
  d("upper", &Plates::upper, "value by field on the upper plate, of the same fields").example("{b: -0.5, u: 0, w: 0}");
  d.check([](const Plates& p) -> std::string {
    if (!(p.z[1] > p.z[0])) return "'z': the upper plate lies above the lower one";
    for (const auto& [name, value] : p.lower)
      if (!p.upper.contains(name)) return fmt::format("'lower' fixes '{}' and 'upper' does not; give both", name);
    for (const auto& [name, value] : p.upper) {
      if (!p.lower.contains(name)) return fmt::format("'upper' fixes '{}' and 'lower' does not; give both", name);
      if (std::find(flow_fields.begin(), flow_fields.end(), name) == flow_fields.end())
        return fmt::format("'{}' is none of the fields p, b, u, w", name);
    }
    return {};
  });
}

std::array<double, 4> Plates::vanishing(double place) const {
  const double slope = -2.0 / (z[1] - z[0]), r = 1.0 + slope * (place - z[0]), r2 = r * r, r5 = r2 * r2 * r;
  return {1.0 - r5 * r2 * r, -8.0 * slope * r5 * r2, -56.0 * slope * slope * r5 * r,
          -336.0 * slope * slope * slope * r5};
}

std::vector<double> spline_jets(const LatentCells& cells, const std::vector<double>& values, const Plates& plates,
                                const std::array<double, 2>* ends, const double* points, std::int64_t count,
                                const JetBasis& basis) {
  auto z = cells.axis[2];
  auto nodes = values;
  if (ends) {
    if (z.front() <= plates.z[0] || z.back() >= plates.z[1])
      throw KeyError("plates.z", "",
                     fmt::format("samples from z = {:g} to {:g} reach the plates at {:g} and {:g} whose values are "
                                 "given; correct 'plates.z'",
                                 z.front(), z.back(), plates.z[0], plates.z[1]));
    const auto nz = std::ssize(z);
    nodes.clear();
    for (std::int64_t row = 0; row < std::ssize(values) / nz; ++row) {
      nodes.push_back((*ends)[0]);
      nodes.insert(nodes.end(), values.begin() + row * nz, values.begin() + (row + 1) * nz);
      nodes.push_back((*ends)[1]);
    }
    z.insert(z.begin(), plates.z[0]);
    z.push_back(plates.z[1]);
  }
  const std::array<SplineAxis, 3> axes{SplineAxis(cells.axis[0], false), SplineAxis(cells.axis[1], cells.wraps),
                                       SplineAxis(z, false)};
  const auto c = spline_coefficients(axes, std::move(nodes));
  std::vector<double> out(basis.size() * count, 0.0);
  for (std::int64_t n = 0; n < count; ++n) {
    const SplineAxis::At at[3] = {axes[0].at(points[3 * n]), axes[1].at(points[3 * n + 1]),
                                  axes[2].at(points[3 * n + 2])};
    for (int i = 0; i < SplineAxis::most; ++i)
      for (int j = 0; j < SplineAxis::most; ++j)
        for (int k = 0; k < SplineAxis::most; ++k) {
          const double value =
              c[(std::int64_t{1} * at[0].spline[i] * axes[1].count() + at[1].spline[j]) * axes[2].count() +
                at[2].spline[k]];
          for (int s = 0; s < basis.size(); ++s)
            out[s * count + n] +=
                value * at[0].weight[i][basis[s][0]] * at[1].weight[j][basis[s][1]] * at[2].weight[k][basis[s][2]];
        }
  }
  return out;
}

}  // namespace cambium::superres
