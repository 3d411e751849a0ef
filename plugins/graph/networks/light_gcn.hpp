#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/links/link_engine.hpp"

namespace cambium::graph {

/// LightGCN for link prediction (He et al., SIGIR 2020): an embedding for every user and item, the mean over the
/// results of 0 to `layers` propagations by D^-1/2 A D^-1/2, and their dot products or cosines as scores. Hand-written
/// gradients; samples are links of a data set `links`. Host memory, float32 or float64, one thread per call.
class LightGcn : public train::Network {
 public:
  enum class Start { random, spectral };
  struct Params {
    std::int64_t width = 64, layers = 2, negatives = 1024;
    LinkLossKeys::Type loss = LinkLossKeys::Type::softmax;
    LinkLossKeys::Draw draw = LinkLossKeys::Draw::items;
    bool cosine = true, skip_known = false;
    double temperature = 0.1, squares = 0.0, judge_lengths = 0.0;
    Start start = Start::random;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  LightGcn(const Params& params, Context& context);

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override;
  /// Normal deviates times 0.1; with `start: spectral` D^1/2 times the leading singular vectors of D^-1/2 R D^-1/2,
  /// each times the root of its singular value, so that dot products are the low-rank reconstruction of R, plus normal
  /// deviates times 1e-4.
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<Citation> citations() const override;

  void begin_step(std::uint64_t seed, std::int64_t step) override;
  void begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t, double) const override { return {1.0, params_.squares}; }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  /// "wrong": how often a negative item scores above that of a link; 1 minus the area under the ROC curve.
  std::vector<train::TermInfo> metrics() const override { return {{"wrong", "", train::TermInfo::Report::mean}}; }
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// "output": the score of the link.
  std::vector<train::FieldInfo> outputs() const override { return {{"output", "", {}, DType::f64}}; }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  /// Rows of users, then items (for a plain graph, of nodes) whose dot products are the scores: nodes x width().
  /// InputError for links other than those of the training.
  std::vector<float> rows_of(const LinkGraphPtr& graph, std::span<const TensorRef> weights);
  std::int64_t width() const { return params_.width; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  LinkGraphPtr graph_of(const train::Sample& sample) const;
  void require_fit(const LinkGraph& graph) const;
  LinkGraphPtr look_at(const train::Sample& first, std::span<const TensorRef> weights);

  Params params_;
  std::unique_ptr<LinkEngine> engine_;
  LinkGraphPtr graph_;  ///< graph of fit_statistics()
  std::int64_t users_ = 0, items_ = 0;
  bool bipartite_ = true;
  std::uint64_t links_ = 0;  ///< fingerprint of the training links
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
};

}  // namespace cambium::graph
