#pragma once
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/superres/decoder/latent_cells.hpp"
#include "plugins/superres/networks/flow_scaling.hpp"

namespace cambium::superres {

/// Base class of this plugin's networks: they read windows of coarse samples (samples/window.hpp) and predict fields at
/// points. Internally fields are scaled to mean 0 and standard deviation 1.
class FlowNetwork : public train::TorchNetwork, public train::GivesLoss, public train::HasConditions {
 public:
  enum class Loss { l1, l2 };

  void fit_statistics(train::Dataset& training, Context& context) override;
  train::NetworkTraits traits() override { return {.loss = this, .modules = this, .conditions = this}; }
  std::vector<train::Condition> conditions() const override { return scaling_.conditions; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;
  /// Loss stored by measure().
  void add_loss(std::span<const train::SamplePtr>, std::span<const TensorRef>,
                std::span<train::TermSum> terms) override {
    train::add_terms(evaluated_, terms);
  }
  /// "fields" (points, 4): physical units.
  std::vector<train::FieldInfo> outputs() const override;

 protected:
  FlowNetwork(Precision precision, Loss loss) : TorchNetwork(precision), loss_(loss) {}

  /// Scaled fields at the points of all samples, (points of all, fields).
  virtual torch::Tensor values(const train::TorchBatch& batch) = 0;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;

  /// (batch, fields, t, x, z), scaled.
  torch::Tensor coarse(const train::TorchBatch& batch) const;
  /// The nodes of one sample of the batch.
  LatentCells cells(const train::TorchBatch& batch, std::int64_t sample) const;
  /// Sum over the batch of each sample's mean loss of scaled values, and the number of samples.
  Term data_term(const torch::Tensor& scaled, const train::TorchBatch& batch) const;
  /// Sum of squares of `scaled` minus the truth, and the number of values.
  Term square_term(const torch::Tensor& scaled, const train::TorchBatch& batch) const;
  /// For measure(): stores the terms of the loss, without noise and preceding forecasts.
  void keep_loss(const std::vector<Term>& loss);
  Loss loss_of() const { return loss_; }
  torch::Tensor size_of(const torch::Tensor& x) const { return loss_ == Loss::l1 ? x.abs() : x.square(); }

  /// One value for each field, broadcastable to values(): float64.
  torch::Tensor per_field(const std::vector<double>& values) const;
  /// True if the data set may be `snapshots`: values() then are (batch, fields, x, z), the next frame.
  virtual bool can_forecast() const { return false; }

  FlowScaling scaling_;
  std::vector<int> later_;  ///< of each sample of a forecast in training: frames between its first and its target

 private:
  torch::Tensor truth(const train::TorchBatch& batch) const;
  Loss loss_;
  std::vector<train::TermSum> evaluated_;
};

}  // namespace cambium::superres
