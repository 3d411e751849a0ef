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

/// A network written with Torch's modules and differentiated by Torch. Who derives from it builds the module and writes
/// the loss; optimizer, batches, ranks and files are the training layer's. Weights and gradients are not copied: the
/// module's parameters are views of the trainer's buffers. One thread, deterministic algorithms.
///
/// Modules with buffers that change during training (running means of batch normalisation) are refused: such buffers
/// differ from rank to rank and belong to no checkpoint. Use group or layer normalisation.
class TorchNetwork : public Network, public WorksByModule {
 public:
  std::vector<ParameterInfo> parameters() const final;
  /// Those of segments().
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
  /// With segments(), unless measure() needs weights twice.
  bool works_by_module() const final;
  void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) final;
  void infer_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                       const ReadyCallback& ready, std::span<const TensorRef> outputs) final;
  /// The model file holds the weights by name; a network with a format of its own writes it here.
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  /// Compressed: what Torch saves, within bounds (saved_tensors.hpp). Recomputed: by networks that name their segments.
  void use_activations(const ActivationParams& params) final;
  std::vector<std::string> report() const override;

  /// Calls `run` with the module's parameters in `weights`, without gradients, in this precision: for outputs beside
  /// the loss.
  void with_weights(std::span<const TensorRef> weights, const std::function<void()>& run);

 protected:
  explicit TorchNetwork(Precision precision);
  ~TorchNetwork() override;

  /// Sum over the samples of one term (a tensor of one element), and what it is divided by in reports.
  struct Term {
    torch::Tensor sum;
    double count = 0.0;
  };

  /// Makes the module; called once, after fit_statistics() or restore(). Sizes come from the data by then.
  virtual std::shared_ptr<torch::nn::Module> build() = 0;
  /// The loss terms of terms(), with their graph. `batch` is not empty.
  virtual std::vector<Term> loss(const TorchBatch& batch) = 0;
  /// The values of metrics(); no graph is kept.
  virtual std::vector<Term> measure(const TorchBatch& batch) { return loss(batch); }
  /// Standard deviation of a parameter's first values, or none for zeros. Default: sqrt(2 / inputs) for arrays of two
  /// and more axes (He et al. 2015), ones for other weights, zeros for biases.
  virtual void initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                       std::uint64_t seed) const;

  /// Output for a host program, without a graph: one tensor (samples, shape...) for each of outputs(), of any type.
  virtual std::vector<torch::Tensor> predict(const TorchBatch& /*batch*/) { return {}; }
  /// False if measure() reads weights in another order than that of segments(), or more than once, or if export_model()
  /// writes files: then no rank can validate with its share alone.
  virtual bool measures_in_order() const { return true; }

  /// Names of the submodules whose weights loss() reads one after the other, each only between its enter() and the
  /// next: then weights and gradients can be divided among ranks. Together they hold all parameters, in their order.
  /// None by default.
  virtual std::vector<std::string> segments() const { return {}; }
  /// Called by loss(): from here on it reads weights of segments()[segment], until it enters another. They come in
  /// ascending order.
  void enter(int segment);

  /// For networks that are HasFactors and whose layers RankLayers makes (rank_layers.hpp): what factor_layers() says.
  std::vector<FactorLayer> module_layers() const;

  /// True if loss() takes its parts through recomputed() when asked to.
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
  /// A pass over a few samples, whose gradient is dropped, so that the first batch is compressed like those after it.
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
  std::unique_ptr<SavedTensors> saved_;   ///< where the deck has `activations`
  mutable std::unique_ptr<Bound> bound_;  ///< the module, once it is built
};

}  // namespace cambium::train
