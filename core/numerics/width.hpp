#pragma once
#include <type_traits>

#include "core/base/pack.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Numbers of type T that one thread of an execution space works on together: a register where kernels run on the
/// host, 1 on devices, whose threads are the lanes. It is a property of the space and not of the compiler's pass, so
/// that what host code hands to a kernel has one layout; host code keeps its registers (native_width) beside a device.
template <class Space, class T>
constexpr int width_of = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace> ? native_width<T> : 1;

}  // namespace cambium
