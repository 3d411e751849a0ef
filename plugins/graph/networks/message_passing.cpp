#include "plugins/graph/networks/message_passing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "core/train/networks/torch/saved_tensors.hpp"

namespace cambium::graph {

using torch::Tensor;
using train::TermInfo;
using train::TorchBatch;

void MessagePassing::fit_statistics(train::Dataset& training, Context&) {
  for (const auto& field : training.fields())
    if (field.name == "energy") unit_ = field.unit;
  std::vector<train::SamplePtr> samples;
  for (std::int64_t id = 0; id < training.size(); ++id) samples.push_back(training.read(std::span(&id, 1)).front());
  std::vector<MoleculeView> views;
  for (const auto& sample : samples) views.push_back(molecule_of(*sample));
  reference_.fit(views, params_.reference);
  std::set<std::int32_t> elements;
  double squares = 0.0, atoms = 0.0, force_squares = 0.0;
  forces_ = true;
  for (const auto& m : views) {
    elements.insert(m.species.begin(), m.species.end());
    squares += std::pow(m.energy - reference_.without(m), 2);
    atoms += static_cast<double>(m.atoms());
    for (const double f : m.force) force_squares += f * f;
    forces_ = forces_ && !m.force.empty();
  }
  if (params_.force_weight > 0.0 && !forces_)
    throw InputError(
        "'force_weight' is not 0, but the molecules have no forces; give a file that has them, or remove it");
  if (params_.force_weight > 0.0 && !reference_.smooth())
    throw InputError(fmt::format(
        "'force_weight' is not 0, but energies by 'reference: {}' have no forces; take atoms or bonds, or remove it",
        name_of(params_.reference)));
  forces_ = forces_ && reference_.smooth();
  elements_.assign(elements.begin(), elements.end());
  const auto n = static_cast<double>(views.size());
  deviation_ = std::max(std::sqrt(squares / n), 1e-12);
  atom_deviation_ = deviation_ / std::sqrt(atoms / n);
  force_deviation_ = forces_ ? std::max(std::sqrt(force_squares / (3.0 * atoms)), 1e-12) : 1.0;
}

std::vector<TermInfo> MessagePassing::terms() const {
  std::vector<TermInfo> out{
      {"energy", "", params_.loss == Loss::l2 ? TermInfo::Report::root_mean : TermInfo::Report::mean}};
  if (params_.force_weight > 0.0) out.push_back({"force", "", TermInfo::Report::root_mean});
  return out;
}

std::vector<double> MessagePassing::term_weights(std::int64_t, double) const {
  if (params_.force_weight > 0.0) return {1.0, params_.force_weight};
  return {1.0};
}

std::vector<TermInfo> MessagePassing::metrics() const {
  std::vector<TermInfo> out{{"energy_mae", unit_, TermInfo::Report::mean},
                            {"energy_rmse", unit_, TermInfo::Report::root_mean}};
  if (forces_) out.push_back({"force_rmse", unit_ + "/Å", TermInfo::Report::root_mean});
  return out;
}

std::shared_ptr<torch::nn::Module> MessagePassing::build() {
  auto whole = std::make_shared<torch::nn::Module>("message_passing");
  embedding_ = whole->register_module("embedding", torch::nn::Embedding(std::ssize(elements_), params_.width));
  torch::nn::ModuleList layers;
  interactions_.clear();
  for (std::int64_t k = 0; k < params_.layers; ++k) {
    interactions_.emplace_back(params_.width, params_.radial, params_.directions);
    layers->push_back(interactions_.back());
  }
  whole->register_module("interactions", layers);
  torch::nn::Sequential readout;
  readout_in_ = torch::nn::Linear(params_.width, std::max<std::int64_t>(params_.width / 2, 1));
  readout_out_ = torch::nn::Linear(std::max<std::int64_t>(params_.width / 2, 1), 1);
  readout->push_back("in", readout_in_);
  readout->push_back("out", readout_out_);
  whole->register_module("readout", readout);
  return whole;
}

/// No segments with forces: their second derivatives read weights out of order.
std::vector<std::string> MessagePassing::segments() const {
  if (params_.force_weight > 0.0) return {};
  std::vector<std::string> out{"embedding"};
  for (std::int64_t k = 0; k < params_.layers; ++k) out.push_back(fmt::format("interactions.{}", k));
  out.emplace_back("readout");
  return out;
}

/// The output layer starts at zero, so an untrained network returns the reference.
void MessagePassing::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                             std::uint64_t seed) const {
  if (info.shape.size() < 2 || info.name == "readout.out.weight") return train::fill_constant(weights, 0.0);
  const double inputs = info.name == "embedding.weight" ? 1.0 : 3.0 * static_cast<double>(info.shape[1]);
  train::fill_normal(weights, 1.0 / std::sqrt(inputs), seed, index);
}

MoleculeBatch MessagePassing::molecules(const TorchBatch& batch) const {
  return molecule_batch(batch.samples(), elements_, params_.cutoff, real());
}

/// (atoms, 1 or 4, width): scalars, then vectors if there are any.
static Tensor one_tensor_of(const AtomState& atoms) {
  const Tensor scalar = atoms.scalar.unsqueeze(1);
  return atoms.vector.defined() ? torch::cat({scalar, atoms.vector}, 1) : scalar;
}

static AtomState state_of(const Tensor& all) {
  AtomState out{all.select(1, 0).contiguous(), {}};
  if (all.size(1) > 1) out.vector = all.narrow(1, 1, all.size(1) - 1).contiguous();
  return out;
}

/// Correction of the reference by the network, (molecules), in units of deviation_. `again`: activation checkpointing,
/// interactions store only their inputs.
Tensor MessagePassing::rest(const MoleculeBatch& m, bool again) {
  const auto pairs = pair_geometry(m.position, m.first, m.second, m.shift, params_.cutoff, params_.radial);
  enter(0);
  AtomState atoms{embedding_(m.species), {}};
  for (std::size_t k = 0; k < interactions_.size(); ++k) {
    enter(static_cast<int>(k) + 1);
    if (!again) {
      interactions_[k]->forward(atoms, pairs);
      continue;
    }
    const auto segment = [layer = interactions_[k], pairs](const Tensor& x) {
      AtomState state = state_of(x);
      layer.ptr()->forward(state, pairs);
      return one_tensor_of(state);
    };
    atoms = state_of(train::recomputed(segment, one_tensor_of(atoms)));
  }
  enter(static_cast<int>(interactions_.size()) + 1);
  const Tensor share = readout_out_(torch::silu(readout_in_(atoms.scalar))).squeeze(1) * (atom_deviation_ / deviation_);
  return torch::zeros({m.size()}, share.options()).index_add(0, m.molecule, share);
}

Tensor MessagePassing::true_rest(const MoleculeBatch& m) const {
  std::vector<double> out;
  for (const auto& view : m.views) out.push_back((view.energy - reference_.without(view)) / deviation_);
  return torch::tensor(out, torch::kFloat64).to(real());
}

Tensor MessagePassing::size_of(const Tensor& error) const {
  if (params_.loss == Loss::l2) return error.square();
  if (params_.loss == Loss::l1) return error.abs();
  constexpr double knee = 0.3;
  return torch::where(error.abs() < knee, error.square() / (2.0 * knee), error.abs() - 0.5 * knee);
}

/// Forces in units of deviation_ per Å, with their autograd graph.
static Tensor forces_of(const Tensor& rest, const Tensor& position, bool graph) {
  if (!rest.requires_grad()) return torch::zeros_like(position);
  const auto slope = torch::autograd::grad({rest.sum()}, {position}, {}, true, graph, true)[0];
  return slope.defined() ? -slope : torch::zeros_like(position);
}

std::vector<train::TorchNetwork::Term> MessagePassing::loss(const TorchBatch& batch) {
  auto m = molecules(batch);
  const bool forces = params_.force_weight > 0.0;
  if (forces) m.position.requires_grad_(true);
  const auto n = static_cast<double>(batch.size());
  const Tensor found = rest(m, recomputes());
  std::vector<Term> out{{size_of(found - true_rest(m)).sum(), n}};
  if (!forces) return out;
  const Tensor error = (forces_of(found, m.position, true) * deviation_ - m.force) / force_deviation_;
  const Tensor atoms = torch::bincount(m.molecule).to(real()).index_select(0, m.molecule);
  out.push_back({(error.square().mean(1) / atoms).sum(), n});
  return out;
}

MessagePassing::Prediction MessagePassing::predicted(const MoleculeBatch& given, bool forces) {
  MoleculeBatch m = given;
  const torch::AutoGradMode graph(forces);
  if (forces) m.position = m.position.detach().requires_grad_(true);
  const Tensor found = rest(m);
  Prediction out;
  std::vector<double> reference;
  for (const auto& view : m.views) reference.push_back(reference_(view));
  out.energy = found.detach().to(torch::kFloat64) * deviation_ + torch::tensor(reference, torch::kFloat64);
  if (forces) out.force = forces_of(found, m.position, false).detach().to(torch::kFloat64) * deviation_;
  return out;
}

/// Terms of loss(), from errors in the unit of the training set; `force_error` may be undefined.
std::vector<train::TermSum> MessagePassing::loss_of(const MoleculeBatch& m, const Tensor& energy_error,
                                                    const Tensor& force_error) const {
  const auto n = static_cast<double>(m.size());
  std::vector<train::TermSum> out{{size_of(energy_error / deviation_).sum().item<double>(), n}};
  if (params_.force_weight == 0.0) return out;
  if (!force_error.defined()) return {out[0], {}};
  const Tensor atoms = torch::bincount(m.molecule).to(torch::kFloat64).index_select(0, m.molecule);
  out.push_back({((force_error / force_deviation_).square().mean(1) / atoms).sum().item<double>(), n});
  return out;
}

std::vector<train::TorchNetwork::Term> MessagePassing::measure(const TorchBatch& batch) {
  const auto m = molecules(batch);
  const bool forces = forces_ && m.force.defined();
  const auto found = predicted(m, forces);
  std::vector<double> truth;
  for (const auto& view : m.views) truth.push_back(view.energy);
  const Tensor error = found.energy - torch::tensor(truth, torch::kFloat64);
  const auto n = static_cast<double>(batch.size());
  std::vector<Term> out{{error.abs().sum(), n}, {error.square().sum(), n}};
  Tensor off;
  if (forces) off = found.force - m.force.to(torch::kFloat64);
  evaluated_ = loss_of(m, error, off);
  if (forces) {
    out.push_back({off.square().sum(), static_cast<double>(off.numel())});
  } else if (forces_) {
    out.push_back({torch::zeros({}, torch::kFloat64), 0.0});
  }
  return out;
}

std::vector<Tensor> MessagePassing::predict(const TorchBatch& batch) {
  return {predicted(molecules(batch), false).energy};
}

MessagePassing::Prediction MessagePassing::energies_and_forces(std::span<const train::SamplePtr> samples,
                                                               std::span<const TensorRef> weights) {
  Prediction out;
  with_weights(weights, [&] { out = predicted(molecules(TorchBatch(samples, real())), true); });
  return out;
}

std::vector<io::ParityQuantity> MessagePassing::parity_quantities() const {
  std::vector<io::ParityQuantity> out(1);
  out[0].name = "energy";
  out[0].unit = unit_;
  out[0].doc = "energy of a molecule";
  out[0].places = {"molecule"};
  if (!forces_) return out;
  out.emplace_back();
  out[1].name = "force";
  out[1].unit = unit_ + "/Å";
  out[1].doc = "force on an atom";
  out[1].places = {"molecule", "atom"};
  out[1].components = {"x", "y", "z"};
  return out;
}

void MessagePassing::add_parity(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                std::span<io::ParityQuantity> quantities) {
  const auto found = energies_and_forces(samples, weights);
  const double* force = found.force.data_ptr<double>();
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const auto m = molecule_of(*samples[k]);
    quantities[0].place.push_back(samples[k]->id);
    quantities[0].reference.push_back(m.energy);
    quantities[0].predicted.push_back(found.energy[static_cast<std::int64_t>(k)].item<double>());
    for (std::int64_t a = 0; a < m.atoms(); ++a, force += 3) {
      if (quantities.size() < 2 || m.force.empty()) continue;
      auto& q = quantities[1];
      q.place.insert(q.place.end(), {samples[k]->id, a});
      q.reference.insert(q.reference.end(), &m.force[3 * a], &m.force[3 * a] + 3);
      q.predicted.insert(q.predicted.end(), force, force + 3);
    }
  }
}

std::vector<Citation> MessagePassing::citations() const {
  std::vector<Citation> out{{"schutt2018", R"(@article{schutt2018,
  author = {Sch{\"u}tt, Kristof T. and Sauceda, Huziel E. and Kindermans, Pieter-Jan and Tkatchenko, Alexandre and M{\"u}ller, Klaus-Robert},
  title = {{SchNet} -- A deep learning architecture for molecules and materials},
  journal = {The Journal of Chemical Physics}, volume = {148}, pages = {241722}, year = {2018},
  doi = {10.1063/1.5019779}
})"}};
  if (params_.directions)
    out.push_back({"schutt2021", R"(@inproceedings{schutt2021,
  author = {Sch{\"u}tt, Kristof T. and Unke, Oliver T. and Gastegger, Michael},
  title = {Equivariant message passing for the prediction of tensorial properties and molecular spectra},
  booktitle = {Proceedings of the 38th International Conference on Machine Learning}, volume = {139},
  pages = {9377--9388}, year = {2021}
})"});
  for (auto& work : reference_.citations()) out.push_back(std::move(work));
  return out;
}

std::string MessagePassing::state() const {
  return nlohmann::json{{"reference", reference_.text()},
                        {"elements", elements_},
                        {"unit", unit_},
                        {"forces", forces_},
                        {"deviation", deviation_},
                        {"atom_deviation", atom_deviation_},
                        {"force_deviation", force_deviation_}}
      .dump();
}

void MessagePassing::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  reference_ = EnergyFit::from(in.at("reference").get<std::string>());
  in.at("elements").get_to(elements_);
  in.at("unit").get_to(unit_);
  in.at("forces").get_to(forces_);
  in.at("deviation").get_to(deviation_);
  in.at("atom_deviation").get_to(atom_deviation_);
  in.at("force_deviation").get_to(force_deviation_);
}

}  // namespace cambium::graph
