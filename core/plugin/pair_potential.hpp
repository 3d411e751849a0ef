#pragma once
#include <string>
#include <vector>

#include "core/pair/pair_forces.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"

namespace cambium {

/// Potential of a pair form: the form defines the interaction of two atoms, this class does the rest. `Form` has
///
///   struct Params;                       // its keys, with describe(); the form is made from them as Form{params}
///   template <class P> struct Model;     // the formula, see PairTerms
///   static constexpr const char* label;  // of the kernel, in profiles
///   // For two types; InputError if there are no parameters.
///   PairTerms<Model> pair(std::span<const Species>, int a, int b) const;
///   Truncation truncation() const;
///   double cutoff() const;  // Å, the largest
///   std::string summary() const;  // as in Potential
///   std::vector<Citation> citations() const;
///
/// and may have add_rest(particles, request, out, context) for terms that are not sums over the listed pairs,
/// `bool needs_periodic_cell() const` as in Potential, and `const std::optional<PairTableParams>& table() const` for
/// forces that are looked up instead of computed.
template <class Form>
class PairPotential final : public Potential, public CostsPerAtom {
 public:
  using Params = typename Form::Params;

  PairPotential(const Params& params, Context&) : form_{params} {}

  void bind(std::span<const Species> species) override;
  double cutoff() const override;
  bool needs_periodic_cell() const override;
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  /// Some 30 operations for distance, formula and force of a pair, which both its atoms compute.
  AtomCost atom_cost(double neighbours) const override { return {30.0 * neighbours}; }

 private:
  static constexpr bool tabulated = requires(const Form& form) { form.table(); };

  Form form_;
  PairForces<Form::template Model, tabulated> pairs_;
};

// Outside the class, so that `extern template` in a header keeps them out of the files that include it.

template <class Form>
void PairPotential<Form>::bind(std::span<const Species> species) {
  const auto terms = [&](int a, int b) { return form_.pair(species, a, b); };
  const int types = static_cast<int>(species.size());
  if constexpr (tabulated)
    pairs_.bind(types, form_.truncation(), terms, form_.table());
  else
    pairs_.bind(types, form_.truncation(), terms);
}

template <class Form>
double PairPotential<Form>::cutoff() const {
  return form_.cutoff();
}

template <class Form>
bool PairPotential<Form>::needs_periodic_cell() const {
  if constexpr (requires { form_.needs_periodic_cell(); }) return form_.needs_periodic_cell();
  return false;
}

template <class Form>
void PairPotential<Form>::compute(const Particles& particles, const NeighborList& list, GhostExchange&,
                                  const ForceRequest& request, ForceOutput& out, Context& context) {
  pairs_.compute(Form::label, particles, list, request, out);
  if constexpr (requires { form_.add_rest(particles, request, out, context); })
    form_.add_rest(particles, request, out, context);
}

template <class Form>
std::string PairPotential<Form>::summary() const {
  if (pairs_.lookup().intervals() > 0) return form_.summary() + ", " + pairs_.lookup().summary();
  return form_.summary();
}

template <class Form>
std::vector<Citation> PairPotential<Form>::citations() const {
  return form_.citations();
}

}  // namespace cambium
