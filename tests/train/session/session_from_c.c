/* What a simulation in C does to train while it runs: y = sin(2 a) b on points that each rank has of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cambium_train.h"

enum { POINTS = 64 };

static int failures = 0;
static int rank = 0;

static void check(int right, const char* what) {
  if (right) return;
  ++failures;
  printf("rank %d: FAILED: %s (%s)\n", rank, what, cambium_train_message());
}

/* Column-major, as Fortran would lay it out: x(points, 2). */
static cambium_array column_major(const char* name, double* data, int64_t rows, int64_t columns, int64_t leading) {
  cambium_array a = {name, NULL, data, CAMBIUM_FLOAT64, 2, {rows, columns}, {1, leading}};
  return a;
}

static void fill(double* x, double* y, int step, int size) {
  for (int i = 0; i < POINTS; ++i) {
    const int number = (step * size + rank) * POINTS + i;
    const double a = fmod(number * 0.618033988749895, 1.0), b = fmod(number * 0.414213562373095, 1.0);
    x[i] = a, x[i + POINTS] = b;
    y[i] = sin(2 * a) * b;
  }
}

int main(int argc, char** argv) {
  const char* deck =
      "network: {type: mlp, layers: [16], input: x, target: y}\n"
      "optimizer: adam\n"
      "learning_rate: {type: constant, start: 0.01}\n"
      "reduce: {mode: ordered, micro_batches: 4}\n";
  double x[2 * POINTS], y[POINTS], out[POINTS], loss = 0, first = 0, saved = 0, again = 0, metric = 0;
  char path[256], model[300];
  int size = 1, fortran = 0;
  cambium_train_session* session = NULL;
  cambium_train_session* other = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int id = (int)getpid();
  MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/cambium_session_%d.h5", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", id);

  check(
      cambium_train_create(MPI_COMM_WORLD, "network: {type: mpl}\n", &session) == CAMBIUM_BAD_INPUT && session == NULL,
      "a wrong deck is refused");
  check(strstr(cambium_train_message(), "did you mean 'mlp'?") != NULL, "and the message says what was meant");
  check(cambium_train_create(MPI_COMM_WORLD, deck, &session) == CAMBIUM_DONE, "a session is made");

  cambium_array arrays[2] = {column_major("x", x, POINTS, 2, POINTS), column_major("y", y, POINTS, 1, POINTS)};
  check(cambium_train_save(session, path) == CAMBIUM_BAD_INPUT, "nothing can be saved before the first step");
  for (int step = 0; step < 300; ++step) {
    fill(x, y, step, size);
    check(cambium_train_step(session, arrays, 2, &loss) == CAMBIUM_DONE, "step");
    if (step == 0) first = loss;
  }
  check(loss < 0.02 * first, "the loss falls");
  check(cambium_train_steps(session) == 300, "steps are counted");
  check(cambium_train_evaluate(session, arrays, 2, &metric, 1) == CAMBIUM_DONE && metric < 0.05, "the error is small");

  cambium_array input = arrays[0], output = column_major("output", out, POINTS, 1, POINTS);
  check(cambium_train_infer(session, &input, 1, &output, 1) == CAMBIUM_DONE, "infer");
  double worst = 0;
  for (int i = 0; i < POINTS; ++i) worst = fmax(worst, fabs(out[i] - y[i]));
  check(worst < 0.15, "outputs are near the function");

  check(cambium_train_save(session, path) == CAMBIUM_DONE, "save");
  fill(x, y, 300, size);
  check(cambium_train_step(session, arrays, 2, &saved) == CAMBIUM_DONE, "step after saving");
  check(cambium_train_step(session, arrays, 2, &saved) == CAMBIUM_DONE, "step after saving");
  fortran = (int)MPI_Comm_c2f(MPI_COMM_WORLD);
  check(cambium_train_create_f((MPI_Fint)fortran, deck, &other) == CAMBIUM_DONE, "a session from a Fortran handle");
  snprintf(model, sizeof model, "%s.model", path);
  check(cambium_train_write_model(session, model) == CAMBIUM_DONE, "a model file is written");
  check(cambium_train_load(other, model) == CAMBIUM_BAD_INPUT, "a model file is no checkpoint");
  check(strstr(cambium_train_message(), "is no checkpoint of a training") != NULL, "and the message says so");
  check(cambium_train_infer(other, &input, 1, &output, 1) == CAMBIUM_BAD_INPUT,
        "a failed load leaves nothing to infer with");
  check(cambium_train_load(other, path) == CAMBIUM_DONE && cambium_train_steps(other) == 300, "load");
  check(cambium_train_step(other, arrays, 2, &again) == CAMBIUM_DONE, "step after loading");
  check(cambium_train_step(other, arrays, 2, &again) == CAMBIUM_DONE, "step after loading");
  check(saved == again, "a loaded session goes on bit for bit");

  arrays[1].shape[0] = POINTS - 1;
  check(cambium_train_step(session, arrays, 2, &loss) == CAMBIUM_BAD_INPUT, "arrays of different lengths are refused");
  arrays[1].shape[0] = POINTS;
  x[3] = NAN;
  check(cambium_train_step(session, arrays, 2, &loss) == CAMBIUM_NUMERICAL_FAILURE,
        "a bad number is a numerical failure");
  check(cambium_train_steps(session) == 302, "and no step");
  x[3] = 0.5;
  check(cambium_train_step(session, arrays, 2, &loss) == CAMBIUM_DONE && loss < 1.0, "the weights were not touched");

  cambium_train_destroy(other);
  cambium_train_destroy(session);
  if (rank == 0) remove(path), remove(model);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && failures == 0) printf("all checks of the C interface passed\n");
  return failures > 100 ? 100 : failures;
}
