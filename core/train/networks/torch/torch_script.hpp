#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/kinds/parity.hpp"
#include "core/train/kinds/reads_fields.hpp"
#include "core/train/kinds/running_statistics.hpp"
#include "core/train/networks/torch/buffer_statistics.hpp"
#include "core/train/networks/torch/scripted_loss.hpp"
#include "core/train/networks/torch/scripted_module.hpp"
#include "core/train/networks/torch/torch_network.hpp"

namespace cambium::train {

/// A user's PyTorch module from a TorchScript archive. Training starts from the archive's weights. The module receives
/// fields of the samples with the batch as first axis: floating-point values in the network's precision, integers as
/// int64, bytes (uint8) as floating-point values. Random numbers of its forward pass (dropout) follow from seed, step
/// and first sample.
///
/// Buffers that the forward pass changes (batch normalisation) are averaged over the passes of a step; each pass
/// normalises with its own samples, as in PyTorch's data parallel training.
class TorchScript : public TorchNetwork,
                    public HasRunningStatistics,
                    public KeepsNumbers,
                    public ReadsFields,
                    public GivesParity,
                    public Checked {
 public:
  struct Params {
    std::string file, loss_file;
    bool trust = false;
    std::vector<std::string> inputs, targets;
    ScriptedLoss::Kind loss = ScriptedLoss::Kind::mse;
    double delta = 1.0, label_smoothing = 0.0;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  TorchScript(const Params& params, Context& context);

  void examine(Check& check) override;
  /// Opens the archive, selects fields, and tries a step on the first samples.
  void fit_statistics(Dataset& training, Context&) override;
  void begin_step(std::uint64_t seed, std::int64_t step) override;
  void end_step() override;
  void keep_best() override { best_ = running_.numbers(); }
  void take_best() override;
  KeptNumbers kept() const override { return best_; }
  void take(const KeptNumbers& kept) override { best_ = kept; }

  std::vector<TermInfo> terms() const override;
  /// For a classifier, the error rate comes first.
  std::vector<TermInfo> metrics() const override;
  std::vector<FieldInfo> outputs() const override { return outputs_; }
  std::vector<std::string> fields_to_infer() const override { return inputs_; }
  std::vector<std::string> fields_to_train() const override {
    auto out = inputs_;
    out.insert(out.end(), targets_.begin(), targets_.end());
    return out;
  }
  NetworkTraits traits() override {
    return {.parity = this,
            .numbers = changing_.empty() ? nullptr : this,
            .fields = this,
            .statistics = this,
            .modules = this};
  }
  /// Targets of up to 64 values per sample, for comparison with the outputs (the means of gaussian_nll); none with a
  /// custom loss.
  std::vector<io::ParityQuantity> parity_quantities() const override;
  void add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                  std::span<io::ParityQuantity> quantities) override;
  /// For cross_entropy with one target and one class per sample.
  std::int64_t parity_classes() const override;
  void add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                   ClassPredictions& predictions) override;
  /// model.pt: the archive with the trained weights.
  std::vector<std::string> export_model(const std::string& directory, std::span<const TensorRef> weights,
                                        Context&) const override;
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<Term> loss(const TorchBatch& batch) override;
  std::vector<Term> measure(const TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const TorchBatch& batch) override;
  void initial(const ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;
  std::vector<std::string> segments() const override { return {""}; }
  bool measures_in_order() const override { return false; }  ///< because it writes model.pt

  void open_archives(const Context& context);
  void choose_fields(const std::vector<FieldInfo>& fields);
  void try_step(const TorchBatch& batch, Context& context);
  void note_outputs(const TorchBatch& batch);
  std::vector<NamedTensor> answers(const TorchBatch& batch) const;
  std::vector<NamedTensor> labels(const TorchBatch& batch) const;
  std::vector<Term> terms_of(const std::vector<NamedTensor>& given, const TorchBatch& batch) const;
  std::string unit_of_output(std::size_t number) const;
  std::vector<std::size_t> compared_outputs() const;
  std::size_t compared() const { return loss_->outputs_for(targets_.size()); }

  Params params_;
  Context& context_;
  std::string archive_, loss_archive_;  ///< their bytes
  std::shared_ptr<ScriptedModule> module_;
  std::shared_ptr<const ScriptedModule> loss_module_;
  std::optional<ScriptedLoss> loss_;
  std::vector<std::string> inputs_, targets_;  ///< fields
  std::vector<std::string> units_;             ///< of the targets
  std::vector<FieldInfo> outputs_;
  std::vector<std::string> changing_;  ///< buffers
  KeptNumbers restored_, best_;        ///< of buffers
  BufferStatistics running_;
  std::vector<NamedTensor> first_;  ///< weights of the archive
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
  const Sample* first_of_pass_ = nullptr;
};

}  // namespace cambium::train
