#pragma once
// A network without mathematics, and a divided run of it, for the tests of sharding.
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/layerwise.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "core/train/weights/divided/divided_weights.hpp"
#include "tests/train/buffers.hpp"

namespace cambium::train::testing {

/// Layers of a matrix and a bias, and no mathematics: the gradient of slice s is w sin-like noise of (s, step), which
/// shows weights that were not gathered and gradients that were added twice.
class Layers : public Network {
 public:
  Layers(int layers, std::int64_t rows, std::int64_t columns, bool by_module = true)
      : layers_(layers), rows_(rows), columns_(columns), by_module_(by_module) {}
  void fit_statistics(Dataset&, Context&) override {}
  std::vector<ParameterInfo> parameters() const override {
    std::vector<ParameterInfo> out;
    for (int l = 0; l < layers_; ++l) {
      out.push_back({"w" + std::to_string(l), {rows_ + l, columns_}, true});
      out.push_back({"b" + std::to_string(l), {columns_}, false});
    }
    return out;
  }
  std::vector<int> modules() const override {
    std::vector<int> out;
    for (int l = 0; by_module_ && l < layers_; ++l) out.push_back(2 * l);
    return out;
  }
  DType dtype() const override { return DType::f32; }
  void initialise(std::span<const TensorRef>, std::uint64_t) override {}
  std::vector<TermInfo> terms() const override { return {}; }
  std::vector<double> term_weights(std::int64_t, double) const override { return {}; }
  void gradient(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<const double>,
                std::span<const TensorRef>, std::span<TermSum>, const ReadyCallback&) override {}
  void evaluate(std::span<const SamplePtr>, std::span<const TensorRef>, std::span<TermSum>) override {}
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }

  void slice(std::uint64_t number, std::span<const TensorRef> weights, std::span<const TensorRef> gradients,
             const ReadyCallback& ready) const {
    double read = 0.0;
    for (int l = 0; l < layers_; ++l) {
      ready.forward(l);
      const auto& w = weights[2 * l];
      read += static_cast<const float*>(w.data)[0] + static_cast<const float*>(w.data)[w.elements() - 1];
      ready.release(l);
    }
    for (int l = layers_; l-- > 0;) {
      ready.backward(l);
      for (int k : {2 * l + 1, 2 * l}) {
        const auto& w = weights[k];
        const auto& g = gradients[k];
        for (std::int64_t i = 0; i < w.elements(); ++i) {
          const auto noise = static_cast<float>(
              Random4(number, Stream::test, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(k)).uniform(0));
          static_cast<float*>(g.data)[i] +=
              static_cast<const float*>(w.data)[i] * noise + (noise - 0.5f) + static_cast<float>(1e-3 * read);
        }
        ready(k);
      }
      ready.release(l);
    }
  }

 private:
  int layers_;
  std::int64_t rows_, columns_;
  bool by_module_;
};

inline Partition partition(const std::vector<Mesh::Level>& levels, int weights, int gradients, int states,
                           std::int64_t whole_below = 0) {
  Partition p;
  p.levels = levels;
  p.weights = weights;
  p.gradients = gradients;
  p.states = states;
  p.whole_below = whole_below;
  return p;
}

struct Run {
  Comm comm;
  Comm world_of_one{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  std::unique_ptr<Optimizer> optimizer;
  DividedWeights model;
  std::int64_t steps = 0;
  double last_norm = 0.0;

  Run(MPI_Comm parent, const Partition& p, Network& network, bool split, bool ordered, bool overlap = true)
      : Run(parent, p, network, {ordered, overlap, 5000}, split) {}
  Run(MPI_Comm parent, const Partition& p, Network& network, const DivideSettings& settings, bool split = false)
      : Run(parent, p, network, settings, split ? make<SplitAdamW> : make<AdamW>) {}
  using Make = std::unique_ptr<Optimizer> (*)(Context&);
  Run(MPI_Comm parent, const Partition& p, Network& network, const DivideSettings& settings, Make make)
      : comm(parent), optimizer(make(context)), model(p, comm, network, *optimizer, settings) {
    model.start([](FlatBuffer& first) { fill(first, 5, 0.1); });
  }
  template <class O>
  static std::unique_ptr<Optimizer> make(Context& context) {
    return std::make_unique<O>(typename O::Params{}, context);
  }
  /// One step of `all` slices, taken by the ranks as BatchPlan says; `skip` have no samples.
  void step(Layers& network, int all, const std::optional<Clip>& clip = {}, int skip = 0) {
    const int own = all / comm.size(), turns = model.turns();
    model.communication().begin_step(77, steps);
    model.begin(own);
    for (int s = 0; s < own; ++s) {
      const int number = (comm.rank() / turns * own + s) * turns + comm.rank() % turns;
      if (number < skip) {
        model.skip();
        continue;
      }
      const Pass pass = model.pass();
      network.slice(static_cast<std::uint64_t>(1000 * steps + number), pass.weights, pass.gradients, pass.ready);
    }
    model.finish();
    ++steps;
    last_norm = model.update({1.0 / all, clip, 1e-2, steps});
  }
  std::vector<float> weights() {
    std::vector<float> out;
    model.whole([&](FlatBuffer& whole) { out = packed<float>(whole); });
    return out;
  }
  std::vector<float> best() {
    std::vector<float> out;
    model.whole_best([&](FlatBuffer& whole) { out = packed<float>(whole); });
    return out;
  }
};

/// Reducer, buffers and optimizer that divide nothing, on one rank; the weights are those with which a Run begins.
struct Undivided {
  Comm alone{MPI_COMM_SELF};
  Mesh mesh{alone};
  FlatLayout layout;
  OrderedReducer reducer{mesh, layout, DType::f32};
  Log log;
  Timing timing;
  Context context{alone, log, timing};
  AdamW adam{{}, context};
  FlatBuffer weights{layout, DType::f32}, gradients{layout, DType::f32};
  std::vector<FlatBuffer> states = make_states(adam, layout, DType::f32);

  explicit Undivided(Network& network) : layout(network.parameters(), 100000) { fill(weights, 5, 0.1); }
  /// The mean gradient of `all` slices: slice(number, gradients, ready) adds that of one.
  template <class F>
  void sum(int all, int step, F&& slice) {
    reducer.begin(gradients, all);
    for (int s = 0; s < all; ++s) {
      reducer.next_slice();
      slice(static_cast<std::uint64_t>(1000 * step + s), gradients.views(), [&](int k) { reducer.ready(k); });
    }
    reducer.finish();
    scale(gradients, 1.0 / all);
  }
};

/// The same as a Run by an Undivided.
inline std::vector<float> plainly(Layers& network, int all, int steps) {
  Undivided u(network);
  for (int step = 0; step < steps; ++step) {
    const auto views = u.weights.views();
    u.sum(all, step, [&](auto number, auto into, const auto& ready) { network.slice(number, views, into, ready); });
    u.adam.step({u.weights, u.gradients, u.states, 1e-2, step + 1});
  }
  return packed<float>(u.weights);
}

/// How far weights `a` are from `b`, over how far those moved away from the first ones (root mean squares).
inline double distance(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& first) {
  double off = 0.0, moved = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    off += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
    moved += std::pow(static_cast<double>(b[k]) - static_cast<double>(first[k]), 2);
  }
  return std::sqrt(off / moved);
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), sizeof(float) * a.size()) == 0;
}

inline std::int64_t bytes_of(DividedWeights& model, const std::string& collective, const std::string& level = {}) {
  std::int64_t sum = 0;
  for (const auto& row : model.communication().traffic().rows())
    if ((collective.empty() ? row.collective != "full copies" : row.collective == collective) &&
        (level.empty() || row.level == level))
      sum += row.bytes;
  return sum;
}

}  // namespace cambium::train::testing
