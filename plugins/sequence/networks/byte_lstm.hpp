#pragma once
#include "core/deck/describe.hpp"
#include "core/train/networks/torch/torch_network.hpp"

namespace cambium::sequence {

/// Baseline for a transformer over bytes: byte embeddings, stacked layers of long short-term memory (Hochreiter and
/// Schmidhuber 1997), and a matrix to 256 logits. Takes the same fields as `transformer`, with the same loss and
/// metrics: cross entropy of every byte but the first given those before it, or of the bytes that the data mark as
/// answers. The time of a step grows with the length of a text, the size of its state does not.
class ByteLstm : public train::TorchNetwork {
 public:
  enum class Learn { every_byte, answers };
  struct Params {
    std::int64_t layers = 1, width = 128;
    std::string input = "text", answers = "answer";
    Learn learn = Learn::every_byte;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  ByteLstm(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::TermInfo> terms() const override { return {{"nats_per_byte", "", train::TermInfo::Report::mean}}; }
  std::vector<train::TermInfo> metrics() const override;
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  /// Weights of a recurrent layer have deviation 1 / sqrt(width).
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  struct Said {
    torch::Tensor losses, right, answers;  ///< (batch, length - 1): nats; 1 if the most likely byte is correct; marks
  };
  /// With the marks of answers where `marked`, which every text then needs. InputError for texts that are not bytes.
  Said said(const train::TorchBatch& batch, bool marked);

  Params params_;
  std::int64_t length_ = 0;
  bool has_answers_ = false;
  torch::nn::Embedding bytes_{nullptr};
  torch::nn::LSTM cells_{nullptr};
  torch::nn::Linear head_{nullptr};
};

}  // namespace cambium::sequence
