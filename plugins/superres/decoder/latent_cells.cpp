#include "plugins/superres/decoder/latent_cells.hpp"

#include <algorithm>

namespace cambium::superres {
namespace {

constexpr int orders = JetBasis::highest_order + 1;

/// Weight of the upper node and its derivatives with respect to s in [0, 1].
std::array<double, orders> upper_weight(Blend blend, double s) {
  const double r = 1.0 - s;
  switch (blend) {
    case Blend::trilinear:
      return {s, 1.0, 0.0, 0.0};
    case Blend::c2:
      return {s * s * s * (10.0 - 15.0 * s + 6.0 * s * s), 30.0 * s * s * r * r, 60.0 * s * r * (1.0 - 2.0 * s),
              60.0 * (1.0 - 6.0 * s + 6.0 * s * s)};
    default:
      break;
  }
  return {s * s * s * s * (35.0 - 84.0 * s + 70.0 * s * s - 20.0 * s * s * s), 140.0 * s * s * s * r * r * r,
          420.0 * s * s * r * r * (1.0 - 2.0 * s), 840.0 * s * r * (1.0 - 5.0 * s + 5.0 * s * s)};
}

/// One axis of one point: its cell, and for the lower and the upper node the weight's derivatives with respect to the
/// coordinate.
struct Place {
  int node[2];  ///< index of the latent vector along this axis
  double offset[2], spacing[2];
  double weight[2][orders];
};

Place place_of(const LatentCells& cells, int a, double x, Blend blend) {
  const auto& nodes = cells.axis[a];
  const int last = static_cast<int>(nodes.size()) - 2;
  const int low =
      std::clamp(static_cast<int>(std::upper_bound(nodes.begin(), nodes.end(), x) - nodes.begin()) - 1, 0, last);
  const double width = nodes[low + 1] - nodes[low];
  const auto upper = upper_weight(blend, std::clamp((x - nodes[low]) / width, 0.0, 1.0));
  Place out;
  for (int side = 0; side < 2; ++side) {
    out.node[side] = (low + side) % cells.nodes(a);
    out.spacing[side] = cells.spacing(a, low + side);
    out.offset[side] = (x - nodes[low + side]) / out.spacing[side];
    double scale = 1.0;
    for (int k = 0; k < orders; ++k, scale /= width)
      out.weight[side][k] = scale * (side ? upper[k] : k ? -upper[k] : 1.0 - upper[0]);
  }
  return out;
}

}  // namespace

double LatentCells::spacing(int a, int node) const {
  const auto& x = axis[a];
  const int last = static_cast<int>(x.size()) - 1;
  if (wraps && a == 1 && (node == 0 || node == last)) return 0.5 * (x[1] - x[0] + x[last] - x[last - 1]);
  if (node == 0) return x[1] - x[0];
  if (node == last) return x[last] - x[last - 1];
  return 0.5 * (x[node + 1] - x[node - 1]);
}

/// Tensor products of splines. Of the coordinates, rows get only z, from -1 to 1: the only axis with ends.
template <class T>
static DecoderQuery<T> locate_splines(const LatentCells& cells, const double* points, std::int64_t count,
                                      const JetBasis& basis, std::int64_t first_node) {
  DecoderQuery<T> q;
  q.points = count;
  q.decodes_once = true;
  const int near = q.near();
  q.node.resize(near * count);
  q.offset.assign(3 * count, T(0));
  q.inverse_spacing.assign(3 * count, T(0));
  q.weight.resize(basis.size() * near * count);
  const std::array<SplineAxis, 3> axes = splines_of(cells);
  const double low = cells.axis[2].front(), half = 0.5 * (cells.axis[2].back() - low);
  for (std::int64_t n = 0; n < count; ++n) {
    const SplineAxis::At at[3] = {axes[0].at(points[3 * n]), axes[1].at(points[3 * n + 1]),
                                  axes[2].at(points[3 * n + 2])};
    q.offset[3 * n + 2] = static_cast<T>((points[3 * n + 2] - low) / half - 1.0);
    q.inverse_spacing[3 * n + 2] = static_cast<T>(1.0 / half);
    for (int k = 0; k < near; ++k) {
      const int i[3] = {k >> 4, (k >> 2) & 3, k & 3};
      q.node[near * n + k] =
          first_node + (std::int64_t{1} * at[0].spline[i[0]] * cells.nodes(1) + at[1].spline[i[1]]) * cells.nodes(2) +
          at[2].spline[i[2]];
      for (int s = 0; s < basis.size(); ++s)
        q.weight[(s * count + n) * near + k] = static_cast<T>(
            at[0].weight[i[0]][basis[s][0]] * at[1].weight[i[1]][basis[s][1]] * at[2].weight[i[2]][basis[s][2]]);
    }
  }
  return q;
}

std::array<SplineAxis, 3> splines_of(const LatentCells& cells) {
  return {SplineAxis(cells.axis[0], false), SplineAxis(cells.axis[1], cells.wraps), SplineAxis(cells.axis[2], false)};
}

template <class T>
DecoderQuery<T> locate(const LatentCells& cells, const double* points, std::int64_t count, Blend blend,
                       const JetBasis& basis, std::int64_t first_node) {
  if (blend == Blend::spline) return locate_splines<T>(cells, points, count, basis, first_node);
  DecoderQuery<T> q;
  q.points = count;
  q.node.resize(q.rows());
  q.offset.resize(3 * q.rows());
  q.inverse_spacing.resize(3 * q.rows());
  q.weight.resize(basis.size() * q.rows());
  for (std::int64_t n = 0; n < count; ++n) {
    const Place at[3] = {place_of(cells, 0, points[3 * n], blend), place_of(cells, 1, points[3 * n + 1], blend),
                         place_of(cells, 2, points[3 * n + 2], blend)};
    for (int corner = 0; corner < 8; ++corner) {
      const int side[3] = {corner >> 2, (corner >> 1) & 1, corner & 1};
      const std::int64_t row = 8 * n + corner;
      q.node[row] = first_node +
                    (std::int64_t{1} * at[0].node[side[0]] * cells.nodes(1) + at[1].node[side[1]]) * cells.nodes(2) +
                    at[2].node[side[2]];
      for (int a = 0; a < 3; ++a) {
        q.offset[3 * row + a] = static_cast<T>(at[a].offset[side[a]]);
        q.inverse_spacing[3 * row + a] = static_cast<T>(1.0 / at[a].spacing[side[a]]);
      }
      for (int s = 0; s < basis.size(); ++s) {
        double weight = 1.0;
        for (int a = 0; a < 3; ++a) weight *= at[a].weight[side[a]][basis[s][a]];
        q.weight[s * q.rows() + row] = static_cast<T>(weight);
      }
    }
  }
  return q;
}

template <class T>
DecoderQuery<T> joined(const std::vector<DecoderQuery<T>>& parts, int streams) {
  DecoderQuery<T> out;
  for (const auto& part : parts) {
    out.points += part.points;
    out.decodes_once = part.decodes_once;
    out.node.insert(out.node.end(), part.node.begin(), part.node.end());
    out.offset.insert(out.offset.end(), part.offset.begin(), part.offset.end());
    out.inverse_spacing.insert(out.inverse_spacing.end(), part.inverse_spacing.begin(), part.inverse_spacing.end());
  }
  for (int s = 0; s < streams; ++s)
    for (const auto& part : parts) {
      const std::int64_t stream = part.near() * part.points;
      out.weight.insert(out.weight.end(), part.weight.begin() + s * stream, part.weight.begin() + (s + 1) * stream);
    }
  return out;
}

template DecoderQuery<float> locate(const LatentCells&, const double*, std::int64_t, Blend, const JetBasis&,
                                    std::int64_t);
template DecoderQuery<double> locate(const LatentCells&, const double*, std::int64_t, Blend, const JetBasis&,
                                     std::int64_t);
template DecoderQuery<float> joined(const std::vector<DecoderQuery<float>>&, int);
template DecoderQuery<double> joined(const std::vector<DecoderQuery<double>>&, int);

}  // namespace cambium::superres
