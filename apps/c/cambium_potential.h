/* Interatomic potentials from a C or Fortran program: open a potential, evaluate structures, close. Link
 * libcambium_train (pkg-config cambium-train). MPI is started where the program has not, and ended with it.
 *
 * Units: angstrom, eV, eV/angstrom. Every function returns 0 or a code of cambium_array.h;
 * cambium_potential_message() then says what is wrong and how to mend it.
 *
 * Threads: a potential belongs to the thread that is in a call with it. Different threads may hold different
 * potentials, but only one thread of the process may be in a call at a time, unless MPI was started with
 * MPI_THREAD_MULTIPLE and Kokkos runs serially. Processes open their own; no call communicates with another process. */
#ifndef CAMBIUM_POTENTIAL_H
#define CAMBIUM_POTENTIAL_H

#include "cambium_array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cambium_potential cambium_potential;

/* One structure. Arrays are row-major and not changed. */
typedef struct {
  int64_t atoms;
  const char* const* species; /* symbol of each atom, "Cu" */
  const double* positions;    /* (atoms, 3) */
  const double* cell;         /* rows a, b, c (3, 3); NULL: nothing is periodic */
  int periodic[3];            /* along a, b, c; not read without a cell */
} cambium_structure;

/* Where the results of one structure go; a NULL is not wanted. */
typedef struct {
  double* energy;        /* 1, eV */
  double* forces;        /* (atoms, 3), eV/angstrom */
  double* virial;        /* (3, 3), eV: W_ab = -sum dE/dr_a r_b; stress = -W / volume */
  double* atom_energies; /* (atoms), eV; their sum is the energy */
  double* atom_virials;  /* (atoms, 3, 3), eV; their sum is the virial */
  double* deviation;     /* 3, eV/angstrom: largest, smallest and mean standard deviation of forces among a committee */
} cambium_results;

/* what: the name of a deck (*.yaml), whose first `potential` is taken; or of a model file of `deep_potential`
 * (*.dp, *.pb, *.yaml); or the keys of a potential as YAML, "{type: sutton_chen, ...}". `potential` is NULL where that
 * fails. */
int cambium_potential_open(const char* what, cambium_potential** potential);
void cambium_potential_close(cambium_potential* potential);

/* One line with parameters in use; it lives until the next call with this potential. */
const char* cambium_potential_summary(cambium_potential* potential);
/* Largest distance of interacting atoms, angstrom. */
double cambium_potential_cutoff(const cambium_potential* potential);
/* 1 for a committee of models, which gives a deviation. */
int cambium_potential_is_committee(cambium_potential* potential);

/* Evaluates `count` structures, one after the other. Where one fails, the results of those before it are there. */
int cambium_potential_evaluate(cambium_potential* potential, const cambium_structure* structures,
                               const cambium_results* results, int64_t count);

/* What the last call of this thread that failed had to say. */
const char* cambium_potential_message(void);

#ifdef __cplusplus
}
#endif
#endif
