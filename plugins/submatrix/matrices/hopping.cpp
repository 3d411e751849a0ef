#include "plugins/submatrix/matrices/hopping.hpp"

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

/// (r0/r)^n exp(n [(r0/rc)^nc - (r/rc)^nc]), L. Goodwin et al. (1989).
Radial goodwin(double r, double r0, double n, double nc, double rc) {
  const double power = std::pow(r / rc, nc),
               value = std::pow(r0 / r, n) * std::exp(n * (std::pow(r0 / rc, nc) - power));
  return {value, -value * n / r * (1.0 + nc * power)};
}

Radial cubic(const std::array<double, 4>& c, double x) {
  return {c[0] + x * (c[1] + x * (c[2] + x * c[3])), c[1] + x * (2.0 * c[2] + x * 3.0 * c[3])};
}

const TightBindingModel carbon{
    "C",
    "C. H. Xu, C. Z. Wang, C. T. Chan, K. M. Ho, J. Phys.: Condens. Matter 4, 6047 (1992)",
    -2.99,
    3.71,
    {-5.0, 4.7, 5.5, -1.55},
    1.536329,
    2.0,
    6.5,
    2.18,
    8.18555,
    1.64,
    3.30304,
    8.6655,
    2.1052,
    2.45,
    2.57,
    {6.7392620074314e-3, -8.1885359517898e-2, 0.1932365259144, 0.3542874332380},
    {2.2504290109e-8, -1.4408640561e-6, 2.1043303374e-5, 6.6024390226e-5},
    {-2.5909765118191, 0.5721151498619, -1.7896349903996e-3, 2.3539221516757e-5, -1.24251169551587e-7},
    2.6};

// No tails: at the cut-off the hopping is 1e-9 of its value at r0.
const TightBindingModel goodwin_silicon{"Si",
                                        "L. Goodwin, A. J. Skinner, D. G. Pettifor, Europhys. Lett. 9, 701 (1989)",
                                        -5.25,
                                        1.20,
                                        {-1.82, 1.96, 3.06, -0.87},
                                        2.351,
                                        2.0,
                                        6.48,
                                        3.67,
                                        3.4581,
                                        2.351,
                                        4.54,
                                        6.48,
                                        3.67,
                                        5.2,
                                        5.2,
                                        {},
                                        {},
                                        {0.0, 0.5, 0.0, 0.0, 0.0},
                                        5.2};

/// Coefficients of the cubic in r - from that has this value and slope there and ends with value and slope zero at
/// `to`.
std::array<double, 4> tail(const Radial& at, double from, double to) {
  const double h = to - from;
  return {at.value, at.slope, (-3.0 * at.value - 2.0 * at.slope * h) / (h * h),
          (2.0 * at.value + at.slope * h) / (h * h * h)};
}

/// First neighbours only: from 2.8 to 3.2 Å everything goes to zero, well before the second shell of the crystal.
TightBindingModel bowler_silicon() {
  TightBindingModel out{"Si",
                        "D. R. Bowler, thesis, University of Oxford (1997); D. R. Bowler, M. Fearn, C. M. Goringe, A. "
                        "P. Horsfield, D. G. Pettifor, J. Phys.: Condens. Matter 10, 3719 (1998)",
                        -12.2,
                        -5.75,
                        {-1.938, 1.745, 3.050, -1.075},
                        2.35,
                        1.9771,
                        6.8702,
                        3.8661,
                        3.44566,
                        2.35,
                        4.7104,
                        7.0531,
                        3.8521,
                        2.8,
                        2.8,
                        {},
                        {},
                        {0.0, 0.5, 0.0, 0.0, 0.0},
                        3.2};
  const Radial s = goodwin(out.r1, out.r0, out.n, out.n_c, out.r_c);
  Radial phi = goodwin(out.d1, out.d0, out.m, out.m_c, out.d_c);
  phi.value *= out.phi0;
  phi.slope *= out.phi0;
  out.s_tail = tail(s, out.r1, out.cutoff);
  out.phi_tail = tail(phi, out.d1, out.cutoff);
  return out;
}

}  // namespace

Radial TightBindingModel::scaling(double r) const {
  if (r >= cutoff) return {};
  return r < r1 ? goodwin(r, r0, n, n_c, r_c) : cubic(s_tail, r - r1);
}

Radial TightBindingModel::repulsion(double r) const {
  if (r >= cutoff) return {};
  if (r >= d1) return cubic(phi_tail, r - d1);
  const Radial out = goodwin(r, d0, m, m_c, d_c);
  return {phi0 * out.value, phi0 * out.slope};
}

Radial TightBindingModel::embed(double sum) const {
  const auto& c = embedding;
  return {c[0] + sum * (c[1] + sum * (c[2] + sum * (c[3] + sum * c[4]))),
          c[1] + sum * (2.0 * c[2] + sum * (3.0 * c[3] + sum * 4.0 * c[4]))};
}

TightBindingModel tight_binding_model(const std::string& symbol, const std::string& parameters) {
  if (symbol != "C" && symbol != "Si")
    throw InputError("tight_binding has no parameters for " + symbol + ": it has C and Si");
  const std::string name = !parameters.empty() ? parameters : symbol == "C" ? "xu" : "bowler";
  if (name == "xu" && symbol == "C") return carbon;
  if (name == "goodwin" && symbol == "Si") return goodwin_silicon;
  if (name == "bowler" && symbol == "Si") return bowler_silicon();
  throw InputError("tight_binding: the parameters '" + name + "' are not for " + symbol +
                   "; C has xu, Si has bowler and goodwin");
}

void hopping_block(const TightBindingModel& model, const double* d, double* block, double* gradient) {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  const double l[3] = {d[0] / r, d[1] / r, d[2] / r};
  const Radial s = model.scaling(r);
  const auto [ss, sp, pps, ppp] = model.hopping;
  double shape[16], turned[3][16];  // the block over s(r), and its derivatives at fixed r times r
  const auto turn = [&](int a, int k) { return (a == k) - l[a] * l[k]; };
  shape[0] = ss;
  for (int k = 0; k < 3; ++k) turned[k][0] = 0.0;
  for (int a = 0; a < 3; ++a) {
    shape[a + 1] = l[a] * sp;
    shape[4 * (a + 1)] = -l[a] * sp;
    for (int k = 0; k < 3; ++k) {
      turned[k][a + 1] = sp * turn(a, k);
      turned[k][4 * (a + 1)] = -sp * turn(a, k);
    }
    for (int b = 0; b < 3; ++b) {
      const int at = 4 * (a + 1) + b + 1;
      shape[at] = l[a] * l[b] * (pps - ppp) + (a == b ? ppp : 0.0);
      for (int k = 0; k < 3; ++k) turned[k][at] = (pps - ppp) * (turn(a, k) * l[b] + l[a] * turn(b, k));
    }
  }
  for (int at = 0; at < 16; ++at) {
    block[at] = s.value * shape[at];
    for (int k = 0; k < 3; ++k) gradient[16 * k + at] = s.slope * l[k] * shape[at] + s.value / r * turned[k][at];
  }
}

}  // namespace cambium::submatrix
