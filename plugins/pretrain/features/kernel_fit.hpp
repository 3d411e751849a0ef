#pragma once
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Gaussian process regression (mean) of many outputs on a few inputs: kernel 1 + x.x' + exp(-|x - x'|^2 / 2 l^2) with
/// a ridge (Rasmussen, Williams 2006). Length and ridge minimise the leave-one-out error. Inputs should have standard
/// deviations of about 1.
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
