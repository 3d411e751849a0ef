# Headers of others that many sources read (Kokkos, Torch, fmt, the standard library) are read once for each way of compiling, where
# CAMBIUM_UNITY is on, by g++, and for no device. Never our own: a header that is touched rebuilds what includes it and no more.
# g++ compiles what follows such headers as they were compiled: a source with options of its own must skip them, as cambium_uncontracted does.
set(CAMBIUM_READ_ONCE OFF)
if(CAMBIUM_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT "CUDA" IN_LIST Kokkos_DEVICES AND NOT "HIP" IN_LIST Kokkos_DEVICES)
  set(CAMBIUM_READ_ONCE ON)
endif()

# cambium_read_once(name header ...): a library of nothing, whose precompiled headers others take. Flags are the caller's business.
function(cambium_read_once name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cpp CONTENT "namespace cambium {}\n")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <utility> <vector> <fmt/format.h> ${ARGN})
endfunction()

# cambium_reads(target name): the sources of a library begin with what cambium_read_once(name ...) has read.
function(cambium_reads target name)
  if(CAMBIUM_READ_ONCE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# cambium_kernels(target a.cpp ...): sources of this folder that hold arithmetic. Each is compiled alone, whatever
# CAMBIUM_UNITY says: what the compiler inlines there, and so every bit of the results, does not depend on its neighbours.
function(cambium_kernels target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# cambium_uncontracted(target a.cpp ...): kernels in which no product and sum may become one multiply-add, whatever the processor: what one
# machine encodes another one decodes by the same bits.
function(cambium_uncontracted target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)
endfunction()
