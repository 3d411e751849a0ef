# CAMBIUM_ARCH goes to the compiler as -march. A word that it does not know ends the configuration, with the compiler's own list. Spack
# and archspec have other names for processors (zen4, x86_64_v3, icelake); for those the compiler's word is suggested.
include(CheckCXXCompilerFlag)

# cambium_arch_known(RESULT ARCH): TRUE where the compiler takes -march=ARCH.
function(cambium_arch_known result arch)
  string(MD5 sum "${arch}")  # x86_64_v3 and x86-64-v3 are two words
  set(variable CAMBIUM_ARCH_KNOWN_${sum})
  set(CMAKE_REQUIRED_QUIET TRUE)
  check_cxx_compiler_flag("-march=${arch}" ${variable})
  set(${result} "${${variable}}" PARENT_SCOPE)
endfunction()

# cambium_arch_suggestion(RESULT ARCH): what the compiler calls this processor, or the newest older one of its line; empty for others.
function(cambium_arch_suggestion result arch)
  string(REPLACE "_" "-" word "${arch}")
  set(candidates ${word})
  if(word MATCHES "^(zen|znver)([1-9]?)$")
    set(generation ${CMAKE_MATCH_2})
    while(generation GREATER 0)
      list(APPEND candidates znver${generation})
      math(EXPR generation "${generation} - 1")
    endwhile()
    list(APPEND candidates znver1)
  endif()
  list(APPEND candidates ${word}-server)
  set(${result} "" PARENT_SCOPE)
  foreach(candidate ${candidates})
    cambium_arch_known(known ${candidate})
    if(known)
      set(${result} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# cambium_require_known_arch(ARCH): FATAL_ERROR where the compiler does not take it.
function(cambium_require_known_arch arch)
  if(arch STREQUAL "")
    return()
  endif()
  cambium_arch_known(known "${arch}")
  if(known)
    return()
  endif()
  cambium_arch_suggestion(suggestion "${arch}")
  set(fix "name one that it knows, or leave it empty for the compiler's default")
  if(suggestion)
    set(fix "-DCAMBIUM_ARCH=${suggestion} is the nearest that it knows, an empty one the compiler's default")
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/arch.cpp "int main() {}\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${arch} -c ${CMAKE_BINARY_DIR}/CMakeFiles/arch.cpp -o ${CMAKE_BINARY_DIR}/CMakeFiles/arch.o
    OUTPUT_QUIET ERROR_VARIABLE words)
  message(FATAL_ERROR "CAMBIUM_ARCH is '${arch}', which ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} does not take as -march: ${fix}\n"
    "The compiler's own words: ${words}")
endfunction()
