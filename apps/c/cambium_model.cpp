#include "apps/c/cambium_model.h"

#include <cstdio>
#include <cstdlib>

#include "apps/c/c_calls.hpp"
#include "core/parallel/start_mpi.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/register.hpp"
#include "core/train/run/applied_model.hpp"
#include "core/train/start_kokkos.hpp"
#include "plugins/plugin_list.hpp"

namespace {

using cambium::InputError;

/// Before anything that needs messages or kernels.
void start() {
  int there = 0;
  MPI_Initialized(&there);
  if (!there) {
    cambium::start_mpi(nullptr, nullptr);
    std::atexit([] {
      int ended = 0;
      MPI_Finalized(&ended);
      if (!ended) MPI_Finalize();
    });
  }
  cambium::train::start_kokkos();
}

cambium::Registry& filled(cambium::Registry& registry) {
  cambium::train::register_training(registry);
  cambium::register_plugins(registry);
  return registry;
}

}  // namespace

/// A model with what it needs of the world: one process.
struct cambium_model {
  explicit cambium_model(const char* path)
      : comm(MPI_COMM_SELF),
        log(nullptr), context{comm, log, timing, &filled(registry), 1, ".", "", "", nullptr, false, false},
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
    start();
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
