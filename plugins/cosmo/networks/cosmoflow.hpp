#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/networks/torch/rank_layers.hpp"
#include "core/train/networks/torch/torch_network.hpp"

namespace cambium::cosmo {

/// Regression of the parameters of a periodic box, after CosmoFlow (A. Mathuriya et al., SC18; MLPerf HPC): ln((1 +
/// counts)/2), then for each entry of `channels` a periodic 3 x 3 x 3 convolution, leaky ReLU and 2 x 2 x 2 max
/// pooling, then layers of `hidden`, and `scale` tanh for each target. Loss: mean square over the targets, which are
/// within -1 and 1. Unlike in the published network boxes are periodic, and randomly permuted, mirrored and shifted in
/// training (`turn`). If boxes differ by their origin, which is independent of the cosmology, use global average
/// pooling of the convolutions (`pool: mean`). `statistics` names a field of spectra: their logarithms and moments of
/// the counts, as in boxes/statistics.hpp, are then concatenated to the input of the layers and also passed to the
/// targets by one linear skip layer. That layer is initialised with the ridge fit to the training set, so that the
/// network learns its residual (`fit`).
class Cosmoflow : public train::TorchNetwork,
                  public train::HasFactors,
                  public train::ReadsFields,
                  public train::GivesLoss {
 public:
  enum class Pool : std::uint8_t { all, mean };
  struct Params {
    std::vector<std::int64_t> channels, hidden;
    double scale = 1.2, dropout = 0.0;
    bool turn = true, fit = true;
    Pool pool = Pool::all;
    std::string statistics;
    std::string input = "counts", target = "target";
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< of each layer, 0: full rank; empty: all full rank
    static void describe(deck::Describe<Params>& d);
  };
  Cosmoflow(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  std::vector<train::TermInfo> terms() const override { return {{"square", "", train::TermInfo::Report::mean}}; }
  std::vector<train::TermInfo> metrics() const override {
    return {{"absolute_error", "", train::TermInfo::Report::mean},
            {"rms_error", "", train::TermInfo::Report::root_mean}};
  }
  /// Mean square of the unmodified boxes, without dropout.
  void add_loss(std::span<const train::SamplePtr>, std::span<const TensorRef>,
                std::span<train::TermSum> terms) override {
    train::add_terms({&evaluated_, 1}, terms);
  }
  /// "output": the targets.
  std::vector<std::string> fields_to_infer() const override {
    return params_.statistics.empty() ? std::vector{params_.input} : std::vector{params_.input, params_.statistics};
  }
  std::vector<std::string> fields_to_train() const override {
    auto out = fields_to_infer();
    out.push_back(params_.target);
    return out;
  }
  std::vector<train::FieldInfo> outputs() const override { return {{"output", "", {targets_}, DType::f64}}; }
  /// Convolutions, then the fully connected layers.
  train::NetworkTraits traits() override { return {.factors = this, .loss = this, .fields = this, .modules = this}; }
  std::vector<train::FactorLayer> factor_layers() const override { return module_layers(); }
  std::vector<WidthKey> width_keys() const override { return {{"channels"}, {"hidden"}}; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  void fit_spectra(train::Dataset& training);
  /// The ridge fit of the targets, before the tanh, to rows of statistics, a row for each training box.
  void fit_targets(const std::vector<std::vector<double>>& statistics, const std::vector<std::vector<double>>& targets);
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  /// The last layer is initialised with a tenth of the usual scale, so that no tanh begins saturated, and a hundredth
  /// if there is a linear skip layer. A layer initialised from the fit takes its coefficients.
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  torch::Tensor boxes(const train::TorchBatch& batch) const;
  torch::Tensor turned(const torch::Tensor& boxes, const train::TorchBatch& batch) const;
  /// Logarithms of the spectra and moments, (batch, statistics); undefined if the deck names no field of spectra.
  torch::Tensor raw_statistics(const train::TorchBatch& batch) const;
  torch::Tensor statistics(const train::TorchBatch& batch) const;
  /// Applies dropout to a layer's outputs in training.
  torch::Tensor dropped(const torch::Tensor& x, const train::TorchBatch& batch, std::size_t layer) const;
  torch::Tensor answers(torch::Tensor x, const train::TorchBatch& batch, bool trains);

  Params params_;
  std::int64_t cells_ = 0, targets_ = 0;  ///< cells along an edge; targets of a box
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  train::TermSum evaluated_;          ///< loss of the samples that were evaluated last
  std::vector<std::int64_t> scales_;  ///< edges of the cubes over which moments are taken
  std::vector<double> statistics_mean_, statistics_deviation_;
  std::vector<double> fit_weights_, fit_offsets_;  ///< (targets, statistics), (targets); empty without a fit
  std::vector<std::shared_ptr<train::RankLayer>> convolutions_, layers_;
  torch::nn::Linear beside_{nullptr};  ///< from the statistics to the targets
};

}  // namespace cambium::cosmo
