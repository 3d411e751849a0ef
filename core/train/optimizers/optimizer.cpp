#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

std::vector<FlatBuffer> make_states(const Optimizer& optimizer, const FlatLayout& layout, DType weights) {
  std::vector<FlatBuffer> out;
  for (const auto& info : optimizer.states(weights)) out.emplace_back(layout, info.dtype);
  return out;
}

}  // namespace cambium::train
