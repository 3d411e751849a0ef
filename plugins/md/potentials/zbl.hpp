#pragma once
#include <map>
#include <string>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Screened nuclear repulsion of J. F. Ziegler, J. P. Biersack and U. Littmark, The Stopping and Range of Ions in
/// Matter (Pergamon, 1985): E = Z_i Z_j e^2 / (4 pi eps0 r) phi(r/a), a = 0.46850 Å / (Z_i^0.23 + Z_j^0.23), with
/// phi(x) = 0.18175 exp(-3.1998 x) + 0.50986 exp(-0.94229 x) + 0.28022 exp(-0.4029 x) + 0.02817 exp(-0.20162 x).
/// It is multiplied by the C2 SwitchFunction from `inner` to `outer`, and is usually one term of a `sum`.
class Zbl : public Potential {
 public:
  struct Params {
    double inner = 0.0;                     ///< Å, where switching off begins
    double outer = 0.0;                     ///< Å, where it is complete: the cut-off
    std::map<std::string, double> charges;  ///< nuclear charges of species that are no elements
    static void describe(deck::Describe<Params>& d);
  };

  Zbl(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return params_.outer; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  int types_ = 0;
  View<double*> table_;  ///< charges of the types, then their screening terms Z^0.23
};

}  // namespace cambium::md
