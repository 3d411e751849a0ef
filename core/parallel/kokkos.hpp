#pragma once
// The only file that includes Kokkos; every difference between its versions is settled here.
#include <Kokkos_Core.hpp>

namespace cambium {

using ExecSpace = Kokkos::DefaultExecutionSpace;
using MemSpace = ExecSpace::memory_space;
using HostExec = Kokkos::DefaultHostExecutionSpace;

/// Device array, last index fastest on every back end so that a row can cross to MPI, HDF5 and models as it is.
template <class T>
using View = Kokkos::View<T, Kokkos::LayoutRight, MemSpace>;
/// The same array in host-accessible memory (the same memory on CPU back ends).
template <class T>
using HostView = typename View<T>::HostMirror;

/// True when kernels run where host code may touch their memory.
constexpr bool device_is_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemSpace>::accessible;

using Range = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<int>>;

}  // namespace cambium
