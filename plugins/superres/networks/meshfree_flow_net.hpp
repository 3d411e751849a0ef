#pragma once
#include <map>
#include <optional>

#include "core/deck/describe.hpp"
#include "plugins/superres/decoder/taylor.hpp"
#include "plugins/superres/equations/equation.hpp"
#include "plugins/superres/evaluate/refinement.hpp"
#include "plugins/superres/networks/decode.hpp"
#include "plugins/superres/networks/flow_network.hpp"
#include "plugins/superres/networks/plates.hpp"
#include "plugins/superres/networks/unet.hpp"

namespace cambium::superres {

/// A continuous field over (t, x, z), decoded from latent vectors that a U-Net computes on the coarse grid, and trained
/// on the data and on equations written as text (Jiang et al. 2020, "MeshfreeFlowNet"). Derivatives are those of the
/// decoder itself, by jets on the physical coordinates.
class MeshfreeFlowNet : public FlowNetwork, public Refinable, public KnowsPlates, public train::HasFactors {
 public:
  struct Params {
    std::int64_t features = 16, most_features = 256, latent = 32;
    int levels = 0;
    std::vector<std::int64_t> decoder;
    Activation activation = Activation::softplus;
    Blend blend = Blend::c2;
    bool interpolate = true, divergence_free = false;
    std::optional<Plates> plates;
    std::vector<std::string> equations;
    std::map<std::string, double> constants;
    double gamma = 0.0125;
    std::int64_t ramp = 0;
    Loss loss = Loss::l1;
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< factor ranks of encoder and decoder layers, 0: full; empty: all are full
    static void describe(deck::Describe<Params>& d);
  };
  /// Parses the equations; InputError points at the column.
  MeshfreeFlowNet(const Params& params, Context&);

  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t step, double rate) const override;
  std::vector<train::TermInfo> metrics() const override;

  /// Jets of p, b, u, w at the points of a batch, in physical units: (streams of basis(), points, 4). For tests and
  /// figures.
  torch::Tensor jets(const train::TorchBatch& batch);
  void refine(const Refinement* how, const std::vector<Equation>& equations = {}) override;
  std::optional<std::array<double, 2>> plates() const override;
  /// The four convolutions of each block of the encoder, then the layers of the decoder.
  train::NetworkTraits traits() override {
    return {.factors = this, .loss = this, .modules = this, .conditions = this};
  }
  std::vector<train::FactorLayer> factor_layers() const override;
  std::vector<WidthKey> width_keys() const override {
    return {{"base_channels"}, {"max_channels"}, {"latent_dim"}, {"decoder"}};
  }
  /// Derivatives required by the equations.
  const JetBasis& basis() const { return own_.basis; }

 private:
  /// Equations, the derivatives that they require, and a decoder for these.
  struct Laws {
    std::vector<Equation> equations;
    JetBasis basis;
    std::optional<Decode<float>> single;
    std::optional<Decode<double>> full;
    explicit Laws(std::vector<Equation> of);
  };
  /// Inputs of the decoder, and their positions: (nodes of all samples, latent) and (samples, points, 3); its weights
  /// and biases.
  struct Asked {
    const train::TorchBatch& batch;
    torch::Tensor samples, latents, points;
    std::vector<torch::Tensor> weights;
  };
  std::shared_ptr<torch::nn::Module> build() override;
  /// The blocks of the encoder, and the decoder, which reads all its weights at once.
  std::vector<std::string> segments() const override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  torch::Tensor values(const train::TorchBatch& batch) override;
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  template <class T>
  torch::Tensor decoded(const Asked& asked, const JetBasis& fields, std::optional<Decode<T>>& decode);
  Asked asked(const train::TorchBatch& batch);
  Asked refined(Asked asked);
  static torch::Tensor equations_loss(const torch::Tensor& jets, const Laws& laws, Loss loss);
  torch::Tensor jets_of(const Asked& asked, Laws& laws);
  JetBasis decoder_basis(const JetBasis& fields) const;
  std::vector<std::vector<double>> scaled_samples(const LatentCells& cells, const torch::Tensor& coarse) const;
  std::vector<std::vector<double>> node_values(const LatentCells& cells, const torch::Tensor& coarse) const;
  torch::Tensor carried(const train::TorchBatch& batch, const torch::Tensor& samples) const;
  std::vector<Taylor> expansions(const LatentCells& cells, const torch::Tensor& coarse) const;
  torch::Tensor kept_on_plates(const torch::Tensor& jets, const Asked& asked, const JetBasis& basis) const;
  torch::Tensor physical(const torch::Tensor& jets, const JetBasis& fields) const;
  torch::Tensor scaled(const torch::Tensor& physical_values) const;
  static torch::Tensor residual(const Equation& equation, const torch::Tensor& jets, const JetBasis& basis);
  bool constrained() const { return !own_.equations.empty() && params_.gamma > 0.0; }

  Params params_;
  const Refinement* refinement_ = nullptr;
  Laws own_, none_;             ///< of the training, and only values
  std::optional<Laws> wanted_;  ///< of the refinement
  DecoderShape shape_;
  std::vector<std::int64_t> decoder_ranks_;  ///< by layer of the unfactorised decoder
  std::shared_ptr<Unet> encoder_;
  std::vector<torch::Tensor> decoder_weights_;
};

}  // namespace cambium::superres
