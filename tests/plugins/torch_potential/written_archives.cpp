#include "tests/plugins/torch_potential/written_archives.hpp"

#include <torch/script.h>

namespace cambium::test {

void write_archive(const std::string& path, const std::string& text,
                   const std::map<std::string, std::string>& extra_files) {
  torch::jit::Module module("Written");
  module.define(text);
  torch::jit::ExtraFilesMap extra;
  for (const auto& [name, content] : extra_files) extra[name] = content;
  module.save(path, extra);
}

void write_archive_with_buffers(const std::string& path, const std::string& text, double cutoff, int layers,
                                int atomic_number) {
  torch::jit::Module module("Written");
  module.register_buffer("r_max", torch::tensor(cutoff, at::kDouble));
  module.register_buffer("num_interactions", torch::tensor(layers));
  module.register_buffer("atomic_numbers", torch::tensor({atomic_number}));
  module.register_parameter("weight", torch::ones({1}, at::kDouble), false);
  module.define(text);
  module.save(path);
}

std::map<std::string, std::string> said(const std::string& species, double cutoff, int layers) {
  return {{"nequip_version", "0.6.0"},
          {"model_dtype", "float64"},
          {"type_names", species},
          {"r_max", std::to_string(cutoff)},
          {"config", "num_features: 8\nnum_layers: " + std::to_string(layers) + "\n"}};
}

/// Distances of edges, and the answer with forces of the total energy, as NequIP's programs give them.
static const char* frame = R"JIT(
def lengths(self, data: Dict[str, Tensor]):
    edges = data["edge_index"]
    pos = data["pos"]
    d = pos[edges[1]] - pos[edges[0]] + torch.matmul(data["edge_cell_shift"], data["cell"])
    return torch.sqrt(torch.sum(d * d, 1))

def answer(self, data: Dict[str, Tensor], energy: Tensor):
    out: Dict[str, Tensor] = {}
    total = torch.sum(energy)
    grads = torch.autograd.grad([total], [data["pos"]])
    force = grads[0]
    out["atomic_energy"] = energy.unsqueeze(1)
    out["total_energy"] = total.unsqueeze(0)
    if force is not None:
        out["forces"] = -force
    return out
)JIT";

std::string sutton_chen_text() {
  return std::string(frame) + R"JIT(
def forward(self, data: Dict[str, Tensor]):
    data["pos"].requires_grad_(True)
    r = self.lengths(data)
    t = torch.clamp((r * r - 16.0) / 20.0, 0.0, 1.0)
    smooth = 1.0 - t * t * t * (10.0 - 15.0 * t + 6.0 * t * t)
    n = data["pos"].size(0)
    zero = torch.zeros(n, dtype=r.dtype, device=r.device)
    centre = data["edge_index"][0]
    repulsion = zero.index_add(0, centre, smooth * torch.pow(3.61 / r, 9))
    density = zero.index_add(0, centre, smooth * torch.pow(3.61 / r, 6))
    energy = 0.012382 * (0.5 * repulsion - 39.432 * torch.sqrt(density))
    return self.answer(data, energy)
)JIT";
}

std::string messages_text() {
  return std::string(frame) + R"JIT(
def forward(self, data: Dict[str, Tensor]):
    data["pos"].requires_grad_(True)
    r = self.lengths(data)
    w = torch.pow(torch.clamp(1.0 - r / 3.0, min=0.0), 3)
    centre = data["edge_index"][0]
    neighbour = data["edge_index"][1]
    h = 1.0 + 0.3 * data["atom_types"].to(r.dtype)
    for k in range(3):
        m = torch.zeros_like(h).index_add(0, centre, w * h[neighbour] * (1.0 + 0.1 * h[centre]))
        h = 0.5 * h + torch.tanh(0.2 * m)
    return self.answer(data, -0.7 * h * h)
)JIT";
}

}  // namespace cambium::test
