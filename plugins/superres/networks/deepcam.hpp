#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/superres/networks/segmentation.hpp"

namespace cambium::superres {

/// Semantic segmentation of images, after DeepCAM (T. Kurth et al., SC18; MLPerf HPC): a network trained with the
/// pointwise cross entropy, weighted by a power of the fraction of each class. Metric: intersection over union, for
/// each image the mean over the classes including background. Data augmentation: images are shifted along a periodic x,
/// mirrored, and turned upside down with warm and cold exchanged (`mirror`).
class Deepcam : public train::TorchNetwork, public train::ReadsFields {
 public:
  enum class Topology : std::uint8_t { encoder_decoder, deeplabv3plus };
  struct DeepLab {
    std::vector<std::int64_t> stem, entry, exit, rates;
    std::int64_t middle = 16, pyramid = 256, low = 48;
    static void describe(deck::Describe<DeepLab>& d);
  };
  struct Params {
    Topology topology = Topology::encoder_decoder;
    std::int64_t features = 16, levels = 3;
    DeepLab deeplab;
    std::vector<std::string> inputs;
    double class_power = -0.125;
    bool mirror = true;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  Deepcam(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  std::vector<train::TermInfo> terms() const override { return {{"cross_entropy", "", train::TermInfo::Report::mean}}; }
  std::vector<train::TermInfo> metrics() const override {
    return {{"iou", "", train::TermInfo::Report::mean}, {"cross_entropy", "", train::TermInfo::Report::mean}};
  }
  train::NetworkTraits traits() override {
    return {.higher_is_better = {true, false}, .fields = this, .modules = this};
  }
  /// "class": of each point.
  std::vector<std::string> fields_to_infer() const override { return params_.inputs; }
  std::vector<train::FieldInfo> outputs() const override { return {{"class", "", {nx_, nz_}, DType::f64}}; }
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  /// The bias of the last layer is initialised with the class fractions, so that no steps are spent on learning them.
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  torch::Tensor images(const train::TorchBatch& batch) const;
  void mirror(torch::Tensor& images, torch::Tensor& classes, const train::TorchBatch& batch) const;
  torch::Tensor entropy(const torch::Tensor& scores, const torch::Tensor& classes) const;

  Params params_;
  std::int64_t nx_ = 0, nz_ = 0;
  bool wraps_ = false;
  std::vector<double> mean_, deviation_;  ///< of each input
  std::vector<double> class_weights_, shares_;
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  std::shared_ptr<Segmentation> segmentation_;
};

}  // namespace cambium::superres
