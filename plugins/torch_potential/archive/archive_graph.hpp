#pragma once
#include <torch/script.h>

#include "plugins/torch_potential/archive/archive.hpp"

namespace cambium::torch_potential {

/// Inputs of an archive's `forward`.
struct ArchiveInputs {
  std::vector<c10::IValue> arguments;
  at::Tensor vectors;    ///< (edges, 3), float64, a leaf that requires its gradient
  at::Tensor positions;  ///< (nodes, 3), all zero
};

/// Every edge passes its full vector as the shift of the cell, whose vectors have length 1, and all atoms are at the
/// origin: the gradient with respect to the shifts is that with respect to the edges, for any cell and images.
ArchiveInputs inputs_of(const ArchiveGraph& graph, std::int64_t species, const ArchiveFacts& facts, at::Device device);

/// Removes derivatives that the program computes itself from its `forward`: their results are replaced by the inputs
/// with respect to which they were taken. The remaining program can be differentiated by the caller, once.
void drop_inner_derivatives(torch::jit::Module& module);

}  // namespace cambium::torch_potential
