#pragma once
#include <torch/script.h>

#include "plugins/torch_potential/archive/archive.hpp"

namespace cambium::torch_potential {

/// Inputs of an archive's `forward`.
struct ArchiveInputs {
  std::vector<c10::IValue> arguments;
  at::Tensor vectors;    ///< (edges, 3), float64, a leaf that asks for its gradient
  at::Tensor positions;  ///< (nodes, 3), all zero
};

/// Every edge carries its whole vector as the shift of the cell, whose vectors have length 1, and all atoms lie at the
/// origin: the gradient by the shifts is that by the edges, whatever cell and images the atoms belong to.
ArchiveInputs inputs_of(const ArchiveGraph& graph, std::int64_t species, const ArchiveFacts& facts, at::Device device);

/// Takes derivatives that the program makes itself out of its `forward`: their results are replaced by the inputs that
/// they were asked for. What is left can be differentiated by anyone, once.
void drop_inner_derivatives(torch::jit::Module& module);

}  // namespace cambium::torch_potential
