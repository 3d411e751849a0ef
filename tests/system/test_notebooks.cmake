# The notebooks of tutorials/: their form, each one executed small, and each one at its full size (label long).
function(cambium_add_notebook name)
  foreach(quick 1 0)
    set(test system.notebook.${name})
    set(tier system)
    if(NOT quick)
      set(test ${test}_long)
      set(tier long)
    endif()
    set(place ${CMAKE_CURRENT_BINARY_DIR}/scratch/notebooks/${test})
    set(environment "CAMBIUM=$<TARGET_FILE:cambium>;CAMBIUM_TUTORIAL_QUICK=${quick};CAMBIUM_TUTORIAL_RUNS=${place}")
    if(TARGET lmp_cambium)
      list(APPEND environment "LMP_CAMBIUM=$<TARGET_FILE:lmp_cambium>")
    endif()
    list(JOIN CAMBIUM_MPIEXEC " " launcher)
    list(APPEND environment "CAMBIUM_MPIEXEC=${launcher}" "CAMBIUM_BUILD=${PROJECT_BINARY_DIR}")
    add_test(NAME ${test} COMMAND ${CAMBIUM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/run_notebook.py
      ${PROJECT_SOURCE_DIR}/tutorials/${name}.ipynb ${place}/pictures)
    set_tests_properties(${test} PROPERTIES LABELS ${tier} TIMEOUT 1800 SKIP_RETURN_CODE 77
      ENVIRONMENT "${CAMBIUM_TEST_ENVIRONMENT};OMP_NUM_THREADS=1;OPENBLAS_NUM_THREADS=1;${environment}")
    if(name MATCHES "ranks")
      set_tests_properties(${test} PROPERTIES PROCESSORS 2)
    endif()
  endforeach()
endfunction()

# notebook(name plugin ...): needs all of these plugins.
function(notebook name)
  foreach(plugin ${ARGN})
    if(NOT TARGET cambium_${plugin})
      return()
    endif()
  endforeach()
  cambium_add_notebook(${name})
endfunction()
notebook(01_first_run md)
notebook(02_train_a_potential md deepmd)
notebook(03_convection superres)
notebook(04_sea_surface_temperature podlstm)
notebook(05_density_matrices submatrix)
notebook(06_plasma_waves kinetic)
notebook(07_write_a_plugin md)
notebook(08_train_on_many_ranks deepmd)

add_test(NAME system.notebooks COMMAND ${CMAKE_COMMAND} -E env
  "CAMBIUM_PROGRAM=$<TARGET_FILE:cambium>" "CAMBIUM_SOURCE=${PROJECT_SOURCE_DIR}"
  "CAMBIUM_SCRATCH=${CMAKE_CURRENT_BINARY_DIR}/scratch" "CAMBIUM_MPIEXEC=${CAMBIUM_MPIEXEC}"
  ${CAMBIUM_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/needs_h5py.py ${CMAKE_CURRENT_SOURCE_DIR}/test_notebooks.py)
set_tests_properties(system.notebooks PROPERTIES LABELS "fast;system" TIMEOUT 120 SKIP_RETURN_CODE 77)
