#include "plugins/deepmd/training/loss_gradient.hpp"

#include <algorithm>

#include "plugins/deepmd/training/gradient_parts.hpp"
#include "plugins/deepmd/training/parameters.hpp"

namespace cambium::deepmd {

template <class T>
OpenNetworks<T>::OpenNetworks(const DeepPotentialModel& shape, std::span<const int> first,
                              std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
                              const train::ReadyCallback& ready)
    : networks_(networks_of(shape)), first_(first), weights_(weights), gradients_(gradients), callback_(ready) {
  if (!ready.by_module()) bound_ = bind_weights<T>(shape, weights, gradients);
  bound_.embedding.resize(networks_.size() - shape.fitting.size());
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
  bound(network) = detail::bind_network<T>(*networks_[n], weights_, gradients, next, nullptr);
}

template <class T>
std::span<const TensorRef> OpenNetworks<T>::gradients(int network) const {
  const auto n = static_cast<std::size_t>(network);
  return gradients_.subspan(first_[n], static_cast<std::size_t>(first_[n + 1] - first_[n]));
}

template <class T>
NetworkWeights<T> OpenNetworks<T>::with_gradients(int network, std::span<const TensorRef> gradients) const {
  const auto n = static_cast<std::size_t>(network);
  auto next = static_cast<std::size_t>(first_[n]);
  std::vector<TensorRef> all(gradients_.begin(), gradients_.end());
  std::copy(gradients.begin(), gradients.end(), all.begin() + first_[n]);
  return detail::bind_network<T>(*networks_[n], weights_, all, next, nullptr);
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

using FrameRun = std::span<const FramePtr>;

/// Ends of runs of frames that together are large enough for efficient matrix products.
std::vector<std::size_t> portions_of(FrameRun frames) {
  constexpr int enough = 192;  // atoms
  std::vector<std::size_t> ends;
  int atoms = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    atoms += frames[k]->atoms();
    if (atoms >= enough || k + 1 == frames.size()) {
      ends.push_back(k + 1);
      atoms = 0;
    }
  }
  return ends;
}

/// Runs of frames with nearly equal numbers of atoms, one for each thread, or for each frame if there are fewer.
std::vector<FrameRun> shares_of(FrameRun frames) {
  const int parts = thread_shares(std::ssize(frames), 1);
  std::int64_t all = 0, before = 0;
  for (const auto& frame : frames) all += frame->atoms();
  std::vector<FrameRun> out;
  std::size_t from = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    before += frames[k]->atoms();
    const auto wanted = all * (std::ssize(out) + 1) / parts;
    const bool last = k + 1 == frames.size();
    if (!last && (std::ssize(out) + 1 == parts || before + frames[k + 1]->atoms() / 2 < wanted)) continue;
    out.push_back(frames.subspan(from, k + 1 - from));
    from = k + 1;
  }
  return out;
}

const train::ReadyCallback nobody;

template <class T>
class TypedLossGradient : public LossGradient {
 public:
  TypedLossGradient(const DeepPotentialModel& shape, const LossForm& form, double interpolation)
      : shape_(shape), form_(form), interpolation_(interpolation), first_(first_parameters(shape)) {}

  void gradient(const std::vector<FramePtr>& frames, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override {
    const auto shares = shares_of(frames);
    const auto parts = static_cast<int>(shares.size());
    for (int part = 0; part < parts; ++part) worker(part);
    std::vector<Terms> terms_of(shares.size(), Terms(terms.size()));
    if (ready.by_module() || parts == 1) {
      OpenNetworks<T> networks(shape_, first_, weights, gradients, ready);
      add_gradient(shares, networks, term_weights, terms_of, ready.by_module());
    } else {
      GradientParts<T> sums(parts, gradients);
      on_threads(parts, [&](int part) {
        const auto k = static_cast<std::size_t>(part);
        const auto mine = sums.begin(part);
        OpenNetworks<T> networks(shape_, first_, weights, mine, nobody);
        add_gradient(std::span(shares).subspan(k, 1), networks, term_weights, std::span(terms_of).subspan(k, 1), false,
                     part);
      });
      sums.add();
      for (int k = first_.back(); ready && k-- > 0;) ready(k);
    }
    for (const auto& part : terms_of)
      for (std::size_t k = 0; k < terms.size(); ++k) terms[k].sum += part[k].sum, terms[k].count += part[k].count;
  }

  void evaluate(const std::vector<FramePtr>& frames, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics, std::span<train::TermSum> terms) override {
    const AllWeights<T> bound = bind_weights<T>(shape_, weights, {}, coded);
    std::size_t from = 0;
    for (const std::size_t to : portions_of(frames)) {
      from = assign(worker(0), 0, frames, from, to);
      auto& [batch, pass, adjoint] = *worker(0)[0];
      pass.evaluate(batch, bound);
      for (int f = 0; f < batch.frames(); ++f) {
        const auto errors = errors_of(batch, f, pass, form_);
        add_metrics(batch.frame(f), errors, metrics);
        add_terms(loss_terms(batch.frame(f), errors, form_), terms);
      }
    }
  }

  std::vector<Prediction> predict(const std::vector<FramePtr>& frames, std::span<const TensorRef> weights) override {
    const AllWeights<T> bound = bind_weights<T>(shape_, weights, {}, coded);
    std::vector<Prediction> out;
    std::size_t from = 0;
    for (const std::size_t to : portions_of(frames)) {
      from = assign(worker(0), 0, frames, from, to);
      auto& [batch, pass, adjoint] = *worker(0)[0];
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

  /// Workspace of one thread: one portion at a time, or all portions of a call with sharded weights.
  using Worker = std::vector<std::unique_ptr<Portion>>;
  using Portions = std::span<const std::unique_ptr<Portion>>;
  using Terms = std::vector<train::TermSum>;

  Worker& worker(int part) {
    while (std::ssize(workers_) <= part) workers_.push_back(std::make_unique<Worker>());
    return *workers_[part];
  }

  std::size_t assign(Worker& worker, std::size_t portion, FrameRun frames, std::size_t from, std::size_t to) const {
    if (portion == worker.size()) worker.emplace_back(new Portion{{}, ModelPass<T>(shape_, interpolation_), {}});
    worker[portion]->batch.assign(frames.subspan(from, to - from), shape_.ntypes());
    return to;
  }

  /// Processes the runs of some threads, from thread `first` on: one portion of each at a time, or all `at_once`.
  void add_gradient(std::span<const FrameRun> shares, OpenNetworks<T>& networks, std::span<const double> term_weights,
                    std::span<Terms> terms, bool at_once, int first = 0) {
    std::vector<std::vector<std::size_t>> ends;
    for (const auto& share : shares) ends.push_back(portions_of(share));
    std::vector<std::size_t> from(shares.size(), 0);
    for (std::size_t portion = 0, all = ends[0].size(); portion < all;) {
      std::vector<Portions> at_work;
      for (std::size_t s = 0; s < shares.size(); ++s) {
        auto& mine = worker(first + static_cast<int>(s));
        const std::size_t count = at_once ? ends[s].size() : 1;
        for (std::size_t k = 0; k < count; ++k) from[s] = assign(mine, k, shares[s], from[s], ends[s][portion + k]);
        at_work.push_back(Portions(mine).first(count));
      }
      portion += at_once ? all : 1;
      energies_and_forces(at_work, networks);
      each(at_work, [&](std::size_t s, Portion& p) { errors(p, term_weights, terms[s]); });
      backward(at_work, networks, portion == all);
    }
  }

  /// Range [first, end) of the types that an energy network serves; empty if the index is negative.
  std::pair<int, int> types_of(int fitting) const {
    if (fitting < 0) return {0, 0};
    return shape_.fitting.size() == 1 ? std::pair{0, shape_.ntypes()} : std::pair{fitting, fitting + 1};
  }

  /// Calls f(share, portion) for all portions of all threads' shares, each share on its own thread.
  template <class F>
  static void each(const std::vector<Portions>& shares, F&& f) {
    on_threads(static_cast<int>(shares.size()), [&](int share) {
      const auto s = static_cast<std::size_t>(share);
      for (const auto& portion : shares[s]) f(s, *portion);
    });
  }

  void energies_and_forces(const std::vector<Portions>& shares, OpenNetworks<T>& networks) const {
    // Embedding networks are small and serve atoms of all types: all stay gathered together.
    for (int m = 0; m < networks.embeddings(); ++m) networks.forward(m);
    each(shares, [&](std::size_t, Portion& p) { p.pass.embed(p.batch, networks.weights()); });
    for (int m = 0; m < networks.embeddings(); ++m) networks.release(m);
    for (int m = networks.embeddings(); m < networks.count(); ++m) {
      networks.forward(m);
      const std::pair<int, int> types = types_of(m - networks.embeddings());
      each(shares, [&](std::size_t, Portion& p) {
        for (int type = types.first; type < types.second; ++type) p.pass.fit(p.batch, networks[m], type);
      });
      networks.release(m);
    }
    each(shares, [&](std::size_t, Portion& p) { p.pass.forces(p.batch); });
  }

  void errors(Portion& portion, std::span<const double> term_weights, std::span<train::TermSum> terms) const {
    auto& [batch, pass, adjoint] = portion;
    adjoint.reset(batch);
    for (int f = 0; f < batch.frames(); ++f) {
      add_terms(loss_terms(batch.frame(f), errors_of(batch, f, pass, form_), form_), terms);
      loss_adjoint(batch, f, pass, term_weights, form_, adjoint);
    }
    pass.changes(batch, adjoint);
  }

  void backward(const std::vector<Portions>& shares, OpenNetworks<T>& networks, bool last) const {
    for (int m = networks.count(); m-- > 0;) {
      const std::pair<int, int> types = types_of(m - networks.embeddings());
      networks.backward(m);
      GradientParts<T> sums(static_cast<int>(shares.size()), networks.gradients(m));
      on_threads(static_cast<int>(shares.size()), [&](int share) {
        const auto mine = sums.begin(share);
        NetworkWeights<T> own;
        if (share > 0) own = networks.with_gradients(m, mine);
        const auto& weights = share > 0 ? own : networks[m];
        for (const auto& p : shares[share]) {
          for (int type = types.second; type-- > types.first;)
            p->pass.backward_fitting(p->batch, weights, p->adjoint, type);
          if (m < networks.embeddings()) p->pass.backward_embedding(p->batch, weights, m);
        }
      });
      sums.add();
      if (last) networks.ready(m);
      networks.release(m);
    }
  }

  static void add_terms(const LossTerms& values, std::span<train::TermSum> terms) {
    for (std::size_t k = 0; k < terms.size(); ++k)
      if (values.labelled[k]) terms[k].sum += values.value[k], terms[k].count += 1.0;
  }

  static void add_metrics(const TrainingFrame& frame, const FrameErrors& e, std::span<train::TermSum> metrics) {
    const double n = frame.atoms();
    if (!frame.force.empty()) {
      metrics[0].sum += e.force_squares;
      metrics[0].count += 3.0 * n;
    }
    if (frame.has_energy) {
      metrics[1].sum += e.energy * e.energy / (n * n);
      metrics[1].count += 1.0;
    }
    if (!frame.virial.empty() && metrics.size() > 3) {
      metrics[2].sum += e.virial_squares / (n * n);
      metrics[2].count += 9.0;
    }
    if (!frame.force.empty() && metrics.size() > 2) {
      metrics.back().sum += e.force_absolute;
      metrics.back().count += 3.0 * n;
    }
  }

  const DeepPotentialModel& shape_;
  LossForm form_;
  double interpolation_;
  std::vector<int> first_;
  std::vector<std::unique_ptr<Worker>> workers_;  ///< one per thread
};

}  // namespace

std::unique_ptr<LossGradient> LossGradient::make(DType precision, const DeepPotentialModel& shape, const LossForm& form,
                                                 double interpolation) {
  if (precision == DType::f64) return std::make_unique<TypedLossGradient<double>>(shape, form, interpolation);
  return std::make_unique<TypedLossGradient<float>>(shape, form, interpolation);
}

}  // namespace cambium::deepmd
