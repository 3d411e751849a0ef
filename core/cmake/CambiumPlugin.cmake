# cambium_add_plugin(name SOURCES a.cpp ... [LIBRARIES lib ...]
#                    [TORCH_SOURCES train/a.cpp ...] [TORCH_TYPES kind:name ...]): a plugin of this tree, a static library
# cambium_<name>. One of its sources defines
#   namespace cambium::<name> { void register_types(Registry&); }
# which the generated list (register_plugins of plugins/plugin_list.hpp) calls by name.
# TORCH_SOURCES make a second library, cambium_<name>_torch, where LibTorch is found; one of them defines
#   namespace cambium::<name> { void register_training(Registry&); }
# None of them may include Kokkos. TORCH_TYPES are what it registers ("network:unet"): a build without Torch tells a deck
# that names them what it lacks.
function(cambium_add_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;TORCH_SOURCES;TORCH_TYPES" ${ARGN})
  foreach(library ${arg_LIBRARIES})
    if(library STREQUAL "cambium_training" AND NOT CAMBIUM_TRAINING)
      message(FATAL_ERROR "The plugin ${name} trains: it needs -DCAMBIUM_TRAINING=ON, or leave it out of CAMBIUM_PLUGINS")
    endif()
  endforeach()
  add_library(cambium_${name} STATIC ${arg_SOURCES})
  target_link_libraries(cambium_${name} PUBLIC cambium_core ${arg_LIBRARIES})
  target_compile_options(cambium_${name} PRIVATE ${CAMBIUM_WARNINGS})
  target_compile_definitions(cambium_${name} PRIVATE CAMBIUM_IN_TREE_PLUGIN)
  set_property(GLOBAL APPEND PROPERTY CAMBIUM_PLUGINS ${name})
  if(arg_TORCH_SOURCES AND CAMBIUM_HAS_TORCH)
    add_library(cambium_${name}_torch STATIC ${arg_TORCH_SOURCES})
    target_link_libraries(cambium_${name}_torch PUBLIC cambium_torch cambium_core ${arg_LIBRARIES})
    target_compile_options(cambium_${name}_torch PRIVATE ${CAMBIUM_WARNINGS})
    set_property(GLOBAL APPEND PROPERTY CAMBIUM_TORCH_PLUGINS ${name})
  endif()
  foreach(type ${arg_TORCH_TYPES})
    set_property(GLOBAL APPEND PROPERTY CAMBIUM_TORCH_TYPES ${name}:${type})
  endforeach()
endfunction()

# cambium_choose_plugins(name ...): adds the folder of every plugin that CAMBIUM_PLUGINS names, of all where it is empty.
# The others are named to a deck that asks for their types.
macro(cambium_choose_plugins)
  set(plugins_of_tree ${ARGN})  # ARGN of a macro is text, no variable that IN_LIST could read
  foreach(plugin ${CAMBIUM_PLUGINS})
    if(NOT plugin IN_LIST plugins_of_tree)
      message(FATAL_ERROR "CAMBIUM_PLUGINS names '${plugin}'; the plugins of this tree are: ${ARGN}")
    endif()
  endforeach()
  foreach(plugin ${ARGN})
    if(NOT CAMBIUM_PLUGINS OR plugin IN_LIST CAMBIUM_PLUGINS)
      add_subdirectory(${plugin})
    else()
      set_property(GLOBAL APPEND PROPERTY CAMBIUM_PLUGINS_LEFT_OUT ${plugin})
    endif()
  endforeach()
endmacro()

# Tells the list which plugins this build leaves out, and their types, whose names stand in register.cpp.
macro(cambium_list_left_out)
  get_property(left_out GLOBAL PROPERTY CAMBIUM_PLUGINS_LEFT_OUT)
  foreach(plugin ${left_out})
    string(APPEND calls
      "  registry.known_elsewhere(\"plugin\", \"${plugin}\", \"${plugin}\", \"-DCAMBIUM_PLUGINS= builds all\");\n")
    file(STRINGS ${PROJECT_SOURCE_DIR}/plugins/${plugin}/register.cpp lines REGEX "add<[A-Za-z]+>")
    foreach(line ${lines})
      if(line MATCHES "add<[^>]*>\\(\"([a-z0-9_]+)\"")
        string(APPEND calls
          "  registry.known_elsewhere(\"\", \"${CMAKE_MATCH_1}\", \"${plugin}\", \"-DCAMBIUM_PLUGINS= builds all\");\n")
      endif()
    endforeach()
  endforeach()
endmacro()

# Adds the networks written with Torch, of core and of plugins, to the declarations, calls and libraries of the list.
macro(cambium_list_torch_plugins)
  string(APPEND declarations "namespace train {\nvoid register_torch(Registry&);\n}\n")
  string(APPEND calls "  train::register_torch(registry);\n")
  list(APPEND libraries cambium_torch)
  get_property(torch_plugins GLOBAL PROPERTY CAMBIUM_TORCH_PLUGINS)
  foreach(plugin ${torch_plugins})
    string(APPEND declarations "namespace ${plugin} {\nvoid register_training(Registry&);\n}\n")
    string(APPEND calls "  registry.set_plugin(\"${plugin}\");\n  ${plugin}::register_training(registry);\n")
    list(APPEND libraries cambium_${plugin}_torch)
  endforeach()
endmacro()

# cambium_add_plugin_list(): the library cambium_plugins, which holds register_plugins() and every plugin that was added.
function(cambium_add_plugin_list)
  get_property(plugins GLOBAL PROPERTY CAMBIUM_PLUGINS)
  set(declarations "")
  set(calls "")
  set(libraries "")
  foreach(plugin ${plugins})
    string(APPEND declarations "namespace ${plugin} {\nvoid register_types(Registry&);\n}\n")
    string(APPEND calls "  registry.set_plugin(\"${plugin}\");\n  ${plugin}::register_types(registry);\n")
    list(APPEND libraries cambium_${plugin})
  endforeach()
  cambium_list_left_out()
  if(CAMBIUM_HAS_TORCH AND CAMBIUM_TRAINING)
    cambium_list_torch_plugins()
  elseif(CAMBIUM_TRAINING)
    get_property(types GLOBAL PROPERTY CAMBIUM_TORCH_TYPES)
    foreach(entry torch:network:conv_net ${types})
      string(REPLACE ":" ";" entry ${entry})
      list(GET entry 0 plugin)
      list(GET entry 1 kind)
      list(GET entry 2 type)
      string(APPEND calls "  registry.known_elsewhere(\"${kind}\", \"${type}\", \"${plugin}\", \"-DCAMBIUM_TORCH=ON\");\n")
    endforeach()
  endif()
  set(training "")
  if(CAMBIUM_TRAINING)
    string(APPEND declarations "namespace train {\nvoid register_training(Registry&);\n}\n")
    set(training "  train::register_training(registry);\n")
    list(APPEND libraries cambium_training)
  endif()
  set(source ${PROJECT_BINARY_DIR}/generated/plugins/plugin_list.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Generated by cambium_add_plugin_list(): one call per plugin, so that no linker can drop a registration.
#include "plugins/plugin_list.hpp"

#include "core/plugin/registry.hpp"

namespace cambium {

@declarations@
void register_plugins([[maybe_unused]] Registry& registry) {
@calls@}

void register_everything(Registry& registry) {
@training@  register_plugins(registry);
}

}  // namespace cambium
]=])
  add_library(cambium_plugins STATIC EXCLUDE_FROM_ALL ${source})
  target_link_libraries(cambium_plugins PUBLIC cambium_core PRIVATE ${libraries})
endfunction()
