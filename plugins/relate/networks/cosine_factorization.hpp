#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/kinds/tables.hpp"
#include "plugins/relate/networks/choice_vectors.hpp"
#include "plugins/relate/networks/contrast.hpp"

namespace cambium::relate {

/// An embedding for each user and item; the score of a pair is their cosine. Trained on positive interactions with a
/// contrastive loss against negative items drawn once per step. The embedding of an item with tags is the sum of its
/// row and those of its tags; that of a user, if `history` is above 0, is (1 - history) times the user's row plus
/// history times the mean of the rows of the user's other items (Mao et al., CIKM 2021).
class CosineFactorization : public train::Network, public train::UsesTables {
 public:
  struct Params {
    std::int64_t width = 64, drawn = 1024, each = 0;
    double reach = 0.1, history = 0.0;
    ContrastLoss loss;
    Precision precision = Precision::float32;
    static void describe(deck::Describe<Params>& d);
  };
  /// InputError if an interaction is to be contrasted with more items than are drawn.
  CosineFactorization(const Params& params, Context&);

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override { return {}; }
  DType dtype() const override { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef>, std::uint64_t) override {}
  std::vector<Citation> citations() const override;

  train::NetworkTraits traits() override { return {.tables = this}; }
  std::vector<train::TableInfo> tables() const override { return choices_.tables(params_.reach); }
  std::vector<train::Bags> bags(std::span<const train::SamplePtr> samples) const override {
    return choices_.bags(samples);
  }
  void use_rows(train::TableRows* rows) override { rows_ = rows; }

  void begin_step(std::uint64_t seed, std::int64_t step) override {
    choices_.draw(params_.drawn, seed, static_cast<std::uint64_t>(step));
  }
  void begin_evaluation(train::Dataset&, std::span<const TensorRef>) override;
  std::vector<train::TermInfo> terms() const override;
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  std::vector<train::TermInfo> metrics() const override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  std::vector<train::FieldInfo> outputs() const override { return {{"output", "", {}, DType::f64}}; }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override { return choices_.state(); }
  void restore(const std::string& state) override { choices_.restore(state); }
  /// ChoiceRows::learned()
  std::uint64_t learned() const { return choices_.learned(); }

  /// Embeddings of the user and of the item of each sample: samples x vector_width(). Their dot product is the score,
  /// so all items are scored for a user in one pass. The rows of the samples must have been looked up.
  std::int64_t vector_width() const { return params_.width; }
  std::vector<double> user_vectors(std::span<const train::SamplePtr> samples);
  std::vector<double> item_vectors(std::span<const train::SamplePtr> samples);

 private:
  Params params_;
  ChoiceRows choices_;
  train::TableRows* rows_ = nullptr;
};

}  // namespace cambium::relate
