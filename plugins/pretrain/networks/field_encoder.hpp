#pragma once
#include <memory>
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/contrastive/contrastive_loss.hpp"
#include "plugins/pretrain/networks/encoder.hpp"
#include "plugins/pretrain/networks/encoder_module.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// Fields as unit vectors, by self-supervised contrastive learning: a field and its positive become similar, and
/// dissimilar to those of all other samples of the batch on all ranks (plugins/pretrain/contrastive). Metrics compare
/// each sample with all of the validation set: the fraction whose positive is not the nearest, and its mean rank (1:
/// nearest).
class FieldEncoder : public train::TorchNetwork, public train::KeepsNumbers, public Encoder {
 public:
  /// The positive: a second view of the field itself, the sample's `partner`, or the parameters of its run.
  enum class Partner { view, field, parameters };
  enum class Pool { mean, cells };
  struct ParameterEncoder {
    std::vector<std::int64_t> hidden;
    static void describe(deck::Describe<ParameterEncoder>& d);
  };
  struct Params {
    std::vector<std::int64_t> channels;
    std::optional<TransformerKeys> transformer;
    std::int64_t width = 64;
    Pool pool = Pool::mean;
    Partner partner = Partner::view;
    bool shared = true;
    ParameterEncoder parameter_encoder;
    AugmentKeys augment;
    train::ContrastiveKeys loss;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  FieldEncoder(const Params& params, Context& context);

  void fit_statistics(train::Dataset& training, Context& context) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  void begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t, double) const override { return {1.0, 0.0, 0.0}; }
  std::vector<train::TermInfo> metrics() const override;
  /// "vector": of the field; "partner": of its positive, if there is one (zeros if a sample lacks it).
  std::vector<train::FieldInfo> outputs() const override;
  std::vector<Citation> citations() const override;
  std::vector<std::string> report() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

  train::NetworkTraits traits() override { return {.joins_ranks = true, .numbers = this, .modules = this}; }
  train::KeptNumbers kept() const override { return loss_->kept(); }
  void take(const train::KeptNumbers& kept) override { loss_->take(kept); }

  std::int64_t width() const override { return params_.width; }
  std::int64_t parameters_count() const override {
    return params_.partner == Partner::parameters ? std::ssize(scales_.parameters) : 0;
  }
  std::vector<double> vectors_of(std::span<const double> parameters, std::span<const TensorRef> weights) override;

 private:
  struct Pair {
    torch::Tensor first, second;  ///< (samples, width), unit rows
  };
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;

  Pair pair(const train::TorchBatch& batch, std::int64_t step, bool changed);
  template <class T>
  std::vector<Term> loss_of(const Pair& pair, const std::vector<std::int64_t>& ids);
  void make_loss();

  Params params_;
  Context& context_;
  std::int64_t samples_ = 0;  ///< in the training set
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  std::unique_ptr<train::ContrastiveLoss> loss_;
  struct Placed {
    std::int64_t sample = 0;
    double place = 1.0, wrong = 0.0;  ///< of its positive; ties count half before it, half after
  };
  std::vector<Placed> places_;  ///< from begin_evaluation(), by sample

  std::shared_ptr<EncoderModule> module_;
};

}  // namespace cambium::pretrain
