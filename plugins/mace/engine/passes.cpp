#include "plugins/mace/engine/passes.hpp"

#include <algorithm>

#include "plugins/mace/engine/readout.hpp"
#include "plugins/mace/model/coupling.hpp"

namespace cambium::mace {

namespace {
/// Atoms whose linear maps are applied together.
constexpr int block_size = 64;

std::size_t harmonics_of(const MaceModel& model) {
  return static_cast<std::size_t>((model.lmax + 1) * (model.lmax + 1));
}
}  // namespace

template <class T>
Passes<T>::Layer::Layer(const MaceModel& model, const Interaction& interaction)
    : up(interaction.up), linear(interaction.linear), product(interaction.product), skip(interaction.skip),
      convolution(interaction.paths), radial(model, interaction.radial),
      contraction(interaction.contraction, interaction.channels) {}

template <class T>
Passes<T>::Passes(MaceModel model) : model_(std::move(model)) {
  for (const auto& interaction : model_.interactions) layers_.emplace_back(model_, interaction);
  for (const auto& embedding : model_.embedding) {
    first_.emplace_back(static_cast<std::size_t>(layers_[0].up.outputs()), T(0));
    const std::vector<T> row(embedding.begin(), embedding.end());
    layers_[0].up.apply(1, row.data(), first_.back().data());
  }
}

template <class T>
void Passes<T>::set_species(const Particles& particles, const std::vector<int>& species) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  species_.resize(static_cast<std::size_t>(particles.total()));
  for (int i = 0; i < particles.total(); ++i)
    species_[static_cast<std::size_t>(i)] = species[static_cast<std::size_t>(x(i, 3))];
  embedding_.resize(particles.nlocal, static_cast<int>(model_.embedding[0].size()));
  for (int i = 0; i < particles.nlocal; ++i) {
    const auto& row = model_.embedding[static_cast<std::size_t>(species_[static_cast<std::size_t>(i)])];
    std::transform(row.begin(), row.end(), embedding_.row(i), [](double v) { return static_cast<T>(v); });
  }
}

template <class T>
void Passes<T>::set_harmonics() {
  const std::size_t n = harmonics_of(model_), edges = edges_.neighbour.size();
  harmonics_.resize(edges * n);
  slopes_.resize(edges * n * 3);
  harmonics_gradient_.resize(n);
  std::vector<double> values(n), slopes(3 * n);
  for (std::size_t e = 0; e < edges; ++e) {
    spherical_harmonics(model_.lmax, edges_.direction.data() + 3 * e, values.data(),
                        reinterpret_cast<double(*)[3]>(slopes.data()));
    std::transform(values.begin(), values.end(), harmonics_.data() + e * n, [](double v) { return static_cast<T>(v); });
    std::transform(slopes.begin(), slopes.end(), slopes_.data() + e * n * 3,
                   [](double v) { return static_cast<T>(v); });
  }
}

template <class T>
const T* Passes<T>::before(std::size_t k, int i) const {
  return k == 0 ? embedding_.row(i) : layers_[k - 1].features.row(i);
}

template <class T>
const T* Passes<T>::sent(std::size_t k, int j) const {
  return k == 0 ? first_[static_cast<std::size_t>(species_[static_cast<std::size_t>(j)])].data()
                : layers_[k].sent.row(j);
}

template <class T>
void Passes<T>::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                        const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) {
  set_species(particles, species);
  edges_.find(particles, list, model_.cutoff);
  set_harmonics();
  energy_.assign(static_cast<std::size_t>(particles.nlocal), 0.0);
  EdgeForces results(request, out);
  for (std::size_t k = 0; k < layers_.size(); ++k) forward(k, particles, ghosts);
  for (std::size_t k = layers_.size(); k-- > 0;) backward(k, particles, ghosts, results);
  add_energies(particles.nlocal, results);
  results.finish();
}

template <class T>
void Passes<T>::sum_over_neighbours(std::size_t k, int i, T* sum) {
  Layer& layer = layers_[k];
  const int begin = edges_.begin(i), end = edges_.end(i);
  const std::size_t harmonics = harmonics_of(model_), weights = static_cast<std::size_t>(layer.radial.outputs());
  layer.radial.compute(edges_.length.data() + begin, end - begin, false);
  for (int e = begin; e < end; ++e)
    layer.convolution.add(sent(k, edges_.neighbour[static_cast<std::size_t>(e)]),
                          harmonics_.data() + static_cast<std::size_t>(e) * harmonics,
                          layer.radial.values() + static_cast<std::size_t>(e - begin) * weights, sum);
}

template <class T>
void Passes<T>::update(std::size_t k, Block block) {
  Layer& layer = layers_[k];
  const int* species = species_.data() + block.first;
  T* message = layer.message.row(block.first);
  if (model_.interactions[k].residual) {
    layer.linear.apply(block.count, sums_.row(0), message);
    layer.skip.apply(block.count, species, before(k, block.first), layer.features.row(block.first));
  } else {
    other_.resize(block.count, layer.linear.outputs());
    layer.linear.apply(block.count, sums_.row(0), other_.row(0));
    layer.skip.apply(block.count, species, other_.row(0), message);
  }
  products_.resize(block.count, layer.product.inputs());
  for (int i = 0; i < block.count; ++i)
    layer.contraction.add(species[i], layer.message.row(block.first + i), products_.row(i));
  layer.product.apply(block.count, products_.row(0), layer.features.row(block.first));
}

template <class T>
void Passes<T>::read_energy(std::size_t k, int i) {
  Layer& layer = layers_[k];
  const T* features = layer.features.row(i);
  read_.assign(features, features + layer.features.width());
  read_gradient_.assign(read_.size(), 0.0);
  energy_[static_cast<std::size_t>(i)] +=
      read_out(model_.interactions[k].readout, model_.activation, read_.data(), model_.scale, read_gradient_.data());
  std::transform(read_gradient_.begin(), read_gradient_.end(), layer.gradient.row(i),
                 [](double v) { return static_cast<T>(v); });
}

template <class T>
void Passes<T>::forward(std::size_t k, const Particles& particles, GhostExchange& ghosts) {
  Layer& layer = layers_[k];
  layer.message.resize(particles.nlocal, layer.linear.outputs());
  layer.features.resize(particles.nlocal, layer.product.outputs());
  layer.gradient.resize(particles.nlocal, layer.product.outputs());
  if (k > 0) {
    layer.sent.resize(particles.total(), layer.up.outputs());
    layer.up.apply(particles.nlocal, before(k, 0), layer.sent.row(0));
    layer.sent.to_ghosts(particles, ghosts);
  }
  for (int first = 0; first < particles.nlocal; first += block_size) {
    const Block block{first, std::min(block_size, particles.nlocal - first)};
    sums_.resize(block.count, layer.linear.inputs());
    for (int i = 0; i < block.count; ++i) sum_over_neighbours(k, first + i, sums_.row(i));
    update(k, block);
    for (int i = 0; i < block.count; ++i) read_energy(k, first + i);
  }
}

template <class T>
void Passes<T>::back_to_sums(std::size_t k, Block block) {
  Layer& layer = layers_[k];
  const int* species = species_.data() + block.first;
  const T* gradient = layer.gradient.row(block.first);
  products_.resize(block.count, layer.product.inputs());
  layer.product.apply_transposed(block.count, gradient, products_.row(0));
  other_.resize(block.count, layer.message.width());
  for (int i = 0; i < block.count; ++i)
    layer.contraction.add_gradient(species[i], layer.message.row(block.first + i), products_.row(i), other_.row(i));
  sums_.resize(block.count, layer.linear.inputs());
  if (model_.interactions[k].residual) {
    if (k > 0) layer.skip.apply_transposed(block.count, species, gradient, layers_[k - 1].gradient.row(block.first));
    return layer.linear.apply_transposed(block.count, other_.row(0), sums_.row(0));
  }
  products_.resize(block.count, layer.linear.outputs());
  layer.skip.apply_transposed(block.count, species, other_.row(0), products_.row(0));
  layer.linear.apply_transposed(block.count, products_.row(0), sums_.row(0));
}

template <class T>
void Passes<T>::backward(std::size_t k, const Particles& particles, GhostExchange& ghosts, EdgeForces& results) {
  if (k > 0) sent_gradient_.resize(particles.total(), layers_[k].up.outputs());
  for (int first = 0; first < particles.nlocal; first += block_size) {
    const Block block{first, std::min(block_size, particles.nlocal - first)};
    back_to_sums(k, block);
    for (int i = 0; i < block.count; ++i) edge_forces(k, first + i, sums_.row(i), results);
  }
  if (k == 0) return;
  sent_gradient_.from_ghosts(particles, ghosts);
  layers_[k].up.apply_transposed(particles.nlocal, sent_gradient_.row(0), layers_[k - 1].gradient.row(0));
}

template <class T>
void Passes<T>::edge_forces(std::size_t k, int i, const T* sum_gradient, EdgeForces& results) {
  Layer& layer = layers_[k];
  const int begin = edges_.begin(i), end = edges_.end(i);
  const std::size_t weights = static_cast<std::size_t>(layer.radial.outputs()), harmonics = harmonics_of(model_);
  layer.radial.compute(edges_.length.data() + begin, end - begin, true);
  for (int e = begin; e < end; ++e) {
    const auto edge = static_cast<std::size_t>(e), row = static_cast<std::size_t>(e - begin);
    const int j = edges_.neighbour[edge];
    const double* n = edges_.direction.data() + 3 * edge;
    const double r = edges_.length[edge];
    std::fill(harmonics_gradient_.begin(), harmonics_gradient_.end(), T(0));
    const double along = layer.convolution.add_gradient(
        sent(k, j), harmonics_.data() + edge * harmonics, layer.radial.values() + row * weights,
        layer.radial.slopes() + row * weights, sum_gradient, harmonics_gradient_.data(),
        k > 0 ? sent_gradient_.row(j) : nullptr);
    double gradient[3] = {along * n[0], along * n[1], along * n[2]};
    const T* slope = slopes_.data() + edge * harmonics * 3;
    for (std::size_t h = 0; h < harmonics; ++h)
      for (std::size_t a = 0; a < 3; ++a)
        gradient[a] += static_cast<double>(harmonics_gradient_[h]) * static_cast<double>(slope[3 * h + a]) / r;
    const double vector[3] = {r * n[0], r * n[1], r * n[2]};
    results.add_edge(i, j, gradient, vector);
  }
}

template <class T>
void Passes<T>::add_energies(int atoms, EdgeForces& results) {
  for (int i = 0; i < atoms; ++i) {
    const double free = model_.atomic_energies[static_cast<std::size_t>(species_[static_cast<std::size_t>(i)])];
    results.add_energy(i, free + model_.scale * energy_[static_cast<std::size_t>(i)] + model_.shift);
  }
}

template <class T>
double Passes<T>::bytes_per_atom() const {
  double values = 0.0;
  for (std::size_t k = 0; k < model_.interactions.size(); ++k) {
    const Interaction& layer = model_.interactions[k];
    values += layer.linear.outputs + 2.0 * layer.product.outputs + (k > 0 ? layer.up.outputs : 0);
  }
  return values * sizeof(T);
}

template class Passes<double>;
template class Passes<float>;

}  // namespace cambium::mace
