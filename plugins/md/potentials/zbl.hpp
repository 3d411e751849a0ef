#pragma once
#include <map>
#include <optional>
#include <string>

#include "core/base/pack_math.hpp"
#include "core/deck/describe.hpp"
#include "core/plugin/pair_potential.hpp"

namespace cambium::md {

/// Screened nuclear repulsion of J. F. Ziegler, J. P. Biersack and U. Littmark, The Stopping and Range of Ions in
/// Matter (Pergamon, 1985): E = Z_i Z_j e^2 / (4 pi eps0 r) phi(r/a), a = 0.46850 Å / (Z_i^0.23 + Z_j^0.23), with
/// phi(x) = 0.18175 exp(-3.1998 x) + 0.50986 exp(-0.94229 x) + 0.28022 exp(-0.4029 x) + 0.02817 exp(-0.20162 x). From
/// `inner` to `outer` it is multiplied by the C2 SwitchFunction, or, as in LAMMPS' `pair_style zbl`, the polynomial A/3
/// (r - inner)^3 + B/4 (r - inner)^4 + C is added, which makes energy, force and its slope vanish at `outer` (and C
/// below `inner`). It is usually one term of a `sum`.
class ZblForm {
 public:
  static constexpr const char* label = "zbl";

  struct Params {
    double inner = 0.0;  ///< Å, start of the switch
    double outer = 0.0;  ///< Å, end of the switch: the cut-off
    enum class Switching { multiplied, added } switching = Switching::multiplied;
    std::map<std::string, double> charges;  ///< nuclear charges of species that are not elements
    std::optional<PairTableParams> table;   ///< computed directly if absent
    static void describe(deck::Describe<Params>& d) {
      d("inner", &Params::inner, "inner radius, where the switch to zero begins")
          .unit("angstrom")
          .non_negative()
          .example("1.2");
      d("outer", &Params::outer, "outer radius, from which on the repulsion is zero")
          .unit("angstrom")
          .positive()
          .example("2.0");
      d("switching", &Params::switching,
        "multiplied: by a function from 1 to 0, so that below `inner` the repulsion is unchanged; added: a polynomial, "
        "as LAMMPS' pair_style zbl does")
          .options({{"multiplied", Switching::multiplied}, {"added", Switching::added}})
          .def(Switching::multiplied);
      d("charges", &Params::charges, "nuclear charges of species that are not named after an element").def({});
      d("table", &Params::table, "look forces up in a table over r^2 instead of computing four exponentials for each");
    }
  };

  /// Prefactors and rates of the exponentials in phi. Created where used: devices cannot access static class constants.
  struct Screening {
    double share[4] = {0.18175, 0.50986, 0.28022, 0.02817};
    double rate[4] = {3.1998, 0.94229, 0.4029, 0.20162};
  };

  template <class P>
  struct Model {
    P charges, inverse_a;           ///< Z_i Z_j e^2 / (4 pi eps0), eV Å, and 1/a, 1/Å
    P start, third, fourth, shift;  ///< added terms: `inner`, A/3, B/4, C; zero if nothing is added

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const Screening screening{};
      const P inverse_r = reciprocal_sqrt(r2);
      const P x = r2 * inverse_r * inverse_a;
      P phi = 0.0, slope = 0.0;  // slope: -dphi/dx
      for (int k = 0; k < 4; ++k) {
        const P term = P(screening.share[k]) * exp(P(-screening.rate[k]) * x);
        phi += term;
        slope = fma(P(screening.rate[k]), term, slope);
      }
      const P beyond = max(r2 * inverse_r - start, P(0.0));
      const P added = fma(beyond * beyond * beyond, fma(fourth, beyond, third), shift);
      const P added_slope = beyond * beyond * fma(P(4.0) * fourth, beyond, P(3.0) * third);
      return {fma(charges * inverse_r, phi, added),
              inverse_r * (charges * inverse_r * fma(phi, inverse_r, slope * inverse_a) - added_slope)};
    }
  };

  explicit ZblForm(const Params& params);

  /// InputError for a species with unknown nuclear charge.
  PairTerms<Model> pair(std::span<const Species> species, int a, int b) const;
  Truncation truncation() const {
    return params_.switching == Params::Switching::added ? Truncation::plain : Truncation::smooth;
  }
  double cutoff() const { return params_.outer; }
  const std::optional<PairTableParams>& table() const { return params_.table; }
  std::string summary() const;
  std::vector<Citation> citations() const;

 private:
  double charge(const std::string& symbol) const;

  Params params_;
};

using Zbl = PairPotential<ZblForm>;

}  // namespace cambium::md

extern template class cambium::PairPotential<cambium::md::ZblForm>;
