#include "core/train/networks/mlp/device_kernels.hpp"

#include "core/numerics/bfloat16.hpp"

namespace cambium::train {

namespace {

using Items = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;

template <class T>
KOKKOS_INLINE_FUNCTION T in_bfloat16(T x) {
  return static_cast<T>(cambium::from_bfloat16(cambium::to_bfloat16(static_cast<float>(x))));
}

/// Device memory for the result of a reduction, which is therefore asynchronous.
using Left = Kokkos::View<double, MemSpace, Kokkos::MemoryUnmanaged>;

constexpr int rows_at_once = 32;

/// Indices below 2^31 are divided in 32 bits, several times faster.
KOKKOS_INLINE_FUNCTION int column_of(std::int64_t k, int width) {
  constexpr std::int64_t most = 0x7fffffff;
  if (k <= most) return static_cast<int>(static_cast<unsigned>(k) % static_cast<unsigned>(width));
  return static_cast<int>(k % width);
}

}  // namespace

bool slope_needs_sums(Mlp::Activation activation) {
  return activation == Mlp::Activation::gelu || activation == Mlp::Activation::silu;
}

template <class T>
void add_bias_and_activate(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* bias,
                           T* sums, T* values) {
  Kokkos::parallel_for(
      "mlp: add bias and activate", Items(0, std::int64_t{rows} * width), KOKKOS_LAMBDA(const std::int64_t k) {
        const T sum = sums[k] + bias[column_of(k, width)];
        if (values != sums) sums[k] = sum;
        if (!values) return;
        const T value = plain ? sum : activated(activation, sum);
        values[k] = round ? in_bfloat16(value) : value;
      });
}

std::size_t slope_room(int rows, int width) {
  return static_cast<std::size_t>((rows + rows_at_once - 1) / rows_at_once) * static_cast<std::size_t>(width);
}

/// Threads are consecutive along rows for coalesced access.
template <class T>
static void slope_and_parts(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* sums,
                            const T* values, T* by_value, T* partial) {
  Kokkos::parallel_for(
      "mlp: slope of the activation", Items(0, static_cast<std::int64_t>(slope_room(rows, width))),
      KOKKOS_LAMBDA(const std::int64_t item) {
        const int column = column_of(item, width);
        const std::int64_t first = (item - column) / width * rows_at_once;
        const std::int64_t last = first + rows_at_once < rows ? first + rows_at_once : rows;
        T sum = 0;
        for (std::int64_t row = first; row < last; ++row) {
          const std::int64_t k = row * width + column;
          const T by = plain ? by_value[k] : by_value[k] * activation_slope(activation, sums[k], values[k]);
          sum += by;
          if (round)
            by_value[k] = in_bfloat16(by);
          else if (!plain)
            by_value[k] = by;
        }
        partial[item] = sum;
      });
}

/// One team per column; on a device its single thread has the vector lanes of a warp.
template <class T>
void slope_and_bias(Mlp::Activation activation, bool plain, bool round, bool add, int rows, int width, const T* sums,
                    const T* values, T* by_value, T* partial, T* by_bias) {
  slope_and_parts(activation, plain, round, rows, width, sums, values, by_value, partial);
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  const int parts = (rows + rows_at_once - 1) / rows_at_once;
  Kokkos::parallel_for(
      "mlp: gradient of the bias", Policy(width, 1, device_is_host ? 1 : 32),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const int column = team.league_rank();
        T all = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, parts),
            [&](const int part, T& sum) { sum += partial[std::int64_t{part} * width + column]; }, all);
        Kokkos::single(Kokkos::PerThread(team), [&] { by_bias[column] = add ? by_bias[column] + all : all; });
      });
}

template <class T>
void round_to_bfloat16(std::int64_t n, const T* from, T* to) {
  Kokkos::parallel_for(
      "mlp: round", Items(0, n), KOKKOS_LAMBDA(const std::int64_t k) { to[k] = in_bfloat16(from[k]); });
}

template <class T>
void squared_error(int rows, int width, const T* y, const T* target, double weight, T* by_output, double* sum) {
  Kokkos::parallel_reduce(
      "mlp: squared error", Items(0, std::int64_t{rows} * width),
      KOKKOS_LAMBDA(const std::int64_t k, double& part) {
        const double error = static_cast<double>(y[k]) - static_cast<double>(target[k]);
        part += error * error / width;
        by_output[k] = static_cast<T>(weight * 2.0 * error / width);
      },
      Left(sum));
}

/// One team per row; on a device its single thread has the vector lanes of a warp.
template <class T>
void cross_entropy(int rows, int width, const T* y, const T* labels, double smoothing, double weight, T* by_output,
                   double* of_row, double* all) {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  const double spread = smoothing / width;
  Kokkos::parallel_for(
      "mlp: cross entropy", Policy(rows, 1, device_is_host ? 1 : 32),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const std::int64_t row = team.league_rank();
        const T* const in = y + row * width;
        T* const out = by_output + row * width;
        const int label = static_cast<int>(labels[row]);
        const auto outputs = Kokkos::ThreadVectorRange(team, width);
        double largest = 0.0, sum = 0.0, loss = 0.0;
        Kokkos::parallel_reduce(
            outputs,
            [&](const int k, double& most) {
              const double value = static_cast<double>(in[k]);
              most = value > most ? value : most;
            },
            Kokkos::Max<double>(largest));
        Kokkos::parallel_reduce(
            outputs, [&](const int k, double& part) { part += std::exp(static_cast<double>(in[k]) - largest); }, sum);
        Kokkos::parallel_reduce(
            outputs,
            [&](const int k, double& part) {
              const double p = std::exp(static_cast<double>(in[k]) - largest) / sum;
              const double q = spread + (k == label ? 1.0 - smoothing : 0.0);
              if (q > 0.0) part -= q * std::log(p > 1e-300 ? p : 1e-300);
              out[k] = static_cast<T>(weight * (p - q));
            },
            loss);
        // The sum of exponentials is NaN if any output is.
        Kokkos::single(Kokkos::PerThread(team), [&] { of_row[row] = sum == sum ? loss : sum; });
      });
  Kokkos::parallel_reduce(
      "mlp: sum of the loss", Items(0, rows),
      KOKKOS_LAMBDA(const std::int64_t row, double& part) { part += of_row[row]; }, Left(all));
}

#define CAMBIUM_MLP_KERNELS(T)                                                                               \
  template void add_bias_and_activate(Mlp::Activation, bool, bool, int, int, const T*, T*, T*);              \
  template void slope_and_bias(Mlp::Activation, bool, bool, bool, int, int, const T*, const T*, T*, T*, T*); \
  template void round_to_bfloat16(std::int64_t, const T*, T*);                                               \
  template void squared_error(int, int, const T*, const T*, double, T*, double*);                            \
  template void cross_entropy(int, int, const T*, const T*, double, double, T*, double*, double*);
CAMBIUM_MLP_KERNELS(double)
CAMBIUM_MLP_KERNELS(float)
#undef CAMBIUM_MLP_KERNELS

}  // namespace cambium::train
