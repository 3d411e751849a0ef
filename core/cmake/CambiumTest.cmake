# cambium_add_test(NAME name SOURCES a.cpp ... [LIBRARIES lib ...] [NP 1 2 4] [LABELS fast|long ...] [TIMEOUT s] [COST s] [DATA] [BY_HAND] [ALONE] [TORCH])
# One Catch2 executable, registered once per number of ranks. tests/main.cpp starts MPI and Kokkos.
# A case that needs what is not there prints "SKIPPED: what: why" and asserts nothing; a program that asserted nothing returns 77.
# DATA: the cases with the tag [data], which need real data, are registered as name_data beside the others, so that they count as
# skipped where there are no data. COST: seconds on one rank, of long ones, which begin first. BY_HAND: built, but no test. ALONE: each file is
# compiled by itself, whatever CAMBIUM_UNITY says. TORCH: its sources include Torch; those of others do not, though they may link libraries
# of networks that are written with it.
function(cambium_add_test)
  cmake_parse_arguments(arg "DATA;BY_HAND;ALONE;TORCH" "NAME;TIMEOUT;COST" "SOURCES;LIBRARIES;NP;LABELS" ${ARGN})
  if(NOT arg_NP)
    set(arg_NP 1)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  # What rests on the BLAS is run with its kernels for several processors, too (studies/blas_processors.py).
  list(GET arg_SOURCES 0 source)
  if("fast" IN_LIST arg_LABELS AND "${CMAKE_CURRENT_SOURCE_DIR}/${source}" MATCHES
     "/tests/(train|core/numerics|plugins/(cosmo|deepmd|graph|podlstm|pretrain|relate|sequence|submatrix))/")
    list(APPEND arg_LABELS blas)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_COST)
    set(arg_COST 0)
  endif()
  add_executable(test_${arg_NAME} ${arg_SOURCES})
  if(arg_ALONE)
    set_target_properties(test_${arg_NAME} PROPERTIES UNITY_BUILD OFF)
  endif()
  foreach(library ${arg_LIBRARIES})
    if(library MATCHES "torch$" AND NOT arg_TORCH)  # its file alone: what it was compiled with would keep the headers read once away
      add_dependencies(test_${arg_NAME} ${library})
      set(library $<TARGET_LINKER_FILE:${library}>)
    endif()
    target_link_libraries(test_${arg_NAME} PRIVATE ${library})
  endforeach()
  target_link_libraries(test_${arg_NAME} PRIVATE cambium_test_main)
  cambium_compile_test_quickly(test_${arg_NAME} ${arg_TORCH})
  target_link_options(test_${arg_NAME} PRIVATE ${CAMBIUM_QUICK_LINKER})
  target_compile_definitions(test_${arg_NAME} PRIVATE
    CAMBIUM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CAMBIUM_PROGRAM="$<TARGET_FILE_DIR:test_${arg_NAME}>/cambium")
  if(arg_BY_HAND)
    return()
  endif()
  set(parts _)
  if(arg_DATA)
    list(APPEND parts _data)
    set_property(GLOBAL APPEND PROPERTY CAMBIUM_DATA_TESTS $<TARGET_FILE:test_${arg_NAME}>)
  endif()
  foreach(part ${parts})
    set(cases "")
    if(arg_DATA AND part STREQUAL "_data")
      set(cases "[data]~[.]")
    elseif(arg_DATA)
      set(cases "~[data]")
    endif()
    string(REGEX REPLACE "^_$" "" suffix ${part})
    foreach(np ${arg_NP})
      if(np EQUAL 1)
        set(test ${arg_NAME}${suffix})
        add_test(NAME ${test} COMMAND test_${arg_NAME} ${cases})
      else()
        set(test ${arg_NAME}${suffix}.np${np})
        add_test(NAME ${test} COMMAND ${CAMBIUM_MPIEXEC} -np ${np} $<TARGET_FILE:test_${arg_NAME}> ${cases})
      endif()
      set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${np} COST ${arg_COST}
        SKIP_RETURN_CODE 77 ENVIRONMENT "${CAMBIUM_TEST_ENVIRONMENT}")
    endforeach()
  endforeach()
endfunction()

# There are two hundred programs to link, and the plain linker is slow where they reach Torch.
set(CAMBIUM_QUICK_LINKER "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  find_program(CAMBIUM_LLD ld.lld)
  find_program(CAMBIUM_GOLD ld.gold)
  if(CAMBIUM_LLD)
    set(CAMBIUM_QUICK_LINKER -fuse-ld=lld)
  elseif(CAMBIUM_GOLD)
    set(CAMBIUM_QUICK_LINKER -fuse-ld=gold)
  endif()
endif()

# What a test itself computes need not be fast: it is compiled with few optimisations, and headers that most tests include are read
# once. A file sees Kokkos or Torch, so tests that include Torch read theirs, compiled as the libraries that read the same are: several times
# as long, which is why no other test does.
function(cambium_compile_test_quickly test sees_torch)
  if(CAMBIUM_READ_ONCE AND sees_torch)
    set_target_properties(${test} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${test} PRIVATE -fPIC)
    cambium_reads(${test} cambium_torch_headers)
    return()
  endif()
  target_compile_options(${test} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(NOT CAMBIUM_READ_ONCE)
    return()
  endif()
  if(NOT TARGET cambium_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "int main() {}\n")
    add_executable(cambium_test_headers ${PROJECT_BINARY_DIR}/test_headers.cpp)
    set_target_properties(cambium_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(cambium_test_headers PRIVATE cambium_test_main)
    target_compile_options(cambium_test_headers PRIVATE $<$<CONFIG:Release>:-O1>)
    target_precompile_headers(cambium_test_headers PRIVATE <algorithm> <filesystem> <fstream> <iostream> <random> <thread> <fmt/ranges.h>
      ${PROJECT_SOURCE_DIR}/tests/catch.hpp ${PROJECT_SOURCE_DIR}/core/parallel/kokkos.hpp
      ${PROJECT_SOURCE_DIR}/core/io/hdf5/h5.hpp ${PROJECT_SOURCE_DIR}/core/plugin/registry.hpp)
  endif()
  cambium_reads(${test} cambium_test_headers)
endfunction()

# A Kokkos with threads takes as many as OMP_NUM_THREADS says when the tests run; elsewhere one, which libraries may ask for.
set(CAMBIUM_TEST_ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")
if(NOT "OPENMP" IN_LIST Kokkos_DEVICES AND "$ENV{OMP_NUM_THREADS}" STREQUAL "")
  list(APPEND CAMBIUM_TEST_ENVIRONMENT "OMP_NUM_THREADS=1")
endif()
if(CAMBIUM_SANITIZE)
  # The MPI library keeps some memory for good; what it leaks is named in the file, what we leak is not.
  list(APPEND CAMBIUM_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_others.supp:print_suppressions=0")
endif()

# More ranks than cores are fine for correctness; Open MPI wants to be told, and told again as root. Asked for memory and sockets alone (ob1)
# it looks for no other network, which it waits 0.2 s for at every start.
set(CAMBIUM_MPIEXEC ${MPIEXEC_EXECUTABLE} CACHE STRING "Command that starts MPI programs in the tests")
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_QUIET)
if(version MATCHES "Open MPI|OpenRTE")
  set(CAMBIUM_MPIEXEC ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca pml ob1)
endif()

# CAMBIUM_PYTHON: the first Python that can read our files (h5py, numpy), else any Python at all. Tests pass it on in
# their environment; a test that needs h5py and does not find it skips, saying so.
if(NOT CAMBIUM_PYTHON)
  find_program(python_of_path NAMES python3)
  foreach(candidate /usr/bin/python3 ${python_of_path})
    execute_process(COMMAND ${candidate} -c "import h5py, numpy" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(python_of_path ${candidate})
    endif()
  endforeach()
  set(CAMBIUM_PYTHON ${python_of_path} CACHE FILEPATH "Python that the tests call" FORCE)
endif()
list(APPEND CAMBIUM_TEST_ENVIRONMENT "CAMBIUM_PYTHON=${CAMBIUM_PYTHON}")
