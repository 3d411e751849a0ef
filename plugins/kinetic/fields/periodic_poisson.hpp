#pragma once
#include <complex>

#include "plugins/kinetic/fields/element.hpp"
#include "plugins/kinetic/fields/fourier.hpp"

namespace cambium::kinetic {

/// Map from the loads of the kinds of nodes to their potentials for wave k of the global grid, kinds x kinds; the
/// constant is free, and its potential is set to zero.
std::vector<std::complex<double>> inverse_of_wave(const ConfGrid& grid, const Element& element,
                                                  const std::array<int, 3>& k);

/// -div grad phi = r on a grid that is periodic in every dimension, by Fourier transform: one small system for the
/// kinds of nodes per wave vector. The mean of r has no effect.
class PeriodicPoisson {
 public:
  using Complex = std::complex<double>;
  PeriodicPoisson(const ConfGrid& grid, const Element& element);

  /// `right`, by kind of node and cell, becomes the potential at the nodes.
  void solve(std::vector<std::vector<Complex>>& right) const;
  /// The cell whose node of that kind node i of `cell` is.
  int owner(int cell, const Element::Node& node) const;

 private:
  void transform(std::vector<Complex>& field, int sign) const;

  ConfGrid grid_;
  int kinds_;
  Fourier along_x_, along_y_;
  std::vector<std::vector<Complex>> inverse_;  ///< per wave vector, kinds x kinds
};

}  // namespace cambium::kinetic
