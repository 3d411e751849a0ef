/* Arrays of a C or Fortran program, and the codes that functions of Cambium return. */
#ifndef CAMBIUM_ARRAY_H
#define CAMBIUM_ARRAY_H

#include <stdint.h>

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

#endif
