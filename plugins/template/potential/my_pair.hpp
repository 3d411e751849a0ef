#pragma once
#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::my_pair {

/// Pair potential of Morse's form, E(r) = D [(1 - exp(-a (r - r0)))^2 - 1] - shift, for r below the cut-off; the shift
/// makes E(cutoff) = 0. P. M. Morse, Phys. Rev. 34, 57 (1929).
class MyPair : public Potential {
 public:
  /// The keys of a deck. This declaration is also their check, their documentation and their JSON schema.
  struct Params {
    double depth = 0.0;     ///< D, eV
    double width = 0.0;     ///< a, 1/Å
    double distance = 0.0;  ///< r0, Å
    double cutoff = 0.0;    ///< Å
    static void describe(deck::Describe<Params>& d);
  };

  MyPair(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return params_.cutoff; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
};

}  // namespace cambium::my_pair
