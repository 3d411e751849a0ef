#include "core/train/networks/mlp/device_layers.hpp"

#include <algorithm>

#include "core/numerics/gemm.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/train/networks/mlp/device_kernels.hpp"

namespace cambium::train {

bool kernels_have_own_memory() { return !device_is_host; }
std::string kernels_run_on() { return ExecSpace::name(); }

namespace {

template <class T>
using RowsOfHost = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

/// Ensures room for at least n values; reallocation discards the content.
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
  /// Device pointers of one layer.
  struct At {
    T *weights, *bias;
  };
  MlpShape shape;
  Kind kind;
  std::size_t layers;
  std::vector<std::size_t> first;  ///< offset of each layer in our memory: its weights, then its biases
  View<T*> weights, rounded, gradients, block, by_sum, by_input, partial;
  View<double*> row_losses, loss;
  std::vector<View<T*>> sums, values;  ///< of each layer, before and after its activation; the last has no values
  std::vector<At> read, written;       ///< weights and gradients of the pass
  std::vector<T> host_block, host_gradients, host_outputs;
  int rows = 0;
  bool stay = false;
  const void* there = nullptr;  ///< host address of the weights that are cached on the device

  Memory(MlpShape s, const Kind& k);
  int in(std::size_t l) const { return static_cast<int>(shape.widths[l]); }
  int out(std::size_t l) const { return static_cast<int>(shape.widths[l + 1]); }
  std::size_t matrix(std::size_t l) const { return static_cast<std::size_t>(in(l)) * static_cast<std::size_t>(out(l)); }
  std::size_t sum_numbers(std::size_t l) const {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(out(l));
  }
  bool plain(std::size_t l) const { return l < shape.plain.size() && shape.plain[l]; }
  const T* factor(std::size_t l) const { return kind.bfloat16 ? rounded.data() + first[l] : read[l].weights; }
  const T* input(std::size_t l) const { return l == 0 ? block.data() : values[l - 1].data(); }
  std::size_t block_numbers(bool with_targets) const {
    const std::size_t targets = !with_targets ? 0 : kind.classes ? 1 : static_cast<std::size_t>(out(layers - 1));
    return static_cast<std::size_t>(rows) * (static_cast<std::size_t>(in(0)) + targets);
  }

  void make_room();
  std::vector<At> own(const View<T*>& numbers) const;
  std::vector<At> given(std::span<const TensorRef> tensors) const;
  void take_weights(std::size_t l, std::span<const TensorRef> host);
  void round_weights(std::size_t l);
  void round_inputs();
  void pass_layer(std::size_t l);
  void start_backward(std::size_t l, bool add);
  void bring_gradient(std::size_t l);
  void add_gradient(std::size_t l, std::span<const TensorRef> to) const;
};

template <class T>
DeviceMlpLayers<T>::Memory::Memory(MlpShape s, const Kind& k)
    : shape(std::move(s)), kind(k), layers(shape.widths.size() - 1), sums(layers), values(layers) {
  std::size_t numbers = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    first.push_back(numbers);
    constexpr std::size_t aligned = 64;
    numbers += (matrix(l) + static_cast<std::size_t>(out(l)) + aligned - 1) / aligned * aligned;
  }
  first.push_back(numbers);
  grow(loss, "mlp: loss", 1);
  if (kind.bfloat16) grow(rounded, "mlp: weights in bfloat16", numbers);
}

/// Values overwrite the sums if nothing else needs these.
template <class T>
void DeviceMlpLayers<T>::Memory::make_room() {
  std::size_t widest = 0;
  int most = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    grow(sums[l], "mlp: sums", sum_numbers(l));
    if (l + 1 < layers && slope_needs_sums(kind.activation))
      grow(values[l], "mlp: activations", sum_numbers(l));
    else if (l + 1 < layers)
      values[l] = sums[l];
    widest = std::max(widest, sum_numbers(l));
    most = std::max(most, out(l));
  }
  grow(by_sum, "mlp: derivatives", widest);
  grow(by_input, "mlp: derivatives", widest);
  grow(partial, "mlp: parts of the biases' gradients", slope_room(rows, most));
  if (kind.classes) grow(row_losses, "mlp: losses", static_cast<std::size_t>(rows));
}

template <class T>
auto DeviceMlpLayers<T>::Memory::own(const View<T*>& numbers) const -> std::vector<At> {
  std::vector<At> out;
  for (std::size_t l = 0; l < layers; ++l)
    out.push_back({numbers.data() + first[l], numbers.data() + first[l] + matrix(l)});
  return out;
}

template <class T>
auto DeviceMlpLayers<T>::Memory::given(std::span<const TensorRef> tensors) const -> std::vector<At> {
  std::vector<At> out;
  for (std::size_t l = 0; l < layers; ++l)
    out.push_back({static_cast<T*>(tensors[2 * l].data), static_cast<T*>(tensors[2 * l + 1].data)});
  return out;
}

template <class T>
void DeviceMlpLayers<T>::Memory::take_weights(std::size_t l, std::span<const TensorRef> host) {
  const auto* w = static_cast<const T*>(host[2 * l].data);
  const auto* b = static_cast<const T*>(host[2 * l + 1].data);
  const auto n = matrix(l), m = static_cast<std::size_t>(out(l));
  // One copy if both are contiguous on the host, as padding allows at times.
  if (b == w + n) {
    Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l], n + m), RowsOfHost<const T>(w, n + m));
  } else {
    Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l], n), RowsOfHost<const T>(w, n));
    Kokkos::deep_copy(ExecSpace(), part_of(weights, first[l] + n, m), RowsOfHost<const T>(b, m));
  }
  round_weights(l);
}

template <class T>
void DeviceMlpLayers<T>::Memory::round_weights(std::size_t l) {
  if (kind.bfloat16)
    round_to_bfloat16(static_cast<std::int64_t>(matrix(l)), static_cast<const T*>(read[l].weights),
                      rounded.data() + first[l]);
}

template <class T>
void DeviceMlpLayers<T>::Memory::round_inputs() {
  if (kind.bfloat16) round_to_bfloat16(std::int64_t{rows} * in(0), static_cast<const T*>(block.data()), block.data());
}

template <class T>
void DeviceMlpLayers<T>::Memory::pass_layer(std::size_t l) {
  gemm(false, rows, out(l), in(l), input(l), in(l), factor(l), out(l), T(0), sums[l].data(), out(l));
  add_bias_and_activate(kind.activation, plain(l), kind.bfloat16, rows, out(l), static_cast<const T*>(read[l].bias),
                        sums[l].data(), l + 1 < layers ? values[l].data() : static_cast<T*>(nullptr));
}

/// Launches the gradient of a layer and the derivative by its inputs, given the derivative by its activations.
template <class T>
void DeviceMlpLayers<T>::Memory::start_backward(std::size_t l, bool add) {
  T* const by = by_sum.data();
  const bool last = l + 1 == layers;
  slope_and_bias(kind.activation, last || plain(l), kind.bfloat16, add, rows, out(l),
                 static_cast<const T*>(sums[l].data()), static_cast<const T*>(last ? sums[l].data() : values[l].data()),
                 by, partial.data(), written[l].bias);
  gemm_transposed_a(in(l), out(l), rows, input(l), in(l), static_cast<const T*>(by), out(l), add ? T(1) : T(0),
                    written[l].weights, out(l));
  if (l == 0) return;
  gemm(true, rows, in(l), out(l), static_cast<const T*>(by), out(l), factor(l), out(l), T(0), by_input.data(), in(l));
  std::swap(by_sum, by_input);
}

template <class T>
void DeviceMlpLayers<T>::Memory::bring_gradient(std::size_t l) {
  const auto n = matrix(l) + static_cast<std::size_t>(out(l));
  host_gradients.resize(std::max(host_gradients.size(), n));
  Kokkos::deep_copy(ExecSpace(), RowsOfHost<T>(host_gradients.data(), n), part_of(gradients, first[l], n));
  ExecSpace().fence();
}

template <class T>
void DeviceMlpLayers<T>::Memory::add_gradient(std::size_t l, std::span<const TensorRef> to) const {
  constexpr std::int64_t enough = 8192;
  const auto add = [&](const T* from, T* into, std::int64_t n) {
    in_shares(n, enough, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) into[k] += from[k];
    });
  };
  add(host_gradients.data(), static_cast<T*>(to[2 * l].data), static_cast<std::int64_t>(matrix(l)));
  add(host_gradients.data() + matrix(l), static_cast<T*>(to[2 * l + 1].data), out(l));
}

template <class T>
DeviceMlpLayers<T>::DeviceMlpLayers(MlpShape shape, const Kind& kind)
    : memory_(std::make_unique<Memory>(std::move(shape), kind)) {}

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
  memory_->stay = stay;
  memory_->there = nullptr;
}

template <class T>
void DeviceMlpLayers<T>::bring_block() {
  auto& m = *memory_;
  grow(m.block, "mlp: samples", m.host_block.size());
  Kokkos::deep_copy(ExecSpace(), part_of(m.block, 0, m.host_block.size()),
                    RowsOfHost<const T>(m.host_block.data(), m.host_block.size()));
}

template <class T>
void DeviceMlpLayers<T>::forward(std::span<const TensorRef> weights, const ReadyCallback& ready) {
  auto& m = *memory_;
  m.make_room();
  grow(m.weights, "mlp: weights", m.first.back());
  m.read = m.own(m.weights);
  bring_block();
  m.round_inputs();
  const bool known = m.stay && !ready.by_module() && m.there == weights[0].data;
  for (std::size_t l = 0; l < m.layers; ++l) {
    ready.forward(static_cast<int>(l));
    if (!known) m.take_weights(l, weights);
    if (ready.by_module()) ExecSpace().fence();  // release() frees their memory
    ready.release(static_cast<int>(l));
    m.pass_layer(l);
  }
  m.there = ready.by_module() ? nullptr : weights[0].data;
}

template <class T>
T* DeviceMlpLayers<T>::room(int rows) {
  auto& m = *memory_;
  m.rows = rows;
  grow(m.block, "mlp: samples", m.block_numbers(true));
  return m.block.data();
}

template <class T>
void DeviceMlpLayers<T>::forward_there(std::span<const TensorRef> weights, bool changed) {
  auto& m = *memory_;
  m.make_room();
  m.read = m.given(weights);
  m.there = nullptr;
  m.round_inputs();
  for (std::size_t l = 0; l < m.layers; ++l) {
    if (changed) m.round_weights(l);
    m.pass_layer(l);
  }
}

template <class T>
const std::vector<T>& DeviceMlpLayers<T>::outputs() {
  auto& m = *memory_;
  const auto n = m.sum_numbers(m.layers - 1);
  m.host_outputs.resize(n);
  Kokkos::deep_copy(ExecSpace(), RowsOfHost<T>(m.host_outputs.data(), n), part_of(m.sums[m.layers - 1], 0, n));
  ExecSpace().fence();
  return m.host_outputs;
}

template <class T>
void DeviceMlpLayers<T>::start_loss(double weight, double* sum) {
  auto& m = *memory_;
  const int width = m.out(m.layers - 1);
  const T* const y = m.sums[m.layers - 1].data();
  const T* const targets = m.block.data() + m.block_numbers(false);
  if (m.kind.classes)
    cross_entropy(m.rows, width, y, targets, m.kind.smoothing, weight, m.by_sum.data(), m.row_losses.data(), sum);
  else
    squared_error(m.rows, width, y, targets, weight, m.by_sum.data(), sum);
}

template <class T>
double DeviceMlpLayers<T>::loss(double weight) {
  auto& m = *memory_;
  start_loss(weight, m.loss.data());
  double out = 0.0;
  Kokkos::deep_copy(ExecSpace(), Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(&out, 1), m.loss);
  ExecSpace().fence();
  return out;
}

template <class T>
void DeviceMlpLayers<T>::backward(std::span<const TensorRef> gradients, const ReadyCallback& ready) {
  auto& m = *memory_;
  grow(m.gradients, "mlp: gradients", m.first.back());
  m.written = m.own(m.gradients);
  m.start_backward(m.layers - 1, false);
  for (std::size_t l = m.layers; l-- > 0;) {
    m.bring_gradient(l);
    if (l > 0) m.start_backward(l - 1, false);  // runs while the host adds
    ready.backward(static_cast<int>(l));
    m.add_gradient(l, gradients);
    ready(static_cast<int>(2 * l + 1));
    ready(static_cast<int>(2 * l));
    ready.release(static_cast<int>(l));
  }
}

template <class T>
void DeviceMlpLayers<T>::backward_there(std::span<const TensorRef> gradients, bool add) {
  auto& m = *memory_;
  m.written = m.given(gradients);
  for (std::size_t l = m.layers; l-- > 0;) m.start_backward(l, add);
}

void MlpOnDevice::begin(Weights weights) { weights_ = weights, fresh_ = true; }

template <class T>
DeviceMlpLayers<T>& MlpOnDevice::passes(const Mlp::Params& params, const MlpShape& shape) {
  const auto make = [&](auto& layers) -> DeviceMlpLayers<T>& {
    if (!layers)
      layers = std::make_unique<DeviceMlpLayers<T>>(
          shape, typename DeviceMlpLayers<T>::Kind{params.activation, params.precision == Precision::bfloat16,
                                                   params.goal == Mlp::Goal::classification, params.label_smoothing});
    return *layers;
  };
  if constexpr (std::is_same_v<T, double>)
    return make(double_);
  else
    return make(float_);
}

template <class T>
DeviceMlpLayers<T>& MlpOnDevice::layers(const Mlp::Params& params, const MlpShape& shape, Weights use) {
  auto& layers = passes<T>(params, shape);
  const bool stay = use != Weights::change && use == weights_;
  if (!stay) weights_ = Weights::change;
  if (fresh_ || !stay) layers.weights_stay(stay);
  fresh_ = false;
  return layers;
}

#define CAMBIUM_MLP_ON_DEVICE(T)                                                            \
  template class DeviceMlpLayers<T>;                                                        \
  template DeviceMlpLayers<T>& MlpOnDevice::passes<T>(const Mlp::Params&, const MlpShape&); \
  template DeviceMlpLayers<T>& MlpOnDevice::layers<T>(const Mlp::Params&, const MlpShape&, Weights);
CAMBIUM_MLP_ON_DEVICE(double)
CAMBIUM_MLP_ON_DEVICE(float)
#undef CAMBIUM_MLP_ON_DEVICE

}  // namespace cambium::train
