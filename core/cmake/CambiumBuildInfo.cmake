# Generates core/base/version.hpp and build_info.cpp (at configure time) and core/base/git_hash.hpp (at every build, but
# rewritten only when the hash changed, so that a build with nothing to do does nothing).
function(cambium_build_info target)
  set(generated ${PROJECT_BINARY_DIR}/generated/core/base)
  configure_file(${PROJECT_SOURCE_DIR}/core/base/version.hpp.in ${generated}/version.hpp @ONLY)

  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_target_property(options ${target} COMPILE_OPTIONS)
  list(REMOVE_ITEM options ${CAMBIUM_WARNINGS})
  string(JOIN " " CAMBIUM_BUILD_FLAGS ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options})
  string(REPLACE "\"" "\\\"" CAMBIUM_BUILD_FLAGS "${CAMBIUM_BUILD_FLAGS}")
  string(REPLACE ";" ", " CAMBIUM_KOKKOS_DEVICES "${Kokkos_DEVICES}")
  list(GET BLAS_LIBRARIES 0 blas)
  get_filename_component(CAMBIUM_BLAS_NAME "${blas}" NAME)
  foreach(pair HDF5_PARALLEL:HDF5_IS_PARALLEL SANITIZED:CAMBIUM_SANITIZE KOKKOS_IS_SHARED:CAMBIUM_KOKKOS_SHARED)
    string(REPLACE ":" ";" pair ${pair})
    list(GET pair 0 name)
    list(GET pair 1 condition)
    set(CAMBIUM_${name} false)
    if(${condition})
      set(CAMBIUM_${name} true)
    endif()
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/core/base/build_info.cpp.in ${generated}/build_info.cpp @ONLY)

  add_custom_target(cambium_git_hash BYPRODUCTS ${generated}/git_hash.hpp
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated}/git_hash.hpp
            -P ${PROJECT_SOURCE_DIR}/core/cmake/WriteGitHash.cmake
    COMMENT "Asking git for the version" VERBATIM)
  add_dependencies(${target} cambium_git_hash)
  target_sources(${target} PRIVATE ${generated}/build_info.cpp)
endfunction()
