# cambium_check_kokkos_views(config result): whether a Kokkos, by its KokkosCore_config.h, has Views that this compiler leaves
# without their zeros. `result` is set to the message, which names the option that helps, or to nothing.
#
# g++ 12 does not initialise a default-constructed View of the implementation on mdspan (Kokkos issue 7464). That one is in use from
# 4.7 on, and in what the repository calls 4.6.99, unless Kokkos was configured with its older Views.
function(cambium_check_kokkos_views config result)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS "${config}" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
    return()
  endif()
  file(STRINGS "${config}" lines REGEX "^#define KOKKOS_(VERSION|ENABLE_IMPL_VIEW_LEGACY)( |$)")
  if(lines MATCHES "KOKKOS_ENABLE_IMPL_VIEW_LEGACY" OR NOT lines MATCHES "KOKKOS_VERSION ([0-9]+)")
    return()
  endif()
  if(CMAKE_MATCH_1 GREATER_EQUAL 40699)
    string(CONCAT said "This Kokkos (${CMAKE_MATCH_1}) uses its Views of mdspan, which g++ ${CMAKE_CXX_COMPILER_VERSION} leaves "
      "without their zeros: Cambium would end with a segmentation fault at its start. Configure Kokkos again with "
      "-DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON, or take g++ 13 or newer, or clang.")
    set(${result} "${said}" PARENT_SCOPE)
  endif()
endfunction()
