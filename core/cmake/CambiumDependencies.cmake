# Finds every library that core needs and gives each one interface target of ours, so that the rest of the build never
# names a vendor's variables. Installed beside cambiumConfig.cmake and read again by everything that links cambium::core:
# the targets below are therefore IMPORTED (they are not exported, they are found again on the other side).
#
# What is missing is collected in CAMBIUM_MISSING (text, one library per line) and left to the caller to report.
set(CAMBIUM_MISSING "")
macro(cambium_missing what version debian)
  string(APPEND CAMBIUM_MISSING "\n  ${what} ${version} (Debian package: ${debian})")
endmacro()

# find_package, but a failure is noted and the search goes on, so that all gaps are reported at once.
macro(cambium_find package version debian)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    cambium_missing("${package}" "${version}" "${debian}")
  endif()
endmacro()

cambium_find(MPI "3.0 or newer" "libopenmpi-dev openmpi-bin" COMPONENTS C)
cambium_find(fmt "8 or newer" "libfmt-dev")
cambium_find(yaml-cpp "0.7 or newer" "libyaml-cpp-dev")
cambium_find(CLI11 "2.1 or newer" "libcli11-dev")
cambium_find(nlohmann_json "3.9 or newer" "nlohmann-json3-dev")
cambium_find(Threads "" "libc6-dev")
cambium_find(Kokkos "3.4 or newer, shared" "libkokkos-dev, or libtrilinos-kokkos-dev where there is none")

# yaml-cpp 0.7 calls its target yaml-cpp, 0.8 yaml-cpp::yaml-cpp.
if(TARGET yaml-cpp::yaml-cpp AND NOT TARGET yaml-cpp)
  add_library(yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp INTERFACE yaml-cpp::yaml-cpp)
endif()

# Kokkos. Debian's Trilinos copy is not quite a Kokkos package: its target exports an include directory that does not
# exist (CMake refuses such a target) and names the real one only in a variable.
if(Kokkos_FOUND AND NOT TARGET cambium_kokkos)
  foreach(target Kokkos::kokkos Kokkos::kokkoscore Kokkos::kokkoscontainers Kokkos::kokkosalgorithms)
    if(TARGET ${target})
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories)
        set(existing "")
        foreach(directory IN LISTS directories)
          if(directory MATCHES "^\\$<" OR EXISTS "${directory}")
            list(APPEND existing "${directory}")
          endif()
        endforeach()
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
      endif()
    endif()
  endforeach()
  add_library(cambium_kokkos INTERFACE IMPORTED GLOBAL)
  if(TARGET Kokkos::kokkos)
    target_link_libraries(cambium_kokkos INTERFACE Kokkos::kokkos)
  else()
    target_link_libraries(cambium_kokkos INTERFACE ${Kokkos_LIBRARIES})
  endif()
  if(Kokkos_INCLUDE_DIRS)
    target_include_directories(cambium_kokkos SYSTEM INTERFACE ${Kokkos_INCLUDE_DIRS})
  endif()

  # A combination that crashes is refused here, with the option that helps.
  include(${CMAKE_CURRENT_LIST_DIR}/CambiumKokkosCheck.cmake)
  find_file(kokkos_config KokkosCore_config.h NO_CACHE NO_DEFAULT_PATH
    HINTS ${Kokkos_DIR}/../../../include ${Kokkos_DIR}/../../../../include)
  cambium_check_kokkos_views("${kokkos_config}" kokkos_trouble)
  if(kokkos_trouble)
    message(FATAL_ERROR "${kokkos_trouble}")
  endif()
  # nvcc evaluates no format strings of fmt at compile time; they are checked by the builds for processors. Its host pass
  # must take fmt's constant expressions for such all the same.
  if("CUDA" IN_LIST Kokkos_DEVICES)
    target_compile_definitions(cambium_kokkos INTERFACE "FMT_CONSTEVAL=" FMT_USE_CONSTEXPR=1)
    if(CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
      target_compile_options(cambium_kokkos INTERFACE --expt-relaxed-constexpr)  # tables of constants in kernels
    endif()
  endif()

  # Matrix products and transforms of the device's vendor; without them kernels of ours do the work, many times slower.
  if("CUDA" IN_LIST Kokkos_DEVICES)
    find_package(CUDAToolkit QUIET)
    set(CAMBIUM_VENDOR_PRODUCTS CUBLAS)
    set(vendor_products CUDA::cublas)
  elseif("HIP" IN_LIST Kokkos_DEVICES)
    find_package(rocblas QUIET)
    set(CAMBIUM_VENDOR_PRODUCTS ROCBLAS)
    set(vendor_products roc::rocblas)
  endif()
  if(TARGET CUDA::cufft AND "CUDA" IN_LIST Kokkos_DEVICES AND NOT TARGET cambium_vendor_transforms)
    add_library(cambium_vendor_transforms INTERFACE IMPORTED GLOBAL)
    target_link_libraries(cambium_vendor_transforms INTERFACE CUDA::cufft)
  endif()
  if(vendor_products AND NOT TARGET "${vendor_products}")
    message(STATUS "Products on the device: loops of ours, many times slower than ${CAMBIUM_VENDOR_PRODUCTS}, which CMake did not find")
  endif()
  if(TARGET "${vendor_products}" AND NOT TARGET cambium_vendor_products)
    add_library(cambium_vendor_products INTERFACE IMPORTED GLOBAL)
    target_link_libraries(cambium_vendor_products INTERFACE ${vendor_products})
  endif()

  # Plugins loaded at run time must meet the program's own Kokkos, hence a shared one.
  set(CAMBIUM_KOKKOS_SHARED OFF)
  foreach(target Kokkos::kokkoscore trilinos_kokkoscore kokkoscore Kokkos::kokkos)
    if(TARGET ${target})
      get_target_property(kind ${target} TYPE)
      if(kind STREQUAL "SHARED_LIBRARY")
        set(CAMBIUM_KOKKOS_SHARED ON)
      endif()
    endif()
  endforeach()
endif()

# Random123: headers only, no package file of its own.
find_path(Random123_INCLUDE_DIR Random123/philox.h)
if(NOT Random123_INCLUDE_DIR)
  cambium_missing("Random123" "1.09 or newer" "librandom123-dev")
elseif(NOT TARGET cambium_random123)
  add_library(cambium_random123 INTERFACE IMPORTED GLOBAL)
  target_include_directories(cambium_random123 SYSTEM INTERFACE ${Random123_INCLUDE_DIR})
endif()

# Zstandard: Debian's package has no CMake file, and its pkg-config file needs pkg-config.
find_path(zstd_INCLUDE_DIR zstd.h)
find_library(zstd_LIBRARY zstd)
if(NOT zstd_INCLUDE_DIR OR NOT zstd_LIBRARY)
  cambium_missing("Zstandard" "1.4 or newer" "libzstd-dev")
elseif(NOT TARGET cambium_zstd)
  add_library(cambium_zstd INTERFACE IMPORTED GLOBAL)
  target_include_directories(cambium_zstd SYSTEM INTERFACE ${zstd_INCLUDE_DIR})
  target_link_libraries(cambium_zstd INTERFACE ${zstd_LIBRARY})
endif()

# HDF5, parallel where there is one.
set(HDF5_PREFER_PARALLEL ON)
cambium_find(HDF5 "1.10 or newer, parallel preferred" "libhdf5-openmpi-dev" COMPONENTS C)
if(HDF5_FOUND AND NOT TARGET cambium_hdf5)
  add_library(cambium_hdf5 INTERFACE IMPORTED GLOBAL)
  target_include_directories(cambium_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
  target_link_libraries(cambium_hdf5 INTERFACE ${HDF5_LIBRARIES})
endif()

# BLAS and LAPACK: OpenBLAS where installed, else whatever the system offers (the program's banner then warns).
if(NOT BLA_VENDOR)
  set(BLA_VENDOR OpenBLAS)
  find_package(BLAS QUIET)
  if(NOT BLAS_FOUND)
    unset(BLA_VENDOR)
  endif()
endif()
cambium_find(BLAS "(OpenBLAS preferred)" "libopenblas-openmp-dev")
cambium_find(LAPACK "3.7 or newer" "liblapack-dev")
if(BLAS_FOUND AND LAPACK_FOUND AND NOT TARGET cambium_lapack)
  set(libraries ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
  list(REMOVE_DUPLICATES libraries)
  add_library(cambium_lapack INTERFACE IMPORTED GLOBAL)
  target_link_libraries(cambium_lapack INTERFACE ${libraries})
endif()
