#include "core/train/networks/mlp/device_layers.hpp"

#include <algorithm>

#include "core/numerics/gemm.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/threads/host_threads.hpp"
#include "core/train/networks/mlp/device_kernels.hpp"

namespace cambium::train {

bool kernels_have_own_memory() { return !device_is_host; }
std::string kernels_run_on() { return ExecSpace::name(); }

namespace {

template <class T>
using OfHost = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Room for n numbers at least; what was there is lost where there was less.
template <class T>
void grow(View<T*>& view, const std::string& label, std::size_t n) {
  if (view.extent(0) >= n) return;
  view = View<T*>();
  view = View<T*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), n);
}

template <class T>
View<T*> part_of(const View<T*>& view, std::size_t first, std::size_t n) {
  return Kokkos::subview(view, std::make_pair(first, first + n));
}

}  // namespace

template <class T>
struct DeviceMlpLayers<T>::Memory {
  MlpShape shape;
  Kind kind;
  std::size_t layers;
  std::vector<std::size_t> first;  ///< of each layer in `weights` and `gradients`: its weights, then its biases
  View<T*> weights, rounded, gradients, block, by_sum, by_input, ones;
  View<double*> row_losses;
  std::vector<View<T*>> sums, values;  ///< of each layer, before and behind its activation; the last has no values
  std::vector<T> host_block, host_gradients, host_outputs;
  int rows = 0;
  bool stay = false;
  const void* there = nullptr;  ///< where the weights stand on the host that lie on the device

  int in(std::size_t l) const { return static_cast<int>(shape.widths[l]); }
  int out(std::size_t l) const { return static_cast<int>(shape.widths[l + 1]); }
  std::size_t matrix(std::size_t l) const { return static_cast<std::size_t>(in(l)) * static_cast<std::size_t>(out(l)); }
  std::size_t sum_numbers(std::size_t l) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(out(l));
  }
  bool plain(std::size_t l) const { return l < shape.plain.size() && shape.plain[l]; }
  T* bias(std::size_t l) const { return weights.data() + first[l] + matrix(l); }
  const T* factor(std::size_t l) const { return (kind.bfloat16 ? rounded : weights).data() + first[l]; }
  const T* input(std::size_t l) const { return l == 0 ? block.data() : values[l - 1].data(); }
  std::size_t block_numbers(bool with_targets) const {
    const std::size_t targets = !with_targets ? 0 : kind.classes ? 1 : static_cast<std::size_t>(out(layers - 1));
    return static_cast<std::size_t>(rows) * (static_cast<std::size_t>(in(0)) + targets);
  }

  void make_room() {
    std::size_t widest = 0;
    for (std::size_t l = 0; l < layers; ++l) {
      grow(sums[l], "mlp: sums", sum_numbers(l));
      if (l + 1 < layers) grow(values[l], "mlp: activations", sum_numbers(l));
      widest = std::max(widest, sum_numbers(l));
    }
    grow(by_sum, "mlp: derivatives", widest);
    grow(by_input, "mlp: derivatives", widest);
    if (kind.classes) grow(row_losses, "mlp: losses", static_cast<std::size_t>(rows));
    if (ones.extent(0) >= static_cast<std::size_t>(rows)) return;
    grow(ones, "mlp: ones", static_cast<std::size_t>(rows));
    Kokkos::deep_copy(ones, T(1));
  }

  void take_weights(std::size_t l, std::span<const TensorRef> host) {
    const auto* w = static_cast<const T*>(host[2 * l].data);
    const auto* b = static_cast<const T*>(host[2 * l + 1].data);
    const auto n = matrix(l), m = static_cast<std::size_t>(out(l));
    // One copy where both stand side by side on the host, as padding lets them at times.
    if (b == w + n) {
      Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l], n + m), OfHost<const T>(w, n + m));
    } else {
      Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l], n), OfHost<const T>(w, n));
      Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l] + n, m), OfHost<const T>(b, m));
    }
    if (kind.bfloat16)
      round_to_bfloat16(static_cast<std::int64_t>(n), weights.data() + first[l], rounded.data() + first[l]);
  }

  /// Starts what makes the gradient of a layer and the derivative by its inputs from that by its sums.
  void start_backward(std::size_t l) {
    T* const by = by_sum.data();
    T* const into = gradients.data() + first[l];
    gemm_transposed_a(1, out(l), rows, ones.data(), 1, by, out(l), T(0), into + matrix(l), out(l));
    if (kind.bfloat16) round_to_bfloat16(static_cast<std::int64_t>(sum_numbers(l)), by, by);
    gemm_transposed_a(in(l), out(l), rows, input(l), in(l), by, out(l), T(0), into, out(l));
    if (l == 0) return;
    gemm(true, rows, in(l), out(l), by, out(l), factor(l), out(l), T(0), by_input.data(), in(l));
    if (!plain(l - 1))
      times_slope(kind.activation, static_cast<std::int64_t>(sum_numbers(l - 1)), sums[l - 1].data(),
                  values[l - 1].data(), by_input.data());
    std::swap(by_sum, by_input);
  }

  void bring_gradient(std::size_t l) {
    const auto n = matrix(l) + static_cast<std::size_t>(out(l));
    host_gradients.resize(std::max(host_gradients.size(), n));
    Kokkos::deep_copy(ExecSpace(), OfHost<T>(host_gradients.data(), n), part_of(gradients, first[l], n));
    ExecSpace().fence();
  }

  void add_gradient(std::size_t l, std::span<const TensorRef> to) const {
    constexpr std::int64_t enough = 8192;
    const auto add = [&](const T* from, T* into, std::int64_t n) {
      in_shares(n, enough, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) into[k] += from[k];
      });
    };
    add(host_gradients.data(), static_cast<T*>(to[2 * l].data), static_cast<std::int64_t>(matrix(l)));
    add(host_gradients.data() + matrix(l), static_cast<T*>(to[2 * l + 1].data), out(l));
  }
};

template <class T>
DeviceMlpLayers<T>::DeviceMlpLayers(MlpShape shape, const Kind& kind) : memory_(std::make_unique<Memory>()) {
  auto& m = *memory_;
  m.shape = std::move(shape), m.kind = kind;
  m.layers = m.shape.widths.size() - 1;
  m.sums.resize(m.layers), m.values.resize(m.layers);
  std::size_t numbers = 0;
  for (std::size_t l = 0; l < m.layers; ++l) {
    m.first.push_back(numbers);
    constexpr std::size_t aligned = 64;
    numbers += (m.matrix(l) + static_cast<std::size_t>(m.out(l)) + aligned - 1) / aligned * aligned;
  }
  grow(m.weights, "mlp: weights", numbers);
  grow(m.gradients, "mlp: gradients", numbers);
  if (kind.bfloat16) grow(m.rounded, "mlp: weights in bfloat16", numbers);
}

template <class T>
DeviceMlpLayers<T>::~DeviceMlpLayers() = default;

template <class T>
std::span<T> DeviceMlpLayers<T>::block(int rows, bool with_targets) {
  auto& m = *memory_;
  m.rows = rows;
  m.host_block.resize(m.block_numbers(with_targets));
  return m.host_block;
}

template <class T>
void DeviceMlpLayers<T>::weights_stay(bool stay) {
  memory_->stay = stay, memory_->there = nullptr;
}

template <class T>
void DeviceMlpLayers<T>::forward(std::span<const TensorRef> weights, const ReadyCallback& ready) {
  auto& m = *memory_;
  m.make_room();
  grow(m.block, "mlp: samples", m.host_block.size());
  Kokkos::deep_copy(ExecSpace(), part_of(m.block, 0, m.host_block.size()),
                    OfHost<const T>(m.host_block.data(), m.host_block.size()));
  if (m.kind.bfloat16) round_to_bfloat16(std::int64_t{m.rows} * m.in(0), m.block.data(), m.block.data());
  const bool known = m.stay && !ready.by_module() && m.there == weights[0].data;
  for (std::size_t l = 0; l < m.layers; ++l) {
    ready.forward(static_cast<int>(l));
    if (!known) m.take_weights(l, weights);
    if (ready.by_module()) ExecSpace().fence();  // their memory goes with release()
    ready.release(static_cast<int>(l));
    gemm(false, m.rows, m.out(l), m.in(l), m.input(l), m.in(l), m.factor(l), m.out(l), T(0), m.sums[l].data(),
         m.out(l));
    add_bias_and_activate(m.kind.activation, m.plain(l), m.kind.bfloat16, m.rows, m.out(l), m.bias(l), m.sums[l].data(),
                          l + 1 < m.layers ? m.values[l].data() : static_cast<T*>(nullptr));
  }
  m.there = ready.by_module() ? nullptr : weights[0].data;
}

template <class T>
const std::vector<T>& DeviceMlpLayers<T>::outputs() {
  auto& m = *memory_;
  const auto n = m.sum_numbers(m.layers - 1);
  m.host_outputs.resize(n);
  Kokkos::deep_copy(ExecSpace(), OfHost<T>(m.host_outputs.data(), n), part_of(m.sums[m.layers - 1], 0, n));
  ExecSpace().fence();
  return m.host_outputs;
}

template <class T>
double DeviceMlpLayers<T>::loss(double weight) {
  auto& m = *memory_;
  const int width = m.out(m.layers - 1);
  const T* const y = m.sums[m.layers - 1].data();
  const T* const targets = m.block.data() + m.block_numbers(false);
  if (m.kind.classes)
    return cross_entropy(m.rows, width, y, targets, m.kind.smoothing, weight, m.by_sum.data(), m.row_losses.data());
  return squared_error(m.rows, width, y, targets, weight, m.by_sum.data());
}

template <class T>
void DeviceMlpLayers<T>::backward(std::span<const TensorRef> gradients, const ReadyCallback& ready) {
  auto& m = *memory_;
  m.start_backward(m.layers - 1);
  for (std::size_t l = m.layers; l-- > 0;) {
    m.bring_gradient(l);
    if (l > 0) m.start_backward(l - 1);  // works while the host adds
    ready.backward(static_cast<int>(l));
    m.add_gradient(l, gradients);
    ready(static_cast<int>(2 * l + 1));
    ready(static_cast<int>(2 * l));
    ready.release(static_cast<int>(l));
  }
}

void MlpOnDevice::begin(Weights weights) { weights_ = weights, fresh_ = true; }

template <class T>
DeviceMlpLayers<T>& MlpOnDevice::layers(const Mlp::Params& params, const MlpShape& shape, Weights use) {
  auto& layers = [&]() -> auto& {
    if constexpr (std::is_same_v<T, double>)
      return double_;
    else
      return float_;
  }
  ();
  if (!layers)
    layers = std::make_unique<DeviceMlpLayers<T>>(
        shape, typename DeviceMlpLayers<T>::Kind{params.activation, params.precision == Precision::bfloat16,
                                                 params.goal == Mlp::Goal::classification, params.label_smoothing});
  const bool stay = use != Weights::change && use == weights_;
  if (!stay) weights_ = Weights::change;
  if (fresh_ || !stay) layers->weights_stay(stay);
  fresh_ = false;
  return *layers;
}

template class DeviceMlpLayers<double>;
template class DeviceMlpLayers<float>;
template DeviceMlpLayers<double>& MlpOnDevice::layers<double>(const Mlp::Params&, const MlpShape&, Weights);
template DeviceMlpLayers<float>& MlpOnDevice::layers<float>(const Mlp::Params&, const MlpShape&, Weights);

}  // namespace cambium::train
