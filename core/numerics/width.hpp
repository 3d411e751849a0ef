#pragma once
#include <type_traits>

#include "core/base/pack.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Number of values of type T that one thread of an execution space processes together: a register if kernels run on
/// the host, 1 on devices, whose threads are the lanes. It depends on the space and not on the compiler's pass, so that
/// data handed from host code to a kernel have one layout; with a device, host code keeps its registers (native_width).
template <class Space, class T>
constexpr int width_of = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace> ? native_width<T> : 1;

}  // namespace cambium
