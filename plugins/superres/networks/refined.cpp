#include <ATen/CPUGeneratorImpl.h>

#include <functional>

#include "plugins/superres/networks/meshfree_flow_net.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

std::optional<std::array<double, 2>> MeshfreeFlowNet::plates() const {
  if (!params_.plates) return {};
  return params_.plates->z;
}

/// Positions of the coarse samples themselves, (samples, nodes, 3).
static torch::Tensor nodes_of(const std::vector<LatentCells>& cells) {
  std::vector<torch::Tensor> out;
  for (const auto& grid : cells) {
    std::vector<torch::Tensor> axes;
    for (int a = 0; a < 3; ++a) axes.push_back(torch::tensor(grid.axis[a], torch::kFloat64).slice(0, 0, grid.nodes(a)));
    out.push_back(torch::stack(torch::meshgrid(axes, "ij"), -1).reshape({-1, 3}));
  }
  return torch::stack(out);
}

/// A parameter group whose learning rate decays to 0 during the descent.
struct Falling {
  std::vector<torch::Tensor> variables;
  double rate;
};

/// Adam with a short decay time of the squares (beta2 = 0.99), since rates decay within a few hundred steps.
static torch::optim::Adam adam(const std::vector<Falling>& groups) {
  std::vector<torch::optim::OptimizerParamGroup> out;
  for (const auto& group : groups)
    out.emplace_back(group.variables, std::make_unique<torch::optim::AdamOptions>(
                                          torch::optim::AdamOptions(group.rate).betas({0.9, 0.99})));
  return torch::optim::Adam(out, torch::optim::AdamOptions(groups.front().rate));
}

/// Minimises `loss`, called once per step, over the variables of all groups.
static void descend(const std::vector<Falling>& groups, std::int64_t steps,
                    const std::function<torch::Tensor()>& loss) {
  auto descent = adam(groups);
  std::vector<torch::Tensor> variables;
  for (const auto& group : groups) variables.insert(variables.end(), group.variables.begin(), group.variables.end());
  for (std::int64_t step = 0; step < steps; ++step) {
    const double left = 1.0 - static_cast<double>(step) / static_cast<double>(steps);
    for (std::size_t g = 0; g < groups.size(); ++g)
      static_cast<torch::optim::AdamOptions&>(descent.param_groups()[g].options()).lr(groups[g].rate * left);
    const auto gradients = torch::autograd::grad({loss()}, variables);  // and no gradient of the network as trained
    for (std::size_t k = 0; k < variables.size(); ++k) variables[k].mutable_grad() = gradients[k];
    descent.step();
  }
}

/// Jets of the fields from latent vectors and a copy of the decoder's weights after a descent; the samples' spline
/// coefficients in the vectors are not changed.
MeshfreeFlowNet::Asked MeshfreeFlowNet::refined(Asked ask) {
  const Refinement& how = *refinement_;
  const torch::AutoGradMode graph(true);
  const std::int64_t kept = ask.latents.size(1) - params_.latent, samples = ask.batch.size();
  const auto asked_points = ask.points, fixed = ask.latents.slice(1, 0, kept).detach();
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
  std::vector<Falling> groups{{{free}, how.rate}};
  if (how.weights_rate > 0.0) {
    for (auto& w : ask.weights) w = w.detach().clone().requires_grad_(true);
    groups.push_back({ask.weights, how.weights_rate});
  }
  auto generator = at::detail::createCPUGenerator(1);
  descend(groups, how.steps, [&] {
    ask.latents = torch::cat({fixed, free}, 1);
    ask.points = nodes;
    const auto at_nodes = scaled(jets_of(ask, none_)[0]).reshape_as(known);
    ask.points = from + (to - from) * torch::rand({samples, how.points, 3}, generator, torch::kFloat64);
    return (at_nodes - known).square().mean() + how.gamma * equations_loss(jets_of(ask, *wanted_), *wanted_, Loss::l2);
  });
  for (auto& w : ask.weights) w = w.detach();
  ask.latents = torch::cat({fixed, free.detach()}, 1);
  ask.points = asked_points;
  return ask;
}

}  // namespace cambium::superres
