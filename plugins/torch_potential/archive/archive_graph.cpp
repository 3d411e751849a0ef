#include "plugins/torch_potential/archive/archive_graph.hpp"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/passes/inliner.h>

namespace cambium::torch_potential {

using Family = ArchiveFacts::Family;

namespace {

at::Tensor integers(const std::vector<std::int64_t>& values) {
  return torch::tensor(values, torch::TensorOptions().dtype(at::kLong));
}

c10::Dict<std::string, at::Tensor> dictionary_of(const ArchiveGraph& graph, std::int64_t species, Family family,
                                                 const at::Tensor& positions, const at::Tensor& shifts) {
  const auto device = positions.device();
  const auto types = integers(graph.types).to(device);
  const bool mace = family == Family::mace || family == Family::mace_lammps;
  const auto centre = integers(graph.centre), neighbour = integers(graph.neighbour);
  const auto edges = torch::stack({mace ? neighbour : centre, mace ? centre : neighbour}).to(device);
  const auto cell = torch::eye(3, positions.options().requires_grad(false));
  c10::Dict<std::string, at::Tensor> data;
  data.insert("edge_index", edges);
  data.insert("cell", cell);
  if (family != Family::mace_lammps) {
    data.insert("pos", positions);
    data.insert("edge_cell_shift", shifts);
    data.insert("atom_types", types);
    return data;
  }
  const auto nodes = static_cast<std::int64_t>(graph.types.size());
  const auto options = torch::TensorOptions().dtype(at::kLong).device(device);
  data.insert("positions", positions);
  data.insert("shifts", shifts);
  data.insert("unit_shifts", shifts);
  data.insert("node_attrs", at::one_hot(types, species).to(positions.scalar_type()));
  data.insert("batch", torch::zeros({nodes}, options));
  data.insert("ptr", integers({0, nodes}).to(device));
  data.insert("head", torch::zeros({1}, options));
  return data;
}

void drop_in(torch::jit::Block* block) {
  static const auto derivative = c10::Symbol::fromQualString("aten::grad");
  for (auto it = block->nodes().begin(); it != block->nodes().end();) {
    torch::jit::Node* node = *it++;
    for (torch::jit::Block* inner : node->blocks()) drop_in(inner);
    if (node->kind() != derivative) continue;
    torch::jit::Node* asked = node->inputs()[1]->node();
    if (asked->kind() != c10::prim::ListConstruct) continue;
    torch::jit::Graph& graph = *node->owningGraph();
    torch::jit::Node* list = graph.createList(c10::OptionalType::ofTensor(), asked->inputs());
    list->insertBefore(node);
    node->output()->replaceAllUsesWith(list->output());
    node->destroy();
  }
}

}  // namespace

ArchiveInputs inputs_of(const ArchiveGraph& graph, std::int64_t species, const ArchiveFacts& facts, at::Device device) {
  const auto type = facts.float32 ? at::kFloat : at::kDouble;
  const auto nodes = static_cast<std::int64_t>(graph.types.size());
  const auto edges = static_cast<std::int64_t>(graph.centre.size());
  ArchiveInputs in;
  in.vectors = torch::from_blob(const_cast<double*>(graph.vector.data()), {edges, 3}, at::kDouble).to(device).clone();
  in.vectors.requires_grad_(true);
  in.positions = torch::zeros({nodes, 3}, torch::TensorOptions().dtype(type).device(device));
  // MACE aggregates messages at the second node of an edge, the others at the first; only centres have all their edges.
  const bool mace = facts.family == Family::mace || facts.family == Family::mace_lammps;
  const auto shifts = (mace ? -in.vectors : in.vectors).to(type);
  in.arguments.emplace_back(dictionary_of(graph, species, facts.family, in.positions, shifts));
  if (facts.family == Family::mace_lammps) {
    const auto owned = torch::arange(nodes, torch::TensorOptions().device(device)) < graph.owned;
    in.arguments.emplace_back(owned.to(type));
  }
  return in;
}

void drop_inner_derivatives(torch::jit::Module& module) {
  const auto graph = torch::jit::toGraphFunction(module.get_method("forward").function()).graph();
  torch::jit::Inline(*graph);
  drop_in(graph->block());
}

}  // namespace cambium::torch_potential
