#pragma once
#include <map>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "plugins/pretrain/features/matrix.hpp"
#include "plugins/pretrain/networks/encoder.hpp"

namespace cambium::pretrain {

/// An encoder loaded from a model file. InputError for a file of another network.
class LoadedEncoder {
 public:
  LoadedEncoder(const std::string& path, Context& context);

  struct Vectors {
    Matrix field, partner;  ///< unit rows; `partner` is empty if the encoder has none
  };
  /// Collective: the vectors of all samples, on every rank; samples are distributed over ranks.
  Vectors vectors_of(train::Dataset& data, std::int64_t batch);
  /// For all combinations of values of parameters, whose names are those of the model.
  Matrix vectors_of(const std::map<std::string, std::vector<double>>& parameters);

  const Encoder& encoder() const { return *encoder_; }
  /// Hash of the weights, independent of the file name.
  std::string mark();
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  void require_parameters(const std::vector<std::string>& names) const;

  std::string path_;
  Context& context_;
  train::LoadedModel model_;
  Encoder* encoder_ = nullptr;
};

}  // namespace cambium::pretrain
