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

/// A trained network of this plugin, asked about records.
class TrainedModel {
 public:
  /// Collective. InputError when the file holds no network of this plugin, or one for other records than `data`.
  TrainedModel(const std::string& path, train::Dataset& data, Context& context);
  /// Collective: what it says of samples of this rank, which may be none.
  std::vector<double> of(std::span<const train::SamplePtr> samples);
  /// Where one product of two vectors is the score; null else. Collective: their rows are looked up first.
  CosineFactorization* by_vectors(std::span<const train::SamplePtr> samples);
  bool has_vectors() const { return dynamic_cast<const CosineFactorization*>(model_.network.get()) != nullptr; }
  /// Its embedding tables; empty for a network without.
  std::vector<train::TableInfo> tables() const;
  /// From now on every sum of a bag is within a bound of the exact one, by table, as rows in messages are
  /// (core/codec/rows); 0: exact.
  void round_rows(std::vector<double> bounds);
  /// Its type and the folder of its stage, such as "affinity (train)".
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

/// Collective: all records of a data set, which are dealt out to the ranks.
std::vector<double> said_of_all(TrainedModel& model, train::Dataset& data, Context& context);
ModelPredictions predictions_of(const std::string& model, train::Dataset& data, Context& context);

/// The mean of several.
std::vector<double> mean_of(const std::vector<ModelPredictions>& models);

}  // namespace cambium::relate
