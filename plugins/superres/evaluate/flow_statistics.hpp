#pragma once
#include <array>
#include <vector>

#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Nine instantaneous statistics of a two-dimensional flow, with gradients on the physical coordinates
/// (equations/stencil.hpp) and means over the volume. u^2 stands for u_rms^2 = (<u^2> + <w^2>)/2.
///   kinetic energy E = <u^2 + w^2>/2; u_rms; dissipation eps = 2 nu <S_ij S_ij>; Taylor length sqrt(8 nu u^2 / eps),
///   the two-dimensional isotropic relation; Re_lambda = u_rms lambda / nu; Kolmogorov time sqrt(nu/eps) and length
///   nu^(3/4) eps^(-1/4); integral length L = 2 pi sum(E(k)/k) / sum(E(k)) over k > 0 of the spectrum of both
///   velocities along x; turnover time L/u_rms.
struct FlowStatistics {
  static constexpr std::array<const char*, 9> names{"kinetic_energy",    "u_rms",           "dissipation",
                                                    "taylor_length",     "re_lambda",       "kolmogorov_time",
                                                    "kolmogorov_length", "integral_length", "turnover_time"};
  std::array<double, 9> values{};
  double flux = 0.0;             ///< <w b>
  double flux_x = 0.0;           ///< <u b>
  double divergence = 0.0;       ///< root mean square of u_x + w_z over that of all gradients
  std::vector<double> spectrum;  ///< of u and w along x, mode by mode from 1
};

/// Pair of sides between which heat is carried: those along which buoyancy is most uniform, since a plate held at one
/// temperature is, and an adiabatic one is not. If x is periodic they are the plates.
struct HeatPath {
  bool along_x = false;
  double sign = 1.0;  ///< -1 if, along x, the right side is the warm one
};
/// `b`: index among the data's fields.
HeatPath heat_path(const FieldData& data, int b);

/// Per frame; `fields` are the indices of b, u and w among the data's fields. x must be equally spaced. Between walls
/// spectra are those of a row and its mirror image of opposite sign, since velocities vanish there, and wavelengths are
/// up to twice the width.
std::vector<FlowStatistics> flow_statistics(const FieldData& data, double viscosity, const std::array<int, 3>& fields);

}  // namespace cambium::superres
