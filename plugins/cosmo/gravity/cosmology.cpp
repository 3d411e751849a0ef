#include "plugins/cosmo/gravity/cosmology.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cambium::cosmo {

double suppression(const Cosmology& c) {
  const double matter = c.omega_m * c.h * c.h, share = c.omega_b / c.omega_m;
  return 1.0 - 0.328 * std::log(431.0 * matter) * share + 0.38 * std::log(22.3 * matter) * share * share;
}

namespace {

struct Interval {
  const char* name;
  double Cosmology::*member;
  double low, high;
};

constexpr Interval omega_m_range{"omega_m", &Cosmology::omega_m, 0.05, 1.0};
constexpr Interval omega_b_range{"omega_b", &Cosmology::omega_b, 0.0, 0.5};
constexpr Interval h_range{"h", &Cosmology::h, 0.3, 2.0};
constexpr Interval n_s_range{"n_s", &Cosmology::n_s, 0.0, 2.0};
constexpr Interval sigma_8_range{"sigma_8", &Cosmology::sigma_8, 1e-3, 10.0};
constexpr Interval w0_range{"w0", &Cosmology::w0, -3.0, 0.0};
constexpr Interval wa_range{"wa", &Cosmology::wa, -5.0, 3.0};
constexpr Interval t_cmb_range{"t_cmb", &Cosmology::t_cmb, 2.0, 3.5};

constexpr double largest_early_w = -0.5;  // then dark energy is less than 1e-4 of matter at a = 1e-4

/// Error for values that are each in their interval, but inconsistent; empty if there is none.
std::string contradiction_of(const Cosmology& c) {
  if (c.w0 + c.wa > largest_early_w)
    return fmt::format(
        "w0 ({:g}) and wa ({:g}) add up to {:g}, and such dark energy matters before structure grows; take a sum of at "
        "most {:g}",
        c.w0, c.wa, c.w0 + c.wa, largest_early_w);
  if (c.omega_b >= c.omega_m)
    return fmt::format("omega_b ({}) is a part of omega_m ({}); take a smaller one", c.omega_b, c.omega_m);
  if (c.transfer == Cosmology::Transfer::wiggles && c.omega_b == 0.0)
    return "the transfer function eisenstein_hu_wiggles is that of a universe with baryons; give omega_b, or take "
           "'transfer: eisenstein_hu'";
  if (c.transfer == Cosmology::Transfer::eisenstein_hu && suppression(c) <= 0.0)
    return fmt::format(
        "the transfer function eisenstein_hu does not hold where baryons (omega_b {}) are so much of matter (omega_m "
        "{}); "
        "take fewer, or 'transfer: bbks'",
        c.omega_b, c.omega_m);
  return {};
}

}  // namespace

std::string problem_of(const Cosmology& c) {
  for (const auto& range :
       {omega_m_range, omega_b_range, h_range, n_s_range, sigma_8_range, w0_range, wa_range, t_cmb_range})
    if (const double x = c.*range.member; !(x >= range.low && x <= range.high))
      return fmt::format("{} is {:g}, but has to be from {:g} to {:g}", range.name, x, range.low, range.high);
  if (c.omega_b >= c.omega_m) return "omega_b is a part of omega_m, and has to be smaller";
  if (c.w0 + c.wa > largest_early_w) return "the sum of w0 and wa has to be at most -0.5";
  if (c.transfer == Cosmology::Transfer::wiggles && c.omega_b == 0.0)
    return "the transfer function eisenstein_hu_wiggles is that of a universe with baryons";
  return contradiction_of(c).empty()
             ? ""
             : "the transfer function eisenstein_hu does not hold where baryons are so much of matter";
}

void Cosmology::describe(deck::Describe<Cosmology>& d) {
  d("omega_m", &Cosmology::omega_m, "density parameter of matter today; the rest is dark energy")
      .range(omega_m_range.low, omega_m_range.high)
      .def(0.3175);
  d("omega_b", &Cosmology::omega_b,
    "density parameter of baryons, part of omega_m; it shapes the transfer function only")
      .range(omega_b_range.low, omega_b_range.high)
      .def(0.049);
  d("h", &Cosmology::h, "Hubble's constant today over 100 km/s/Mpc").range(h_range.low, h_range.high).def(0.6711);
  d("n_s", &Cosmology::n_s, "spectral index of the primordial field").range(n_s_range.low, n_s_range.high).def(0.9624);
  d("sigma_8", &Cosmology::sigma_8, "standard deviation of the linear density today in spheres of 8 Mpc/h")
      .range(sigma_8_range.low, sigma_8_range.high)
      .def(0.834);
  d("w0", &Cosmology::w0,
    "equation of state of dark energy today, its pressure over its energy density; a cosmological constant where left "
    "out")
      .range(w0_range.low, w0_range.high)
      .def(-1.0);
  d("wa", &Cosmology::wa, "change of the equation of state with the scale factor a, w = w0 + wa (1 - a)")
      .range(wa_range.low, wa_range.high)
      .def(0.0);
  d("transfer", &Cosmology::transfer,
    "transfer function of matter: of Eisenstein and Hu (1998) without (eisenstein_hu) or with (eisenstein_hu_wiggles) "
    "baryon acoustic oscillations, or of Bardeen et al. (1986) (bbks)")
      .options({{"eisenstein_hu", Transfer::eisenstein_hu},
                {"eisenstein_hu_wiggles", Transfer::wiggles},
                {"bbks", Transfer::bbks}})
      .def(Transfer::eisenstein_hu);
  d("t_cmb", &Cosmology::t_cmb,
    "temperature of the microwave background today; it enters the transfer functions of Eisenstein and Hu")
      .unit("K")
      .range(t_cmb_range.low, t_cmb_range.high)
      .def(2.7255);
  d.check(contradiction_of);
}

}  // namespace cambium::cosmo
