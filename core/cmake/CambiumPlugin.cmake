# cambium_add_plugin(name SOURCES a.cpp ... [LIBRARIES lib ...]
#                    [TORCH_SOURCES train/a.cpp ...] [TORCH_TYPES kind:name ...]): a plugin of this tree, a static library
# cambium_<name>. One of its sources defines
#   namespace cambium::<name> { void register_types(Registry&); }
# which the generated list (register_plugins of plugins/plugin_list.hpp) calls by name.
# TORCH_SOURCES make a second library, cambium_<name>_torch, where LibTorch is found; one of them defines
#   namespace cambium::<name> { void register_training(Registry&); }
# None of them may include Kokkos. TORCH_TYPES are what it registers ("network:unet"): programs load the library when a deck
# first names one of them, and a build without Torch tells the deck what it lacks. cambium_<name> is then a shared library, of
# which both hold one copy.
function(cambium_add_plugin name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;TORCH_SOURCES;TORCH_TYPES" ${ARGN})
  foreach(library ${arg_LIBRARIES})
    if(library STREQUAL "cambium_training" AND NOT CAMBIUM_TRAINING)
      message(FATAL_ERROR "The plugin ${name} trains: it needs -DCAMBIUM_TRAINING=ON, or leave it out of CAMBIUM_PLUGINS")
    endif()
  endforeach()
  set(linkage STATIC)
  if(arg_TORCH_SOURCES AND CAMBIUM_HAS_TORCH)
    set(linkage SHARED)
  endif()
  add_library(cambium_${name} ${linkage} ${arg_SOURCES})
  target_link_libraries(cambium_${name} PUBLIC cambium_core ${arg_LIBRARIES})
  target_compile_options(cambium_${name} PRIVATE ${CAMBIUM_WARNINGS})
  cambium_reads(cambium_${name} cambium_core_headers)
  target_compile_definitions(cambium_${name} PRIVATE CAMBIUM_IN_TREE_PLUGIN)
  set_property(GLOBAL APPEND PROPERTY CAMBIUM_PLUGINS ${name})
  if(linkage STREQUAL "SHARED")
    add_library(cambium_${name}_torch SHARED ${arg_TORCH_SOURCES})
    target_link_libraries(cambium_${name}_torch PUBLIC cambium_${name} cambium_torch cambium_core ${arg_LIBRARIES})
    target_compile_options(cambium_${name}_torch PRIVATE ${CAMBIUM_WARNINGS})
    cambium_reads(cambium_${name}_torch cambium_torch_headers)
    cambium_load_later(cambium_${name}_torch PLUGIN ${name} FUNCTION ${name}::register_training TYPES ${arg_TORCH_TYPES}
      SENTENCES register_training.cpp)
    foreach(library cambium_${name} cambium_${name}_torch)
      set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
      install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
    endforeach()
  endif()
  foreach(type ${arg_TORCH_TYPES})
    set_property(GLOBAL APPEND PROPERTY CAMBIUM_TORCH_TYPES ${name}:${type})
  endforeach()
endfunction()

# cambium_plugin_lacks(name TYPE what): instead of cambium_add_plugin where a library is missing: a deck that names TYPE
# ("potential:kim") is told what the build lacks.
function(cambium_plugin_lacks name type what)
  message(STATUS "The plugin ${name} is not built: ${what} was not found")
  string(REPLACE ":" ";" type ${type})
  list(GET type 0 kind)
  list(GET type 1 type)
  foreach(known "${kind}\", \"${type}" "plugin\", \"${name}")
    set_property(GLOBAL APPEND_STRING PROPERTY CAMBIUM_LACKING_CALLS
      "  registry.known_elsewhere(\"${known}\", \"${name}\", \"it needs ${what}\");\n")
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

# Tells the list which plugins this build leaves out, and their types, whose names stand in register*.cpp.
macro(cambium_list_left_out)
  get_property(left_out GLOBAL PROPERTY CAMBIUM_PLUGINS_LEFT_OUT)
  foreach(plugin ${left_out})
    string(APPEND calls
      "  registry.known_elsewhere(\"plugin\", \"${plugin}\", \"${plugin}\", \"-DCAMBIUM_PLUGINS= builds all\");\n")
    file(GLOB sources ${PROJECT_SOURCE_DIR}/plugins/${plugin}/register*.cpp)
    foreach(source ${sources})
      file(READ ${source} text)
      string(REGEX MATCHALL "add<[A-Za-z0-9:]+>\\([ \n]*\"[a-z0-9_]+\"" types "${text}")
      foreach(type ${types})
        string(REGEX REPLACE ".*\"([a-z0-9_]+)\"" "\\1" type "${type}")
        string(APPEND calls
          "  registry.known_elsewhere(\"\", \"${type}\", \"${plugin}\", \"-DCAMBIUM_PLUGINS= builds all\");\n")
      endforeach()
    endforeach()
  endforeach()
endmacro()

# cambium_load_later(library PLUGIN name FUNCTION space::register_x TYPES kind:name ...): programs do not link this shared library
# but load it when a deck first names one of TYPES (core/plugin/late_library.hpp), because what it links takes long to load. Its
# function cambium::space::register_x(Registry&) adds TYPES, no others and no tools. BENCHES instead of TYPES: it adds benches alone, and
# is loaded when one asks for them. SENTENCES names the source that adds TYPES, so that `cambium list` can say what they are without loading it.
function(cambium_load_later library)
  cmake_parse_arguments(arg "BENCHES" "PLUGIN;FUNCTION;SENTENCES" "TYPES" ${ARGN})
  if(NOT arg_TYPES AND NOT arg_BENCHES)
    message(FATAL_ERROR "${library} is loaded when a deck names one of its types: name them (TYPES kind:name ...)")
  endif()
  string(REGEX MATCH "^(.*)::([^:]*)$" function ${arg_FUNCTION})
  set(space ${CMAKE_MATCH_1})
  set(function ${CMAKE_MATCH_2})
  set(source ${PROJECT_BINARY_DIR}/generated/plugins/${library}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Generated by cambium_load_later(): what the registry calls once it has loaded this library.
namespace cambium {
class Registry;
namespace @space@ {
void @function@(Registry&);
}
}  // namespace cambium

extern "C" void register_@library@(cambium::Registry& registry) { cambium::@space@::@function@(registry); }
]=])
  target_sources(${library} PRIVATE ${source})
  set(text "")
  if(arg_SENTENCES)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SENTENCES} text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SENTENCES})
  endif()
  set(types "")
  foreach(type ${arg_TYPES})
    string(REPLACE ":" ";" type ${type})
    list(GET type 0 kind)
    list(GET type 1 type)
    set(sentence "")
    if(text MATCHES "\\(\"${type}\",[ \n]*\"([^\"]*)\"\\)")
      set(sentence "${CMAKE_MATCH_1}")
    endif()
    string(APPEND types "{\"${kind}\", \"${type}\", \"${sentence}\"}, ")
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CAMBIUM_LATE_LIBRARIES ${library})
  set_property(GLOBAL APPEND_STRING PROPERTY CAMBIUM_LATE_CALLS
    "  registry.add_later({\"${arg_PLUGIN}\", \"$<TARGET_SONAME_FILE_NAME:${library}>\", \"register_${library}\", {${types}}});\n")
endfunction()

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
  get_property(late GLOBAL PROPERTY CAMBIUM_LATE_LIBRARIES)
  get_property(late_calls GLOBAL PROPERTY CAMBIUM_LATE_CALLS)
  get_property(lacking_calls GLOBAL PROPERTY CAMBIUM_LACKING_CALLS)
  string(APPEND calls "${late_calls}${lacking_calls}")
  if(CAMBIUM_TRAINING AND NOT CAMBIUM_HAS_TORCH)
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
  string(CONFIGURE [=[
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
]=] text @ONLY)
  file(GENERATE OUTPUT ${source} CONTENT "${text}")
  add_library(cambium_plugins STATIC EXCLUDE_FROM_ALL ${source})
  target_link_libraries(cambium_plugins PUBLIC cambium_core PRIVATE ${libraries})
  if(late)
    add_dependencies(cambium_plugins ${late})  # not linked, but there when a program runs
  endif()
endfunction()
