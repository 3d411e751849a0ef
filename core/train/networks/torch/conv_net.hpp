#pragma once
#include "core/deck/describe.hpp"
#include "core/train/data/normalizer.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/parity.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/networks/torch/torch_network.hpp"

namespace cambium::train {

/// A small convolutional image classifier: for each entry of `channels` a convolution, relu, `residual` blocks relu(x +
/// convolution(relu(convolution(x)))) (He et al., CVPR 2016, without batch normalisation) and 2 x 2 max pooling; then a
/// hidden layer and one output per class. Loss: cross entropy of the softmax, with label smoothing. Initial weights of
/// a block's second convolution are scaled by 1 / sqrt(blocks), so the sum over many blocks stays bounded (Zhang et
/// al., ICLR 2019). Images are (height, width) or (channels, height, width), of any numeric type. The example of a
/// Torch network.
class ConvNet : public TorchNetwork, public GivesParity, public HasFactors, public ReadsFields {
 public:
  struct Params {
    std::vector<std::int64_t> channels;
    std::int64_t residual = 0, kernel = 3, hidden = 64;
    std::string input = "image", target = "label";
    double label_smoothing = 0.0;
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< per layer, 0: not factored; empty: none is
    static void describe(deck::Describe<Params>& d);
  };
  ConvNet(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(Dataset& training, Context&) override;
  std::vector<TermInfo> terms() const override { return {{"cross_entropy", "", TermInfo::Report::mean}}; }
  std::vector<TermInfo> metrics() const override {
    return {{"wrong", "", TermInfo::Report::mean}, {"cross_entropy", "", TermInfo::Report::mean}};
  }
  /// "output": probabilities of the classes.
  std::vector<FieldInfo> outputs() const override { return {{"output", "", {classes_}, DType::f64}}; }
  std::vector<std::string> fields_to_infer() const override { return {params_.input}; }
  std::vector<std::string> fields_to_train() const override { return {params_.input, params_.target}; }
  std::vector<io::ParityQuantity> parity_quantities() const override { return {}; }
  void add_parity(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<io::ParityQuantity>) override {}
  std::int64_t parity_classes() const override { return classes_; }
  void add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                   ClassPredictions& predictions) override;
  /// Factored layers: convolutions (both of each block), the hidden layer, the classes.
  NetworkTraits traits() override { return {.parity = this, .factors = this, .fields = this, .modules = this}; }
  std::vector<FactorLayer> factor_layers() const override { return module_layers(); }
  std::vector<WidthKey> width_keys() const override { return {{"channels"}, {"hidden"}}; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const TorchBatch& batch) override;
  std::vector<Term> measure(const TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const TorchBatch& batch) override;
  void initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  bool can_recompute() const override { return true; }
  std::vector<std::string> segments() const override { return segments_; }
  torch::Tensor scores(const TorchBatch& batch);
  torch::Tensor labels(const TorchBatch& batch) const;
  torch::Tensor images(const TorchBatch& batch) const;

  Params params_;
  Normalizer normalizer_;
  std::vector<std::int64_t> image_;  ///< channels, height, width
  std::int64_t classes_ = 0;
  std::shared_ptr<torch::nn::SequentialImpl> layers_;
  std::vector<std::string> segments_;  ///< the layers with weights
  std::vector<std::size_t> pieces_;    ///< for each of them, the end of the run of layers that belongs to it
};

}  // namespace cambium::train
