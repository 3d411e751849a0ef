#pragma once
#include <complex>

#include "plugins/kinetic/fields/element.hpp"
#include "plugins/kinetic/fields/fourier.hpp"

namespace cambium::kinetic {

/// Map from the loads of the kinds of nodes of wave k of the whole grid to their potentials, kinds x kinds; constants
/// are free, and their potential is zero.
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
