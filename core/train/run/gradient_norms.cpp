#include "core/train/run/gradient_norms.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::train {

GradientNorms::GradientNorms(const FlatLayout& layout) {
  for (const auto& tensor : layout.tensors()) {
    const auto name = tensor.info.name.substr(0, tensor.info.name.rfind('.'));
    const auto found = std::find(modules_.begin(), modules_.end(), name);
    module_of_.push_back(static_cast<std::size_t>(found - modules_.begin()));
    if (found == modules_.end()) modules_.push_back(name);
  }
}

std::vector<double> GradientNorms::of(Weights& weights, std::int64_t samples) const {
  const auto squares = weights.squared_gradients();
  std::vector<double> out(modules_.size(), 0.0);
  for (std::size_t k = 0; k < squares.size(); ++k) out[module_of_[k]] += squares[k];
  for (double& norm : out) norm = std::sqrt(norm) / static_cast<double>(samples);
  return out;
}

}  // namespace cambium::train
