#include "plugins/graph/messages/message_engine.hpp"

#include <algorithm>

namespace cambium::graph {

static std::size_t index(std::int64_t n) { return static_cast<std::size_t>(n); }

void MessageEngine::start(const Particles& particles, const std::vector<int>& species) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  species_.resize(index(particles.total()));
  for (int i = 0; i < particles.total(); ++i) species_[index(i)] = species[index(static_cast<int>(x(i, 3)))];
  const std::size_t w = index(model_.width), n = index(particles.nlocal);
  scalar_.resize(n * w);
  for (std::size_t i = 0; i < n; ++i)
    std::copy_n(model_.embedding.data() + index(species_[i]) * w, w, scalar_.data() + i * w);
  vector_.assign(model_.vectors ? 3 * n * w : 0, 0.0);
  layers_.resize(model_.layers.size());
}

void MessageEngine::compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                            const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) {
  start(particles, species);
  edges_.find(particles, list, model_.cutoff);
  EdgeForces results(request, out);
  const int n = particles.nlocal;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    send(k, particles, ghosts);
    receive(k, n);
    layers_[k].scalar = scalar_;
    layers_[k].vector = vector_;
    mixing_.forward(model_, model_.layers[k], n, scalar_.data(), vector_.data());
  }
  read_out(n, results);
  for (std::size_t k = layers_.size(); k-- > 0;) {
    mixing_.backward(model_, model_.layers[k], n, layers_[k].scalar.data(), layers_[k].vector.data(),
                     scalar_gradient_.data(), vector_gradient_.data());
    messages_backward(k, particles, results);
    if (k > 0) sender_backward(k, particles, ghosts);
  }
  results.finish();
}

void MessageEngine::send(std::size_t k, const Particles& particles, GhostExchange& ghosts) {
  const MessageLayer& layer = model_.layers[k];
  Layer& values = layers_[k];
  const std::size_t w = index(model_.width), said = index(model_.said()), vectors = sends_vectors(k) ? 3 * w : 0;
  // The first message depends on the species only: no data of ghosts are exchanged.
  const int rows = k > 0 ? particles.nlocal : static_cast<int>(model_.symbols.size());
  const double* known = k > 0 ? scalar_.data() : model_.embedding.data();
  values.hidden.resize(index(rows) * w);
  active_.resize(values.hidden.size());
  said_.resize(index(rows) * said);
  layer.sender_in.layer().forward(rows, known, values.hidden.data());
  activate(Activation::silu, std::ssize(active_), values.hidden.data(), active_.data());
  layer.sender_out.layer().forward(rows, active_.data(), said_.data());
  values.sent.resize(k > 0 ? particles.total() : rows, static_cast<int>(said + vectors));
  for (int i = 0; i < rows; ++i) {
    std::copy_n(said_.data() + index(i) * said, said, values.sent.row(i));
    if (vectors > 0) std::copy_n(vector_.data() + index(i) * vectors, vectors, values.sent.row(i) + said);
  }
  if (k > 0) values.sent.to_ghosts(particles, ghosts);
}

void MessageEngine::receive(std::size_t k, int atoms) {
  const std::size_t w = index(model_.width), said = index(model_.said());
  for (int i = 0; i < atoms; ++i) {
    const int begin = edges_.first[index(i)], end = edges_.first[index(i) + 1];
    filters_.compute(model_, model_.layers[k].filter, edges_.length.data() + begin, end - begin, false);
    double* s = scalar_.data() + index(i) * w;
    for (int e = begin; e < end; ++e) {
      const int j = edges_.neighbour[index(e)];
      const double* sent = layers_[k].sent.row(k > 0 ? j : species_[index(j)]);
      const double* f = filters_.values() + index(e - begin) * said;
      for (std::size_t c = 0; c < w; ++c) s[c] += sent[c] * f[c];
      if (!model_.vectors) continue;
      const double* direction = edges_.direction.data() + 3 * index(e);
      for (std::size_t x = 0; x < 3; ++x) {
        double* v = vector_.data() + (3 * index(i) + x) * w;
        const double d = direction[x];
        for (std::size_t c = 0; c < w; ++c) v[c] += sent[w + c] * f[w + c] * d;
        if (k == 0) continue;
        const double* theirs = sent + said + x * w;
        for (std::size_t c = 0; c < w; ++c) v[c] += sent[2 * w + c] * f[2 * w + c] * theirs[c];
      }
    }
  }
}

void MessageEngine::read_out(int n, EdgeForces& results) {
  const std::size_t half = index(model_.readout_in.out);
  work_.resize(index(n) * half);
  active_.resize(work_.size());
  std::vector<double> share(index(n)), back(work_.size());
  model_.readout_in.layer().forward(n, scalar_.data(), work_.data());
  activate(Activation::silu, std::ssize(work_), work_.data(), active_.data());
  model_.readout_out.layer().forward(n, active_.data(), share.data());
  for (std::size_t k = 0; k < back.size(); ++k) back[k] = model_.scale * model_.readout_out.weights[k % half];
  times_slope(Activation::silu, std::ssize(work_), work_.data(), active_.data(), back.data());
  scalar_gradient_.resize(scalar_.size());
  model_.readout_in.layer().input_gradient(n, back.data(), scalar_gradient_.data());
  vector_gradient_.assign(vector_.size(), 0.0);
  for (int i = 0; i < n; ++i)
    results.add_energy(i, model_.free_energy[index(species_[index(i)])] + model_.scale * share[index(i)]);
}

void MessageEngine::edge_backward(std::size_t k, int atom, int edge, const double* f, const double* slope,
                                  double gradient[3]) {
  const std::size_t w = index(model_.width), said = index(model_.said());
  const int j = edges_.neighbour[index(edge)];
  const double* sent = layers_[k].sent.row(k > 0 ? j : species_[index(j)]);
  const double *gs = scalar_gradient_.data() + index(atom) * w, *gv = vector_gradient_.data() + 3 * index(atom) * w;
  const double* n = edges_.direction.data() + 3 * index(edge);
  double* back = k > 0 ? sent_gradient_.row(j) : nullptr;
  double along = 0.0, turn[3] = {};
  for (std::size_t c = 0; c < w; ++c) along += gs[c] * sent[c] * slope[c];
  if (back)
    for (std::size_t c = 0; c < w; ++c) back[c] += gs[c] * f[c];
  for (std::size_t c = 0; model_.vectors && c < w; ++c) {
    const double g[3] = {gv[c], gv[w + c], gv[2 * w + c]}, towards = g[0] * n[0] + g[1] * n[1] + g[2] * n[2];
    along += towards * sent[w + c] * slope[w + c];
    for (int x = 0; x < 3; ++x) turn[x] += g[x] * sent[w + c] * f[w + c];
    if (!back) continue;
    const double* theirs = sent + said + c;
    const double inner = g[0] * theirs[0] + g[1] * theirs[w] + g[2] * theirs[2 * w];
    along += inner * sent[2 * w + c] * slope[2 * w + c];
    back[w + c] += towards * f[w + c];
    back[2 * w + c] += inner * f[2 * w + c];
    for (std::size_t x = 0; x < 3; ++x) back[said + x * w + c] += g[x] * sent[2 * w + c] * f[2 * w + c];
  }
  const double radial = turn[0] * n[0] + turn[1] * n[1] + turn[2] * n[2], r = edges_.length[index(edge)];
  for (int x = 0; x < 3; ++x) gradient[x] = along * n[x] + (turn[x] - radial * n[x]) / r;
}

void MessageEngine::messages_backward(std::size_t k, const Particles& particles, EdgeForces& results) {
  const std::size_t said = index(model_.said());
  if (k > 0) sent_gradient_.resize(particles.total(), layers_[k].sent.width());
  for (int i = 0; i < particles.nlocal; ++i) {
    const int begin = edges_.first[index(i)], end = edges_.first[index(i) + 1];
    filters_.compute(model_, model_.layers[k].filter, edges_.length.data() + begin, end - begin, true);
    for (int e = begin; e < end; ++e) {
      double gradient[3], vector[3];
      edge_backward(k, i, e, filters_.values() + index(e - begin) * said, filters_.slopes() + index(e - begin) * said,
                    gradient);
      for (int x = 0; x < 3; ++x) vector[x] = edges_.length[index(e)] * edges_.direction[3 * index(e) + index(x)];
      results.add_edge(i, edges_.neighbour[index(e)], gradient, vector);
    }
  }
}

void MessageEngine::sender_backward(std::size_t k, const Particles& particles, GhostExchange& ghosts) {
  const MessageLayer& layer = model_.layers[k];
  const int n = particles.nlocal;
  const std::size_t w = index(model_.width), said = index(model_.said());
  sent_gradient_.from_ghosts(particles, ghosts);
  said_.resize(index(n) * said);
  for (int i = 0; i < n; ++i) {
    std::copy_n(sent_gradient_.row(i), said, said_.data() + index(i) * said);
    if (!sends_vectors(k)) continue;
    const double* g = sent_gradient_.row(i) + said;
    for (std::size_t c = 0; c < 3 * w; ++c) vector_gradient_[3 * index(i) * w + c] += g[c];
  }
  const auto& hidden = layers_[k].hidden;
  active_.resize(hidden.size());
  work_.resize(hidden.size());
  activate(Activation::silu, std::ssize(hidden), hidden.data(), active_.data());
  layer.sender_out.layer().input_gradient(n, said_.data(), work_.data());
  times_slope(Activation::silu, std::ssize(hidden), hidden.data(), active_.data(), work_.data());
  layer.sender_in.layer().input_gradient(n, work_.data(), scalar_gradient_.data(), true);
}

double MessageEngine::bytes_per_atom() const {
  const double width = static_cast<double>(model_.width), vectors = model_.vectors ? 3.0 * width : 0.0;
  const double said = static_cast<double>(model_.said());
  return static_cast<double>(model_.layers.size()) * (2.0 * width + said + 2.0 * vectors) * sizeof(double);
}

}  // namespace cambium::graph
