#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/mace/engine/engine.hpp"

namespace cambium::mace {

/// A MACE model from a file written by PyTorch, evaluated without PyTorch.
class Mace : public Potential, public Checked, public CostsPerAtom {
 public:
  struct Params {
    std::string model;  ///< PyTorch archive, or safetensors
    Precision precision = Precision::float64;
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model,
        "MACE model file, a TorchScript archive (.model, .pth, .pt) or a state dict (.safetensors): weights are read "
        "as "
        "data, PyTorch is not needed")
          .example("copper.model");
      d("precision", &Params::precision,
        "float64, or float32: features and weights in single precision; distances, energies and sums of forces remain "
        "in double precision")
          .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
          .def(Precision::float64);
    }
  };

  /// InputError names the file and its error. In a dry run a model that an earlier stage writes is skipped.
  Mace(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override { return engine_ ? engine_->model().cutoff : 0.0; }
  bool writes_ghost_forces() const override { return true; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  AtomCost atom_cost(double neighbours) const override;
  const Engine& engine() const { return *engine_; }

 private:
  Params params_;
  std::unique_ptr<Engine> engine_;
  std::vector<int> species_;  ///< model species of each deck type
};

}  // namespace cambium::mace
