/* Density matrices for other programs, in C and Fortran: Hamiltonian and overlap as sparse rows in, density matrix,
 * band energy, number of electrons and chemical potential out (plugins/submatrix/README.md). Link libcambium_submatrix.
 *
 * Calls are collective over the communicator; MPI must be initialised. They return 0 or one of the codes below;
 * cambium_submatrix_message() then says what is wrong and how to mend it. E and N have the factor 2 of two equal spins,
 * but for cambium_density_matrix_spin, which takes a Hamiltonian for each spin. No self-consistency, no metals at zero
 * temperature. */
#ifndef CAMBIUM_SUBMATRIX_H
#define CAMBIUM_SUBMATRIX_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CAMBIUM_SUBMATRIX_DONE = 0,
  CAMBIUM_SUBMATRIX_BAD_INPUT = 2,
  CAMBIUM_SUBMATRIX_NUMERICAL_FAILURE = 4,
  CAMBIUM_SUBMATRIX_INTERNAL_ERROR = 70
};

/* Rows of a symmetric matrix that this rank holds, both triangles: whole blocks, every row on one rank, ranks in
 * ascending order of rows (none is fine). Hartree. */
typedef struct {
  const int64_t* row_start; /* rows + 1 entries: where each row begins in column and value */
  const int* column;        /* of the whole matrix, in any order */
  const double* value;
  int base; /* 0, or 1 where row_start and column count from 1 as in Fortran */
} cambium_csr;

/* What the rows are cut into: atoms, or better whole molecules. The same on every rank. */
typedef struct {
  int blocks;
  const int* functions; /* rows of each block */
  int first_block;      /* of this rank, counted from 0 */
  int own_blocks;
} cambium_blocks;

typedef struct {
  double electrons; /* wanted number, both spins; 0 where mu is given */
  double mu;        /* hartree; used where use_mu is not 0 */
  int use_mu;
  double eps;         /* the one knob of the error; 1e-5 */
  double eps_overlap; /* the same for S in S^-1/2; 1e-5 */
  double kt;          /* electronic temperature, hartree; 0 */
  int float32;        /* Krylov vectors in single precision; 0 */
  int diagonalise;    /* full diagonalisation of every submatrix instead of block Lanczos; 0 */
  int error_sample;   /* submatrices on which errors are estimated, drawn at random; 8; 0: no estimate */
  /* Called on rank 0 now and then, NULL for never: share done of the block columns, seconds left. */
  void (*progress)(double done, double seconds_left, void* user);
  void* user;
  /* Two spins only: electrons of spin up less those of spin down, used where use_magnetisation is not 0. Each spin then
   * has a mu of its own; without, one mu is found for both. */
  double magnetisation;
  int use_magnetisation;
  /* Combinations of functions that are eigenvectors of S with an eigenvalue up to this are left out of the basis
   * (canonical orthogonalisation); 0: none, and an eigenvalue below 1e-6 is refused. */
  double overlap_threshold;
} cambium_density_options;

typedef struct {
  double energy;                /* band energy 2 Tr(D H), hartree */
  double electrons;             /* 2 Tr(D S) */
  double entropy_term;          /* -T S, hartree */
  double mu, gap_low, gap_high; /* gap: NaN from the solvers newton_schulz and pade, which show no states */
  double idempotency;           /* |D D - D| of the sampled block columns, per column */
  double energy_change;         /* exact less computed E - T S - mu N at this mu, per block, estimated, hartree */
  double smallest_overlap;      /* eigenvalue of S */
  double energy_margin;         /* energy_change is right within this in 95 of 100 cases, hartree */
} cambium_density_result;

void cambium_density_defaults(cambium_density_options* options);

/* overlap: NULL where the basis is orthogonal. density: values of D (one spin, without the factor 2) at the places of
 * `hamiltonian`, as many; energy_density: the same of W = D H D, for Pulay forces. Either may be NULL. */
int cambium_density_matrix(MPI_Comm comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian,
                           const cambium_csr* overlap, const cambium_density_options* options,
                           cambium_density_result* result, double* density, double* energy_density);
/* The same with Fortran's handle of a communicator. */
int cambium_density_matrix_f(MPI_Fint comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian,
                             const cambium_csr* overlap, const cambium_density_options* options,
                             cambium_density_result* result, double* density, double* energy_density);

/* Two spin channels, one overlap: result, density and energy_density have two entries, spin up and spin down; values
 * are at the places of that spin's Hamiltonian. Of each spin E = Tr(D H), N = Tr(D S), without the factor 2;
 * options->electrons (and options->mu) are of both. Where one mu is found for both, error estimates of both spins
 * together stand in result[0]. density and energy_density, or entries of theirs, may be NULL. */
int cambium_density_matrix_spin(MPI_Comm comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian_up,
                                const cambium_csr* hamiltonian_down, const cambium_csr* overlap,
                                const cambium_density_options* options, cambium_density_result result[2],
                                double* const density[2], double* const energy_density[2]);
/* The same with Fortran's handle of a communicator. */
int cambium_density_matrix_spin_f(MPI_Fint comm, const cambium_blocks* blocks, const cambium_csr* hamiltonian_up,
                                  const cambium_csr* hamiltonian_down, const cambium_csr* overlap,
                                  const cambium_density_options* options, cambium_density_result result[2],
                                  double* const density[2], double* const energy_density[2]);

/* What the last call of this thread that failed had to say. */
const char* cambium_submatrix_message(void);

#ifdef __cplusplus
}
#endif
#endif
