/* A trained model in C, on a file that a run wrote: `model_from_c MODEL < inputs > answers`. The first line of the
 * inputs says how many samples there are; the answers have a line for each. Without a model it looks at the messages
 * alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cambium_model.h"

static int failures = 0;

static void check(int right, const char* what) {
  if (right) return;
  ++failures;
  fprintf(stderr, "FAILED: %s (%s)\n", what, cambium_model_message());
}

static int64_t numbers(const cambium_field* field) {
  int64_t n = 1;
  for (int axis = 0; axis < field->rank; ++axis) n *= field->shape[axis];
  return n;
}

/* Row-major samples of a field. */
static cambium_array array_of(const cambium_field* field, double* data, int64_t samples) {
  cambium_array a = {field->name, field->unit, data, CAMBIUM_FLOAT64, field->rank + 1, {samples}, {numbers(field)}};
  int64_t stride = 1;
  for (int axis = field->rank; axis >= 1; stride *= a.shape[axis--]) {
    a.shape[axis] = field->shape[axis - 1];
    a.stride[axis] = stride;
  }
  return a;
}

static void answer(cambium_model* model) {
  cambium_field input, output;
  int inputs = 0, outputs = 0, samples = 0;
  check(cambium_model_inputs(model, &input, 1, &inputs) == CAMBIUM_DONE && inputs == 1, "one input");
  check(cambium_model_outputs(model, &output, 1, &outputs) == CAMBIUM_DONE && outputs == 1, "one output");
  check(scanf("%d", &samples) == 1, "the number of samples");
  const int64_t width = numbers(&input), answers = numbers(&output);
  double* x = malloc(sizeof(double) * (size_t)(samples * width));
  double* y = malloc(sizeof(double) * (size_t)(samples * answers));
  for (int64_t k = 0; k < samples * width; ++k) check(scanf("%lf", &x[k]) == 1, "a number");
  cambium_array in = array_of(&input, x, samples), out = array_of(&output, y, samples);
  check(cambium_model_infer(model, &in, 1, &out, 1) == CAMBIUM_DONE, "infer");
  for (int64_t k = 0; k < samples * answers; ++k) printf("%.17g%c", y[k], (k + 1) % answers ? ' ' : '\n');
  in.unit = "parsec";
  check(cambium_model_infer(model, &in, 1, &out, 1) == CAMBIUM_BAD_INPUT, "another unit is refused");
  in.unit = NULL;
  in.name = "elsewhere";
  check(cambium_model_infer(model, &in, 1, &out, 1) == CAMBIUM_BAD_INPUT, "another name is refused");
  check(strstr(cambium_model_message(), "is an input of model") != NULL, "and the message says so");
  in.name = NULL;
  out.shape[0] = samples - 1;
  check(cambium_model_infer(model, &in, 1, &out, 1) == CAMBIUM_BAD_INPUT, "too little room is refused");
  const char* words[] = {"the output '", "' of model '", "' needs a float64 array of shape ("};
  for (int k = 0; k < 3; ++k)
    check(strstr(cambium_model_message(), words[k]) != NULL, "the message says what is needed");
  free(x);
  free(y);
}

int main(int argc, char** argv) {
  cambium_model* model = NULL;
  check(cambium_model_open("nowhere.h5", &model) == CAMBIUM_BAD_INPUT && model == NULL, "a file that is not there");
  check(strstr(cambium_model_message(), "nowhere.h5") != NULL, "the message names the file");
  check(cambium_model_inputs(NULL, NULL, 0, NULL) == CAMBIUM_BAD_INPUT, "no model");
  check(strstr(cambium_model_message(), "the model is a null pointer; call cambium_model_open first") != NULL,
        "and why");
  if (argc > 1) {
    check(cambium_model_open(argv[1], &model) == CAMBIUM_DONE, "open");
    if (model) answer(model);
    cambium_model_close(model);
  }
  return failures > 100 ? 100 : failures;
}
