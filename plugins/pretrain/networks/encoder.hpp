#pragma once
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// Interface of a trained encoder for stages, in addition to the sample vectors from Network::infer.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual std::int64_t width() const = 0;
  /// Number of run parameters if these are the second view; else 0.
  virtual std::int64_t parameters_count() const = 0;
  /// Properties of its training data.
  const Scales& scales() const { return scales_; }
  /// (n, width): unit vectors of n rows of parameters, in the order of the training data. Only if parameters_count() >
  /// 0.
  virtual std::vector<double> vectors_of(std::span<const double> parameters, std::span<const TensorRef> weights) = 0;

 protected:
  Scales scales_;
};

}  // namespace cambium::pretrain
