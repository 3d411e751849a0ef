#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/graph/messages/message_engine.hpp"

namespace cambium::graph {

/// A trained network `message_passing` as an interatomic potential, evaluated without Torch in double precision.
class MessagePotential : public Potential, public Checked, public CostsPerAtom {
 public:
  struct Params {
    std::string model;  ///< model.h5
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model,
        "model file (model.h5) of a network message_passing that was trained with 'reference: atoms'")
          .example("train/model.h5");
    }
  };

  /// InputError names the file and the problem. A dry run skips a model that an earlier stage will write.
  MessagePotential(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override { return engine_ ? engine_->model().cutoff : 0.0; }
  bool writes_ghost_forces() const override { return true; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  AtomCost atom_cost(double neighbours) const override;

 private:
  Params params_;
  std::unique_ptr<MessageEngine> engine_;
  std::vector<int> species_;  ///< model species of each deck type
};

}  // namespace cambium::graph
