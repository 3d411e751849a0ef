/* Training networks from a C or Fortran program, in its own process, on its own arrays. Link libcambium_train.
 *
 * Every function returns 0 or a code of cambium_array.h; cambium_train_message() then says what is wrong and how to
 * mend it. All but infer, steps and message are collective over the communicator; ranks may bring different numbers of
 * samples. */
#ifndef CAMBIUM_TRAIN_H
#define CAMBIUM_TRAIN_H

#include <mpi.h>

#include "cambium_array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cambium_train_session cambium_train_session;

/* deck: YAML text, or the name of a file. MPI must be initialised. */
int cambium_train_create(MPI_Comm comm, const char* deck, cambium_train_session** session);
/* The same with Fortran's handle of a communicator, which does not depend on the MPI library's C types. */
int cambium_train_create_f(MPI_Fint comm, const char* deck, cambium_train_session** session);
/* The same over all processes, with MPI started where the program has not: for languages that know no MPI. */
int cambium_train_open(const char* deck, cambium_train_session** session);
void cambium_train_destroy(cambium_train_session* session);

/* One optimizer step; `loss` (may be NULL) receives the weighted loss of the global batch: each term's mean over what
   it counts, times its weight, as the stage `train` prints it. */
int cambium_train_step(cambium_train_session* session, const cambium_array* arrays, int count, double* loss);
/* The network's metrics over the samples of all ranks, at most `room` of them. */
int cambium_train_evaluate(cambium_train_session* session, const cambium_array* arrays, int count, double* metrics,
                           int room);
/* Outputs for this rank's samples, float64, into the caller's arrays. */
int cambium_train_infer(cambium_train_session* session, const cambium_array* inputs, int input_count,
                        const cambium_array* outputs, int output_count);

/* Everything needed to go on bit for bit, in one file. */
int cambium_train_save(cambium_train_session* session, const char* path);
int cambium_train_load(cambium_train_session* session, const char* path);
/* The model file that `cambium` reads. */
int cambium_train_write_model(cambium_train_session* session, const char* path);
int64_t cambium_train_steps(const cambium_train_session* session);

/* What the last call of this thread that failed had to say. */
const char* cambium_train_message(void);

#ifdef __cplusplus
}
#endif
#endif
