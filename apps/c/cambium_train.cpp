#include "apps/c/cambium_train.h"

#include "apps/c/c_calls.hpp"
#include "apps/c/start.hpp"
#include "core/train/session.hpp"
#include "plugins/plugin_list.hpp"

struct cambium_train_session {
  cambium::train::Session session;
};

namespace {

using cambium::DType;
using cambium::ExitCode;
using cambium::c::arrays_of;
using cambium::c::guarded;

static_assert(CAMBIUM_FLOAT64 == static_cast<int>(DType::f64) && CAMBIUM_FLOAT32 == static_cast<int>(DType::f32) &&
              CAMBIUM_INT64 == static_cast<int>(DType::i64) && CAMBIUM_INT32 == static_cast<int>(DType::i32) &&
              CAMBIUM_INT8 == static_cast<int>(DType::i8) && CAMBIUM_UINT8 == static_cast<int>(DType::u8));
static_assert(CAMBIUM_BAD_INPUT == static_cast<int>(ExitCode::bad_input) &&
              CAMBIUM_NUMERICAL_FAILURE == static_cast<int>(ExitCode::numerical_failure) &&
              CAMBIUM_INTERNAL_ERROR == static_cast<int>(ExitCode::internal_error));

cambium::train::Session& of(cambium_train_session* session) {
  if (!session) throw cambium::InputError("the session is a null pointer; call cambium_train_create first");
  return session->session;
}

}  // namespace

extern "C" {

int cambium_train_create(MPI_Comm comm, const char* deck, cambium_train_session** session) {
  return guarded([&] {
    *session = nullptr;
    *session = new cambium_train_session{cambium::train::Session(comm, deck ? deck : "", cambium::register_plugins)};
  });
}

int cambium_train_create_f(MPI_Fint comm, const char* deck, cambium_train_session** session) {
  return cambium_train_create(MPI_Comm_f2c(comm), deck, session);
}

int cambium_train_open(const char* deck, cambium_train_session** session) {
  return guarded([&] {
    *session = nullptr;
    cambium::c::start();
    *session =
        new cambium_train_session{cambium::train::Session(MPI_COMM_WORLD, deck ? deck : "", cambium::register_plugins)};
  });
}

void cambium_train_destroy(cambium_train_session* session) { delete session; }

int cambium_train_step(cambium_train_session* session, const cambium_array* arrays, int count, double* loss) {
  return guarded([&] {
    const double value = of(session).step(arrays_of(arrays, count));
    if (loss) *loss = value;
  });
}

int cambium_train_evaluate(cambium_train_session* session, const cambium_array* arrays, int count, double* metrics,
                           int room) {
  return guarded([&] {
    const auto values = of(session).evaluate(arrays_of(arrays, count));
    for (int k = 0; k < room && k < std::ssize(values); ++k) metrics[k] = values[k];
  });
}

int cambium_train_infer(cambium_train_session* session, const cambium_array* inputs, int input_count,
                        const cambium_array* outputs, int output_count) {
  return guarded([&] { of(session).infer(arrays_of(inputs, input_count), arrays_of(outputs, output_count)); });
}

int cambium_train_save(cambium_train_session* session, const char* path) {
  return guarded([&] { of(session).save(path); });
}

int cambium_train_load(cambium_train_session* session, const char* path) {
  return guarded([&] { of(session).load(path); });
}

int cambium_train_write_model(cambium_train_session* session, const char* path) {
  return guarded([&] { of(session).write_model(path); });
}

int64_t cambium_train_steps(const cambium_train_session* session) { return session ? session->session.steps() : 0; }

const char* cambium_train_message(void) { return cambium::c::last_message.c_str(); }

}  // extern "C"
