#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Sum of several potentials: energies, forces and virials add up. Terms reject species without parameters, as they do
/// when used alone.
class Sum : public Potential, public Checked {
 public:
  struct Params {
    std::vector<deck::Choice<Potential>> terms;
    static void describe(deck::Describe<Params>& d) { d("terms", &Params::terms, "the potentials to add"); }
  };

  /// Creates the terms through the context's registry. Throws InputError when there are none.
  Sum(const Params& params, Context& context);
  explicit Sum(std::vector<std::unique_ptr<Potential>> terms) : terms_(std::move(terms)) {}

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override;
  bool writes_ghost_forces() const override;
  bool needs_periodic_cell() const override;  ///< of any term
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  Committee* committee() override;  ///< of the first term that has one
  const std::vector<std::unique_ptr<Potential>>& terms() const { return terms_; }

 private:
  std::vector<std::unique_ptr<Potential>> terms_;
};

}  // namespace cambium::md
