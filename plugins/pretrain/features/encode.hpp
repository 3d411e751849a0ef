#pragma once
#include <map>
#include <string>

#include "core/train/weights/artifact.hpp"
#include "plugins/pretrain/features/matrix.hpp"
#include "plugins/pretrain/networks/encoder.hpp"

namespace cambium::pretrain {

/// A model file that holds an encoder. InputError for a file of another network.
class LoadedEncoder {
 public:
  LoadedEncoder(const std::string& path, Context& context);

  struct Vectors {
    Matrix field, partner;  ///< unit rows; no partner where the encoder has none
  };
  /// Collective: the vectors of all samples, on every rank; ranks take the samples in turn.
  Vectors vectors_of(train::Dataset& data, std::int64_t batch);
  /// For all combinations of values of parameters, whose names are the model's.
  Matrix vectors_of(const std::map<std::string, std::vector<double>>& parameters);

  const Encoder& encoder() const { return *encoder_; }
  /// By which the same weights are known again, whatever the file's name.
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
