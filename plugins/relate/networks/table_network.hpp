#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "core/train/kinds/tables.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/networks/known_rows.hpp"
#include "plugins/relate/networks/passes.hpp"

namespace cambium::relate {

/// Base class of the networks of this plugin: embedding tables, trained on records. Host memory, float64 or float32,
/// one thread per call.
class TableNetwork : public train::Network, public train::UsesTables {
 public:
  TableNetwork(const char* name, Precision precision, Context& context)
      : name_(name), precision_(precision), log_(context.log) {}

  void fit_statistics(train::Dataset& training, Context&) override;
  DType dtype() const override { return precision_ == Precision::float64 ? DType::f64 : DType::f32; }
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;

  train::NetworkTraits traits() override { return {.spared_labels = {"clicked"}, .tables = this}; }
  std::vector<train::Bags> bags(std::span<const train::SamplePtr> samples) const override;
  void use_rows(train::TableRows* rows) override { rows_ = rows; }

  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// The output for each sample.
  std::vector<train::FieldInfo> outputs() const override { return {{"output", seen_.unit, {}, DType::f64}}; }
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  std::string state() const override;
  void restore(const std::string& state) override;

  /// Training data: columns with their vocabularies, centring and scaling of dense features, mean, standard deviation
  /// and unit of the answers.
  struct Seen {
    std::vector<RowColumn> columns;
    std::vector<double> mean, scale;
    double centre = 0.0, spread = 1.0;
    std::string unit;
    std::uint64_t tested = 0;          ///< RecordSet::tested; 0: unknown
    std::uint64_t learned = 0;         ///< hash_of() the training interactions of users; 0: unknown, or none
    std::optional<bool> logarithm;     ///< of the dense features; not in earlier models
    std::vector<std::string> numbers;  ///< names of the dense features; empty: unknown
  };

  const Seen& seen() const { return seen_; }

 protected:
  /// InputError if the columns of records do not match this network.
  virtual void require_columns(const RecordSet&) const {}
  virtual std::unique_ptr<Passes<double>> passes64() const = 0;
  virtual std::unique_ptr<Passes<float>> passes32() const = 0;
  /// Loss of an output, its derivative by the output, and the description of predictions.
  struct Loss {
    double value = 0.0, by_output = 0.0;
  };
  virtual Loss loss_of(double output, double answer) const = 0;
  virtual double prediction_of(double output) const = 0;
  /// Adds one sample to the metrics.
  virtual void measure(double output, double answer, std::span<train::TermSum> metrics) const = 0;

 private:
  template <class T>
  Inputs<T> inputs_of(std::span<const train::SamplePtr> samples) const;
  template <class T>
  std::vector<T> forward(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights);
  template <class T>
  Passes<T>& passes();
  void require_fit(const RecordSet& records) const;

  const char* name_;
  Precision precision_;
  Log& log_;
  Seen seen_;
  KnownRows known_rows_;
  train::TableRows* rows_ = nullptr;
  std::unique_ptr<Passes<double>> passes64_;
  std::unique_ptr<Passes<float>> passes32_;
};

}  // namespace cambium::relate
