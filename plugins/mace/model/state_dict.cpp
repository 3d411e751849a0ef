#include "plugins/mace/model/state_dict.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/train/weights/safetensors.hpp"

namespace cambium::mace {

StateDict::StateDict(const std::string& path) : path_(path) {
  auto file = train::read_safetensors(path);
  for (auto& one : file.tensors) tensors_[one.name] = {std::move(one.shape), std::move(one.values)};
  refuse_unknown_parts();
  species_ = static_cast<int>(tensor("atomic_numbers").values.size());
  const int layers = static_cast<int>(real("num_interactions"));
  for (int k = 0; k < layers; ++k)
    add_mean_neighbours(fmt::format("interactions.{}.avg_num_neighbors", k), file.metadata["avg_num_neighbors"]);
  describe();
}

void StateDict::add_mean_neighbours(const std::string& name, const std::string& metadata) {
  if (has(name)) return;
  const double value = std::strtod(metadata.c_str(), nullptr);
  if (!(value > 0.0))
    throw InputError(
        fmt::format("{}: the mean number of neighbours is missing; write it into the file's metadata as "
                    "avg_num_neighbors",
                    path_));
  tensors_[name] = {{}, {value}};
}

bool StateDict::has_below(const std::string& prefix) const {
  const auto found = tensors_.lower_bound(prefix);
  return found != tensors_.end() && found->first.starts_with(prefix);
}

void StateDict::refuse_unknown_parts() const {
  for (const char* part : {"pair_repulsion_fn", "radial_embedding.distance_transform", "joint_embedding", "les"})
    if (has_below(part + std::string(".")))
      throw InputError(fmt::format("{}: the model has '{}', which is not supported", path_, part));
}

Tensor StateDict::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw InputError(
        fmt::format("{} has no '{}': it is no MACE model, or one of a version that is not known", path_, name));
  return found->second;
}

double StateDict::real(const std::string& name) const {
  const Tensor one = tensor(name);
  if (one.values.size() != 1)
    throw InputError(fmt::format("{}: '{}' has {} elements; it must be one value", path_, name, one.values.size()));
  return one.values[0];
}

std::string StateDict::class_of(const std::string& name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? std::string() : found->second;
}

Irreps StateDict::irreps(const std::string& name) const {
  const auto found = irreps_.find(name);
  if (found == irreps_.end()) misfit(*this, name);
  return found->second;
}

std::vector<Instruction> StateDict::linear(const std::string& name) const {
  const auto found = instructions_.find(name);
  if (found == instructions_.end()) misfit(*this, name);
  return found->second;
}

std::vector<Instruction> StateDict::product(const std::string& name, const std::string&) const { return linear(name); }

double StateDict::activation(const std::string&) const { return 1.6791767923989418; }

void StateDict::add_linear(const std::string& name, const Irreps& in, const Irreps& out) {
  irreps_[name + ".irreps_in"] = in;
  irreps_[name + ".irreps_out"] = out;
  auto& all = instructions_[name];
  for (std::size_t a = 0; a < in.size(); ++a)
    for (std::size_t b = 0; b < out.size(); ++b) {
      if (in[a].l != out[b].l) continue;
      int fan_in = 0;
      for (const Irrep& one : in) fan_in += one.l == out[b].l ? one.mul : 0;
      all.push_back({static_cast<int>(a), 0, static_cast<int>(b), 1.0 / std::sqrt(fan_in)});
    }
}

void StateDict::add_skip(const std::string& name, const Irreps& in, const Irreps& out) {
  add_linear(name, in, out);
  for (Instruction& one : instructions_[name])
    one.factor *= std::sqrt(in[static_cast<std::size_t>(one.in)].components() / static_cast<double>(species_));
  irreps_[name + ".irreps_in1"] = in;
}

void StateDict::add_convolution(const std::string& name, const Irreps& in) {
  Irreps edge, out;
  for (int l = 0; l <= lmax_; ++l) append(edge, 1, l);
  auto& all = instructions_[name];
  for (int l3 = 0; l3 <= lmax_; ++l3)
    for (std::size_t a = 0; a < in.size(); ++a)
      for (int l2 = 0; l2 <= lmax_; ++l2) {
        const int l1 = in[a].l;
        if (l3 < std::abs(l1 - l2) || l3 > l1 + l2 || (l1 + l2 + l3) % 2) continue;
        all.push_back({static_cast<int>(a), l2, static_cast<int>(out.size()), std::sqrt(2 * l3 + 1)});
        append(out, in[a].mul, l3);
      }
  irreps_[name + ".irreps_in1"] = in;
  irreps_[name + ".irreps_in2"] = edge;
  irreps_[name + ".irreps_out"] = out;
}

Irreps StateDict::results(int k, int channels) {
  const std::string name = fmt::format("products.{}.symmetric_contractions.contractions.", k);
  Irreps out;
  for (int j = 0; has(fmt::format("{}{}.U_matrix_1", name, j)); ++j) {
    const Tensor u = tensor(fmt::format("{}{}.U_matrix_1", name, j));
    if (u.shape.size() < 2) misfit(*this, fmt::format("{}{}", name, j));
    const auto components = u.shape[u.shape.size() - 2];
    lmax_ = static_cast<int>(std::lround(std::sqrt(static_cast<double>(components)))) - 1;
    constexpr int highest_degree = 11;
    if (lmax_ < 0 || lmax_ > highest_degree || (lmax_ + 1) * (lmax_ + 1) != components)
      misfit(*this, fmt::format("{}{}", name, j));
    append(out, channels, u.shape.size() == 2 ? 0 : static_cast<int>(u.shape[0] - 1) / 2);
  }
  if (out.empty()) tensor(name + "0.U_matrix_1");
  return out;
}

void StateDict::describe() {
  if (species_ == 0) misfit(*this, "atomic_numbers");
  const auto size = tensor("node_embedding.linear.weight").values.size();
  const int channels = static_cast<int>(size) / species_, layers = static_cast<int>(real("num_interactions"));
  Irreps one_hot, before;
  append(one_hot, species_, 0);
  append(before, channels, 0);
  add_linear("node_embedding.linear", one_hot, before);
  for (int k = 0; k < layers; ++k) {
    const Irreps after = results(k, channels);
    describe_interaction(k, before, after, channels);
    before = after;
  }
  for (int l = 0; l <= lmax_; ++l) append(irreps_["spherical_harmonics.irreps_out"], 1, l);
}

void StateDict::describe_interaction(int k, const Irreps& before, const Irreps& after, int channels) {
  const std::string name = fmt::format("interactions.{}", k), product = fmt::format("products.{}", k),
                    readout = fmt::format("readouts.{}", k);
  Irreps target, summed, energy;
  for (int l = 0; l <= lmax_; ++l) append(target, channels, l);
  append(energy, 1, 0);
  add_linear(name + ".linear_up", before, before);
  add_convolution(name + ".conv_tp", before);
  for (const Irrep& one : irreps_[name + ".conv_tp.irreps_out"])
    if (!summed.empty() && summed.back().l == one.l)
      summed.back().mul += one.mul;
    else
      append(summed, one.mul, one.l);
  add_linear(name + ".linear", summed, target);
  const auto weights = static_cast<int>(tensor(name + ".skip_tp.weight").values.size());
  const bool residual = weights != channels * channels * species_ * (lmax_ + 1);
  add_skip(name + ".skip_tp", residual ? before : target, residual ? after : target);
  classes_[name] = residual ? "RealAgnosticResidualInteractionBlock" : "RealAgnosticInteractionBlock";
  if (has_below(name + ".density_fn.")) classes_[name] = "RealAgnosticDensityInteractionBlock";
  add_linear(product + ".linear", after, after);
  if (has(readout + ".linear.weight")) {
    classes_[readout] = "LinearReadoutBlock";
    return add_linear(readout + ".linear", after, energy);
  }
  classes_[readout] = "NonLinearReadoutBlock";
  Irreps hidden;
  append(hidden, static_cast<int>(tensor(readout + ".linear_2.weight").values.size()), 0);
  add_linear(readout + ".linear_1", after, hidden);
  add_linear(readout + ".linear_2", hidden, energy);
}

}  // namespace cambium::mace
