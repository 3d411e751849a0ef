#include "plugins/md/potentials/zbl.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/pack_math.hpp"
#include "core/pair/pair_kernel.hpp"
#include "core/pair/switch_function.hpp"
#include "core/particles/elements.hpp"

namespace cambium::md {
namespace {

constexpr double coulomb = 14.399645478;      // e^2 / (4 pi eps0), eV Å
constexpr double screening_length = 0.46850;  // Å

struct ZblModel {
  SwitchFunction smooth;
  double cut_squared;
  int types;
  const double* table;  // charges, then screening terms

  struct Row {
    double charge, screening;
  };
  CAMBIUM_FN Row row(int, int type) const { return {coulomb * table[type], table[types + type]}; }

  template <bool energies, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int*, P type, P& f_over_r, P& energy) const {
    const auto near = r2 < P(cut_squared);
    const P inverse_r = reciprocal_sqrt(r2);
    const P charges = P(row.charge) * P::lookup(table, type);
    const P inverse_a = (P(row.screening) + P::lookup(table + types, type)) * P(1.0 / screening_length);
    const P x = r2 * inverse_r * inverse_a;
    const double strength[4] = {0.18175, 0.50986, 0.28022, 0.02817}, rate[4] = {3.1998, 0.94229, 0.4029, 0.20162};
    P phi = 0.0, slope = 0.0;  // slope: -dphi/dx
    for (int k = 0; k < 4; ++k) {
      const P term = P(strength[k]) * exp(P(-rate[k]) * x);
      phi += term;
      slope = fma(P(rate[k]), term, slope);
    }
    P weight, weight_slope;
    smooth(r2, weight, weight_slope);
    const P e = charges * inverse_r * phi;
    const P f = charges * inverse_r * inverse_r * fma(phi, inverse_r, slope * inverse_a);  // -(1/r) de/dr
    f_over_r = keep(near, weight * f - weight_slope * e);
    if constexpr (energies) energy = keep(near, weight * e);
  }
};

}  // namespace

void Zbl::Params::describe(deck::Describe<Params>& d) {
  d("inner", &Params::inner, "distance where switching off begins").unit("angstrom").non_negative().example("1.2");
  d("outer", &Params::outer, "distance where the repulsion has ended").unit("angstrom").positive().example("2.0");
  d("charges", &Params::charges, "nuclear charges of species that are not named after an element").def({});
}

Zbl::Zbl(const Params& params, Context&) : params_(params) {
  if (!(params.inner < params.outer))
    throw InputError(
        fmt::format("zbl: `inner` is {} Å and `outer` is {} Å; the repulsion is switched off from the inner to the "
                    "outer distance, so `inner` must be smaller",
                    params.inner, params.outer));
}

void Zbl::bind(std::span<const Species> species) {
  types_ = static_cast<int>(species.size());
  table_ = View<double*>("zbl_table", 2 * types_);
  auto host = Kokkos::create_mirror_view(table_);
  for (int t = 0; t < types_; ++t) {
    const auto& symbol = species[t].symbol;
    const auto own = params_.charges.find(symbol);
    const double charge = own != params_.charges.end() ? own->second : atomic_number(symbol);
    if (!(charge > 0.0))
      throw InputError(
          fmt::format("zbl: {} is no element; give its nuclear charge: `charges: {{{}: ...}}`", symbol, symbol));
    host(t) = charge;
    host(types_ + t) = std::pow(charge, 0.23);
  }
  Kokkos::deep_copy(table_, host);
}

void Zbl::compute(const Particles& particles, const NeighborList& list, GhostExchange&, const ForceRequest& request,
                  ForceOutput& out, Context&) {
  const ZblModel model{SwitchFunction(params_.inner, params_.outer), params_.outer * params_.outer, types_,
                       table_.data()};
  compute_pairs("zbl", model, particles, list, request, out);
}

std::string Zbl::summary() const {
  return fmt::format("ZBL repulsion, switched off from {:g} to {:g} Å", params_.inner, params_.outer);
}

std::vector<Citation> Zbl::citations() const {
  return {{"ZieglerBiersackLittmark1985",
           "@book{ZieglerBiersackLittmark1985,\n  author = {Ziegler, J. F. and Biersack, J. P. and Littmark, U.},\n  "
           "title = {The Stopping and Range of Ions in Matter},\n  publisher = {Pergamon},\n  address = {New York},\n  "
           "year = {1985}\n}\n"}};
}

}  // namespace cambium::md
