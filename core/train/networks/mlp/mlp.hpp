#pragma once
#include <memory>

#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "core/numerics/activation.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/parity.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/kinds/works_by_module.hpp"

namespace cambium::train {

class MlpOnDevice;

/// Layer widths (inputs first), and the layers without an activation after them.
struct MlpShape {
  std::vector<std::int64_t> widths;
  std::vector<bool> plain;
};

/// Fully connected network from one field of the samples to another, with hand-written gradients. Regression: inputs
/// and targets are scaled to zero mean and unit standard deviation; the loss is the mean squared error of the scaled
/// outputs, the metric the root mean squared error in the target's unit. Classification: the target is a class index;
/// the loss is the cross entropy of the softmax, the metric the error rate.
class Mlp : public Network,
            public GivesParity,
            public HasFactors,
            public ReadsFields,
            public GivesLoss,
            public WorksByModule {
 public:
  enum class Goal { regression, classification };
  using Activation = cambium::Activation;
  enum class Compute { automatic, host, kernels };
  struct Params {
    std::vector<std::int64_t> layers;
    Activation activation = Activation::tanh;
    std::string input = "input", target = "target";
    Goal goal = Goal::regression;
    double label_smoothing = 0.0;
    Precision precision = Precision::float32;
    bool normalise = true;
    Compute compute = Compute::automatic;
    std::vector<std::int64_t> ranks;  ///< per layer, 0: not factored; empty: none is
    static void describe(deck::Describe<Params>& d);
  };
  Mlp(const Params& params, Context&);

  void fit_statistics(Dataset& training, Context&) override;
  std::vector<ParameterInfo> parameters() const override;
  DType dtype() const override { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<int> modules() const override;  ///< the layers
  void begin_step(std::uint64_t seed, std::int64_t step) override;
  void begin_evaluation(Dataset& data, std::span<const TensorRef> weights) override;
  std::vector<std::string> report() const override;
  std::vector<TermInfo> terms() const override;
  void gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients, std::span<TermSum> terms,
                const ReadyCallback& ready) override;
  /// error in the target's unit; of several values also scaled_error, each over its standard deviation in training.
  /// wrong and cross_entropy of classes.
  std::vector<TermInfo> metrics() const override;
  void evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<TermSum> metrics) override;
  void add_loss(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<TermSum> terms) override;
  void evaluate_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                          const ReadyCallback& ready, std::span<TermSum> metrics, std::span<TermSum> loss) override;
  void infer_by_module(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                       const ReadyCallback& ready, std::span<const TensorRef> outputs) override;
  /// "output": values in the target's unit, or class probabilities.
  std::vector<FieldInfo> outputs() const override;
  void infer(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> fields_to_infer() const override { return {params_.input}; }
  std::vector<std::string> fields_to_train() const override { return {params_.input, params_.target}; }
  /// The target of a regression; none for classification.
  std::vector<io::ParityQuantity> parity_quantities() const override;
  void add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                  std::span<io::ParityQuantity> quantities) override;
  std::int64_t parity_classes() const override { return params_.goal == Goal::classification ? scaling_.classes : 0; }
  void add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                   ClassPredictions& predictions) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  NetworkTraits traits() override {
    return {.parity = this, .factors = this, .loss = this, .fields = this, .modules = this};
  }
  std::vector<FactorLayer> factor_layers() const override;
  std::vector<WidthKey> width_keys() const override { return {{"layers"}}; }
  void use_coded(const CodedWeights& coded) override { coded_ = &coded; }
  std::string state() const override;
  void restore(const std::string& state) override;

  /// Outputs in the target's unit (regression) or probabilities (classification), samples x outputs. `keep`: the
  /// weights are those of begin_evaluation(), if that was called last.
  std::vector<double> predict(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, bool keep = false,
                              const ReadyCallback& ready = {});

  /// Statistics of the data; part of state().
  struct Scaling {
    std::vector<double> input_mean, input_scale, target_mean, target_scale;
    std::int64_t classes = 0;
    std::string target_unit;
  };

 protected:
  Params params_;
  Scaling scaling_;
  std::shared_ptr<MlpOnDevice> device_;

 private:
  template <class T>
  std::vector<T> scaled_outputs(std::span<const SamplePtr> samples, std::span<const TensorRef> weights, bool keep,
                                const ReadyCallback& ready = {});
  template <class T>
  std::vector<double> predicted(std::size_t samples, std::span<const T> outputs) const;
  void add_errors(std::span<const SamplePtr> samples, std::span<const double> predicted,
                  std::span<TermSum> metrics) const;

  const CodedWeights* coded_ = nullptr;  ///< replaces the full weights, for inference only
};

/// Layer widths, given the statistics of the data.
MlpShape shape_of(const Mlp::Params& params, const Mlp::Scaling& scaling);

}  // namespace cambium::train
