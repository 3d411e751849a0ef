#pragma once
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/parity.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/graph/messages/message_keys.hpp"
#include "plugins/graph/networks/molecule_batch.hpp"
#include "plugins/graph/networks/pair_messages.hpp"

namespace cambium::graph {

/// Energy of a molecule: a reference fit without a network (linear in the counts of atoms and bonds, or a kernel) plus
/// a sum over atoms after message passing along all pairs closer than a cutoff. Invariant under translation, rotation,
/// reflection and permutation of the atoms. The sum has two continuous derivatives; forces are its gradient, and are
/// not available with a kernel, whose sorted lists have kinks.
class MessagePassing : public train::TorchNetwork, public train::GivesParity, public train::GivesLoss {
 public:
  using Params = MessageKeys;
  using Loss = MessageKeys::Loss;
  MessagePassing(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context& context) override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t step, double rate) const override;
  std::vector<train::TermInfo> metrics() const override;
  void add_loss(std::span<const train::SamplePtr>, std::span<const TensorRef>,
                std::span<train::TermSum> terms) override {
    train::add_terms(evaluated_, terms);
  }
  /// "energy": in the unit of the training set.
  std::vector<train::FieldInfo> outputs() const override { return {{"energy", unit_, {}, DType::f64}}; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

  train::NetworkTraits traits() override {
    // Molecules and atomic configurations have different names for the same data; both are accepted.
    std::vector<std::string> spared{"force", "cell", "position", "coord", "type", "box", "virial", "fparam", "aparam"};
    if (params_.reference != EnergyFit::Kind::bonds) spared.emplace_back("bond");
    return {.spared_labels = spared, .parity = this, .loss = this, .modules = this};
  }
  std::vector<io::ParityQuantity> parity_quantities() const override;
  void add_parity(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                  std::span<io::ParityQuantity> quantities) override;

  /// Energies (samples) and concatenated forces on their atoms (atoms, 3), float64, in the unit of the training set
  /// (and per Å).
  struct Prediction {
    torch::Tensor energy, force;
  };
  Prediction energies_and_forces(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights);

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<std::string> segments() const override;
  /// Forces need double differentiation through the geometry, which a recomputed (checkpointed) part does not support.
  bool can_recompute() const override { return params_.force_weight == 0.0; }
  bool measures_in_order() const override { return !forces_; }
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;

  MoleculeBatch molecules(const train::TorchBatch& batch) const;
  torch::Tensor rest(const MoleculeBatch& molecules, bool again = false);
  torch::Tensor true_rest(const MoleculeBatch& molecules) const;
  std::vector<train::TermSum> loss_of(const MoleculeBatch& molecules, const torch::Tensor& energy_error,
                                      const torch::Tensor& force_error) const;
  Prediction predicted(const MoleculeBatch& molecules, bool forces);
  torch::Tensor size_of(const torch::Tensor& error) const;

  Params params_;
  EnergyFit reference_;
  std::vector<std::int32_t> elements_;     ///< atomic numbers of the training set, ascending
  std::string unit_;                       ///< of its energies
  bool forces_ = false;                    ///< the training set has forces, and so has the reference
  double deviation_ = 1.0;                 ///< root mean square of the residual of the reference
  double atom_deviation_ = 1.0;            ///< the same per atom
  double force_deviation_ = 1.0;           ///< root mean square of a component
  std::vector<train::TermSum> evaluated_;  ///< loss terms of the samples of the last evaluation

  torch::nn::Embedding embedding_{nullptr};
  std::vector<Interaction> interactions_;
  torch::nn::Linear readout_in_{nullptr}, readout_out_{nullptr};
};

}  // namespace cambium::graph
