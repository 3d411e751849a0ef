#include "plugins/superres/evaluate/flow_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/real_fft.hpp"
#include "plugins/superres/equations/mask.hpp"
#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {
namespace {

using Plane = std::vector<double>;

Plane derivative(const double* in, const FieldData& data, int axis, const AxisStencil& stencil) {
  const int nx = static_cast<int>(data.nx()), nz = static_cast<int>(data.nz()), n = axis == 1 ? nx : nz;
  Plane out(data.nx() * data.nz(), 0.0);
  for (int i = 0; i < nx; ++i)
    for (int k = 0; k < nz; ++k) {
      const int here = axis == 1 ? i : k;
      int j = stencil.first(here);
      for (double weight : stencil.weights(here)) {
        const int at = (j++ + n) % n;
        out[static_cast<std::size_t>(i) * nz + k] +=
            weight * in[static_cast<std::size_t>(axis == 1 ? at : i) * nz + (axis == 1 ? k : at)];
      }
    }
  return out;
}

/// Heights of layers between the midpoints of z, as fractions of the total.
std::vector<double> layers(const std::vector<double>& z) {
  std::vector<double> out;
  double sum = 0.0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    const double low = k > 0 ? 0.5 * (z[k - 1] + z[k]) : 1.5 * z[0] - 0.5 * z[1];
    const double high = k + 1 < z.size() ? 0.5 * (z[k] + z[k + 1]) : 1.5 * z[k] - 0.5 * z[k - 1];
    out.push_back(high - low);
    sum += high - low;
  }
  for (double& share : out) share /= sum;
  return out;
}

/// Wavelength of the first mode of spectrum_of().
double longest_wave(const FieldData& data) {
  if (data.period > 0.0) return data.period;
  const auto& x = data.axis[1];
  return 2.0 * (x.back() - x.front()) * static_cast<double>(x.size()) / static_cast<double>(x.size() - 1);
}

/// sum over modes of |u_k|^2 + |w_k|^2, averaged over the height; masked points are at rest. Between walls, where both
/// vanish, of each row and its mirror image of opposite sign.
std::vector<double> spectrum_of(const FieldData& data, std::size_t t, int u, int w, const std::vector<double>& share) {
  const auto nx = static_cast<int>(data.nx()), nz = static_cast<int>(data.nz());
  const bool mirrored = data.period == 0.0;
  const int n = mirrored ? 2 * nx : nx;
  const RealFft fft(n);
  View<double**> rows("rows", 2 * nz, n), transformed("transformed", 2 * nz, 2 * fft.modes());
  const auto host = Kokkos::create_mirror_view(rows);
  for (int k = 0; k < nz; ++k)
    for (int i = 0; i < nx; ++i) {
      const double moves = data.is_hidden(t, i, k) ? 0.0 : 1.0;
      host(k, i) = moves * data.at(u, t, i, k);
      host(nz + k, i) = moves * data.at(w, t, i, k);
      if (mirrored) {
        host(k, n - 1 - i) = -host(k, i);
        host(nz + k, n - 1 - i) = -host(nz + k, i);
      }
    }
  Kokkos::deep_copy(rows, host);
  fft.forward(rows, 0, transformed, fft.modes(), 2 * nz);
  const auto modes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), transformed);
  std::vector<double> out;
  for (int k = 1; k < fft.modes(); ++k) {
    double sum = 0.0;
    for (int row = 0; row < 2 * nz; ++row)
      sum += share[row % nz] * (std::pow(modes(row, k) / n, 2) + std::pow(modes(row, fft.modes() + k) / n, 2));
    out.push_back(2 * k == n ? 0.5 * sum : sum);
  }
  return out;
}

/// Mean and variance of unmasked points along one side of the domain, over all frames.
struct Side {
  double count = 0.0, mean = 0.0, variance = 0.0;
};

Side side_of(const FieldData& data, int field, bool end_of_x, bool last) {
  const std::size_t along = end_of_x ? data.nz() : data.nx(), at = !last ? 0 : (end_of_x ? data.nx() : data.nz()) - 1;
  Side out;
  double squares = 0.0;
  for (std::size_t t = 0; t < data.axis[0].size(); ++t)
    for (std::size_t n = 0; n < along; ++n) {
      const std::size_t i = end_of_x ? at : n, k = end_of_x ? n : at;
      if (data.is_hidden(t, i, k)) continue;
      const double value = data.at(field, t, i, k), off = value - out.mean;
      out.mean += off / ++out.count;
      squares += off * (value - out.mean);
    }
  out.variance = out.count > 0.0 ? squares / out.count : 0.0;
  return out;
}

}  // namespace

HeatPath heat_path(const FieldData& data, int b) {
  if (data.period > 0.0) return {};
  const Side left = side_of(data, b, true, false), right = side_of(data, b, true, true),
             lower = side_of(data, b, false, false), upper = side_of(data, b, false, true);
  if (std::min(left.count, right.count) == 0.0 || left.variance + right.variance > lower.variance + upper.variance)
    return {};
  return {true, left.mean < right.mean ? -1.0 : 1.0};
}

std::vector<FlowStatistics> flow_statistics(const FieldData& data, double viscosity, const std::array<int, 3>& fields) {
  const auto share = layers(data.axis[2]);
  const std::size_t size = data.nx() * data.nz();
  const AxisStencil along_x(data.axis[1], 1, data.period), along_z(data.axis[2], 1);
  std::vector<FlowStatistics> all;
  for (std::size_t t = 0; t < data.axis[0].size(); ++t) {
    const double *b = &data.values[fields[0]][t * size], *u = &data.values[fields[1]][t * size],
                 *w = &data.values[fields[2]][t * size];
    const Plane ux = derivative(u, data, 1, along_x), uz = derivative(u, data, 2, along_z);
    const Plane wx = derivative(w, data, 1, along_x), wz = derivative(w, data, 2, along_z);
    double energy = 0.0, strain = 0.0, divergence = 0.0, gradients = 0.0, seen = 0.0, differentiated = 0.0;
    const Hidden near = touched({{fields[1], {0, 1, 0}}, {fields[1], {0, 0, 1}}}, data, static_cast<int>(t));
    FlowStatistics s;
    for (std::size_t n = 0; n < size; ++n) {
      const double weight = share[n % data.nz()] / static_cast<double>(data.nx());
      if (data.is_hidden(t, n / data.nz(), n % data.nz())) continue;
      seen += weight;
      energy += 0.5 * weight * (u[n] * u[n] + w[n] * w[n]);
      s.flux += weight * w[n] * b[n];
      s.flux_x += weight * u[n] * b[n];
      if (!near.empty() && near[n]) continue;
      differentiated += weight;
      strain += weight * (ux[n] * ux[n] + wz[n] * wz[n] + 0.5 * (uz[n] + wx[n]) * (uz[n] + wx[n]));
      divergence += weight * (ux[n] + wz[n]) * (ux[n] + wz[n]);
      gradients += weight * (ux[n] * ux[n] + uz[n] * uz[n] + wx[n] * wx[n] + wz[n] * wz[n]);
    }
    require_judged(differentiated, data, "gradients");
    if (!near.empty()) {
      energy /= seen;
      s.flux /= seen;
      s.flux_x /= seen;
      strain /= differentiated;
    }
    s.spectrum = spectrum_of(data, t, fields[1], fields[2], share);
    double total = 0.0, length = 0.0;
    for (std::size_t k = 0; k < s.spectrum.size(); ++k) {
      total += s.spectrum[k];
      length += s.spectrum[k] * longest_wave(data) / static_cast<double>(k + 1);
    }
    const double rms = std::sqrt(energy), eps = 2.0 * viscosity * strain,
                 taylor = std::sqrt(8.0 * viscosity * energy / eps);
    s.divergence = std::sqrt(divergence / gradients);
    s.values = {energy,
                rms,
                eps,
                taylor,
                rms * taylor / viscosity,
                std::sqrt(viscosity / eps),
                std::pow(viscosity, 0.75) * std::pow(eps, -0.25),
                length / total,
                length / total / rms};
    all.push_back(std::move(s));
  }
  return all;
}

}  // namespace cambium::superres
