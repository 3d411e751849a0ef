# What is compiled how. Sources that hold arithmetic (kernels) are compiled alone and with all optimisations; the others, which lead
# (decks, files, messages, pages), with few: much of a build was code of theirs that runs once. Where CAMBIUM_UNITY is on they are
# compiled several at once, and headers of others that many sources read are read once for each way of compiling (by g++). Results
# depend on the way in which kernels are compiled, which is the same everywhere. For a device everything is compiled as its compiler
# likes best.
set(CAMBIUM_READ_ONCE OFF)
set(few -O1)
set(all -O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # what g++ takes for uninitialised without its later passes is not so
  list(APPEND few -Wno-maybe-uninitialized)
  list(APPEND all -Wmaybe-uninitialized)
endif()
set(CAMBIUM_FEW_OPTIMISATIONS "$<$<CONFIG:Release>:${few}>")
set(CAMBIUM_ALL_OPTIMISATIONS "$<$<CONFIG:Release>:${all}>")
if("CUDA" IN_LIST Kokkos_DEVICES OR "HIP" IN_LIST Kokkos_DEVICES)
  set(CAMBIUM_FEW_OPTIMISATIONS "")
  set(CAMBIUM_ALL_OPTIMISATIONS "")
elseif(CAMBIUM_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CAMBIUM_READ_ONCE ON)
endif()

# cambium_read_once(name header ...): a library of nothing, whose precompiled headers others take. Flags are the caller's business.
function(cambium_read_once name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cpp CONTENT "namespace cambium {}\n")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <span>
    <string> <string_view> <utility> <vector> <fmt/format.h> ${ARGN})
endfunction()

# cambium_compile_quickly(target [TORCH]): the sources of a library that are no kernels, with few optimisations.
function(cambium_compile_quickly target)
  target_compile_options(${target} PRIVATE ${CAMBIUM_FEW_OPTIMISATIONS})
  if(NOT CAMBIUM_READ_ONCE)
    return()
  endif()
  if("TORCH" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM cambium_torch_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM cambium_core_headers)
  endif()
endfunction()

# cambium_kernels(target a.cpp ...): sources of this folder that hold arithmetic. Each is compiled alone, whatever
# CAMBIUM_UNITY says: what the compiler inlines there, and so every bit of the results, does not depend on its neighbours.
function(cambium_kernels target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT CAMBIUM_READ_ONCE)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS "${CAMBIUM_ALL_OPTIMISATIONS}")
    return()
  endif()
  get_target_property(folder cambium_kernel_headers BINARY_DIR)
  set(headers ${folder}/CMakeFiles/cambium_kernel_headers.dir/cmake_pch.hxx)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "${CAMBIUM_ALL_OPTIMISATIONS};-Winvalid-pch;-include;${headers}" OBJECT_DEPENDS ${headers}.gch)
  add_dependencies(${target} cambium_kernel_headers)
endfunction()
