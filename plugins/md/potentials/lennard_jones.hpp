#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/pair_potential.hpp"

namespace cambium::md {

/// Lennard-Jones: E = 4 epsilon [(sigma/r)^12 - (sigma/r)^6] within the cut-off; J. E. Jones, Proc. R. Soc. A 106, 463
/// (1924). Pairs without their own parameters use Lorentz-Berthelot mixing: sigma_ij = (sigma_i + sigma_j)/2,
/// epsilon_ij = sqrt(epsilon_i epsilon_j).
class LennardJonesForm {
 public:
  static constexpr const char* label = "lennard_jones";

  struct Pair {
    std::vector<std::string> species;  ///< two symbols
    double epsilon = 0.0;              ///< eV
    double sigma = 0.0;                ///< Å
    std::optional<double> cutoff;      ///< Å, the common one if absent
    static void describe(deck::Describe<Pair>& d) {
      d("species", &Pair::species, "the two species").example("[Ar, Kr]");
      d("epsilon", &Pair::epsilon, "well depth").unit("eV").positive().example("0.0124");
      d("sigma", &Pair::sigma, "distance of zero energy").unit("angstrom").positive().example("3.5");
      d("cutoff", &Pair::cutoff, "cut-off of this pair, the common one when absent").unit("angstrom").positive();
    }
  };
  struct Params {
    std::optional<double> epsilon;  ///< eV, for a single species
    std::optional<double> sigma;    ///< Å, for a single species
    double cutoff = 0.0;            ///< Å
    Truncation truncation = Truncation::plain;
    std::optional<double> switch_width;  ///< Å, width of the smooth truncation; a tenth of the cut-off if absent
    bool tail = false;                   ///< plain only: mean-field energy and pressure beyond the cut-off
    std::vector<Pair> pairs;
    static void describe(deck::Describe<Params>& d) {
      d("epsilon", &Params::epsilon, "well depth, for a single species").unit("eV").positive().example("0.0103");
      d("sigma", &Params::sigma, "distance of zero energy, for a single species")
          .unit("angstrom")
          .positive()
          .example("3.405");
      d("cutoff", &Params::cutoff, "cut-off radius").unit("angstrom").positive().example("8.5125");
      d("truncation", &Params::truncation,
        "truncation at the cut-off: none (plain), energy shifted to zero (shift), or multiplied by a C2 switch S = 1 - "
        "10 t^3 + 15 t^4 - 6 t^5 with t linear in r^2 over the last switch_width (smooth)")
          .options({{"plain", Truncation::plain}, {"shift", Truncation::shift}, {"smooth", Truncation::smooth}})
          .def(Truncation::plain);
      d("switch_width", &Params::switch_width, "width of the smooth truncation; a tenth of the cut-off when absent")
          .unit("angstrom")
          .positive();
      d("tail", &Params::tail,
        "tail correction of energy and pressure beyond a plain cut-off, for uniform density there; for cells that are "
        "periodic in all directions")
          .def(false);
      d("pairs", &Params::pairs,
        "parameters of pairs of species; unlike pairs that are missing mix by Lorentz and Berthelot")
          .def({});
    }
  };

  template <class P>
  struct Model {
    P c12, c6;  ///< 4 epsilon sigma^12, eV Å^12, and 4 epsilon sigma^6, eV Å^6

    CAMBIUM_FN PairValue<P> operator()(P r2) const {
      const P x = reciprocal(r2), x3 = x * x * x;
      return {x3 * fma(c12, x3, -c6), x3 * x * fma(P(12.0) * c12, x3, P(-6.0) * c6)};
    }
  };

  /// Throws InputError for inconsistent parameters.
  explicit LennardJonesForm(const Params& params);

  PairTerms<Model> pair(std::span<const Species> species, int a, int b) const;
  Truncation truncation() const { return params_.truncation; }
  double cutoff() const { return cutoff_; }
  bool needs_periodic_cell() const { return params_.tail; }  ///< for its density
  std::string summary() const;
  std::vector<Citation> citations() const;

  /// Adds the tail correction of every atom: a uniform density of each species beyond the cut-off (pair correlation 1).
  void add_rest(const Particles& particles, const ForceRequest& request, ForceOutput& out, Context& context);

 private:
  struct Coefficients {
    double epsilon = 0.0, sigma = 0.0, cutoff = 0.0;
  };
  Coefficients coefficients(std::span<const Species> species, int a, int b) const;
  void require_known(std::span<const Species> species) const;
  const Pair* explicit_pair(const std::string& a, const std::string& b) const;

  Params params_;
  double cutoff_ = 0.0;
};

using LennardJones = PairPotential<LennardJonesForm>;

}  // namespace cambium::md

extern template class cambium::PairPotential<cambium::md::LennardJonesForm>;
