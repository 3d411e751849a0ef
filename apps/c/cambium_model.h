/* Trained models (model.h5) from a C or Fortran program: open, ask what it reads, let it answer, close. Link
 * libcambium_train. No deck, no session; MPI is started where the program has not, and ended with it.
 *
 * Every function returns 0 or a code of cambium_array.h; cambium_model_message() then says what is wrong and how to
 * mend it. A model belongs to one thread and one process; ranks open their own. */
#ifndef CAMBIUM_MODEL_H
#define CAMBIUM_MODEL_H

#include "cambium_array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cambium_model cambium_model;

/* What a model reads or answers for one sample. The texts live until the model is closed. */
typedef struct {
  const char* name;
  const char* unit; /* "" for a number */
  int rank;         /* axes of one sample, 0 for a single number */
  int64_t shape[6]; /* -1 where samples may differ */
} cambium_field;

/* path: a model.h5 of any network that answers samples alone. `model` is NULL where that fails. */
int cambium_model_open(const char* path, cambium_model** model);
void cambium_model_close(cambium_model* model);

/* `count` receives their number, and `fields` (may be NULL) the first `room` of them. */
int cambium_model_inputs(const cambium_model* model, cambium_field* fields, int room, int* count);
int cambium_model_outputs(const cambium_model* model, cambium_field* fields, int room, int* count);

/* Answers all samples of the inputs into the caller's arrays, which are float64 of shape (samples, shape...). An array
 * is found by its name; one without a name (NULL) is the only input or output. A unit of NULL is taken for the model's;
 * any other unit must be the model's. */
int cambium_model_infer(cambium_model* model, const cambium_array* inputs, int input_count,
                        const cambium_array* outputs, int output_count);

/* What the last call of this thread that failed had to say. */
const char* cambium_model_message(void);

#ifdef __cplusplus
}
#endif
#endif
