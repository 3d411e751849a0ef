#include "core/train/networks/mlp/device_kernels.hpp"

#include "core/numerics/bfloat16.hpp"
#include "core/train/networks/mlp/mlp_activation.hpp"

namespace cambium::train {

namespace {

using Items = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;

template <class T>
KOKKOS_INLINE_FUNCTION T in_bfloat16(T x) {
  return static_cast<T>(cambium::from_bfloat16(cambium::to_bfloat16(static_cast<float>(x))));
}

}  // namespace

template <class T>
void add_bias_and_activate(Mlp::Activation activation, bool plain, bool round, int rows, int width, const T* bias,
                           T* sums, T* values) {
  Kokkos::parallel_for(
      "mlp: add bias and activate", Items(0, std::int64_t{rows} * width), KOKKOS_LAMBDA(const std::int64_t k) {
        const T sum = sums[k] + bias[k % width];
        sums[k] = sum;
        if (!values) return;
        const T value = plain ? sum : detail::activate(activation, sum);
        values[k] = round ? in_bfloat16(value) : value;
      });
}

template <class T>
void times_slope(Mlp::Activation activation, std::int64_t n, const T* sums, const T* values, T* by_value) {
  Kokkos::parallel_for(
      "mlp: slope of the activation", Items(0, n),
      KOKKOS_LAMBDA(const std::int64_t k) { by_value[k] *= detail::slope(activation, sums[k], values[k]); });
}

template <class T>
void round_to_bfloat16(std::int64_t n, const T* from, T* to) {
  Kokkos::parallel_for(
      "mlp: round", Items(0, n), KOKKOS_LAMBDA(const std::int64_t k) { to[k] = in_bfloat16(from[k]); });
}

template <class T>
double squared_error(int rows, int width, const T* y, const T* target, double weight, T* by_output) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "mlp: squared error", Items(0, std::int64_t{rows} * width),
      KOKKOS_LAMBDA(const std::int64_t k, double& part) {
        const double error = static_cast<double>(y[k]) - static_cast<double>(target[k]);
        part += error * error / width;
        by_output[k] = static_cast<T>(weight * 2.0 * error / width);
      },
      sum);
  return sum;
}

/// A team of one thread for each row, on a device with the lanes of a warp.
template <class T>
double cross_entropy(int rows, int width, const T* y, const T* labels, double smoothing, double weight, T* by_output,
                     double* of_row) {
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
        // A sum of exponentials that is no number: nor are the outputs.
        Kokkos::single(Kokkos::PerThread(team), [&] { of_row[row] = sum == sum ? loss : sum; });
      });
  double all = 0.0;
  Kokkos::parallel_reduce(
      "mlp: sum of the loss", Items(0, rows),
      KOKKOS_LAMBDA(const std::int64_t row, double& part) { part += of_row[row]; }, all);
  return all;
}

#define CAMBIUM_MLP_KERNELS(T)                                                                  \
  template void add_bias_and_activate(Mlp::Activation, bool, bool, int, int, const T*, T*, T*); \
  template void times_slope(Mlp::Activation, std::int64_t, const T*, const T*, T*);             \
  template void round_to_bfloat16(std::int64_t, const T*, T*);                                  \
  template double squared_error(int, int, const T*, const T*, double, T*);                      \
  template double cross_entropy(int, int, const T*, const T*, double, double, T*, double*);
CAMBIUM_MLP_KERNELS(double)
CAMBIUM_MLP_KERNELS(float)
#undef CAMBIUM_MLP_KERNELS

}  // namespace cambium::train
