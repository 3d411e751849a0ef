#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/kim/model/kim_model.hpp"

namespace cambium::kim {

/// An interatomic model of OpenKIM, evaluated by the model's own library.
class Kim : public Potential, public Checked {
 public:
  struct Params {
    std::string model;
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model,
        "installed portable model of OpenKIM: its name, or its code (MO_...) alone, with or without the version")
          .example("SW_StillingerWeber_1985_Si__MO_405512056662_006");
    }
  };

  Kim(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override { return reach * model_->influence_distance(); }
  bool writes_ghost_forces() const override { return true; }
  /// InputError if energies or virials of atoms are requested and the model has none.
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  /// Lists and ghosts reach farther than a model asks: MEAM screens a bond by atoms in an ellipse around it, which are
  /// up to Cmax / (2 sqrt(Cmax - 1)) of the bond's length away from its ends, 1.0435 for the usual Cmax of 2.8. Without
  /// them its energy depends on the order of the atoms. Other models compare distances themselves.
  static constexpr double reach = 1.05;

  void refuse_what_is_not_given(const ForceRequest& request) const;

  std::unique_ptr<KimModel> model_;
  std::vector<int> code_;  ///< of the model, by type of the deck
  NeighborList all_;       ///< including rows of ghosts, for models that require them
};

}  // namespace cambium::kim
