#pragma once
#include <memory>

#include "core/deck/describe.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/networks/encoder.hpp"
#include "plugins/pretrain/networks/mugs_memory.hpp"
#include "plugins/pretrain/networks/mugs_module.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// Fields as unit vectors, learnt from views of single fields at three scales (Zhou et al., Mugs, arXiv 2203.14415): a
/// view is discriminated from all others in a queue (instance), the same after attention to its neighbours in a memory
/// (local), and assigned to the same groups as another view (group). Targets come from a teacher, the moving average of
/// the weights. Queues, memory, teacher and centre are replicated on all ranks. The vector of a field is that of the
/// trunk (mean of its cells, or a linear layer over them), or the projections compared by the terms.
class MugsEncoder : public train::TorchNetwork, public train::KeepsNumbers, public Encoder {
 public:
  /// Weights of the three terms; 0 disables one.
  struct Weights {
    double instance = 1.0, local = 1.0, group = 1.0;
    static void describe(deck::Describe<Weights>& d);
  };
  struct Small {
    std::int64_t views = 0;
    std::vector<std::int64_t> crop;
    static void describe(deck::Describe<Small>& d);
  };
  enum class Pool { mean, cells };
  /// Vector of a field after training.
  enum class Vector { trunk, projections };
  struct Params {
    std::vector<std::int64_t> channels;
    std::optional<TransformerKeys> transformer;
    Pool pool = Pool::mean;
    Vector vector = Vector::trunk;
    std::int64_t width = 64, queue = 1024, neighbours = 8, prototypes = 64;
    double momentum = 0.99, temperature = 0.2;
    AugmentKeys augment;
    Small small;
    Weights weights;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  MugsEncoder(const Params& params, Context& context);

  void fit_statistics(train::Dataset& training, Context& context) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override { seed_ = seed, step_ = step; }
  std::vector<train::TermInfo> terms() const override;
  std::vector<double> term_weights(std::int64_t, double) const override;
  std::vector<train::TermInfo> metrics() const override;
  std::vector<train::FieldInfo> outputs() const override;
  std::vector<std::string> report() const override;
  std::vector<Citation> citations() const override;
  std::string state() const override;
  void restore(const std::string& state) override;
  train::NetworkTraits traits() override { return {.joins_ranks = true, .numbers = this, .modules = this}; }
  train::KeptNumbers kept() const override;
  void take(const train::KeptNumbers& kept) override;

  std::int64_t width() const override;
  std::int64_t parameters_count() const override { return 0; }
  std::vector<double> vectors_of(std::span<const double>, std::span<const TensorRef>) override { return {}; }

 private:
  /// Sums over the samples of one pair of views.
  struct Pull {
    torch::Tensor instance, local, group;
  };
  struct Taught;  ///< teacher outputs for one large view
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<Term> measure(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;

  /// (n, width()): unit rows.
  torch::Tensor vectors(const torch::Tensor& fields) const;
  torch::Tensor view(const train::TorchBatch& batch, int number, bool large) const;
  Taught taught(const torch::Tensor& fields, const std::vector<std::int64_t>& ids);
  void add(const torch::Tensor& fields, const std::vector<Taught>& teachers, int without, double weight, Pull& sum);
  void remember(const std::vector<Taught>& teachers, std::int64_t samples);

  Params params_;
  Context& context_;
  std::uint64_t seed_ = 1;
  std::int64_t step_ = 0;
  std::int64_t samples_ = 0, seen_ = 0;  ///< size of the training set; samples seen since its beginning
  std::shared_ptr<MugsModule> student_, teacher_;
  std::unique_ptr<RowQueue> instance_queue_, local_queue_, memory_;
  torch::Tensor centre_;
  train::KeptNumbers waiting_;  ///< from take(), until the modules exist
  train::Traffic traffic_;
};

}  // namespace cambium::pretrain
