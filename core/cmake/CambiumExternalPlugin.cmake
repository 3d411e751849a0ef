# cambium_add_plugin(name SOURCES a.cpp ... [LIBRARIES lib ...]): a plugin outside Cambium's tree, built as the loadable
# module <name>.cambium.so in the build folder. One of its sources defines
#   namespace cambium::<name> { void register_types(Registry&); }
# and describes the plugin by CAMBIUM_PLUGIN(...) of core/plugin/abi.hpp, which also writes down the ABI tag that the
# loader compares first. Compiler options, the instruction set among them, come from cambium::core, so that both sides
# agree on every layout. A folder `python` of the plugin (pictures.py: what `cambium report` draws of its runs) is linked beside
# the module, and installed where Cambium looks for it.
function(cambium_add_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT CAMBIUM_KOKKOS_SHARED)
    message(FATAL_ERROR "This Cambium uses a static Kokkos, so plugins cannot be loaded at run time. "
      "Build Kokkos with -DBUILD_SHARED_LIBS=ON and Cambium with it, or add the plugin to Cambium's own tree.")
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL CAMBIUM_CXX_COMPILER_ID
     OR NOT CMAKE_CXX_COMPILER_VERSION VERSION_EQUAL CAMBIUM_CXX_COMPILER_VERSION)
    message(WARNING "Cambium was built by ${CAMBIUM_CXX_COMPILER_ID} ${CAMBIUM_CXX_COMPILER_VERSION}, this plugin by "
      "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: it may be refused when it is loaded. "
      "Use -DCMAKE_CXX_COMPILER=${CAMBIUM_CXX_COMPILER}.")
  endif()
  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE cambium::core ${arg_LIBRARIES})
  if(TARGET cambium::training)
    target_link_libraries(${name} PRIVATE cambium::training)
  endif()
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".cambium.so" CXX_EXTENSIONS OFF
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS ${name} LIBRARY DESTINATION lib/cambium/plugins)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/python)
    if(NOT EXISTS ${PROJECT_BINARY_DIR}/python)
      file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python ${PROJECT_BINARY_DIR}/python SYMBOLIC)
    endif()
    install(DIRECTORY python/ DESTINATION share/cambium/plugins/${name}/python PATTERN "__pycache__" EXCLUDE)
  endif()
endfunction()
