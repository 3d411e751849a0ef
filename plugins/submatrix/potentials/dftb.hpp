#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/submatrix/dftb/citations.hpp"
#include "plugins/submatrix/dftb/ground_state.hpp"

namespace cambium::submatrix {

/// Density-functional tight binding with self-consistent charges (DFTB2) from Slater-Koster files: M. Elstner et al.,
/// Phys. Rev. B 58, 7260 (1998). The energy is the Mermin free energy, of which forces and virial are derivatives. All
/// ranks know all atoms; a step has no memory of the one before.
class Dftb : public Potential, public Checked {
 public:
  struct Params : DftbKeys {
    static void describe(deck::Describe<Params>& d) {
      describe_in(d);
      d.check([](const Params& p) { return p.conflict(); });
    }
  };
  Dftb(const Params& params, Context& context) : params_(params) { (void)context; }

  void bind(std::span<const Species> species) override;
  void examine(Check& check) override;  ///< reports the cost per atom: much more than a classical potential's
  /// Cut-off of the neighbour list, which is not used: all atoms are gathered. Short, so that small cells can be
  /// decomposed, but long enough to detect isolated atoms.
  double cutoff() const override { return 3.5; }
  bool needs_periodic_cell() const override { return params_.periodic; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override { return dftb_citations(params_); }

  const std::optional<DftbState>& last() const { return last_; }

 private:
  Params params_;
  std::optional<DftbParameters> parameters_;
  std::optional<DftbState> last_;
};

}  // namespace cambium::submatrix
