#include "plugins/torch_potential/archive/archive.hpp"

#include <fmt/format.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/version.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/train/networks/torch/archive_words.hpp"
#include "plugins/torch_potential/archive/archive_facts.hpp"
#include "plugins/torch_potential/archive/archive_graph.hpp"

namespace cambium::torch_potential {

using train::refuse_answer, train::refuse_archive, train::require_torch_script;

namespace {

at::Device choose_device(const std::string& said, int rank) {
  if (!said.empty()) return at::Device(said);
  if (!torch::cuda::is_available()) return at::Device(at::kCPU);
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(rank % static_cast<int>(torch::cuda::device_count())));
}

std::optional<at::Tensor> entry(const c10::IValue& answer, std::initializer_list<const char*> names) {
  const auto dictionary = answer.toGenericDict();
  for (const char* name : names) {
    const auto found = dictionary.find(std::string(name));
    if (found != dictionary.end() && found->value().isTensor()) return found->value().toTensor();
  }
  return std::nullopt;
}

std::vector<double> numbers(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kCPU, at::kDouble).contiguous().view({-1});
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

}  // namespace

struct Archive::Module {
  Module(std::string file, const std::string& device, int rank);
  torch::jit::Module load(torch::jit::ExtraFilesMap& extra) const;
  static c10::IValue call(torch::jit::Module& program, const ArchiveInputs& in);

  std::string path;
  at::Device device;
  torch::jit::Module program;  ///< without derivatives of its own
  ArchiveFacts facts;
};

Archive::Module::Module(std::string file, const std::string& said, int rank) : path(std::move(file)), device(at::kCPU) {
  require_torch_script(path);
  torch::set_num_threads(host_threads());
  auto extra = known_extra_files();
  try {
    device = choose_device(said, rank);
    program = load(extra);
    facts = facts_of(program, extra, path);
    drop_inner_derivatives(program);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    refuse_archive(path, error.what());
  }
}

torch::jit::Module Archive::Module::load(torch::jit::ExtraFilesMap& extra) const {
  auto module = torch::jit::load(path, device, extra);
  module.eval();
  for (const auto& weight : module.parameters()) weight.requires_grad_(false);
  return module;
}

c10::IValue Archive::Module::call(torch::jit::Module& program, const ArchiveInputs& in) {
  // The overhead of programs is small; recompilation for each number of edges would take seconds per step.
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  return program.get_method("forward")(in.arguments);
}

Archive::Archive(const std::string& path, const std::string& device, int rank)
    : module_(std::make_unique<Module>(path, device, rank)) {}
Archive::~Archive() = default;

const ArchiveFacts& Archive::facts() const { return module_->facts; }

std::string Archive::place() const {
  return fmt::format("LibTorch {} on {}", CAMBIUM_TORCH_VERSION, module_->device.str());
}

ArchiveAnswer Archive::evaluate(const ArchiveGraph& graph, std::int64_t species) {
  ArchiveAnswer out;
  const auto nodes = static_cast<std::int64_t>(graph.types.size());
  try {
    const auto in = inputs_of(graph, species, module_->facts, module_->device);
    const auto answer = Module::call(module_->program, in);
    at::Tensor energies;
    if (const auto atomic = entry(answer, {"atomic_energy", "node_energy"})) {
      energies = atomic->reshape({-1}).slice(0, 0, graph.owned).to(at::kDouble);
    } else if (const auto total = entry(answer, {"total_energy", "energy"}); total && nodes == graph.owned) {
      energies = (total->reshape({-1}).sum().to(at::kDouble) / static_cast<double>(nodes)).expand({nodes});
    } else if (total) {
      throw InputError(
          fmt::format("{}: gives no energies of atoms, only their sum; run it on one rank", module_->path));
    } else {
      throw InputError(fmt::format(
          "{}: its output has none of the keys atomic_energy, node_energy, total_energy, energy", module_->path));
    }
    out.energy = numbers(energies);
    out.gradient.assign(graph.vector.size(), 0.0);
    if (graph.vector.empty()) return out;
    if (!energies.requires_grad())
      throw InputError(
          fmt::format("{}: its energies have no derivative by the positions; forces cannot be had", module_->path));
    const auto gradient = torch::autograd::grad({energies.sum()}, {in.vectors}, {}, false, false, true)[0];
    if (gradient.defined()) out.gradient = numbers(gradient);
    return out;
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    refuse_answer(module_->path, error.what());
  }
}

ArchiveDoubt Archive::compare(const ArchiveGraph& graph, std::int64_t species) {
  ArchiveGraph whole = graph;
  whole.owned = static_cast<std::int64_t>(graph.types.size());
  const auto ours = evaluate(whole, species);
  std::vector<double> force(3 * graph.types.size(), 0.0);
  for (std::size_t e = 0; e < graph.centre.size(); ++e)
    for (std::size_t k = 0; k < 3; ++k) {
      const double g = ours.gradient[3 * e + k];
      force[3 * static_cast<std::size_t>(graph.centre[e]) + k] += g;
      force[3 * static_cast<std::size_t>(graph.neighbour[e]) + k] -= g;
    }
  ArchiveDoubt doubt;
  try {
    torch::jit::ExtraFilesMap none;
    auto untouched = module_->load(none);
    const auto answer = Module::call(untouched, inputs_of(whole, species, module_->facts, module_->device));
    if (const auto total = entry(answer, {"total_energy", "total_energy_local", "energy"})) {
      double sum = 0.0;
      for (const double e : ours.energy) sum += e;
      doubt.energy = sum - total->sum().item<double>();
    }
    const auto given = entry(answer, {"forces"});
    if (!given || given->numel() != static_cast<std::int64_t>(force.size())) return doubt;
    const auto theirs = numbers(*given);
    for (std::size_t k = 0; k < force.size(); ++k) {
      doubt.force = std::max(doubt.force, std::abs(theirs[k] - force[k]));
      doubt.scale = std::max(doubt.scale, std::abs(theirs[k]));
    }
    return doubt;
  } catch (const std::exception& error) {
    refuse_answer(module_->path, error.what());
  }
}

}  // namespace cambium::torch_potential
