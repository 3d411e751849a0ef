#pragma once
#include "core/deck/describe.hpp"
#include "core/train/networks/torch/rank_layers.hpp"
#include "core/train/networks/torch/torch_network.hpp"

namespace cambium::cosmo {

/// Numbers of a periodic box, after CosmoFlow (A. Mathuriya et al., SC18; MLPerf HPC): ln((1 + counts)/2), then for
/// each entry of `channels` a convolution over 3 x 3 x 3 cells that passes around the box, leaky ReLU and a maximum
/// over 2 x 2 x 2, then layers of `hidden`, and `scale` tanh for each target. Loss: mean square over the targets, which
/// lie within -1 and 1. Unlike the published network: boxes close on themselves, are turned, mirrored and moved at
/// random in training
/// (`turn`), and nothing is dropped out.
class Cosmoflow : public train::TorchNetwork, public train::HasFactors {
 public:
  struct Params {
    std::vector<std::int64_t> channels, hidden;
    double scale = 1.2;
    bool turn = true;
    std::string input = "counts", target = "target";
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< of each layer, 0: whole; empty: all are
    static void describe(deck::Describe<Params>& d);
  };
  Cosmoflow(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  std::vector<train::TermInfo> terms() const override { return {{"square", "", train::TermInfo::Report::mean}}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {1.0}; }
  std::vector<train::TermInfo> metrics() const override {
    return {{"absolute_error", "", train::TermInfo::Report::mean},
            {"rms_error", "", train::TermInfo::Report::root_mean}};
  }
  /// "output": the targets.
  std::vector<train::FieldInfo> outputs() const override { return {{"output", "", {targets_}, DType::f64}}; }
  /// Convolutions, then the layers behind them.
  std::vector<train::FactorLayer> factor_layers() const override { return module_layers(); }
  std::vector<WidthKey> width_keys() const override { return {{"channels"}, {"hidden"}}; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  /// The last layer begins a tenth as wide as others, so that no tanh begins where it is flat.
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  torch::Tensor boxes(const train::TorchBatch& batch) const;
  torch::Tensor turned(const torch::Tensor& boxes, const train::TorchBatch& batch) const;
  torch::Tensor answers(torch::Tensor x);

  Params params_;
  std::int64_t cells_ = 0, targets_ = 0;  ///< along an edge; numbers of a box
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  std::vector<std::shared_ptr<train::RankLayer>> convolutions_, layers_;
};

}  // namespace cambium::cosmo
