#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "plugins/podlstm/networks/citations.hpp"
#include "plugins/podlstm/networks/genome.hpp"
#include "plugins/podlstm/networks/mode_scaling.hpp"
#include "plugins/podlstm/networks/recurrent.hpp"

namespace cambium::podlstm {

enum class Head { recurrent, dense };

/// A network of the search space of Maulik et al. (SC20): stacked recurrent layers with additive skip connections, and
/// a head. Samples have the fields "window" (past, features) and "target" (future, modes). Loss: mean squared error
/// over the outputs of a sample. Host memory, float32, one thread per call.
///
/// The head of the paper is another recurrent layer whose width is the number of modes: its output at lead h depends on
/// the first h inputs only. The dense head is linear in the outputs of the last layer at all times.
///
/// Inference reads "window" and returns "forecast" (future, modes) in the unit of the target. After training on a data
/// set that scales coefficients by mode (ScalesModes), it reads "coefficients" (past, modes) instead and returns the
/// forecast in their unit; the scaling is part of state().
class StackedLstm : public train::Network, public train::HasFactors, public train::ReadsFields {
 public:
  struct Params {
    Genome genome = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    Cell cell = Cell::lstm;
    Head head = Head::recurrent;
    std::vector<std::int64_t> widths = {};  ///< of the five layers instead of the genome's; empty: none
    std::vector<std::int64_t> ranks = {};   ///< per matrix, 0: not factored; empty: none is
    static void describe(deck::Describe<Params>& d);
  };
  StackedLstm(const Params& params, Context&);
  StackedLstm(const Params& params, std::int64_t past, std::int64_t features, std::int64_t future, std::int64_t modes);

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override { return parameters_; }
  std::vector<int> modules() const override;  ///< nodes with weights, and the head
  DType dtype() const override { return DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<train::TermInfo> terms() const override { return {{"mse", "", train::TermInfo::Report::mean}}; }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::vector<Citation> citations() const override { return network_citations(params_.cell == Cell::gru); }
  train::NetworkTraits traits() override;
  std::vector<std::string> fields_to_infer() const override;
  std::vector<train::FieldInfo> outputs() const override;
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  /// Of every recurrent layer the matrix of its input, then that of its state; projections of skip connections; those
  /// of the head.
  std::vector<train::FactorLayer> factor_layers() const override { return layers_; }
  std::vector<WidthKey> width_keys() const override;
  std::string state() const override;
  void restore(const std::string& state) override;

  /// (samples, future * modes) of windows (samples, past, features), both as the loss sees them.
  std::vector<float> predict(const float* windows, std::int64_t samples, std::span<const TensorRef> weights);
  const Graph& graph() const { return graph_; }
  std::int64_t output_size() const { return future_ * modes_; }

 private:
  void build(std::int64_t past, std::int64_t features, std::int64_t future, std::int64_t modes);
  void add(const std::string& name, std::vector<std::int64_t> shape, bool decay);
  void add_matrix(const std::string& name, std::vector<std::int64_t> shape, std::int64_t places);
  void add_cell(const std::string& name, std::int64_t in, std::int64_t width);
  void add_head(std::int64_t width);
  LayerMatrix matrix(std::size_t layer, std::span<const TensorRef> weights) const;
  LayerMatrixGradient matrix_gradient(std::size_t layer, std::span<const TensorRef> gradients) const;
  CellWeights cell(std::size_t layer, std::span<const TensorRef> weights) const;
  CellGradients cell_gradient(std::size_t layer, std::span<const TensorRef> gradients) const;
  void gather(std::span<const train::SamplePtr> samples);
  const float* forward(std::int64_t batch, std::span<const TensorRef> weights, const train::ReadyCallback& ready = {});
  void forward_node(std::size_t k, std::int64_t batch, std::span<const TensorRef> weights);
  void backward_node(std::size_t k, std::int64_t batch, std::span<const TensorRef> weights,
                     std::span<const TensorRef> gradients);
  void backward(std::int64_t batch, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                const train::ReadyCallback& ready);
  void forward_head(std::int64_t batch, std::span<const TensorRef> weights);
  void backward_head(std::int64_t batch, std::span<const TensorRef> weights, std::span<const TensorRef> gradients);
  void forward_dense(std::int64_t batch, std::span<const TensorRef> weights);
  void backward_dense(std::int64_t batch, std::span<const TensorRef> weights, std::span<const TensorRef> gradients);
  double error_of(std::span<const train::SamplePtr> samples, double weight);
  SequenceShape shape(std::int64_t batch, std::int64_t in, std::int64_t width) const {
    return {past_, batch, in, width};
  }

  bool scaled() const { return !scaling_.low.empty(); }

  Params params_;
  ModeScaling scaling_;  ///< of coefficients; without modes, the data are not scaled and `unit` is that of the target
  std::int64_t past_ = 0, future_ = 0, modes_ = 0;
  Graph graph_;
  std::vector<train::ParameterInfo> parameters_;
  std::vector<int> first_parameter_;  ///< of every node, the head's last
  std::vector<train::FactorLayer> layers_;
  std::vector<std::size_t> first_layer_;  ///< of every node, the head's last
  std::vector<int> module_;               ///< of every node, the head's last; -1 for nodes without weights

  // For the current batch: values by index, then those of the head; time-major.
  std::vector<std::vector<float>> values_, slopes_;
  std::vector<LstmTrace> lstm_;
  std::vector<GruTrace> gru_;
  std::vector<float> output_, slope_;  ///< (batch, future * modes)
};

}  // namespace cambium::podlstm
