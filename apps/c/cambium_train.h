/* Training networks from a C or Fortran program, in its own process, on its own arrays. Link libcambium_train.
 *
 * Every function returns 0 or one of the codes below; cambium_train_message() then says what is wrong and how to mend
 * it. All but infer, steps and message are collective over the communicator; ranks may bring different numbers of
 * samples. */
#ifndef CAMBIUM_TRAIN_H
#define CAMBIUM_TRAIN_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CAMBIUM_DONE = 0,
  CAMBIUM_BAD_INPUT = 2,         /* deck, file or arrays: the message says how to mend it */
  CAMBIUM_NUMERICAL_FAILURE = 4, /* the loss is no number */
  CAMBIUM_INTERNAL_ERROR = 70
};

enum {
  CAMBIUM_FLOAT64 = 0,
  CAMBIUM_FLOAT32 = 1,
  CAMBIUM_INT64 = 3,
  CAMBIUM_INT32 = 4,
  CAMBIUM_INT8 = 6,
  CAMBIUM_UINT8 = 7
};

/* One array: samples along axis 0, then the shape of a sample. Strides in elements, so that row-major, column-major and
 * parts of larger arrays all fit. */
typedef struct {
  const char* name; /* as the deck names the field */
  const char* unit; /* NULL for a number */
  void* data;       /* host memory; not changed unless it is an output */
  int type;         /* CAMBIUM_FLOAT64, ... */
  int rank;         /* axes, 1 to 6 */
  int64_t shape[6];
  int64_t stride[6];
} cambium_array;

typedef struct cambium_train_session cambium_train_session;

/* deck: YAML text, or the name of a file. MPI must be initialised. */
int cambium_train_create(MPI_Comm comm, const char* deck, cambium_train_session** session);
/* The same with Fortran's handle of a communicator, which does not depend on the MPI library's C types. */
int cambium_train_create_f(MPI_Fint comm, const char* deck, cambium_train_session** session);
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
