#include <ATen/CPUGeneratorImpl.h>

#include "plugins/superres/samples/window.hpp"
#include "plugins/superres/train/meshfree_flow_net.hpp"

namespace cambium::superres {

/// Places of the coarse samples themselves, (samples, nodes, 3).
static torch::Tensor nodes_of(const std::vector<LatentCells>& cells) {
  std::vector<torch::Tensor> out;
  for (const auto& grid : cells) {
    std::vector<torch::Tensor> axes;
    for (int a = 0; a < 3; ++a) axes.push_back(torch::tensor(grid.axis[a], torch::kFloat64).slice(0, 0, grid.nodes(a)));
    out.push_back(torch::stack(torch::meshgrid(axes, "ij"), -1).reshape({-1, 3}));
  }
  return torch::stack(out);
}

/// The latent vectors after a descent of Adam's; what they carry of the samples stays.
torch::Tensor MeshfreeFlowNet::refined(Asked ask) {
  const Refinement& how = *refinement_;
  const torch::AutoGradMode graph(true);
  const std::int64_t kept = ask.latents.size(1) - params_.latent, samples = ask.batch.size();
  const auto fixed = ask.latents.slice(1, 0, kept).detach();
  auto free = ask.latents.slice(1, kept).detach().clone().requires_grad_(true);
  std::vector<LatentCells> grids;
  std::vector<torch::Tensor> low, high;
  for (std::int64_t b = 0; b < samples; ++b) {
    const auto& axis = grids.emplace_back(cells(ask.batch, b)).axis;
    low.push_back(torch::tensor({axis[0].front(), axis[1].front(), axis[2].front()}, torch::kFloat64));
    high.push_back(torch::tensor({axis[0].back(), axis[1].back(), axis[2].back()}, torch::kFloat64));
  }
  const auto nodes = nodes_of(grids), from = torch::stack(low).unsqueeze(1), to = torch::stack(high).unsqueeze(1);
  const auto known = ask.samples.permute({0, 2, 3, 4, 1}).reshape({samples, -1, std::ssize(flow_fields)}).to(real());
  torch::optim::Adam descent({free}, torch::optim::AdamOptions(how.rate));
  auto generator = at::detail::createCPUGenerator(1);
  for (std::int64_t step = 0; step < how.steps; ++step) {
    static_cast<torch::optim::AdamOptions&>(descent.param_groups()[0].options()).lr(how.rate * (1.0 - static_cast<double>(step) / how.steps));
    const auto drawn = torch::rand({samples, how.points, 3}, generator, torch::kFloat64);
    ask.points = torch::cat({nodes, from + (to - from) * drawn}, 1);
    ask.latents = torch::cat({fixed, free}, 1);
    const auto all = jets_of(ask, true);
    const auto at_nodes = scaled(all[0]).reshape({samples, -1, std::ssize(flow_fields)}).slice(1, 0, nodes.size(1));
    const auto loss = (at_nodes - known).square().mean() + how.gamma * equations_loss(all, Loss::l2);
    free.mutable_grad() = torch::autograd::grad({loss}, {free})[0];  // and no weight's
    descent.step();
  }
  return torch::cat({fixed, free.detach()}, 1);
}

}  // namespace cambium::superres
