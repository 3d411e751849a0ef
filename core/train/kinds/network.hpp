#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/citation.hpp"
#include "core/base/tensor_ref.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/activations.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// One trainable tensor, in the network's fixed order.
struct ParameterInfo {
  std::string name;  ///< such as "embedding.0.1.w"
  std::vector<std::int64_t> shape;
  bool decay = true;    ///< weight decay and layer-wise rates (LARS, LAMB) apply; false for biases and norms
  bool linear = false;  ///< the matrix of a linear layer inside the network: may be quantised to few bits
};

/// A term of the loss or a validation metric. Sums over samples are exchanged, so ranks may hold unequal batches.
struct TermInfo {
  std::string name;                                                  ///< such as "force"
  std::string unit;                                                  ///< of the reported value, such as "eV/Å"
  enum class Report { mean, root_mean } report = Report::root_mean;  ///< reduction of sum / count in the log
};

/// Sum and weight of one term over some samples: the reported value is report(sum / count).
struct TermSum {
  double sum = 0.0;
  double count = 0.0;
};

/// Callbacks of a network to the trainer during a gradient. ready(k) reports that the gradient of parameter k is final,
/// so its group can be sent while the rest is computed. A network with modules() also announces the modules that it is
/// about to use.
class ReadyCallback {
 public:
  using Call = std::function<void(int)>;
  ReadyCallback() = default;
  template <std::invocable<int> F>
  requires(!std::same_as<std::remove_cvref_t<F>, ReadyCallback>) ReadyCallback(F&& ready)
      : ready_(std::forward<F>(ready)) {}
  ReadyCallback(Call ready, Call forward, Call backward, Call release)
      : ready_(std::move(ready)), forward_(std::move(forward)), backward_(std::move(backward)),
        release_(std::move(release)) {}

  void operator()(int parameter) const { ready_(parameter); }
  explicit operator bool() const { return static_cast<bool>(ready_); }
  /// Weights are present only while their module is in use; otherwise all are always present.
  bool by_module() const { return static_cast<bool>(forward_); }

  /// Called before the forward pass reads the weights of a module; its weight views are valid from then until
  /// release(). Modules come in ascending order.
  void forward(int module) const {
    if (forward_) forward_(module);
  }
  /// The same for the backward pass, in descending order; until ready() the gradient views are valid, too.
  void backward(int module) const {
    if (backward_) backward_(module);
  }
  void release(int module) const {
    if (release_) release_(module);
  }

 private:
  Call ready_, forward_, backward_, release_;
};

class CodedWeights;
class GivesLoss;
class HasConditions;
class GivesParity;
class HasFactors;
class HasRunningStatistics;
class JudgesShares;
class KeepsNumbers;
class ReadsFields;
class TrainsOnDevice;
class UsesTables;
class WorksByModule;
class WorksOnGraph;

/// Optional features of a network, each declared here and nowhere else. A pointer is to the network itself, or null if
/// it does not implement the interface; all but `device` stay the same once the data are known.
struct NetworkTraits {
  /// The loss compares the samples of a step across all ranks: gradient() communicates. Every rank then calls it
  /// exactly once per step, with at least one sample; the stage `train` rejects settings that violate this.
  bool joins_ranks = false;
  /// Metrics for which higher is better, such as accuracies, in the order of metrics(); empty: none.
  std::vector<bool> higher_is_better = {};
  /// Fields of the training data that evaluation does not need: labels that outputs are only compared with (forces in
  /// addition to energies), and fields that this network does not read.
  std::vector<std::string> spared_labels = {};
  GivesParity* parity = nullptr;               ///< predictions with labels, for tables and plots
  HasFactors* factors = nullptr;               ///< layers that support low-rank factors (core/train/low_rank)
  KeepsNumbers* numbers = nullptr;             ///< extra state of checkpoints
  UsesTables* tables = nullptr;                ///< embedding tables (core/train/tables)
  JudgesShares* shares = nullptr;              ///< validation of all samples at once
  TrainsOnDevice* device = nullptr;            ///< gradients on the device, if the weights are stored there
  const WorksOnGraph* graph = nullptr;         ///< work of one epoch, for `cambium plan`
  GivesLoss* loss = nullptr;                   ///< loss terms of samples outside the training set
  const ReadsFields* fields = nullptr;         ///< fields that infer() reads
  HasRunningStatistics* statistics = nullptr;  ///< averages that forward passes update
  WorksByModule* modules = nullptr;            ///< initialisation, evaluation and inference module by module
  const HasConditions* conditions = nullptr;   ///< parameters of the systems behind the training data
};

/// A trainable model: parameters that the training layer owns, and the gradient of its weighted loss. A network has no
/// optimizer, no communicator and no random state of its own. Weights and gradients are views into the trainer's flat
/// buffers, in the order of parameters(), all of dtype(). One thread per call.
///
/// Eight functions are required: fit_statistics, parameters, dtype, initialise, terms, gradient, evaluate and
/// export_model.
class Network {
 public:
  using Kind = Network;
  static constexpr std::string_view kind = "network";
  virtual ~Network() = default;

  /// Reads the data once, before anything else: statistics, sizes, species. Same result on every rank.
  virtual void fit_statistics(Dataset& training, Context&) = 0;
  virtual std::vector<ParameterInfo> parameters() const = 0;
  /// Precision in which weights are read and gradients written: f64 or f32 (bf16 networks convert internally).
  virtual DType dtype() const = 0;
  /// Fills the weights from (seed, stream, parameter, element): the same on every rank, so nothing is broadcast.
  virtual void initialise(std::span<const TensorRef> weights, std::uint64_t seed) = 0;

  virtual NetworkTraits traits() { return {}; }

  /// First parameter of every module, ascending from 0, if gradient() announces through its callback which module it
  /// uses; required for sharding weights and gradients. Empty by default.
  virtual std::vector<int> modules() const { return {}; }

  /// Sets how activations are stored for the backward pass. InputError from networks without this choice.
  virtual void use_activations(const ActivationParams& params);
  /// Makes evaluate() and infer() multiply by these quantised matrices, which must outlive the network's last call.
  /// Implemented by networks that mark parameters as linear.
  virtual void use_coded(const CodedWeights& coded);
  /// Lines for the stage summary of a training.
  virtual std::vector<std::string> report() const { return {}; }
  /// Publications of the methods in the network, for the run's cite.bib.
  virtual std::vector<Citation> citations() const { return {}; }

  /// Collective, before the gradients of a step; seed and step address everything random in it. A network whose samples
  /// depend on each other (nodes of one graph) may communicate in its first gradient() of a step, given a loader that
  /// leaves no slice empty.
  virtual void begin_step(std::uint64_t /*seed*/, std::int64_t /*step*/) {}
  /// Collective, before evaluate() is called for samples of `data`, all with these weights: for computations over all
  /// samples at once.
  virtual void begin_evaluation(Dataset& /*data*/, std::span<const TensorRef> /*weights*/) {}

  /// Terms of the loss, in the order of term_weights below.
  virtual std::vector<TermInfo> terms() const = 0;
  /// Weights of the terms at this point of training, all one by default. `rate` is the learning rate relative to its
  /// initial value.
  virtual std::vector<double> term_weights(std::int64_t /*step*/, double /*rate*/) const {
    return std::vector<double>(terms().size(), 1.0);
  }
  /// Adds to `gradients` the gradient of sum over the samples of sum_k term_weights[k] * term_k(sample), and to `terms`
  /// the unweighted sums. The trainer divides by the number of samples of the global batch.
  virtual void gradient(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const double> term_weights, std::span<const TensorRef> gradients,
                        std::span<TermSum> terms, const ReadyCallback& ready) = 0;

  /// Validation metrics; the first one selects the best model (lower is better).
  virtual std::vector<TermInfo> metrics() const { return terms(); }
  virtual void evaluate(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<TermSum> metrics) = 0;

  /// Outputs that a host program can request: name, unit and shape per sample. None by default.
  virtual std::vector<FieldInfo> outputs() const { return {}; }
  /// Fills one float64 array per output, (samples, shape...) with any strides.
  virtual void infer(std::span<const SamplePtr> /*samples*/, std::span<const TensorRef> /*weights*/,
                     std::span<const TensorRef> /*outputs*/) {}

  /// Writes the trained model in the network's own format(s) under `directory`, on one rank; returns the files' names.
  virtual std::vector<std::string> export_model(const std::string& directory, std::span<const TensorRef> weights,
                                                Context&) const = 0;
  /// State that export_model and a resumed run need in addition to weights (statistics), as JSON text, none by default;
  /// restore() reads it.
  virtual std::string state() const { return "{}"; }
  virtual void restore(const std::string& /*state*/) {}
};

}  // namespace cambium::train
