#pragma once
// Small models, configurations and flat weights for the tests of training.
#include "plugins/deepmd/training/model_pass.hpp"
#include "plugins/deepmd/training/parameters.hpp"
#include "tests/plugins/deepmd/deep_potential_samples.hpp"

namespace cambium::deepmd::test {

/// One array per parameter, and views of them.
template <class T>
struct FlatWeights {
  std::vector<std::vector<T>> values;
  std::vector<TensorRef> refs;

  explicit FlatWeights(const DeepPotentialModel& model) {
    for (const auto& info : parameters_of(model)) {
      std::size_t n = 1;
      for (auto extent : info.shape) n *= static_cast<std::size_t>(extent);
      values.emplace_back(n, T(0));
    }
    for (auto& array : values) {
      TensorRef ref;
      ref.data = array.data();
      ref.rank = 1;
      ref.shape[0] = static_cast<std::int64_t>(array.size());
      ref.stride[0] = 1;
      ref.dtype = dtype_of<T>();
      refs.push_back(ref);
    }
  }
};

inline FramePtr frame_of(const Configuration& c, const DeepPotentialModel& m) {
  auto frame = std::make_shared<TrainingFrame>(find_pairs(c.x, c.types, c.box, m.ntypes(), m.rcut));
  const auto seed = static_cast<std::uint64_t>(1000.0 * c.x[0][0]);
  for (std::uint64_t k = 0; std::ssize(frame->fparam) < m.fparam.size; ++k)
    frame->fparam.push_back(Random4(seed, Stream::test, k, 1).normal(0));
  for (std::uint64_t k = 0; std::ssize(frame->aparam) < m.aparam.size * frame->atoms(); ++k)
    frame->aparam.push_back(Random4(seed, Stream::test, k, 2).normal(0));
  return frame;
}

/// A model whose environment statistics and output scale differ between the types, so that a mixed-up index shows.
inline DeepPotentialModel uneven_model(RandomModel spec) {
  DeepPotentialModel m = random_model(spec);
  const int nt = m.ntypes();
  for (DeepPotentialModel& part : m.descriptors()) {
    const double angular = part.descriptor == DeepPotentialModel::Descriptor::se_e3 ? 0.3 : 0.08;
    for (int ti = 0; ti < nt; ++ti)
      for (int tj = 0; tj < nt; ++tj) {
        const auto k = static_cast<std::size_t>(ti * nt + tj);
        const double a = angular + 0.01 * ti;
        if (part.descriptor != DeepPotentialModel::Descriptor::se_atten) part.mean[k][0] += 0.013 * ti;
        part.deviation[k] = {0.13 + 0.02 * ti, a, a, a};
      }
  }
  for (int t = 0; t < nt; ++t) m.fitting_bias[t] = -1.5 - t;
  return m;
}

}  // namespace cambium::deepmd::test
