#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// A smooth fit of many outputs to a few inputs, a Gaussian process's mean: kernel 1 + x.x' + exp(-|x - x'|^2 / 2 l^2)
/// with a ridge (Rasmussen, Williams 2006). Length and ridge are those of the least error when each row in turn is left
/// out. Inputs have deviations of about 1.
class KernelFit {
 public:
  KernelFit(const Matrix& inputs, const Matrix& outputs);
  Matrix operator()(const Matrix& inputs) const;

 private:
  Matrix inputs_, weights_;
  std::vector<double> mean_;
  double length_ = 1.0;
};

}  // namespace cambium::pretrain
