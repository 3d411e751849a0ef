#pragma once
#include "core/deck/describe.hpp"
#include "plugins/superres/networks/flow_network.hpp"
#include "plugins/superres/networks/rollout_keys.hpp"
#include "plugins/superres/networks/unet.hpp"

namespace cambium::superres {

/// Baseline without equations: the same U-Net, followed by blocks that refine its grid to `ratio` times as many cells,
/// whose nodes hold the fields; between nodes they are interpolated linearly. For `snapshots` it forecasts the next
/// frame, on the grid of the data.
class FlowUnet : public FlowNetwork, public train::HasFactors {
 public:
  struct Params : RolloutKeys {
    std::int64_t features = 16, most_features = 256;
    int levels = 0;
    std::array<std::int64_t, 3> ratio{};
    bool interpolate = true;
    Loss loss = Loss::l1;
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< factor ranks of the layers of each block, 0: full; empty: all are full
    static void describe(deck::Describe<Params>& d);
  };
  FlowUnet(const Params& params, Context&) : FlowNetwork(params.precision, params.loss), params_(params) {}

  void fit_statistics(train::Dataset& training, Context& context) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { moment_ = {seed, step}; }
  std::vector<train::TermInfo> terms() const override { return {{"data", "", train::TermInfo::Report::mean}}; }
  std::vector<train::TermInfo> metrics() const override {
    return {{"error", "", train::TermInfo::Report::mean}, {"scaled_rms_error", "", train::TermInfo::Report::root_mean}};
  }
  train::NetworkTraits traits() override {
    return {.factors = this, .loss = this, .modules = this, .conditions = this};
  }
  std::vector<train::FactorLayer> factor_layers() const override { return module_layers(); }
  std::vector<WidthKey> width_keys() const override { return {{"base_channels"}, {"max_channels"}}; }

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<std::string> segments() const override {
    return params_.push_forward > 0 ? std::vector<std::string>{} : unet_->blocks();
  }
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  torch::Tensor values(const train::TorchBatch& batch) override;
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  torch::Tensor forecast(const torch::Tensor& frames, bool tell);
  torch::Tensor training_frames(const train::TorchBatch& batch);
  bool can_forecast() const override { return true; }

  Params params_;
  std::shared_ptr<Unet> unet_;
  Moment moment_;
};

}  // namespace cambium::superres
