#pragma once
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "plugins/pretrain/networks/scales.hpp"

namespace cambium::pretrain {

/// Interface of a trained encoder to stages in addition to the vectors of samples, which Network::infer gives.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual std::int64_t width() const = 0;
  /// For a run, where they are what a field is recognised from; else 0.
  virtual std::int64_t parameters_count() const = 0;
  /// Properties of its training data.
  const Scales& scales() const { return scales_; }
  /// (n, width): unit vectors of n rows of parameters, in the order of the training data. Only where it knows them.
  virtual std::vector<double> vectors_of(std::span<const double> parameters, std::span<const TensorRef> weights) = 0;

 protected:
  Scales scales_;
};

}  // namespace cambium::pretrain
