#pragma once
#include <string>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Stillinger-Weber: pairs and triplets that favour the tetrahedral angle; F. H. Stillinger and T. A. Weber, Phys. Rev.
/// B 31, 5262 (1985). With y = sigma/(r - a sigma), all terms 0 for r >= a sigma,
///   E = sum_(i<j) A eps [B (sigma/r)^p - (sigma/r)^q] exp(y)
///     + sum_i sum_(j<k) lambda eps (cos theta_jik - cos0)^2 exp(gamma y_ij) exp(gamma y_ik).
/// The default parameters are those of silicon in that paper. One species.
class StillingerWeber : public Potential {
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
    static void describe(deck::Describe<Params>& d);
  };

  StillingerWeber(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return params_.a * params_.sigma; }
  bool writes_ghost_forces() const override { return true; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

}  // namespace cambium::md
