#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/training/buffer.hpp"

namespace cambium::deepmd {

/// Weights of one layer in the training layer's storage, and the target of their gradient. Row vectors are also stored
/// padded with zeros to full registers.
template <class T>
struct LayerWeights {
  int in = 0, out = 0, copies = 0;  ///< copies: of the input that are added to the output
  bool linear = false;              ///< the last layer of a fitting network
  int rank = 0;                     ///< of the factors w leave, of which w is in x rank; 0: none
  const T* w = nullptr;             ///< in x out
  const T* leave = nullptr;         ///< rank x out
  std::vector<T> b, idt;            ///< padded; idt is all 1 where the layer has none
  T *dw = nullptr, *dleave = nullptr, *db = nullptr, *didt = nullptr;
  std::vector<T> first_row;                    ///< w of a layer with one input, padded
  const train::CodedWeights* coded = nullptr;  ///< instead of w, if they contain `parameter`
  int parameter = 0;                           ///< of w

  bool has_idt() const { return idt_given; }
  bool idt_given = false;
};

template <class T>
using NetworkWeights = std::vector<LayerWeights<T>>;

/// The networks of a model in the order of its parameters: embeddings, then fittings.
template <class T>
struct AllWeights {
  std::vector<NetworkWeights<T>> embedding, fitting;
  /// Energy network of a species, or the one that serves all.
  const NetworkWeights<T>& fitting_of(int type) const { return fitting[fitting.size() == 1 ? 0 : type]; }
};

namespace detail {
template <class T>
std::vector<T> padded_copy(const T* values, int n, T fill) {
  std::vector<T> out(whole_packs<T>(n), T(0));
  if (values)
    std::copy_n(values, n, out.begin());
  else
    std::fill_n(out.begin(), n, fill);
  return out;
}

template <class T>
NetworkWeights<T> bind_network(const Network& net, std::span<const TensorRef> weights,
                               std::span<const TensorRef> gradients, std::size_t& next,
                               const train::CodedWeights* coded) {
  NetworkWeights<T> out;
  const auto gradient = [&](std::size_t k) { return gradients.empty() ? nullptr : static_cast<T*>(gradients[k].data); };
  for (const Layer& layer : net.layers) {
    LayerWeights<T> l;
    l.in = layer.in;
    l.out = layer.out;
    l.copies = layer.copies();
    l.linear = layer.activation.kind == Activation::Kind::linear;
    l.coded = coded;
    l.parameter = static_cast<int>(next);
    l.rank = layer.rank;
    l.w = static_cast<const T*>(weights[next].data), l.dw = gradient(next), ++next;
    if (l.rank > 0) l.leave = static_cast<const T*>(weights[next].data), l.dleave = gradient(next), ++next;
    l.b = padded_copy(layer.b.empty() ? nullptr : static_cast<const T*>(weights[next].data), l.out, T(0));
    if (!layer.b.empty()) l.db = gradient(next), ++next;
    l.idt_given = !layer.idt.empty();
    l.idt = padded_copy(l.idt_given ? static_cast<const T*>(weights[next].data) : nullptr, l.out, T(1));
    if (l.idt_given) l.didt = gradient(next), ++next;
    if (l.in == 1) l.first_row = padded_copy(l.w, l.out, T(0));
    out.push_back(std::move(l));
  }
  return out;
}
}  // namespace detail

/// Widths of a network's layers.
inline std::vector<int> widths_of(const Network& net) {
  std::vector<int> out;
  for (const Layer& layer : net.layers) out.push_back(layer.out);
  return out;
}

/// Views of a flat list of tensors (w or its factors and, where the layer has them, b and idt of every layer) as
/// networks of `model`'s shape; `gradients` may be empty. `coded` matrices replace those of the energy networks.
template <class T>
AllWeights<T> bind_weights(const DeepPotentialModel& model, std::span<const TensorRef> weights,
                           std::span<const TensorRef> gradients = {}, const train::CodedWeights* coded = nullptr) {
  AllWeights<T> out;
  std::size_t next = 0;
  for (const Network* net : embeddings_of(model))
    out.embedding.push_back(detail::bind_network<T>(*net, weights, gradients, next, nullptr));
  for (const Network& net : model.fitting)
    out.fitting.push_back(detail::bind_network<T>(net, weights, gradients, next, coded));
  return out;
}

}  // namespace cambium::deepmd
