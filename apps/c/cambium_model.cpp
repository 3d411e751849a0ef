#include "apps/c/cambium_model.h"

#include "apps/c/c_calls.hpp"
#include "apps/c/start.hpp"
#include "core/train/run/applied_model.hpp"

using cambium::InputError;

/// A model and its execution environment: one process.
struct cambium_model {
  explicit cambium_model(const char* path)
      : comm(MPI_COMM_SELF),
        log(nullptr), context{comm, log, timing, &cambium::c::filled(registry), 1, ".", "", "", nullptr, false, false},
        model(path, context) {}
  cambium::Comm comm;
  cambium::Log log;
  cambium::Timing timing;
  cambium::Registry registry;
  cambium::Context context;
  cambium::train::AppliedModel model;
};

/// The first `room` fields, and how many there are.
static void give(const std::vector<cambium::train::FieldInfo>& from, cambium_field* fields, int room, int* count) {
  if (count) *count = static_cast<int>(from.size());
  for (int k = 0; fields && k < room && k < std::ssize(from); ++k) {
    const auto& info = from[static_cast<std::size_t>(k)];
    cambium_field& to = fields[k];
    to = {info.name.c_str(), info.unit.c_str(), static_cast<int>(info.shape.size()), {}};
    for (std::size_t axis = 0; axis < info.shape.size() && axis < 6; ++axis) to.shape[axis] = info.shape[axis];
  }
}

static const cambium_model& opened(const cambium_model* model) {
  if (!model) throw InputError("the model is a null pointer; call cambium_model_open first");
  return *model;
}

extern "C" {

int cambium_model_open(const char* path, cambium_model** model) {
  return cambium::c::guarded([&] {
    *model = nullptr;
    cambium::c::start();
    *model = new cambium_model(path ? path : "");
  });
}

void cambium_model_close(cambium_model* model) { delete model; }

int cambium_model_inputs(const cambium_model* model, cambium_field* fields, int room, int* count) {
  return cambium::c::guarded([&] { give(opened(model).model.inputs(), fields, room, count); });
}

int cambium_model_outputs(const cambium_model* model, cambium_field* fields, int room, int* count) {
  return cambium::c::guarded([&] { give(opened(model).model.outputs(), fields, room, count); });
}

int cambium_model_infer(cambium_model* model, const cambium_array* inputs, int input_count,
                        const cambium_array* outputs, int output_count) {
  return cambium::c::guarded([&] {
    opened(model);
    model->model.infer(cambium::c::arrays_of(inputs, input_count), cambium::c::arrays_of(outputs, output_count),
                       model->comm);
  });
}

const char* cambium_model_message(void) { return cambium::c::last_message.c_str(); }

}  // extern "C"
