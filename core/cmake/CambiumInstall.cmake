# What `cmake --install` lays down, and the same layout in the build folder, so that the program finds its files in both
# by walking from its own path: ../lib, ../lib/cambium/plugins, ../share/cambium.
file(RELATIVE_PATH library_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/${library_from_bin}")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

set(CAMBIUM_CMAKE_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/cambium)
set(CAMBIUM_SHARE_INSTALL_DIR ${CMAKE_INSTALL_DATADIR}/cambium)
set(CAMBIUM_PLUGIN_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/cambium/plugins)

# cambium_share(name folder): a folder of the source tree that the program reads, as share/cambium/<name>.
function(cambium_share name folder)
  if(NOT IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    return()
  endif()
  get_filename_component(parent ${PROJECT_BINARY_DIR}/share/cambium/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/share/cambium/${name} SYMBOLIC)
  install(DIRECTORY ${folder}/ DESTINATION ${CAMBIUM_SHARE_INSTALL_DIR}/${name} PATTERN "__pycache__" EXCLUDE
    PATTERN "runs" EXCLUDE)
endfunction()
cambium_share(template plugins/template)
cambium_share(inputs inputs)
cambium_share(machines machines)
cambium_share(tutorials tutorials)
# The reader, the pictures and the report, and what plugins bring to them: plugins/<name>/python in both places.
cambium_share(python apps/python)
file(GLOB plugin_pythons RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/*/python)
foreach(folder ${plugin_pythons})
  cambium_share(${folder} ${folder})
endforeach()

install(DIRECTORY core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cambium FILES_MATCHING PATTERN "*.hpp" PATTERN cmake EXCLUDE)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cambium
  FILES_MATCHING PATTERN "*.hpp" PATTERN "git_hash.hpp" EXCLUDE)
install(DIRECTORY DESTINATION ${CAMBIUM_PLUGIN_INSTALL_DIR})
# `module use PREFIX/share/cambium/modulefiles`, for Environment Modules and Lmod.
configure_file(packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CAMBIUM_SHARE_INSTALL_DIR}/modulefiles/cambium
  RENAME ${PROJECT_VERSION})
install(FILES LICENSE CITATION.cff README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The package file find_package(cambium) reads; the build folder gets one too, so that a plugin can be built against it.
include(CMakePackageConfigHelpers)
configure_package_config_file(core/cmake/cambiumConfig.cmake.in ${PROJECT_BINARY_DIR}/cambiumConfig.cmake
  INSTALL_DESTINATION ${CAMBIUM_CMAKE_INSTALL_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cambiumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(package_files CambiumDependencies.cmake CambiumKokkosCheck.cmake CambiumExternalPlugin.cmake)
list(TRANSFORM package_files PREPEND ${PROJECT_SOURCE_DIR}/core/cmake/)
file(COPY ${package_files} DESTINATION ${PROJECT_BINARY_DIR})
install(FILES ${package_files} ${PROJECT_BINARY_DIR}/cambiumConfig.cmake ${PROJECT_BINARY_DIR}/cambiumConfigVersion.cmake
  DESTINATION ${CAMBIUM_CMAKE_INSTALL_DIR})
install(EXPORT cambiumTargets NAMESPACE cambium:: DESTINATION ${CAMBIUM_CMAKE_INSTALL_DIR})
export(EXPORT cambiumTargets NAMESPACE cambium:: FILE ${PROJECT_BINARY_DIR}/cambiumTargets.cmake)
if(CAMBIUM_HAS_TORCH)
  install(EXPORT cambiumTorchTargets NAMESPACE cambium:: DESTINATION ${CAMBIUM_CMAKE_INSTALL_DIR})
  export(EXPORT cambiumTorchTargets NAMESPACE cambium:: FILE ${PROJECT_BINARY_DIR}/cambiumTorchTargets.cmake)
endif()
