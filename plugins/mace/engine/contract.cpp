#include "plugins/mace/engine/contract.hpp"

#include <cmath>

namespace cambium::mace {

void contract(const Contraction& contraction, int species, int channels, const double* message, double* out) {
  const double* c = contraction.coefficients[static_cast<std::size_t>(species)].data();
  for (const auto& term : contraction.terms) {
    const double* a = message + term.component[0] * channels;
    const double* b = message + term.component[1] * channels;
    const double* d = message + term.component[2] * channels;
    double* to = out + term.out;
    if (term.degree == 1)
      for (int k = 0; k < channels; ++k) to[k] += c[k] * a[k];
    else if (term.degree == 2)
      for (int k = 0; k < channels; ++k) to[k] += c[k] * a[k] * b[k];
    else
      for (int k = 0; k < channels; ++k) to[k] += c[k] * a[k] * b[k] * d[k];
    c += channels;
  }
}

void contract_gradient(const Contraction& contraction, int species, int channels, const double* message,
                       const double* out_gradient, double* message_gradient) {
  const double* c = contraction.coefficients[static_cast<std::size_t>(species)].data();
  for (const auto& term : contraction.terms) {
    const double *part[3], *g = out_gradient + term.out;
    double* to[3];
    for (int d = 0; d < 3; ++d) {
      part[d] = message + term.component[d] * channels;
      to[d] = message_gradient + term.component[d] * channels;
    }
    if (term.degree == 1)
      for (int k = 0; k < channels; ++k) to[0][k] += c[k] * g[k];
    for (int d = 0; d < 2 && term.degree == 2; ++d)
      for (int k = 0; k < channels; ++k) to[d][k] += c[k] * g[k] * part[1 - d][k];
    for (int d = 0; d < 3 && term.degree == 3; ++d)
      for (int k = 0; k < channels; ++k) to[d][k] += c[k] * g[k] * part[(d + 1) % 3][k] * part[(d + 2) % 3][k];
    c += channels;
  }
}

namespace {

/// Calls f(component of the features, component of the result, sum of factors times harmonics, terms) for each pair of
/// components; the terms of a pair stand behind each other.
template <class F>
void for_each_pair(const ConvolutionPath& path, const double* harmonics, F f) {
  const auto* term = path.terms.data();
  const auto* end = term + path.terms.size();
  while (term != end) {
    const auto* first = term;
    double sum = 0.0;
    for (; term != end && term->in == first->in && term->out == first->out; ++term)
      sum += term->factor * harmonics[term->harmonic];
    f(*first, sum, first, term);
  }
}

}  // namespace

void convolve(const std::vector<ConvolutionPath>& paths, const double* features, const double* harmonics,
              const double* weights, double* out) {
  for (const auto& path : paths) {
    const double* w = weights + path.weight;
    for_each_pair(path, harmonics, [&](const ConvolutionPath::Term& at, double factor, auto, auto) {
      const double* x = features + path.in + at.in * path.channels;
      double* to = out + path.out + at.out * path.out_stride;
      for (int k = 0; k < path.channels; ++k) to[k] += factor * w[k] * x[k];
    });
  }
}

void convolve_gradient(const std::vector<ConvolutionPath>& paths, const double* features, const double* harmonics,
                       const double* weights, const double* out_gradient, double* harmonics_gradient,
                       double* weights_gradient, double* features_gradient) {
  for (const auto& path : paths) {
    const double* w = weights + path.weight;
    double* gw = weights_gradient + path.weight;
    for_each_pair(path, harmonics, [&](const ConvolutionPath::Term& at, double factor, auto term, auto end) {
      const double* x = features + path.in + at.in * path.channels;
      const double* g = out_gradient + path.out + at.out * path.out_stride;
      double sum = 0.0;
      for (int k = 0; k < path.channels; ++k) {
        const double product = x[k] * g[k];
        gw[k] += factor * product;
        sum += w[k] * product;
      }
      for (; term != end; ++term) harmonics_gradient[term->harmonic] += term->factor * sum;
      if (!features_gradient) return;
      double* gx = features_gradient + path.in + at.in * path.channels;
      for (int k = 0; k < path.channels; ++k) gx[k] += factor * w[k] * g[k];
    });
  }
}

double read_out(const Readout& readout, double activation, const double* features, double scale, double* gradient) {
  double energy = 0.0;
  if (!readout.has_activation) {
    readout.first.apply(features, &energy);
    readout.first.apply_transposed(&scale, gradient);
    return energy;
  }
  const std::size_t n = static_cast<std::size_t>(readout.first.outputs);
  std::vector<double> hidden(n, 0.0), active(n), back(n, 0.0);
  readout.first.apply(features, hidden.data());
  for (std::size_t k = 0; k < n; ++k) active[k] = activation * hidden[k] / (1.0 + std::exp(-hidden[k]));
  readout.second.apply(active.data(), &energy);
  readout.second.apply_transposed(&scale, back.data());
  for (std::size_t k = 0; k < n; ++k) {
    const double gate = 1.0 / (1.0 + std::exp(-hidden[k]));
    back[k] *= activation * gate * (1.0 + hidden[k] * (1.0 - gate));
  }
  readout.first.apply_transposed(back.data(), gradient);
  return energy;
}

}  // namespace cambium::mace
