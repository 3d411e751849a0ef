#include "plugins/superres/decoder/taylor.hpp"

#include <algorithm>

#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {
namespace {

using Values = std::vector<double>;

Values differentiated(const LatentCells& cells, const Values& in, int axis, int order) {
  Values places = cells.axis[axis];
  double period = 0.0;
  if (cells.wraps && axis == 1) {
    period = places.back() - places.front();
    places.pop_back();
  }
  const int n = cells.nodes(axis);
  const AxisStencil stencil(places, order, period, std::min(5, n));
  std::int64_t after = 1;
  for (int a = axis + 1; a < 3; ++a) after *= cells.nodes(a);
  Values out(in.size(), 0.0);
  for (std::int64_t k = 0; k < std::ssize(in); ++k) {
    const int here = static_cast<int>(k / after % n);
    int j = stencil.first(here);
    for (double weight : stencil.weights(here)) out[k] += weight * in[k + ((j++ + n) % n - here) * after];
  }
  return out;
}

double factorials(const MultiIndex& a) {
  double out = 1.0;
  for (int n : a)
    for (int k = 2; k <= n; ++k) out *= k;
  return out;
}

}  // namespace

Taylor taylor_of(const LatentCells& cells, const Values& values) {
  Taylor out;
  out.at.resize(values.size() * Taylor::coefficients);
  for (int k = 0; k < Taylor::coefficients; ++k) {
    Values d = values;
    for (int a = 0; a < 3; ++a)
      if (const int order = Taylor::index[k][a]; order > 0)
        d = cells.nodes(a) > order ? differentiated(cells, d, a, order) : Values(d.size(), 0.0);
    for (std::size_t n = 0; n < values.size(); ++n) out.at[n * Taylor::coefficients + k] = d[n];
  }
  return out;
}

Taylor stream_function_of(const LatentCells& cells, const Values& u, const Values& w) {
  const Taylor tu = taylor_of(cells, u), tw = taylor_of(cells, w);
  Values psi(u.size(), 0.0);
  const auto& z = cells.axis[2];
  const int nz = cells.nodes(2);
  for (std::int64_t n = 0; n < std::ssize(psi); ++n) {
    if (n % nz == 0) continue;
    const double h = z[n % nz] - z[n % nz - 1];  // the cubic through both values and slopes, integrated
    psi[n] = psi[n - 1] + 0.5 * h * (u[n - 1] + u[n]) + h * h / 12.0 * (tu(n - 1, 3) - tu(n, 3));
  }
  Taylor out = taylor_of(cells, psi);
  for (std::int64_t n = 0; n < std::ssize(psi); ++n) {
    double* c = &out.at[n * Taylor::coefficients];
    c[2] = -w[n];
    c[3] = u[n];
    c[5] = -tw(n, 2);
    c[6] = tu(n, 3);
    c[7] = -tw(n, 1);
    c[8] = tu(n, 1);
    c[9] = tu(n, 2);
  }
  return out;
}

template <class T>
void expand(const std::vector<Taylor>& outputs, const DecoderQuery<T>& query, std::int64_t first_node,
            const JetBasis& basis, T* out) {
  const std::int64_t count = std::ssize(outputs), rows = query.rows();
  for (int s = 0; s < basis.size(); ++s)
    for (std::int64_t r = 0; r < rows; ++r) {
      double distance[3];
      for (int a = 0; a < 3; ++a)
        distance[a] = query.offset[3 * r + a] / static_cast<double>(query.inverse_spacing[3 * r + a]);
      for (std::int64_t f = 0; f < count; ++f) {
        double sum = 0.0;
        for (int k = 0; k < Taylor::coefficients; ++k) {
          const MultiIndex& a = Taylor::index[k];
          const MultiIndex rest{a[0] - basis[s][0], a[1] - basis[s][1], a[2] - basis[s][2]};
          if (std::min({rest[0], rest[1], rest[2]}) < 0) continue;
          double product = outputs[f](query.node[r] - first_node, k) / factorials(rest);
          for (int axis = 0; axis < 3; ++axis)
            for (int power = 0; power < rest[axis]; ++power) product *= distance[axis];
          sum += product;
        }
        out[(s * rows + r) * count + f] = static_cast<T>(sum);
      }
    }
}

template void expand(const std::vector<Taylor>&, const DecoderQuery<float>&, std::int64_t, const JetBasis&, float*);
template void expand(const std::vector<Taylor>&, const DecoderQuery<double>&, std::int64_t, const JetBasis&, double*);

}  // namespace cambium::superres
