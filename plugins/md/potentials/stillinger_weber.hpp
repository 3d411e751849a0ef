#pragma once
#include <string>

#include "core/deck/describe.hpp"
#include "core/pair/outside_forces.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Stillinger-Weber: pairs and triplets that favour the tetrahedral angle; F. H. Stillinger and T. A. Weber, Phys. Rev.
/// B 31, 5262 (1985). With y = sigma/(r - a sigma), all terms 0 for r >= a sigma,
///   E = sum_(i<j) A eps [B (sigma/r)^p - (sigma/r)^q] exp(y)
///     + sum_i sum_(j<k) lambda eps (cos theta_jik - cos0)^2 exp(gamma y_ij) exp(gamma y_ik).
/// The default parameters are those of silicon in that paper. One species.
class StillingerWeber : public Potential, public CostsPerAtom {
 public:
  struct Params {
    double epsilon = 2.1683;  ///< eV
    double sigma = 2.0951;    ///< Å
    double a = 1.80;          ///< cut-off in units of sigma
    double lambda = 21.0;
    double gamma = 1.20;
    double cos0 = -1.0 / 3.0;  ///< cosine of the favoured angle
    double A = 7.049556277;
    double B = 0.6022245584;
    int p = 4;
    int q = 0;
    static void describe(deck::Describe<Params>& d) {
      const Params silicon;
      d("epsilon", &Params::epsilon, "energy scale").unit("eV").positive().def(silicon.epsilon);
      d("sigma", &Params::sigma, "length scale").unit("angstrom").positive().def(silicon.sigma);
      d("a", &Params::a, "cut-off in units of sigma").positive().def(silicon.a);
      d("lambda", &Params::lambda, "strength of the angular term").non_negative().def(silicon.lambda);
      d("gamma", &Params::gamma, "range of the angular term").positive().def(silicon.gamma);
      d("cos0", &Params::cos0, "cosine of the favoured angle").range(-1, 1).def(silicon.cos0);
      d("A", &Params::A, "strength of the pair term").def(silicon.A);
      d("B", &Params::B, "repulsion relative to attraction in the pair term").def(silicon.B);
      d("p", &Params::p, "exponent of the repulsion").range(0, 24).def(silicon.p);
      d("q", &Params::q, "exponent of the attraction").range(0, 24).def(silicon.q);
    }
  };

  StillingerWeber(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return params_.a * params_.sigma; }
  bool writes_ghost_forces() const override { return true; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  /// Two exponentials for each neighbour, and the angles between any two.
  AtomCost atom_cost(double neighbours) const override {
    return {80.0 * neighbours + 25.0 * neighbours * (neighbours - 1.0)};
  }

 private:
  Params params_;
  OutsideForces outside_;
};

}  // namespace cambium::md
