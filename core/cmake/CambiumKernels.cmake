# cambium_kernels(target a.cpp ...): sources of this folder that hold arithmetic. Each is compiled alone, whatever
# CAMBIUM_UNITY says: what the compiler inlines there, and so every bit of the results, does not depend on its neighbours.
function(cambium_kernels target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
