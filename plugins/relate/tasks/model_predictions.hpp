#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/citation.hpp"
#include "core/parallel/context.hpp"
#include "core/train/kinds/dataset.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/relate/networks/cosine_factorization.hpp"

namespace cambium::relate {

/// A trained network of this plugin that predicts records.
class TrainedModel {
 public:
  /// Collective. InputError if the file has no network of this plugin, or one for other records than `data`.
  TrainedModel(const std::string& path, train::Dataset& data, Context& context);
  /// Collective: predictions for samples of this rank, which may be none.
  std::vector<double> of(std::span<const train::SamplePtr> samples);
  /// The network if its score is one dot product of two vectors; else null. Collective: looks up their rows first.
  CosineFactorization* by_vectors(std::span<const train::SamplePtr> samples);
  bool has_vectors() const { return dynamic_cast<const CosineFactorization*>(model_.network.get()) != nullptr; }
  /// Its embedding tables; empty for a network without any.
  std::vector<train::TableInfo> tables() const;
  /// From now on every sum of a bag is rounded to within the bound of its table, like rows in messages
  /// (core/codec/rows); 0: exact.
  void round_rows(std::vector<double> bounds);
  /// hash_of() the interactions that it learned; 0: unknown, or none.
  std::uint64_t learned() const;
  /// Its type and the folder of its stage, for example "affinity (train)".
  const std::string& method() const { return method_; }
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  class RoundedRows;
  void look_up(std::span<const train::SamplePtr> samples);
  void warn_of_known_pairs(const std::string& path, train::Dataset& data);

  Context& context_;
  train::LoadedModel model_;
  std::string method_;
  std::shared_ptr<RoundedRows> rounded_;
};

/// Predictions of a trained network for records.
struct ModelPredictions {
  std::string method;  ///< TrainedModel::method()
  std::vector<double> value;
  std::vector<Citation> citations;
};

/// Collective: all records of a data set, distributed over the ranks.
std::vector<double> said_of_all(TrainedModel& model, train::Dataset& data, Context& context);
ModelPredictions predictions_of(const std::string& model, train::Dataset& data, Context& context);

/// Mean over several networks.
std::vector<double> mean_of(const std::vector<ModelPredictions>& models);

}  // namespace cambium::relate
