#pragma once
#include <memory>
#include <optional>
#include <unordered_map>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/kinds/gives_loss.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/parity.hpp"
#include "plugins/deepmd/datasets/neighbour_slots.hpp"
#include "plugins/deepmd/datasets/sample.hpp"
#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/model/citations.hpp"
#include "plugins/deepmd/networks/descriptor_params.hpp"
#include "plugins/deepmd/training/loss_gradient.hpp"

namespace cambium::deepmd {

struct Statistics;

/// Cache of frames with their neighbours, keyed by the samples' contents, up to a memory limit.
class FrameCache {
 public:
  explicit FrameCache(double megabytes) : limit_(static_cast<std::size_t>(megabytes * 1048576.0)) {}
  FramePtr get(const train::Sample& sample, const std::vector<std::string>& type_map, double rcut);
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t limit_, bytes_ = 0;
  std::unordered_map<std::uint64_t, FramePtr> frames_;
};

/// A Deep Potential trained on energies, forces and virials.
class DeepPotentialNetwork : public train::Network,
                             public train::GivesParity,
                             public train::GivesLoss,
                             public train::HasFactors,
                             public Checked {
 public:
  using Descriptor = DescriptorParams::Descriptor;
  /// Evaluation of the model in simulations, by the keys of the potential.
  struct Simulation {
    EnginePrecision precision = EnginePrecision::float64;
    std::optional<double> compress;  ///< tolerance; absent: the embedding networks themselves
    static void describe(deck::Describe<Simulation>& d);
  };
  struct Params : DescriptorParams {
    std::vector<DescriptorParams> hybrid;
    std::vector<std::string> type_map;
    SelShort sel_short = SelShort::raise;
    std::vector<int> fitting = {240, 240, 240};
    bool resnet_dt = true;
    int numb_fparam = 0, numb_aparam = 0;
    cambium::DType precision = DType::f64;
    std::optional<double> interpolation;
    /// The given tolerance, or by default the error of rounding at this precision.
    double interpolation_tolerance() const { return interpolation.value_or(precision == DType::f64 ? 1e-12 : 1e-8); }
    LossParams loss;
    std::string init;
    bool change_bias = true;
    int statistics_frames = 1000;
    double memory = 1024.0;
    std::vector<std::int64_t> ranks;  ///< of factor_layers(), 0: not factored; empty: none is
    Simulation simulation;
    /// Descriptors of the hybrid, or the network's own.
    std::vector<DescriptorParams> descriptors() const { return hybrid.empty() ? std::vector{own()} : hybrid; }
    const DescriptorParams& own() const { return *this; }
    static void describe(deck::Describe<Params>& d);
  };
  DeepPotentialNetwork(const Params& params, Context& context);
  ~DeepPotentialNetwork() override;
  void examine(Check&) override;

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  std::vector<int> modules() const override;  ///< the networks: embeddings, then energies by type
  DType dtype() const override { return params_.precision; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t step, double rate) const override;
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  /// Root mean square errors: forces (by which the best model is chosen), energy and virial per atom; then the mean
  /// absolute error of forces.
  std::vector<train::TermInfo> metrics() const override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  void add_loss(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> terms) override;
  /// Parity data: energies and virials per atom, and forces; components along axes in which the cell is lower
  /// triangular, as in samples.
  train::NetworkTraits traits() override { return {.parity = this, .factors = this, .loss = this}; }
  std::vector<io::ParityQuantity> parity_quantities() const override;
  void add_parity(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                  std::span<io::ParityQuantity> quantities) override;
  /// Sets quantised matrices of the energy networks; forces are derivatives of the resulting energies.
  void use_coded(const train::CodedWeights& coded) override;
  /// See factor_places(); embedding networks only where simulations evaluate them, without tables.
  std::vector<train::FactorLayer> factor_layers() const override;
  std::vector<WidthKey> width_keys() const override;
  /// Energies and forces of the frames by the engine of simulations, whose neighbour lists are made before.
  std::function<void()> simulation_pass(std::span<const train::SamplePtr> samples,
                                        std::span<const TensorRef> weights) override;
  /// model.dp and model.yaml.
  std::vector<std::string> export_model(const std::string& directory, std::span<const TensorRef> weights,
                                        Context&) const override;
  std::vector<Citation> citations() const override { return model_citations(shape_); }
  std::string state() const override;
  void restore(const std::string& state) override;

  /// Shape and statistics (after fit_statistics or restore), without weights.
  const DeepPotentialModel& shape() const { return shape_; }
  /// The shape with these weights.
  DeepPotentialModel model(std::span<const TensorRef> weights) const;

 private:
  void collect_species(train::Dataset& training, const Comm& comm);
  void require_sane(const Statistics& statistics) const;
  void go_on_from_start(train::Dataset& training, Context& context);
  void change_bias(train::Dataset& training, Context& context);
  void require_slots_of_start(train::Dataset& training, Context& context);
  void build_shape();
  void take_statistics(const std::vector<Statistics>& statistics);
  void make_work();
  void apply_ranks(DeepPotentialModel& model, bool decompose) const;
  void count_work(train::Dataset& training);
  FramePtr frame_of_sample(const train::Sample& sample);
  std::vector<FramePtr> frames(std::span<const train::SamplePtr> samples);

  Params params_;
  DeepPotentialModel shape_;
  std::vector<int> most_neighbours_;  ///< by type, of any atom of the training data; empty when not known
  std::vector<double> atoms_;         ///< by type, of a frame, on average; empty when not known
  /// Neighbours within the cut-off of each descriptor, [centre * ntypes + neighbour], of a frame, on average.
  std::vector<std::vector<double>> pairs_;
  std::optional<DeepPotentialModel> start_;  ///< loaded from `init`
  FrameCache cache_;
  std::unique_ptr<LossGradient> work_;
  std::vector<train::TermSum> evaluated_;  ///< terms of the loss of the samples that were evaluated last
};

}  // namespace cambium::deepmd
