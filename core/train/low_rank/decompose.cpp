#include "core/train/low_rank/decompose.hpp"

#include <algorithm>
#include <map>

#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::train {
namespace {

using Vectors = std::vector<double>;

/// Replaces an axis of w by its components along `vectors` ([rank][old extent]).
LayerWeights projected(const LayerWeights& w, const Vectors& vectors, std::int64_t rank, bool of_outputs) {
  LayerWeights out = w;
  (of_outputs ? out.outputs : out.inputs) = rank;
  out.values.assign(out.outputs * out.inputs * out.taps, 0.0);
  const auto extent = of_outputs ? w.outputs : w.inputs;
  for (std::int64_t o = 0; o < w.outputs; ++o)
    for (std::int64_t i = 0; i < w.inputs; ++i)
      for (std::int64_t r = 0; r < rank; ++r) {
        const double f = vectors[static_cast<std::size_t>(r * extent + (of_outputs ? o : i))];
        const double* in = w.values.data() + (o * w.inputs + i) * w.taps;
        double* to = out.values.data() + ((of_outputs ? r : o) * out.inputs + (of_outputs ? i : r)) * w.taps;
        for (std::int64_t t = 0; t < w.taps; ++t) to[t] += f * in[t];
      }
  return out;
}

Vectors transposed(const Vectors& a, std::int64_t rows) {
  Vectors out(a.size());
  const auto columns = std::ssize(a) / std::max<std::int64_t>(rows, 1);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) out[j * rows + i] = a[i * columns + j];
  return out;
}

/// `values`: [a][b]; stored as [b][a] if the network has inputs first.
void write(const Vectors& values, std::int64_t rows, bool as_it_is, int parameter, FlatBuffer& weights) {
  if (parameter < 0) return;
  const Vectors turned = as_it_is ? values : transposed(values, rows);
  with_real(weights.dtype(), [&]<class T>() {
    const auto to = weights.values<T>(static_cast<std::size_t>(parameter));
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<T>(turned[k]);
  });
}

void copy(FlatBuffer& from, int source, FlatBuffer& to, int target) {
  with_real(from.dtype(), [&]<class T>() {
    const auto values = from.values<T>(static_cast<std::size_t>(source));
    std::copy(values.begin(), values.end(), to.values<T>(static_cast<std::size_t>(target)).begin());
  });
}

}  // namespace

std::vector<double> leading_vectors(const LayerWeights& w, bool of_outputs, std::int64_t rank) {
  const auto n = of_outputs ? w.outputs : w.inputs;
  std::vector<double> gram(n * n, 0.0), values(static_cast<std::size_t>(n));
  const auto others = of_outputs ? w.inputs : w.outputs;
  const auto at = [&](std::int64_t k, std::int64_t other) {
    return w.values.data() + (of_outputs ? k * w.inputs + other : other * w.inputs + k) * w.taps;
  };
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b <= a; ++b) {
      double sum = 0.0;
      for (std::int64_t other = 0; other < others; ++other)
        for (std::int64_t t = 0; t < w.taps; ++t) sum += at(a, other)[t] * at(b, other)[t];
      gram[a * n + b] = gram[b * n + a] = sum;
    }
  symmetric_eigenvectors(static_cast<int>(n), gram.data(), values.data());
  std::vector<double> out;
  for (std::int64_t r = 0; r < std::min(rank, n); ++r) {
    const double* row = gram.data() + (n - 1 - r) * n;
    out.insert(out.end(), row, row + n);
  }
  out.resize(rank * n, 0.0);
  return out;
}

Factors factors_of(const LayerWeights& w, std::int64_t rank) {
  if (w.taps == 1) {
    const auto vectors = leading_vectors(w, w.outputs < w.inputs, rank);
    if (w.outputs < w.inputs) return {projected(w, vectors, rank, true).values, {}, transposed(vectors, rank)};
    return {vectors, {}, projected(w, vectors, rank, false).values};
  }
  const auto in = std::min(rank, w.inputs), out = std::min(rank, w.outputs);
  auto enter = leading_vectors(w, false, in), leave = leading_vectors(w, true, out);
  constexpr int sweeps = 3;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    enter = leading_vectors(projected(w, leave, out, true), false, in);
    leave = leading_vectors(projected(w, enter, in, false), true, out);
  }
  LayerWeights core = w;
  if (in < w.inputs) core = projected(core, enter, in, false);
  if (out < w.outputs) core = projected(core, leave, out, true);
  return {in < w.inputs ? enter : Vectors{}, core.values, out < w.outputs ? transposed(leave, out) : Vectors{}};
}

LayerWeights read_layer(const FactorLayer& layer, FlatBuffer& weights) {
  LayerWeights out{layer.outputs, layer.inputs, layer.taps, {}};
  with_real(weights.dtype(), [&]<class T>() {
    const auto values = weights.values<T>(static_cast<std::size_t>(layer.core));
    out.values.assign(values.begin(), values.end());
  });
  if (!layer.outputs_first) out.values = transposed(out.values, layer.inputs);
  return out;
}

void write_layer(const LayerWeights& w, const FactorLayer& layer, FlatBuffer& weights) {
  write(w.values, w.outputs, layer.outputs_first, layer.core, weights);
}

LayerWeights multiplied(const Factors& factors, std::int64_t outputs, std::int64_t inputs, std::int64_t taps) {
  const auto size = [](const Vectors& a) { return static_cast<std::int64_t>(std::ssize(a)); };
  if (factors.core.empty()) {
    const auto rank = size(factors.enter) / inputs;
    return projected({rank, inputs, 1, factors.enter}, factors.leave, outputs, true);
  }
  const auto in = factors.enter.empty() ? inputs : size(factors.enter) / inputs;
  const auto out = factors.leave.empty() ? outputs : size(factors.leave) / outputs;
  LayerWeights w{out, in, taps, factors.core};
  // projected() takes vectors as rows, [new extent][old extent].
  if (!factors.enter.empty()) w = projected(w, transposed(factors.enter, in), inputs, false);
  if (!factors.leave.empty()) w = projected(w, factors.leave, outputs, true);
  return w;
}

void fill_factors(std::span<const FactorLayer> whole, FlatBuffer& from, std::span<const FactorLayer> layers,
                  FlatBuffer& to) {
  to.zero();
  std::map<std::string, int> named;
  const auto& old = from.layout().tensors();
  for (std::size_t k = 0; k < old.size(); ++k) named[old[k].info.name] = static_cast<int>(k);
  std::vector<bool> filled(to.layout().tensors().size(), false);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& layer = layers[l];
    for (const int k : {layer.enter, layer.between, layer.core, layer.leave, layer.bias})
      if (k >= 0) filled[k] = true;
    if (layer.bias >= 0) copy(from, whole[l].bias, to, layer.bias);
    if (layer.rank == 0) {
      copy(from, whole[l].core, to, layer.core);
      continue;
    }
    const auto factors = factors_of(read_layer(whole[l], from), layer.rank);
    write(factors.enter, std::min(layer.rank, layer.inputs), layer.outputs_first, layer.enter, to);
    write(factors.core, 1, true, layer.core, to);
    write(factors.leave, layer.outputs, layer.outputs_first, layer.leave, to);
  }
  const auto& fresh = to.layout().tensors();
  for (std::size_t k = 0; k < fresh.size(); ++k)
    if (const auto found = named.find(fresh[k].info.name);
        !filled[k] && found != named.end() && old[found->second].info.shape == fresh[k].info.shape)
      copy(from, found->second, to, static_cast<int>(k));
}

}  // namespace cambium::train
