#pragma once
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/networks/torch/torch_batch.hpp"

namespace cambium::train {

class SavedTensors;

/// Base class of networks built from Torch modules and differentiated by Torch. Derived classes build the module and
/// the loss; optimizer, batches, ranks and files belong to the training layer. Weights and gradients are not copied:
/// the module's parameters are views of the trainer's buffers. One thread, deterministic algorithms.
///
/// Modules with buffers that change during training (running means of batch normalisation) are rejected: such buffers
/// differ between ranks and are not in checkpoints. Use group or layer normalisation.
class TorchNetwork : public Network, public WorksByModule {
 public:
  std::vector<ParameterInfo> parameters() const final;
  /// The segments().
  std::vector<int> modules() const final;
  DType dtype() const final { return precision_ == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) final;
  void gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients, std::span<TermSum> terms,
                const ReadyCallback& ready) final;
  void infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) final;
  void evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<TermSum> metrics) final;
  /// Derived classes that have more also name this one.
  NetworkTraits traits() override { return {.modules = this}; }
  /// True with segments(), unless measure() needs weights twice.
  bool works_by_module() const final;
  void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) final;
  void infer_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                       const ReadyCallback& ready, std::span<const TensorRef> outputs) final;
  /// The model file contains the weights by name; a network with its own format writes it here.
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  /// Compressed: tensors saved by Torch, within bounds (saved_tensors.hpp). Recomputed: for networks with segments.
  void use_activations(const ActivationParams& params) final;
  std::vector<std::string> report() const override;

  /// Calls `run` with the module's parameters set to `weights`, without gradients, in this precision: for outputs in
  /// addition to the loss.
  void with_weights(std::span<const TensorRef> weights, const std::function<void()>& run);

 protected:
  explicit TorchNetwork(Precision precision);
  ~TorchNetwork() override;

  /// Sum over the samples of one term (a tensor with one element), and its divisor in reports.
  struct Term {
    torch::Tensor sum;
    double count = 0.0;
  };

  /// Creates the module; called once, after fit_statistics() or restore(), when sizes are known from the data.
  virtual std::shared_ptr<torch::nn::Module> build() = 0;
  /// The loss terms of terms(), with their graph. `batch` is not empty.
  virtual std::vector<Term> loss(const TorchBatch& batch) = 0;
  /// The values of metrics(), without a graph.
  virtual std::vector<Term> measure(const TorchBatch& batch) { return loss(batch); }
  /// Fills the initial values of a parameter. Default: normal with standard deviation sqrt(2 / inputs) for arrays of
  /// two or more axes (He et al. 2015), ones for other weights, zeros for biases.
  virtual void initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                       std::uint64_t seed) const;

  /// Outputs for a host program, without a graph: one tensor (samples, shape...) per entry of outputs(), of any type.
  virtual std::vector<torch::Tensor> predict(const TorchBatch& /*batch*/) { return {}; }
  /// False if measure() reads weights in an order other than that of segments(), or more than once, or if
  /// export_model() writes files: then no rank can validate with only its shard.
  virtual bool measures_in_order() const { return true; }

  /// Names of the submodules whose weights loss() reads one after the other, each only between its enter() and the next
  /// one: required for sharding weights and gradients. Together they hold all parameters, in order. Empty by default.
  virtual std::vector<std::string> segments() const { return {}; }
  /// Called by loss(): from here on it reads weights of segments()[segment], until it enters another one. In ascending
  /// order.
  void enter(int segment);

  /// For networks that implement HasFactors with layers made by RankLayers (rank_layers.hpp): result of
  /// factor_layers().
  std::vector<FactorLayer> module_layers() const;

  /// True if loss() supports activation checkpointing by recomputed().
  virtual bool can_recompute() const { return false; }
  bool recomputes() const { return recompute_; }

  torch::Dtype real() const { return precision_ == Precision::float64 ? torch::kFloat64 : torch::kFloat32; }

 private:
  struct Bound;
  struct AfterAccumulation;
  Bound& bound() const;
  void find_segments() const;
  void watch_gradients();
  void bind(std::span<const TensorRef> weights, std::span<const TensorRef> gradients);
  void divided_gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const double> term_weights, std::span<const TensorRef> gradients,
                        std::span<TermSum> terms, const ReadyCallback& ready);
  /// A pass over a few samples whose gradient is discarded, so the first batch is compressed like later ones.
  void probe(std::span<const SamplePtr> samples, std::span<const double> term_weights);
  void in_segments(std::span<const TensorRef> weights, const ReadyCallback& ready, const std::function<void()>& run);
  void add_metrics(std::span<const SamplePtr> samples, std::span<TermSum> metrics);
  void write_outputs(std::span<const SamplePtr> samples, std::span<const TensorRef> outputs);
  /// The weighted loss with its graph; adds to `terms`.
  torch::Tensor weighted_loss(std::span<const SamplePtr> samples, std::span<const double> term_weights,
                              std::span<TermSum> terms);
  void backward(const torch::Tensor& loss);

  Precision precision_;
  bool recompute_ = false;
  std::unique_ptr<SavedTensors> saved_;   ///< if the deck has `activations`
  mutable std::unique_ptr<Bound> bound_;  ///< the module, once built
};

}  // namespace cambium::train
