#include "plugins/mace/engine/engine.hpp"

#include <algorithm>

#include "plugins/mace/engine/contract.hpp"
#include "plugins/mace/model/coupling.hpp"

namespace cambium::mace {

void Engine::set_species(const Particles& particles, const std::vector<int>& species) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  species_.resize(static_cast<std::size_t>(particles.total()));
  for (int i = 0; i < particles.total(); ++i)
    species_[static_cast<std::size_t>(i)] = species[static_cast<std::size_t>(x(i, 3))];
  if (!first_.empty()) return;
  for (const auto& embedding : model_.embedding) {
    first_.emplace_back(static_cast<std::size_t>(model_.interactions[0].up.outputs), 0.0);
    model_.interactions[0].up.apply(embedding.data(), first_.back().data());
  }
}

const double* Engine::before(std::size_t k, int i) const {
  return k == 0 ? model_.embedding[static_cast<std::size_t>(species_[static_cast<std::size_t>(i)])].data()
                : layers_[k - 1].features.row(i);
}

void Engine::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                     const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) {
  set_species(particles, species);
  edges_.find(particles, list, model_.cutoff);
  layers_.resize(model_.interactions.size());
  energy_.assign(static_cast<std::size_t>(particles.nlocal), 0.0);
  f_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  if (request.per_atom) atom_virial_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  const std::size_t harmonics = static_cast<std::size_t>((model_.lmax + 1) * (model_.lmax + 1));
  harmonics_.resize(harmonics);
  harmonics_gradient_.resize(harmonics);
  slopes_.resize(harmonics);
  for (std::size_t k = 0; k < layers_.size(); ++k) forward(k, particles, ghosts);
  for (std::size_t k = layers_.size(); k-- > 0;) backward(k, particles, ghosts, request, out);
  add_energies(particles, request, out);
  Kokkos::deep_copy(out.f, f_);
  if (request.per_atom) Kokkos::deep_copy(out.atom_virial, atom_virial_);
}

void Engine::forward(std::size_t k, const Particles& particles, GhostExchange& ghosts) {
  const Interaction& layer = model_.interactions[k];
  Layer& values = layers_[k];
  values.message.resize(particles.nlocal, layer.linear.outputs);
  values.features.resize(particles.nlocal, layer.product.outputs);
  values.gradient.resize(particles.nlocal, layer.product.outputs);
  if (k > 0) {
    values.sent.resize(particles.total(), layer.up.outputs);
    for (int i = 0; i < particles.nlocal; ++i) layer.up.apply(before(k, i), values.sent.row(i));
    values.sent.to_ghosts(particles, ghosts);
  }
  for (int i = 0; i < particles.nlocal; ++i) {
    const int begin = edges_.first[static_cast<std::size_t>(i)], end = edges_.first[static_cast<std::size_t>(i) + 1];
    const auto species = static_cast<std::size_t>(species_[static_cast<std::size_t>(i)]);
    radial_.compute(model_, layer.radial, edges_.length.data() + begin, end - begin, false);
    work_.assign(static_cast<std::size_t>(layer.linear.inputs), 0.0);
    for (int e = begin; e < end; ++e) {
      const int j = edges_.neighbour[static_cast<std::size_t>(e)];
      spherical_harmonics(model_.lmax, edges_.direction.data() + 3 * static_cast<std::size_t>(e), harmonics_.data(),
                          nullptr);
      const double* sent =
          k > 0 ? values.sent.row(j) : first_[static_cast<std::size_t>(species_[static_cast<std::size_t>(j)])].data();
      convolve(layer.paths, sent, harmonics_.data(),
               radial_.values() + static_cast<std::size_t>(e - begin) * layer.radial.outputs(), work_.data());
    }
    double* message = values.message.row(i);
    if (layer.residual) {
      layer.linear.apply(work_.data(), message);
      layer.skip[species].apply(before(k, i), values.features.row(i));
    } else {
      other_.assign(static_cast<std::size_t>(layer.linear.outputs), 0.0);
      layer.linear.apply(work_.data(), other_.data());
      layer.skip[species].apply(other_.data(), message);
    }
    other_.assign(static_cast<std::size_t>(layer.product.inputs), 0.0);
    contract(layer.contraction, static_cast<int>(species), layer.channels, message, other_.data());
    layer.product.apply(other_.data(), values.features.row(i));
    energy_[static_cast<std::size_t>(i)] +=
        read_out(layer.readout, model_.activation, values.features.row(i), model_.scale, values.gradient.row(i));
  }
}

void Engine::back_to_sum(std::size_t k, int i, std::vector<double>& sum_gradient) {
  const Interaction& layer = model_.interactions[k];
  const auto species = static_cast<std::size_t>(species_[static_cast<std::size_t>(i)]);
  const double* gradient = layers_[k].gradient.row(i);
  work_.assign(static_cast<std::size_t>(layer.product.inputs), 0.0);
  layer.product.apply_transposed(gradient, work_.data());
  other_.assign(static_cast<std::size_t>(layer.linear.outputs), 0.0);
  contract_gradient(layer.contraction, static_cast<int>(species), layer.channels, layers_[k].message.row(i),
                    work_.data(), other_.data());
  if (layer.residual) {
    if (k > 0) layer.skip[species].apply_transposed(gradient, layers_[k - 1].gradient.row(i));
  } else {
    work_.assign(static_cast<std::size_t>(layer.linear.outputs), 0.0);
    layer.skip[species].apply_transposed(other_.data(), work_.data());
    other_.swap(work_);
  }
  sum_gradient.assign(static_cast<std::size_t>(layer.linear.inputs), 0.0);
  layer.linear.apply_transposed(other_.data(), sum_gradient.data());
}

void Engine::backward(std::size_t k, const Particles& particles, GhostExchange& ghosts, const ForceRequest& request,
                      ForceOutput& out) {
  const Interaction& layer = model_.interactions[k];
  if (k > 0) sent_gradient_.resize(particles.total(), layer.up.outputs);
  std::vector<double> sum_gradient;
  for (int i = 0; i < particles.nlocal; ++i) {
    back_to_sum(k, i, sum_gradient);
    edge_forces(k, i, sum_gradient, request, out);
  }
  if (k == 0) return;
  sent_gradient_.from_ghosts(particles, ghosts);
  for (int i = 0; i < particles.nlocal; ++i)
    layer.up.apply_transposed(sent_gradient_.row(i), layers_[k - 1].gradient.row(i));
}

void Engine::edge_forces(std::size_t k, int i, const std::vector<double>& sum_gradient, const ForceRequest& request,
                         ForceOutput& out) {
  const Interaction& layer = model_.interactions[k];
  const int begin = edges_.first[static_cast<std::size_t>(i)], end = edges_.first[static_cast<std::size_t>(i) + 1];
  const auto weights = static_cast<std::size_t>(layer.radial.outputs());
  radial_.compute(model_, layer.radial, edges_.length.data() + begin, end - begin, true);
  for (int e = begin; e < end; ++e) {
    const int j = edges_.neighbour[static_cast<std::size_t>(e)];
    const double* n = edges_.direction.data() + 3 * static_cast<std::size_t>(e);
    const double r = edges_.length[static_cast<std::size_t>(e)];
    spherical_harmonics(model_.lmax, n, harmonics_.data(), reinterpret_cast<double(*)[3]>(slopes_.data()));
    std::fill(harmonics_gradient_.begin(), harmonics_gradient_.end(), 0.0);
    weights_gradient_.assign(weights, 0.0);
    const double* sent =
        k > 0 ? layers_[k].sent.row(j) : first_[static_cast<std::size_t>(species_[static_cast<std::size_t>(j)])].data();
    convolve_gradient(layer.paths, sent, harmonics_.data(),
                      radial_.values() + static_cast<std::size_t>(e - begin) * weights, sum_gradient.data(),
                      harmonics_gradient_.data(), weights_gradient_.data(), k > 0 ? sent_gradient_.row(j) : nullptr);
    const double* slope = radial_.slopes() + static_cast<std::size_t>(e - begin) * weights;
    double along = 0.0;
    for (std::size_t w = 0; w < weights; ++w) along += weights_gradient_[w] * slope[w];
    double gradient[3] = {along * n[0], along * n[1], along * n[2]};
    for (std::size_t h = 0; h < harmonics_.size(); ++h)
      for (int a = 0; a < 3; ++a) gradient[a] += harmonics_gradient_[h] * slopes_[h][static_cast<std::size_t>(a)] / r;
    const double vector[3] = {r * n[0], r * n[1], r * n[2]};
    add_force(i, j, gradient, vector, request, out);
  }
}

void Engine::add_force(int i, int j, const double gradient[3], const double vector[3], const ForceRequest& request,
                       ForceOutput& out) {
  for (int a = 0; a < 3; ++a) {
    f_(i, a) -= gradient[a];
    f_(j, a) += gradient[a];
  }
  if (!request.totals && !request.per_atom) return;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const double w = -gradient[a] * vector[b];
      out.virial[3 * a + b] += w;
      if (!request.per_atom) continue;
      atom_virial_(i, 3 * a + b) += 0.5 * w;
      atom_virial_(j, 3 * a + b) += 0.5 * w;
    }
}

void Engine::add_energies(const Particles& particles, const ForceRequest& request, ForceOutput& out) {
  if (!request.totals && !request.per_atom) return;
  for (int i = 0; i < particles.nlocal; ++i) {
    double& energy = energy_[static_cast<std::size_t>(i)];
    energy = model_.atomic_energies[static_cast<std::size_t>(species_[static_cast<std::size_t>(i)])] +
             model_.scale * energy + model_.shift;
    out.energy += energy;
  }
  if (!request.per_atom) return;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  for (int i = 0; i < particles.nlocal; ++i) host(i) += energy_[static_cast<std::size_t>(i)];
  Kokkos::deep_copy(out.atom_energy, host);
}

double Engine::bytes_per_atom() const {
  double values = 0.0;
  for (std::size_t k = 0; k < model_.interactions.size(); ++k) {
    const Interaction& layer = model_.interactions[k];
    values += layer.linear.outputs + 2.0 * layer.product.outputs + (k > 0 ? layer.up.outputs : 0);
  }
  return values * sizeof(double);
}

}  // namespace cambium::mace
