# cambium_add_test(NAME name SOURCES a.cpp ... [LIBRARIES lib ...] [NP 1 2 4] [LABELS fast|long ...] [TIMEOUT s])
# One Catch2 executable, registered once per number of ranks. tests/main.cpp starts MPI and Kokkos.
# A test that needs what is not there prints "SKIPPED: what: why" and returns 77.
function(cambium_add_test)
  cmake_parse_arguments(arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;NP;LABELS" ${ARGN})
  if(NOT arg_NP)
    set(arg_NP 1)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(test_${arg_NAME} ${arg_SOURCES})
  target_link_libraries(test_${arg_NAME} PRIVATE cambium_test_main ${arg_LIBRARIES})
  target_compile_definitions(test_${arg_NAME} PRIVATE
    CAMBIUM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CAMBIUM_PROGRAM="$<TARGET_FILE_DIR:test_${arg_NAME}>/cambium")
  foreach(np ${arg_NP})
    if(np EQUAL 1)
      add_test(NAME ${arg_NAME} COMMAND test_${arg_NAME})
      set(test ${arg_NAME})
    else()
      set(test ${arg_NAME}.np${np})
      add_test(NAME ${test} COMMAND ${CAMBIUM_MPIEXEC} -np ${np} $<TARGET_FILE:test_${arg_NAME}>)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${np}
      SKIP_RETURN_CODE 77 ENVIRONMENT "${CAMBIUM_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

# Threads per rank are left as they are where the caller set them (a Kokkos with OpenMP is tested with several).
set(CAMBIUM_TEST_ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive")
if("$ENV{OMP_NUM_THREADS}" STREQUAL "")
  list(APPEND CAMBIUM_TEST_ENVIRONMENT "OMP_NUM_THREADS=1")
endif()
if(CAMBIUM_SANITIZE)
  # The MPI library keeps some memory for good; what it leaks is named in the file, what we leak is not.
  list(APPEND CAMBIUM_TEST_ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_others.supp:print_suppressions=0")
endif()

# More ranks than cores are fine for correctness; Open MPI wants to be told, and told again as root.
set(CAMBIUM_MPIEXEC ${MPIEXEC_EXECUTABLE} CACHE STRING "Command that starts MPI programs in the tests")
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_QUIET)
if(version MATCHES "Open MPI|OpenRTE")
  set(CAMBIUM_MPIEXEC ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1)
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
