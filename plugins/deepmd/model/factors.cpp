#include "plugins/deepmd/model/factors.hpp"

#include "core/base/key_error.hpp"
#include "core/numerics/gemm.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/low_rank/decompose.hpp"

namespace cambium::deepmd {

namespace {

void reserve_factors(Layer& layer, int rank) {
  layer.rank = rank;
  layer.enter.assign(static_cast<std::size_t>(layer.in) * static_cast<std::size_t>(rank), 0.0);
  layer.leave.assign(static_cast<std::size_t>(rank) * static_cast<std::size_t>(layer.out), 0.0);
}

}  // namespace

void multiply_factors(Layer& layer) {
  if (layer.rank == 0) return;
  layer.w.resize(static_cast<std::size_t>(layer.in) * static_cast<std::size_t>(layer.out));
  host_gemm<double>(false, false, layer.in, layer.out, layer.rank, 1.0, layer.enter.data(), layer.rank,
                    layer.leave.data(), layer.out, 0.0, layer.w.data(), layer.out);
}

void factorise(Layer& layer, int rank) {
  train::LayerWeights w{layer.out, layer.in, 1, std::vector<double>(layer.w.size())};
  const auto in = static_cast<std::size_t>(layer.in), out = static_cast<std::size_t>(layer.out);
  for (std::size_t i = 0; i < in; ++i)
    for (std::size_t o = 0; o < out; ++o) w.values[o * in + i] = layer.w[i * out + o];
  const train::Factors factors = train::factors_of(w, rank);
  reserve_factors(layer, rank);
  const auto columns = static_cast<std::size_t>(rank);
  for (std::size_t r = 0; r < columns; ++r) {
    for (std::size_t i = 0; i < in; ++i) layer.enter[i * columns + r] = factors.enter[r * in + i];
    for (std::size_t o = 0; o < out; ++o) layer.leave[r * out + o] = factors.leave[o * columns + r];
  }
  multiply_factors(layer);
}

void set_ranks(DeepPotentialModel& model, std::span<const std::int64_t> ranks, bool embeddings, bool decompose) {
  if (ranks.empty()) return;
  const auto places = factor_places(model, embeddings);
  if (const auto wrong = train::ranks_problem(ranks, places.size()); !wrong.empty())
    throw KeyError("deep_potential.factor_ranks", "factor_ranks", wrong);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (ranks[k] == 0) continue;
    if (decompose)
      factorise(*places[k].layer, static_cast<int>(ranks[k]));
    else
      reserve_factors(*places[k].layer, static_cast<int>(ranks[k]));
  }
}

}  // namespace cambium::deepmd
