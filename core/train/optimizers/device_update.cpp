#include "core/train/optimizers/device_update.hpp"

#include "core/train/optimizers/device_kernel.hpp"

namespace cambium::train {

template <class T>
static void square_of(const DeviceUpdate& u, double* square) {
  const detail::TakenGradient<T> taken(u);
  const T* const gradients = static_cast<const T*>(u.gradients);
  Kokkos::parallel_reduce(
      "norm of the gradient", Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>(0, u.size),
      KOKKOS_LAMBDA(const std::int64_t i, double& sum) {
        const double g = static_cast<double>(taken.within_value(gradients[i]));
        sum += g * g;
      },
      Kokkos::View<double, MemSpace, Kokkos::MemoryUnmanaged>(square));
}

void square_on_device(const DeviceUpdate& update, double* square) {
  if (update.dtype == DType::f64)
    square_of<double>(update, square);
  else
    square_of<float>(update, square);
}

}  // namespace cambium::train
