#include "plugins/md/potentials/zbl.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {

namespace {

constexpr double screening_length = 0.46850;  // Å

/// Terms added as in LAMMPS so that energy, force and its slope are zero at the cut-off (see pair_style zbl).
void add_polynomial(ZblForm::Model<double>& m, double inner, double outer) {
  const ZblForm::Screening screening{};
  double phi[3] = {};  // and its derivatives with respect to r
  for (int k = 0; k < 4; ++k) {
    const double by = -screening.rate[k] * m.inverse_a, term = screening.share[k] * std::exp(by * outer);
    phi[0] += term;
    phi[1] += by * term;
    phi[2] += by * by * term;
  }
  const double r = outer, width = outer - inner;
  const double energy = m.charges * phi[0] / r;
  const double slope = m.charges * (phi[1] - phi[0] / r) / r;
  const double curvature = m.charges * (phi[2] - 2.0 * phi[1] / r + 2.0 * phi[0] / (r * r)) / r;
  const double a = (-3.0 * slope + width * curvature) / (width * width);
  const double b = (2.0 * slope - width * curvature) / (width * width * width);
  m.start = inner;
  m.third = a / 3.0;
  m.fourth = b / 4.0;
  m.shift = -energy + 0.5 * width * slope - width * width * curvature / 12.0;
}

}  // namespace

ZblForm::ZblForm(const Params& params) : params_(params) {
  if (!(params.inner < params.outer))
    throw KeyError(
        "zbl.inner.range", "inner",
        fmt::format("zbl: `inner` is {} Å and `outer` is {} Å; the repulsion is switched off from the inner to the "
                    "outer distance, so `inner` must be smaller",
                    params.inner, params.outer));
}

double ZblForm::charge(const std::string& symbol) const {
  const auto own = params_.charges.find(symbol);
  const double charge = own != params_.charges.end() ? own->second : atomic_number(symbol);
  if (charge > 0.0) return charge;
  throw KeyError("zbl.charges.missing", "charges",
                 fmt::format("zbl: {} is no element; give its nuclear charge: `charges: {{{}: ...}}`", symbol, symbol));
}

PairTerms<ZblForm::Model> ZblForm::pair(std::span<const Species> species, int a, int b) const {
  const double za = charge(species[a].symbol), zb = charge(species[b].symbol);
  const double inverse_a = (std::pow(za, 0.23) + std::pow(zb, 0.23)) * (1.0 / screening_length);
  Model<double> model{constants::coulomb * za * zb, inverse_a, params_.outer, 0.0, 0.0, 0.0};
  if (params_.switching == Params::Switching::added) add_polynomial(model, params_.inner, params_.outer);
  return {model, params_.outer, params_.inner};
}

std::string ZblForm::summary() const {
  const bool added = params_.switching == Params::Switching::added;
  return fmt::format("ZBL repulsion, switched off from {:g} to {:g} Å{}", params_.inner, params_.outer,
                     added ? " as LAMMPS does" : "");
}

std::vector<Citation> ZblForm::citations() const {
  return {{"ZieglerBiersackLittmark1985",
           "@book{ZieglerBiersackLittmark1985,\n  author = {Ziegler, J. F. and Biersack, J. P. and Littmark, U.},\n  "
           "title = {The Stopping and Range of Ions in Matter},\n  publisher = {Pergamon},\n  address = {New York},\n  "
           "year = {1985}\n}\n"}};
}

}  // namespace cambium::md

template class cambium::PairPotential<cambium::md::ZblForm>;
