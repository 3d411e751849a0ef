#include "plugins/md/potentials/zbl.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {

namespace {

constexpr double coulomb = 14.399645478;      // e^2 / (4 pi eps0), eV Å
constexpr double screening_length = 0.46850;  // Å

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
  return {{coulomb * za * zb, inverse_a}, params_.outer, params_.inner};
}

std::string ZblForm::summary() const {
  return fmt::format("ZBL repulsion, switched off from {:g} to {:g} Å", params_.inner, params_.outer);
}

std::vector<Citation> ZblForm::citations() const {
  return {{"ZieglerBiersackLittmark1985",
           "@book{ZieglerBiersackLittmark1985,\n  author = {Ziegler, J. F. and Biersack, J. P. and Littmark, U.},\n  "
           "title = {The Stopping and Range of Ions in Matter},\n  publisher = {Pergamon},\n  address = {New York},\n  "
           "year = {1985}\n}\n"}};
}

}  // namespace cambium::md

template class cambium::PairPotential<cambium::md::ZblForm>;
