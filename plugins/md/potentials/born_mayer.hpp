#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/pack_math.hpp"
#include "core/deck/describe.hpp"
#include "core/plugin/pair_potential.hpp"

namespace cambium::md {

/// Born-Mayer-Huggins repulsion and dispersion, E = A exp((sigma - r)/rho) - C/r^6 - D/r^8: M. L. Huggins and J. E.
/// Mayer, J. Chem. Phys. 1, 643 (1933). With sigma = D = 0 it is Buckingham's potential. Charges of ions are a separate
/// term: `coulomb`, in a `sum`.
class BornMayerForm {
 public:
  static constexpr const char* label = "born_mayer";

  struct Pair {
    std::vector<std::string> species;  ///< two symbols
    double a = 0.0, rho = 0.0, sigma = 0.0, c = 0.0, d = 0.0;
    static void describe(deck::Describe<Pair>& d) {
      d("species", &Pair::species, "the two species").example("[Na, Cl]");
      d("a", &Pair::a, "strength A of the repulsion, its energy at r = sigma")
          .unit("eV")
          .non_negative()
          .example("0.2110");
      d("rho", &Pair::rho, "decay length of the repulsion").unit("angstrom").positive().example("0.317");
      d("sigma", &Pair::sigma, "sum of the ionic radii; 0 for Buckingham's form").unit("angstrom").def(0.0);
      d("c", &Pair::c, "coefficient C of the dispersion -C/r^6, eV angstrom^6").non_negative().def(0.0);
      d("d", &Pair::d, "coefficient D of the dispersion -D/r^8, eV angstrom^8").def(0.0);
    }
  };
  struct Params {
    double cutoff = 0.0;  ///< Å
    Truncation truncation = Truncation::plain;
    std::optional<double> switch_width;  ///< Å
    std::vector<Pair> pairs;
    static void describe(deck::Describe<Params>& d) {
      d("cutoff", &Params::cutoff, "cut-off radius").unit("angstrom").positive().example("10.0");
      d("truncation", &Params::truncation,
        "truncation at the cut-off: none (plain), energy shifted to zero (shift), or multiplied by a C2 switch over "
        "the last switch_width (smooth)")
          .options({{"plain", Truncation::plain}, {"shift", Truncation::shift}, {"smooth", Truncation::smooth}})
          .def(Truncation::plain);
      d("switch_width", &Params::switch_width, "width of the smooth truncation; a tenth of the cut-off when absent")
          .unit("angstrom")
          .positive();
      d("pairs", &Params::pairs, "parameters of every pair of species");
    }
  };

  template <class P>
  struct Model {
    P strength, inverse_rho, c, d;  ///< A exp(sigma/rho), 1/rho, C, D

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P inverse_r = reciprocal_sqrt(r2), inverse2 = inverse_r * inverse_r;
      const P r = r2 * inverse_r, inverse6 = inverse2 * inverse2 * inverse2;
      const P repulsion = strength * exp(-(inverse_rho * r));
      const P dispersion = inverse6 * fma(d, inverse2, c);
      const P slope = inverse6 * inverse2 * fma(P(8.0) * d, inverse2, P(6.0) * c);
      return {repulsion - dispersion, fma(repulsion * inverse_rho, inverse_r, -slope)};
    }
  };

  /// InputError for inconsistent parameters.
  explicit BornMayerForm(const Params& params);

  /// InputError for a pair that is missing.
  PairTerms<Model> pair(std::span<const Species> species, int a, int b) const;
  Truncation truncation() const { return params_.truncation; }
  double cutoff() const { return params_.cutoff; }
  std::string summary() const;
  std::vector<Citation> citations() const;

 private:
  double switch_width() const { return params_.switch_width.value_or(0.1 * params_.cutoff); }

  Params params_;
};

using BornMayer = PairPotential<BornMayerForm>;

}  // namespace cambium::md

extern template class cambium::PairPotential<cambium::md::BornMayerForm>;
