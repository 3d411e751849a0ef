#pragma once
#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/works_by_module.hpp"
#include "core/train/networks/attention/attention.hpp"

namespace cambium::sequence {

/// A transformer over bytes, with hand-written gradients: embeddings of byte and position, blocks of attention and a
/// GELU network, each with RMS pre-normalisation and a residual connection, a final norm and a matrix to 256 logits.
/// The loss is the cross entropy of every byte but the first, given those before it, or of the bytes that the data mark
/// as answers; the metric `above_floor` subtracts the lower bound given by the data, `answers_right` is the fraction of
/// the answers whose byte has the largest logit. Matrices have no biases. Random features of attention are drawn with
/// the initial weights and belong to state().
///
/// If it is not `causal`, attention is bidirectional and every position predicts its own byte (Devlin et al. 2019); the
/// bytes in the loss are replaced by a mask token: the answers, or a fraction of each text redrawn in every step (the
/// same in every evaluation).
class Transformer : public train::Network, public train::HasFactors, public train::WorksByModule {
 public:
  enum class LinearWeights { full, ternary, mxfp8_e4m3, mxfp8_e5m2, mxfp4 };
  enum class Activations { full, int8, mxfp8_e4m3, mxfp8_e5m2, mxfp4 };
  enum class Learn { every_byte, answers };  ///< bytes whose cross entropy is the loss
  /// Matrix products inside the blocks. `ternary`: BitNet b1.58, weights -s, 0, s with s their mean magnitude in the
  /// products, and straight-through gradients to the stored full-precision weights. `int8`: inputs of products rounded
  /// to 8 bits per position. Microscaling formats (core/lowp/microscaling.hpp): factors rounded to nearest, in blocks
  /// along the summed dimension; accumulation as in `precision`, straight-through gradients.
  struct Linear {
    LinearWeights weights = LinearWeights::full;
    Activations activations = Activations::full;
    static void describe(deck::Describe<Linear>& d);
  };
  struct Params {
    int layers = 2, width = 128, heads = 4, expand = 4;
    std::string input = "text", floor = "surprise", answers = "answer";
    Learn learn = Learn::every_byte;
    bool causal = true;
    double masked = 0.15;
    train::AttentionParams attention;
    Precision precision = Precision::float32;
    Linear linear;
    std::vector<std::int64_t> ranks;  ///< factor ranks of each block's matrices and the head, 0: full; empty: all
    static void describe(deck::Describe<Params>& d);
  };
  Transformer(const Params& params, Context&);

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<int> modules() const override;  ///< embeddings, blocks, head
  std::vector<train::TermInfo> terms() const override { return {{"nats_per_byte", "", train::TermInfo::Report::mean}}; }
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  /// For each block the matrices of queries, keys and values, output projection, MLP up and down; then the head.
  train::NetworkTraits traits() override { return {.factors = this, .modules = this}; }
  std::vector<train::FactorLayer> factor_layers() const override;
  std::vector<WidthKey> width_keys() const override { return {{"width", params_.heads}}; }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;

  /// nats_per_byte of the bytes in the loss, above_floor if the data have a lower bound, answers_right if they mark
  /// answers.
  std::vector<train::TermInfo> metrics() const override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  void evaluate_by_module(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                          const train::ReadyCallback& ready, std::span<train::TermSum> metrics,
                          std::span<train::TermSum> loss) override;

  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  void use_coded(const train::CodedWeights& coded) override { coded_ = &coded; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  /// 1 for every position of the samples whose byte is an answer, else 0. InputError for a sample without any.
  std::vector<double> answers_of(std::span<const train::SamplePtr> samples) const;
  /// 1 for every position whose byte is in the loss, else 0; empty if all are. For `step` of a training or an
  /// evaluation.
  std::vector<double> learnt(std::span<const train::SamplePtr> samples, std::uint64_t seed, std::int64_t step) const;
  /// Answers cannot be evaluated if random other bytes are masked.
  bool judges_answers() const { return has_answers_ && (params_.causal || params_.learn == Learn::answers); }
  std::int64_t places() const { return length_ - (params_.causal ? 1 : 0); }
  std::size_t features_needed() const;

  Params params_;
  std::int64_t length_ = 0;  ///< bytes of a sample
  bool has_floor_ = false, has_answers_ = false;
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  std::vector<double> features_;                ///< random features of attention: layers x features x head size
  const train::CodedWeights* coded_ = nullptr;  ///< instead of full weights, for inference
};

}  // namespace cambium::sequence
