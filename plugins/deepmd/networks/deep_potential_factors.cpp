// Layers that can have factors, and the pass whose time their ranks are chosen by.
#include <fmt/format.h>

#include <cmath>

#include "core/particles/image_system.hpp"
#include "plugins/deepmd/model/factors.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "plugins/deepmd/training/parameters.hpp"

namespace cambium::deepmd {

void DeepPotentialNetwork::apply_ranks(DeepPotentialModel& model, bool decompose) const {
  set_ranks(model, params_.ranks, !params_.simulation.compress, decompose);
}

/// Over some frames spread evenly over the training set.
void DeepPotentialNetwork::count_work(train::Dataset& training) {
  constexpr std::int64_t enough = 16;
  const auto nt = static_cast<std::size_t>(shape_.ntypes());
  const auto parts = std::as_const(shape_).descriptors();
  const std::int64_t n = training.size(), used = std::min(n, enough);
  atoms_.assign(nt, 0.0);
  pairs_.assign(parts.size(), std::vector<double>(nt * nt, 0.0));
  const double each = 1.0 / static_cast<double>(used);
  for (std::int64_t k = 0; k < used; ++k) {
    const std::int64_t id = k * n / used;
    const FramePtr frame = frame_of_sample(*training.read(std::span(&id, 1)).front());
    for (std::size_t i = 0; i < frame->type.size(); ++i) {
      atoms_[static_cast<std::size_t>(frame->type[i])] += each;
      for (auto p = static_cast<std::size_t>(frame->first[i]); p < static_cast<std::size_t>(frame->first[i + 1]); ++p) {
        const double *d = &frame->d[3 * p], r = std::hypot(d[0], d[1], d[2]);
        const auto from = static_cast<std::size_t>(frame->type[i]) * nt;
        const auto to = static_cast<std::size_t>(frame->type[static_cast<std::size_t>(frame->neighbour[p])]);
        for (std::size_t part = 0; part < parts.size(); ++part)
          if (r < parts[part].rcut) pairs_[part][from + to] += each;
      }
    }
  }
}

namespace {

/// Products with each matrix of the networks of networks_of() for the energy and the forces of a frame: two for each
/// atom of an energy network's types and two for each pair of an embedding network's, for values and derivatives. If
/// these numbers are not known, they are those of one atom of each type with all its slots.
std::vector<double> products_of(const DeepPotentialModel& m, std::vector<double> atoms,
                                std::vector<std::vector<double>> pairs) {
  const auto nt = static_cast<std::size_t>(m.ntypes());
  if (atoms.size() != nt) {
    atoms.assign(nt, 1.0);
    pairs.clear();
  }
  std::vector<double> out;
  for (std::size_t part = 0; part < m.descriptors().size(); ++part) {
    const DeepPotentialModel& d = m.descriptors()[part];
    std::vector<double> by_network(d.embedding.size(), 0.0);
    for (std::size_t i = 0; i < nt && by_network.size() > 1; ++i)
      for (std::size_t j = 0; j < nt; ++j)
        by_network[static_cast<std::size_t>(d.embedding_index(static_cast<int>(i), static_cast<int>(j)))] +=
            2.0 * (part < pairs.size() ? pairs[part][i * nt + j] : atoms[i] * d.sel[j]);
    if (by_network.size() == 1)
      for (std::size_t k = 0; k < nt * nt; ++k)
        by_network[0] += 2.0 * (part < pairs.size() ? pairs[part][k] : atoms[k / nt] * d.sel[k % nt]);
    if (!d.type_embedding.layers.empty()) out.push_back(1.0);
    for (std::size_t k = 0; k < d.embedding.size(); ++k)
      if (!d.embedding[k].layers.empty()) out.push_back(by_network[k]);
    out.insert(out.end(), d.attention.networks.size(), 1.0);
  }
  double all = 0.0;
  for (const double n : atoms) all += n;
  for (std::size_t k = 0; k < m.fitting.size(); ++k) out.push_back(2.0 * (m.fitting.size() == 1 ? all : atoms[k]));
  return out;
}

}  // namespace

std::vector<train::FactorLayer> DeepPotentialNetwork::factor_layers() const {
  const auto parameters = parameters_of(shape_);
  const auto first = first_parameters(shape_);
  const auto counts = products_of(shape_, atoms_, pairs_);
  const std::size_t embeddings = first.size() - 1 - shape_.fitting.size();
  std::vector<train::FactorLayer> out;
  for (const auto& place : factor_places(shape_, !params_.simulation.compress)) {
    const bool fitting = place.network >= embeddings;
    train::FactorLayer layer;
    layer.name = fmt::format("{}.{}.{}", fitting ? "fitting" : "embedding",
                             fitting ? place.network - embeddings : place.network, place.index);
    layer.inputs = place.layer->in;
    layer.outputs = place.layer->out;
    layer.places = std::max<std::int64_t>(1, std::llround(counts[place.network]));
    layer.outputs_first = false;
    layer.rank = place.layer->rank;
    for (int k = first[place.network]; k < first[place.network + 1]; ++k) {
      const std::string& name = parameters[static_cast<std::size_t>(k)].name;
      if (name == layer.name + ".w") layer.core = k;
      if (name == layer.name + ".w.enter") layer.enter = k;
      if (name == layer.name + ".w.leave") layer.leave = k;
    }
    out.push_back(layer);
  }
  return out;
}

/// Not those of embedding networks: doubled widths add copies of their inputs, others do not.
std::vector<train::HasFactors::WidthKey> DeepPotentialNetwork::width_keys() const {
  if (!params_.init.empty()) return {};  // the model's widths are used
  return {{"fitting"}};
}

namespace {

/// A frame with everything that a step of a simulation has at hand.
struct Step {
  ImageSystem system;
  View<int*> types;
  View<double* [3]> force;
  View<double**> aparam;
  std::vector<double> fparam;
};

}  // namespace

std::function<void()> DeepPotentialNetwork::simulation_pass(std::span<const train::SamplePtr> samples,
                                                            std::span<const TensorRef> weights) {
  EngineOptions options;
  options.precision = params_.simulation.precision;
  options.compress_tolerance = params_.simulation.compress.value_or(0.0);
  options.fparam.assign(shape_.fparam.size, 0.0);
  options.aparam.assign(shape_.aparam.size, 0.0);
  std::shared_ptr<Engine> engine = make_engine(model(weights), options);
  const auto steps = std::make_shared<std::vector<Step>>();
  std::vector<Species> species;
  View<int*> types("deep_potential: types", shape_.type_map.size());
  const auto numbers = Kokkos::create_mirror_view(types);
  for (std::size_t t = 0; t < shape_.type_map.size(); ++t) {
    species.push_back({shape_.type_map[t], 1.0});
    numbers(t) = static_cast<int>(t);
  }
  Kokkos::deep_copy(types, numbers);
  for (const auto& sample : samples) {
    const SampleAtoms x = atoms_of(*sample, shape_.type_map);
    ImageSystem system(x.positions, x.types, x.box, species, shape_.rcut);
    View<double* [3]> force("deep_potential: forces", static_cast<std::size_t>(system.particles().total()));
    View<double**> aparam;
    if (shape_.aparam.size > 0) {
      const auto width = static_cast<std::size_t>(shape_.aparam.size);
      aparam = View<double**>("deep_potential: aparam", x.types.size(), width);
      const auto host = Kokkos::create_mirror_view(aparam);
      for (std::size_t k = 0; k < x.aparam.size(); ++k) host(k / width, k % width) = x.aparam[k];
      Kokkos::deep_copy(aparam, host);
    }
    steps->push_back({std::move(system), types, force, aparam, x.fparam});
  }
  return [engine, steps] {
    for (const Step& step : *steps) {
      if (!step.fparam.empty()) engine->set_fparam(step.fparam);
      EngineOutput out;
      out.f = step.force;
      engine->compute({step.system.particles(), step.system.list(), step.types, true, step.aparam}, out);
    }
    Kokkos::fence();
  };
}

}  // namespace cambium::deepmd
