#include "plugins/kinetic/fluids/subcells.hpp"

#include <cmath>

#include "plugins/kinetic/deck/projection.hpp"

namespace cambium::kinetic {

/// Mean of psi_n in piece s of `pieces` pieces of [-1, 1].
static double mean_of(int n, int s, int pieces) {
  std::vector<double> nodes, weights;
  gauss(3, nodes, weights);
  double sum = 0.0;
  for (std::size_t q = 0; q < nodes.size(); ++q)
    sum += 0.5 * weights[q] * legendre(n, (2.0 * s + 1.0 + nodes[q]) / pieces - 1.0);
  return sum;
}

Subcells::Subcells(const ConfGrid& conf, int per_side) : conf_(conf), grid_(conf), per_side_(per_side) {
  for (int d = 0; d < conf.dimensions; ++d) {
    per_cell_ *= per_side;
    volume_ *= width(d);
  }
  grid_.exponents.assign(static_cast<std::size_t>(per_cell_), std::vector<int>(conf.dimensions, 0));
  for (int s = 0; s < per_cell_; ++s)
    for (const auto& e : conf.exponents) {
      double mean = 1.0, inverse = 1.0;
      for (int d = 0, rest = s; d < conf.dimensions; ++d, rest /= per_side) {
        // Means of different psi_n are orthogonal over equal pieces up to n = 2, so that least squares need no solve.
        double square = 0.0;
        for (int k = 0; k < per_side; ++k) square += std::pow(mean_of(e[d], k, per_side), 2);
        const double own = mean_of(e[d], rest % per_side, per_side);
        mean *= own;
        inverse *= square > 1e-12 ? own / square : 0.0;
      }
      mean_.push_back(mean);
      inverse_.push_back(inverse);
    }
}

std::vector<double> Subcells::means(const double* expansion) const {
  const int modes = conf_.modes();
  std::vector<double> out(count(), 0.0);
  for (int cell = 0; cell < conf_.count(); ++cell)
    for (int s = 0; s < per_cell_; ++s)
      for (int k = 0; k < modes; ++k)
        out[static_cast<std::size_t>(cell) * per_cell_ + s] +=
            mean_[static_cast<std::size_t>(s) * modes + k] * expansion[static_cast<std::size_t>(cell) * modes + k];
  return out;
}

void Subcells::add_projection(const std::vector<double>& values, double factor, std::vector<double>& expansion) const {
  const int modes = conf_.modes();
  const double scale = factor * std::pow(2.0 / per_side_, conf_.dimensions);
  for (int cell = 0; cell < conf_.count(); ++cell)
    for (int s = 0; s < per_cell_; ++s)
      for (int k = 0; k < modes; ++k)
        expansion[static_cast<std::size_t>(cell) * modes + k] += scale *
                                                                 mean_[static_cast<std::size_t>(s) * modes + k] *
                                                                 values[static_cast<std::size_t>(cell) * per_cell_ + s];
}

std::vector<double> Subcells::expansion(const std::vector<double>& values) const {
  const int modes = conf_.modes();
  std::vector<double> out(conf_.size(), 0.0);
  for (int cell = 0; cell < conf_.count(); ++cell)
    for (int s = 0; s < per_cell_; ++s)
      for (int k = 0; k < modes; ++k)
        out[static_cast<std::size_t>(cell) * modes + k] +=
            inverse_[static_cast<std::size_t>(s) * modes + k] * values[static_cast<std::size_t>(cell) * per_cell_ + s];
  return out;
}

}  // namespace cambium::kinetic
