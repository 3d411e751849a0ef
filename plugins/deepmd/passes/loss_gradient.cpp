#include "plugins/deepmd/passes/loss_gradient.hpp"

#include "plugins/deepmd/layer_passes/parameters.hpp"

namespace cambium::deepmd {

template <class T>
OpenNetworks<T>::OpenNetworks(const DeepPotentialModel& shape, std::span<const int> first,
                              std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                              const train::ReadyCallback& ready)
    : shape_(shape), first_(first), weights_(weights), gradients_(gradients), callback_(ready) {
  if (!ready.by_module()) bound_ = bind_weights<T>(shape, weights, gradients);
  bound_.embedding.resize(shape.embedding.size());
  bound_.fitting.resize(shape.fitting.size());
}

template <class T>
NetworkWeights<T>& OpenNetworks<T>::bound(int network) {
  const auto n = static_cast<std::size_t>(network);
  return network < embeddings() ? bound_.embedding[n] : bound_.fitting[n - bound_.embedding.size()];
}

template <class T>
void OpenNetworks<T>::bind(int network, std::span<const TensorRef> gradients) {
  const auto n = static_cast<std::size_t>(network);
  auto next = static_cast<std::size_t>(first_[n]);
  const Network& net = network < embeddings() ? shape_.embedding[n] : shape_.fitting[n - bound_.embedding.size()];
  bound(network) = detail::bind_network<T>(net, weights_, gradients, next, nullptr);
}

template <class T>
void OpenNetworks<T>::forward(int network) {
  if (!callback_.by_module()) return;
  callback_.forward(network);
  bind(network, {});
}

template <class T>
void OpenNetworks<T>::backward(int network) {
  if (!callback_.by_module()) return;
  callback_.backward(network);
  bind(network, gradients_);
}

template <class T>
void OpenNetworks<T>::release(int network) {
  if (!callback_.by_module()) return;
  bound(network).clear();
  callback_.release(network);
}

template <class T>
void OpenNetworks<T>::ready(int network) const {
  const auto n = static_cast<std::size_t>(network);
  for (int k = first_[n + 1]; callback_ && k-- > first_[n];) callback_(k);
}

template class OpenNetworks<double>;
template class OpenNetworks<float>;

namespace {

/// Ends of runs of frames that together are large enough for efficient matrix products.
std::vector<std::size_t> portions_of(const std::vector<FramePtr>& frames) {
  constexpr int enough = 192;  // atoms
  std::vector<std::size_t> ends;
  int atoms = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    atoms += frames[k]->atoms();
    if (atoms >= enough || k + 1 == frames.size()) ends.push_back(k + 1), atoms = 0;
  }
  return ends;
}

template <class T>
class TypedLossGradient : public LossGradient {
 public:
  TypedLossGradient(const DeepPotentialModel& shape, bool intensive, double interpolation)
      : shape_(shape), intensive_(intensive), interpolation_(interpolation), first_(first_parameters(shape)) {}

  void gradient(const Frames& frames, std::span<const TensorRef> weights, std::span<const double> term_weights,
                std::span<const TensorRef> gradients, std::span<train::TermSum> terms,
                const train::ReadyCallback& ready) override {
    OpenNetworks<T> networks(shape_, first_, weights, gradients, ready);
    const auto ends = portions_of(frames);
    const std::size_t at_once = ready.by_module() ? ends.size() : 1;
    std::size_t from = 0, portion = 0;
    do {
      const std::size_t count = std::min(at_once, ends.size() - portion);
      for (std::size_t k = 0; k < count; ++k) from = assign(k, frames, from, ends[portion + k]);
      portion += count;
      energies_and_forces(count, networks);
      for (std::size_t k = 0; k < count; ++k) errors(*portions_[k], term_weights, terms);
      backward(count, networks, portion == ends.size());
    } while (portion < ends.size());
  }

  void evaluate(const Frames& frames, std::span<const TensorRef> weights, std::span<train::TermSum> metrics) override {
    const AllWeights<T> bound = bind_weights<T>(shape_, weights, {}, coded);
    std::size_t from = 0;
    for (const std::size_t to : portions_of(frames)) {
      from = assign(0, frames, from, to);
      auto& [batch, pass, adjoint] = *portions_[0];
      pass.evaluate(batch, bound);
      for (int f = 0; f < batch.frames(); ++f) add_metrics(batch.frame(f), errors_of(batch, f, pass), metrics);
    }
  }

  std::vector<Prediction> predict(const Frames& frames, std::span<const TensorRef> weights) override {
    const AllWeights<T> bound = bind_weights<T>(shape_, weights, {}, coded);
    std::vector<Prediction> out;
    std::size_t from = 0;
    for (const std::size_t to : portions_of(frames)) {
      from = assign(0, frames, from, to);
      auto& [batch, pass, adjoint] = *portions_[0];
      pass.evaluate(batch, bound);
      for (int f = 0; f < batch.frames(); ++f) {
        Prediction& p = out.emplace_back();
        p.energy = pass.energy(f);
        p.virial = pass.virial(f);
        for (int i = 0; i < batch.frame(f).atoms(); ++i) {
          const double* force = pass.force(batch.place(f, i));
          p.force.insert(p.force.end(), force, force + 3);
        }
      }
    }
    return out;
  }

 private:
  struct Portion {
    Batch batch;
    ModelPass<T> pass;
    typename ModelPass<T>::Adjoint adjoint;
  };

  std::size_t assign(std::size_t portion, const Frames& frames, std::size_t from, std::size_t to) {
    if (portion == portions_.size()) portions_.emplace_back(new Portion{{}, ModelPass<T>(shape_, interpolation_), {}});
    portions_[portion]->batch.assign(std::span(frames).subspan(from, to - from), shape_.ntypes());
    return to;
  }

  void energies_and_forces(std::size_t count, OpenNetworks<T>& networks) {
    // Embedding networks are small and serve atoms of all types: they stay open together.
    for (int m = 0; m < networks.embeddings(); ++m) networks.forward(m);
    for (std::size_t k = 0; k < count; ++k) portions_[k]->pass.embed(portions_[k]->batch, networks.weights());
    for (int m = 0; m < networks.embeddings(); ++m) networks.release(m);
    for (int m = networks.embeddings(); m < networks.count(); ++m) {
      networks.forward(m);
      for (std::size_t k = 0; k < count; ++k)
        portions_[k]->pass.fit(portions_[k]->batch, networks[m], m - networks.embeddings());
      networks.release(m);
    }
    for (std::size_t k = 0; k < count; ++k) portions_[k]->pass.forces(portions_[k]->batch);
  }

  void errors(Portion& portion, std::span<const double> term_weights, std::span<train::TermSum> terms) const {
    auto& [batch, pass, adjoint] = portion;
    adjoint.reset(batch);
    for (int f = 0; f < batch.frames(); ++f) {
      const LossTerms values = loss_terms(batch.frame(f), errors_of(batch, f, pass), intensive_);
      for (std::size_t k = 0; k < terms.size(); ++k)
        if (values.labelled[k]) terms[k].sum += values.value[k], terms[k].count += 1.0;
      loss_adjoint(batch, f, pass, term_weights, intensive_, adjoint);
    }
    pass.changes(batch, adjoint);
  }

  void backward(std::size_t count, OpenNetworks<T>& networks, bool last) {
    for (int m = networks.count(); m-- > 0;) {
      const int type = m - networks.embeddings();
      networks.backward(m);
      for (std::size_t k = 0; k < count; ++k) {
        auto& [batch, pass, adjoint] = *portions_[k];
        if (type >= 0)
          pass.backward_fitting(batch, networks[m], adjoint, type);
        else
          pass.backward_embedding(batch, networks[m], m);
      }
      if (last) networks.ready(m);
      networks.release(m);
    }
  }

  static void add_metrics(const TrainingFrame& frame, const FrameErrors& e, std::span<train::TermSum> metrics) {
    const double n = frame.atoms();
    if (!frame.force.empty()) metrics[0].sum += e.force_squares, metrics[0].count += 3.0 * n;
    if (frame.has_energy) metrics[1].sum += e.energy * e.energy / (n * n), metrics[1].count += 1.0;
    if (!frame.virial.empty() && metrics.size() > 3)
      metrics[2].sum += e.virial_squares / (n * n), metrics[2].count += 9.0;
    if (!frame.force.empty() && metrics.size() > 2)
      metrics.back().sum += e.force_absolute, metrics.back().count += 3.0 * n;
  }

  const DeepPotentialModel& shape_;
  bool intensive_;
  double interpolation_;
  std::vector<int> first_;
  std::vector<std::unique_ptr<Portion>> portions_;  ///< one, or those of a whole call where weights come and go
};

}  // namespace

std::unique_ptr<LossGradient> LossGradient::make(DType precision, const DeepPotentialModel& shape, bool intensive,
                                                 double interpolation) {
  if (precision == DType::f64) return std::make_unique<TypedLossGradient<double>>(shape, intensive, interpolation);
  return std::make_unique<TypedLossGradient<float>>(shape, intensive, interpolation);
}

}  // namespace cambium::deepmd
