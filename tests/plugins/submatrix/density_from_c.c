/* What a program in C does to get a density matrix: a chain of molecules with a gap, each rank with rows of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cambium_submatrix.h"

enum { BLOCKS = 60, SIZE = 2, ROWS = BLOCKS * SIZE, REACH = 14 };

static int failures = 0, rank = 0, ranks = 1, calls = 0;

static void check(int right, const char* what) {
  if (right) return;
  ++failures;
  printf("rank %d: FAILED: %s (%s)\n", rank, what, cambium_submatrix_message());
}

void dsygv_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*, double*,
            double*, const int*, int*);

static double element(int overlap, int row, int column) {
  const int a = row / SIZE, b = column / SIZE, i = row % SIZE, j = column % SIZE, far = abs(a - b);
  if (overlap) return far == 0 ? (i == j ? 1.0 : 0.05) : 0.1 * exp(-1.1 * (far - 1)) * cos(i + j + 0.3 * (a + b));
  if (far == 0) return i == j ? (i == 0 ? -0.8 : 0.6) + 0.02 * sin(7.0 * a) : 0.03;
  return 0.08 * exp(-1.0 * (far - 1)) * cos(1.0 + i + j + 0.7 * (a + b));
}

/* Band energy of the dense problem; its levels. */
static double levels[ROWS];
static double exact(void) {
  static double h[ROWS * ROWS], s[ROWS * ROWS], work[ROWS * 40];
  const int type = 1, n = ROWS, room = ROWS * 40;
  int info = 0;
  double sum = 0;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < ROWS; ++j) {
      const int near = abs(i / SIZE - j / SIZE) <= REACH;
      h[i * ROWS + j] = near ? element(0, i, j) : 0, s[i * ROWS + j] = near ? element(1, i, j) : 0;
    }
  dsygv_(&type, "N", "L", &n, h, &n, s, &n, levels, work, &room, &info);
  for (int k = 0; k < BLOCKS; ++k) sum += 2 * levels[k];
  return info == 0 ? sum : 1e300;
}

typedef struct {
  int64_t start[ROWS + 1];
  int column[ROWS * SIZE * (2 * REACH + 1)];
  double value[ROWS * SIZE * (2 * REACH + 1)];
  int64_t count;
  cambium_csr csr;
} matrix;

/* Spin down lies higher: H + SPLIT S. */
#define SPLIT 0.15
enum { HAMILTONIAN, OVERLAP, DOWN };

static void fill(matrix* m, int kind, int first, int blocks, int base) {
  m->count = 0;
  for (int row = first * SIZE; row < (first + blocks) * SIZE; ++row) {
    m->start[row - first * SIZE] = m->count + base;
    for (int column = ROWS - 1; column >= 0; --column) /* any order will do */
      if (abs(row / SIZE - column / SIZE) <= REACH)
        m->column[m->count] = column + base,
        m->value[m->count++] =
            kind == DOWN ? element(0, row, column) + SPLIT * element(1, row, column) : element(kind, row, column);
  }
  m->start[blocks * SIZE] = m->count + base;
  m->csr = (cambium_csr){m->start, m->column, m->value, base};
}

static void progress(double done, double left, void* user) {
  calls += done > 0 && done <= 1 && left >= 0 && user == (void*)&calls;
}

static double trace(const matrix* a, const double* d) {
  double own = 0, all = 0;
  for (int64_t e = 0; e < a->count; ++e) own += 2 * a->value[e] * d[e];
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static matrix h, s;
static double density[ROWS * SIZE * (2 * REACH + 1)], weighted[ROWS * SIZE * (2 * REACH + 1)];

/* The whole step on rows split as the caller likes. */
static double solve(int first, int blocks, int base, const int* functions, double wanted) {
  const cambium_blocks cut = {BLOCKS, functions, first, blocks};
  cambium_density_options options;
  cambium_density_result result = {0};
  fill(&h, 0, first, blocks, base), fill(&s, 1, first, blocks, base);
  cambium_density_defaults(&options);
  options.electrons = 2 * BLOCKS, options.eps = options.eps_overlap = 1e-7;
  options.progress = progress, options.user = &calls;
  check(cambium_density_matrix_f(MPI_Comm_c2f(MPI_COMM_WORLD), &cut, &h.csr, &s.csr, &options, &result, density,
                                 weighted) == CAMBIUM_SUBMATRIX_DONE,
        "a step");
  check(fabs(result.energy - wanted) < 1e-7 * BLOCKS, "the energy is that of the dense problem");
  check(fabs(result.electrons - 2 * BLOCKS) < 1e-5, "so is the number of electrons");
  check(fabs(trace(&s, density) - 2 * BLOCKS) < 1e-4 && fabs(trace(&h, density) - wanted) < 1e-4,
        "D gives N and E again");
  check(fabs(trace(&s, weighted) - wanted) < 1e-4, "W gives E with S");
  check(result.gap_low < result.mu && result.mu < result.gap_high, "mu lies in the gap");
  check(result.idempotency < 1e-4 && fabs(result.energy_change) < 1e-6 && result.smallest_overlap > 0,
        "errors are estimated");
  return result.energy;
}

static double sum_of(const matrix* a, const double* d) { return 0.5 * trace(a, d); }

/* Both spins in one call against the dense levels of both: with one mu, and with a magnetisation. */
static void solve_spins(int first, int blocks, const int* functions) {
  static matrix down;
  static double d2[ROWS * SIZE * (2 * REACH + 1)], w2[ROWS * SIZE * (2 * REACH + 1)];
  const cambium_blocks cut = {BLOCKS, functions, first, blocks};
  cambium_density_options options;
  cambium_density_result result[2];
  double *const d[2] = {density, d2}, *const w[2] = {weighted, w2};
  fill(&h, HAMILTONIAN, first, blocks, 0), fill(&s, OVERLAP, first, blocks, 0), fill(&down, DOWN, first, blocks, 1);
  for (int own = 0; own < 2; ++own) {
    cambium_density_defaults(&options);
    options.electrons = 2 * BLOCKS, options.eps = options.eps_overlap = 1e-7;
    options.use_magnetisation = own;
    check(cambium_density_matrix_spin_f(MPI_Comm_c2f(MPI_COMM_WORLD), &cut, &h.csr, &down.csr, &s.csr, &options, result,
                                        d, w) == CAMBIUM_SUBMATRIX_DONE,
          "two spins");
    for (int k = 0; k < 2; ++k) {
      double wanted = 0;
      for (int j = 0; j < BLOCKS; ++j) wanted += levels[j] + (k == 1 ? SPLIT : 0);
      check(fabs(result[k].energy - wanted) < 1e-7 * BLOCKS && fabs(result[k].electrons - BLOCKS) < 1e-5,
            "E and N of a spin are those of its dense problem");
      check(fabs(sum_of(k == 0 ? &h : &down, d[k]) - wanted) < 1e-4 && fabs(sum_of(&s, w[k]) - wanted) < 1e-4,
            "D and W of a spin give its E");
      check(result[k].gap_low < result[k].mu && result[k].mu < result[k].gap_high, "mu of a spin lies in its gap");
    }
    check(own ? fabs(result[1].mu - result[0].mu - SPLIT) < 1e-5 : result[0].mu == result[1].mu,
          "each spin its mu, or one for both");
  }
  options.magnetisation = 3 * BLOCKS;
#define REFUSED_SPIN(text)                                                                                         \
  check(cambium_density_matrix_spin(MPI_COMM_WORLD, &cut, &h.csr, &down.csr, &s.csr, &options, result, d, NULL) == \
                CAMBIUM_SUBMATRIX_BAD_INPUT &&                                                                     \
            strcmp(cambium_submatrix_message(), text) == 0,                                                        \
        text)
  check(cambium_density_matrix_spin(MPI_COMM_WORLD, &cut, &h.csr, &down.csr, &s.csr, &options, result, d, NULL) ==
            CAMBIUM_SUBMATRIX_BAD_INPUT,
        "too many spins");
  options.use_mu = 1;
  REFUSED_SPIN("mu determines the electrons of each spin; set use_mu or use_magnetisation, not both");
  options.use_mu = 0, options.electrons = 0;
  REFUSED_SPIN("magnetisation needs the number of electrons of both spins; set electrons");
  check(cambium_density_matrix_spin(MPI_COMM_WORLD, &cut, &h.csr, NULL, &s.csr, &options, result, d, NULL) ==
                CAMBIUM_SUBMATRIX_BAD_INPUT &&
            strcmp(cambium_submatrix_message(),
                   "a null pointer was passed for blocks, a hamiltonian, options or result") == 0,
        "no second Hamiltonian");
  check(cambium_density_matrix(MPI_COMM_WORLD, &cut, &h.csr, &s.csr, &options, result, density, NULL) ==
                CAMBIUM_SUBMATRIX_BAD_INPUT &&
            strcmp(cambium_submatrix_message(),
                   "magnetisation is for two spin channels; call cambium_density_matrix_spin, or leave "
                   "use_magnetisation 0") == 0,
        "one spin");
}

static void refusals(const int* functions, int first, int blocks) {
  cambium_blocks cut = {BLOCKS, functions, first, blocks};
  cambium_density_options options;
  cambium_density_result result;
  fill(&h, 0, first, blocks, 0), fill(&s, 1, first, blocks, 0);
  cambium_density_defaults(&options);
#define REFUSED(text)                                                                                     \
  check(cambium_density_matrix(MPI_COMM_WORLD, &cut, &h.csr, &s.csr, &options, &result, density, NULL) == \
                CAMBIUM_SUBMATRIX_BAD_INPUT &&                                                            \
            strcmp(cambium_submatrix_message(), text) == 0,                                               \
        text)
  REFUSED("neither mu nor the number of electrons is given; set electrons, or mu and use_mu");
  options.electrons = 2 * BLOCKS, options.eps = 2;
  REFUSED("eps and eps_overlap must be between 0 and 1; call cambium_density_defaults first");
  options.eps = 1e-5, options.overlap_threshold = 1;
  REFUSED("overlap_threshold must be between 0 and 1; call cambium_density_defaults first");
  options.overlap_threshold = 0;
  if (rank == 0) h.value[1] += 0.5;
  check(cambium_density_matrix(MPI_COMM_WORLD, &cut, &h.csr, &s.csr, &options, &result, density, NULL) ==
                CAMBIUM_SUBMATRIX_BAD_INPUT &&
            strstr(cambium_submatrix_message(), "hamiltonian: not symmetric: ") != NULL &&
            strstr(cambium_submatrix_message(), " at the mirrored position; both triangles are needed") != NULL,
        "an unsymmetric matrix");
  if (rank == 0) h.value[1] = NAN;
  REFUSED("hamiltonian: the element at row 0, column 28 is nan; every element must be finite");
  if (rank == 0) h.value[1] = 0, h.column[1] = 500;
  REFUSED("hamiltonian: row 0 has an element in column 500 (counted from 0), but there are 120 columns");
  h.csr.base = 2;
  REFUSED("hamiltonian: base is 2; indices are counted from 0 or 1");
  if (rank == ranks - 1) --cut.own_blocks;
  REFUSED("the ranks bring 59 of 60 blocks; every row must be on one rank");
  cut.own_blocks = blocks, cut.first_block = first + (rank == 0 ? 3 : 0);
  if (rank == 0) check(1, "");
  check(cambium_density_matrix(MPI_COMM_WORLD, &cut, &h.csr, &s.csr, &options, &result, density, NULL) ==
                CAMBIUM_SUBMATRIX_BAD_INPUT &&
            strstr(cambium_submatrix_message(),
                   "blocks from 3 on (counted from 0), but block 0 is next; ranks hold complete blocks in ascending "
                   "order") != NULL,
        "a gap");
  cut.first_block = first, cut.blocks = 0;
  REFUSED("the matrix has no blocks; give the number of functions of every atom or molecule");
  const int wrong[2] = {2, 0};
  cut.blocks = 2, cut.functions = wrong;
  REFUSED("block 1 (counted from 0) has 0 functions; give 1 or more");
  check(cambium_density_matrix(MPI_COMM_WORLD, NULL, &h.csr, &s.csr, &options, &result, density, NULL) ==
                CAMBIUM_SUBMATRIX_BAD_INPUT &&
            strcmp(cambium_submatrix_message(),
                   "a null pointer was passed for blocks, hamiltonian, options or result") == 0,
        "a null pointer");
}

int main(int argc, char** argv) {
  int functions[BLOCKS], all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int b = 0; b < BLOCKS; ++b) functions[b] = SIZE;
  const int first = BLOCKS * rank / ranks, blocks = BLOCKS * (rank + 1) / ranks - first;
  const double wanted = exact();
  const double even = solve(first, blocks, 0, functions, wanted);
  const double one = solve(rank == 0 ? 0 : BLOCKS, rank == 0 ? BLOCKS : 0, 1, functions,
                           wanted); /* all rows on rank 0, counted from 1 */
  check(fabs(even - one) < 1e-10, "who holds the rows does not matter");
  check(rank > 0 || calls >= 2, "progress is told");
  solve_spins(first, blocks, functions);
  refusals(functions, first, blocks);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0;
}
