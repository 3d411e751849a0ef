#pragma once
#include <string>

#include "core/train/networks/artifact/artifact.hpp"
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
  /// Of rows of parameters.
  Matrix vectors_of(const Matrix& parameters);

  const Encoder& encoder() const { return *encoder_; }
  std::vector<Citation> citations() const { return model_.network->citations(); }

 private:
  std::string path_;
  Context& context_;
  train::LoadedModel model_;
  Encoder* encoder_ = nullptr;
};

}  // namespace cambium::pretrain
