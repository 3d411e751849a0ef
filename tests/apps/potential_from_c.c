/* Potentials in C: `potential_from_c DECK` with a deck of copper, and a committee's model where a second argument names
 * one. Units and meaning by differences of energies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cambium_potential.h"

enum { ATOMS = 32 };

static int failures = 0;

static void check(int right, const char* what) {
  if (right) return;
  ++failures;
  fprintf(stderr, "FAILED: %s (%s)\n", what, cambium_potential_message());
}

static void check_says(int code, const char* words) {
  check(code == CAMBIUM_BAD_INPUT, "bad input is refused");
  check(strstr(cambium_potential_message(), words) != NULL, words);
}

static const char* species[ATOMS];
static double positions[ATOMS][3];
static const double cell[9] = {7.22, 0, 0, 0.3, 7.22, 0, -0.2, 0.4, 7.22};

static void place(void) {
  static const double basis[4][3] = {{0, 0, 0}, {0, .5, .5}, {.5, 0, .5}, {.5, .5, 0}};
  for (int i = 0; i < ATOMS; ++i) {
    const int corner[3] = {i / 4 % 2, i / 8 % 2, i / 16};
    species[i] = "Cu";
    for (int k = 0; k < 3; ++k) positions[i][k] = 3.61 * (corner[k] + basis[i % 4][k]) + 0.1 * sin(1.7 * i + 0.9 * k);
  }
}

static cambium_structure structure(void) {
  cambium_structure s = {ATOMS, species, &positions[0][0], cell, {1, 1, 1}};
  return s;
}

static double energy_at(cambium_potential* potential, int atom, int axis, double by) {
  double energy = 0.0;
  cambium_results results = {&energy, NULL, NULL, NULL, NULL, NULL};
  const cambium_structure s = structure();
  positions[atom][axis] += by;
  check(cambium_potential_evaluate(potential, &s, &results, 1) == CAMBIUM_DONE, "evaluate");
  positions[atom][axis] -= by;
  return energy;
}

static void evaluate(cambium_potential* potential) {
  double energy[2], forces[2][ATOMS][3], virial[9], atoms[ATOMS], virials[ATOMS][9], sum = 0.0, trace = 0.0;
  cambium_structure s[2] = {structure(), structure()};
  cambium_results results[2] = {{&energy[0], &forces[0][0][0], virial, atoms, &virials[0][0], NULL},
                                {&energy[1], &forces[1][0][0], NULL, NULL, NULL, NULL}};
  s[1].atoms = 4;
  s[1].cell = NULL;
  check(cambium_potential_evaluate(potential, s, results, 2) == CAMBIUM_DONE, "two structures in one call");
  for (int i = 0; i < ATOMS; ++i) {
    sum += atoms[i];
    trace += virials[i][0] + virials[i][4] + virials[i][8];
  }
  check(fabs(sum - energy[0]) < 1e-10, "energies of atoms add up");
  check(fabs(trace - virial[0] - virial[4] - virial[8]) < 1e-9, "virials of atoms add up");
  check(energy[1] > energy[0] / 8 && energy[1] < 0.0, "a cluster is bound less than a crystal");
  const double h = 1e-4;
  for (int k = 0; k < 3; ++k) {
    const double slope = (energy_at(potential, 5, k, h) - energy_at(potential, 5, k, -h)) / (2 * h);
    check(fabs(slope + forces[0][5][k]) < 1e-5, "forces are differences of energies");
  }
}

static void refuse(cambium_potential* potential) {
  double energy = 0.0, deviation[3];
  cambium_results results = {&energy, NULL, NULL, NULL, NULL, deviation};
  cambium_structure s = structure();
  check_says(cambium_potential_evaluate(NULL, &s, &results, 1),
             "the potential is a null pointer; call cambium_potential_open first");
  check_says(cambium_potential_evaluate(potential, &s, &results, 1),
             "a deviation was requested, but the potential is no committee of models; give NULL for it");
  results.deviation = NULL;
  s.atoms = 0;
  check_says(cambium_potential_evaluate(potential, &s, &results, 1), "the structure has 0 atoms; give 1 to 100000000");
  s = structure();
  s.positions = NULL;
  check_says(cambium_potential_evaluate(potential, &s, &results, 1),
             "the structure has no positions or no species; both are needed");
  cambium_potential* none = NULL;
  check_says(cambium_potential_open("{type: sutton_chen, element: Xx, cutoff: 7}", &none), "sutton_chen");
  check_says(cambium_potential_open("{type: sutton_chen, element: Cu, cutoff: 7}", NULL),
             "the pointer to the potential is null; give the address of one");
  check_says(cambium_potential_evaluate(potential, NULL, &results, 1),
             "1 structures, or null pointers to them; give arrays of `count` structures and results");
  check_says(cambium_potential_evaluate(potential, &s, NULL, 1), "null pointers");
  check_says(cambium_potential_evaluate(potential, &s, &results, -1), "-1 structures");
  check(none == NULL, "nothing is opened");
}

/* A sum over images and a mean density mean nothing for a molecule or a slab; the damped form does. */
static void sums_over_images(void) {
  const char* keys[6] = {"{type: coulomb, charges: {Cu: 0}}",
                         "{type: sum, terms: [{type: sutton_chen, element: Cu, cutoff: 7.0}, "
                         "{type: coulomb, method: ewald, charges: {Cu: 0}}]}",
                         "{type: lennard_jones, epsilon: 0.1, sigma: 2.3, cutoff: 6, tail: true}",
                         "{type: sutton_chen, element: Cu, cutoff: 7.0, tail: true}",
                         "{type: lennard_jones, epsilon: 0.1, sigma: 2.3, cutoff: 6}",
                         "{type: coulomb, method: dsf, charges: {Cu: 0}}"};
  double energy = 0.0;
  cambium_results results = {&energy, NULL, NULL, NULL, NULL, NULL};
  for (int k = 0; k < 6; ++k) {
    cambium_potential* potential = NULL;
    cambium_structure molecule = structure(), slab = structure(), crystal = structure();
    molecule.cell = NULL;
    slab.periodic[2] = 0;
    check(cambium_potential_open(keys[k], &potential) == CAMBIUM_DONE, keys[k]);
    check(cambium_potential_evaluate(potential, &crystal, &results, 1) == CAMBIUM_DONE, "a crystal");
    if (k >= 4) {
      check(cambium_potential_evaluate(potential, &molecule, &results, 1) == CAMBIUM_DONE, "a molecule");
    } else {
      check_says(
          cambium_potential_evaluate(potential, &molecule, &results, 1),
          "the structure is not periodic along all three cell vectors, but the potential sums over all images of "
          "a periodic cell (coulomb with method mesh or ewald, dftb with periodic: true) or needs its mean density "
          "(lennard_jones or sutton_chen with tail: true); give a periodic cell, for a molecule one with empty space, "
          "or take a form for open boundaries (coulomb with method: dsf, dftb with periodic: false, tail: false)");
      check_says(cambium_potential_evaluate(potential, &slab, &results, 1), "not periodic along all three");
    }
    cambium_potential_close(potential);
  }
}

int main(int count, char** words) {
  place();
  cambium_potential* potential = NULL;
  check(cambium_potential_open("{type: sutton_chen, element: Cu, cutoff: 7.0}", &potential) == CAMBIUM_DONE, "keys");
  if (!potential) return 1;
  check(cambium_potential_cutoff(potential) == 7.0, "the cut-off");
  check(strstr(cambium_potential_summary(potential), "Sutton-Chen") != NULL, "the summary");
  check(!cambium_potential_is_committee(potential), "no committee");
  evaluate(potential);
  refuse(potential);
  cambium_potential_close(potential);
  sums_over_images();
  if (count > 1) {
    check(cambium_potential_open(words[1], &potential) == CAMBIUM_DONE, "a deck");
    evaluate(potential);
    cambium_potential_close(potential);
  }
  if (count > 2) {
    char keys[2000];
    snprintf(keys, sizeof keys, "{type: deep_potential, model: %s, committee: [%s]}", words[2], words[2]);
    double energy, deviation[3];
    cambium_results results = {&energy, NULL, NULL, NULL, NULL, deviation};
    const cambium_structure s = structure();
    check(cambium_potential_open(keys, &potential) == CAMBIUM_DONE, "a committee");
    check(cambium_potential_is_committee(potential), "is one");
    check(cambium_potential_evaluate(potential, &s, &results, 1) == CAMBIUM_DONE, "and gives");
    check(deviation[0] >= 0.0 && deviation[0] < 1e-10, "no deviation from itself");
    cambium_potential_close(potential);
  }
  if (!failures) puts("potential_from_c: all right");
  return failures ? 1 : 0;
}
