#include "bench/task_bench/peers/starpu_back_end.hpp"

#include <starpu.h>
#include <starpu_mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

namespace cambium::task_bench {

Starpu::Starpu(int workers, bool with_messages) : with_messages_(with_messages) {
  setenv("STARPU_MPI_NOBIND", "1", 0);  // its thread for messages is not to sit on the core of a worker
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = workers;
  conf.reserve_ncpus = 0;
  if (starpu_init(&conf) != 0 || (with_messages && starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD) != 0))
    throw std::runtime_error("StarPU does not start");
}

Starpu::~Starpu() {
  if (with_messages_) starpu_mpi_shutdown();
  starpu_shutdown();
}

namespace {

constexpr std::size_t turns = 2;  // a step reads the output of the previous one

/// Arguments of a task in addition to its data.
struct Argument {
  const Work* work;
  std::size_t graph;
  std::int64_t step, point;
  std::vector<std::int64_t> from;
};

void run_codelet(void** buffers, void* argument) {
  const auto& a = *static_cast<const Argument*>(argument);
  const auto bytes = static_cast<std::size_t>(a.work->output_bytes);
  thread_local Scratch scratch;
  thread_local std::vector<Bytes> inputs;
  inputs.clear();
  for (std::size_t k = 0; k < a.from.size(); ++k)
    inputs.emplace_back(reinterpret_cast<const std::byte*>(STARPU_VARIABLE_GET_PTR(buffers[k + 1])), bytes);
  const std::span output(reinterpret_cast<std::byte*>(STARPU_VARIABLE_GET_PTR(buffers[0])), bytes);
  run_task(*a.work, a.work->graphs[a.graph], a.step, a.point, a.from, inputs, output, scratch);
}

class StarpuBackEnd : public BackEnd {
 public:
  StarpuBackEnd(const Work& work, const Comm& comm) : BackEnd(work, comm) {
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = run_codelet;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    for (std::size_t g = 0; g < work_.graphs.size(); ++g) add_data(work_.graphs[g]);
    for (std::size_t g = 0; g < work_.graphs.size(); ++g) steps_ = std::max(steps_, work_.graphs[g].steps);
    for (std::int64_t step = 0; step < steps_; ++step)
      for (std::size_t g = 0; g < work_.graphs.size(); ++g) add_arguments(g, step);
  }
  ~StarpuBackEnd() override {
    for (Data& data : data_)
      for (auto& turn : data.handles)
        for (starpu_data_handle_t handle : turn) starpu_data_unregister(handle);
  }

 private:
  struct Data {
    std::array<std::vector<starpu_data_handle_t>, turns> handles;  ///< by point
    std::array<std::vector<std::vector<std::byte>>, turns> values;
  };

  /// Own points are stored here, others where StarPU allocates them.
  void add_data(const Pattern& pattern) {
    Data& data = data_.emplace_back();
    const auto bytes = static_cast<std::size_t>(work_.output_bytes);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      data.handles[turn].resize(pattern.width);
      data.values[turn].assign(pattern.width, std::vector<std::byte>(bytes));
      for (std::int64_t p = 0; p < pattern.width; ++p) {
        auto& handle = data.handles[turn][p];
        const int rank = rank_of(p, pattern.width, comm_.size());
        const bool own = rank == comm_.rank();
        const auto address = reinterpret_cast<uintptr_t>(data.values[turn][p].data());
        starpu_variable_data_register(&handle, own ? STARPU_MAIN_RAM : -1, own ? address : 0, bytes);
        if (comm_.size() > 1) starpu_mpi_data_register(handle, tags_++, rank);
      }
    }
  }

  void add_arguments(std::size_t g, std::int64_t step) {
    const Pattern& pattern = work_.graphs[g];
    if (step >= pattern.steps) return;
    for (std::int64_t k = 0; k < pattern.points(step); ++k) {
      const std::int64_t point = pattern.offset(step) + k;
      arguments_.push_back({&work_, g, step, point, pattern.inputs(step, point)});
    }
  }

  void run() override {
    std::vector<starpu_data_descr> data;
    for (Argument& a : arguments_) {
      const Data& d = data_[a.graph];
      const auto turn = static_cast<std::size_t>(a.step) % turns;
      data.assign(1, {d.handles[turn][a.point], STARPU_W});
      for (const std::int64_t p : a.from) data.push_back({d.handles[(turn + 1) % turns][p], STARPU_R});
      const int count = static_cast<int>(data.size());
      const int failed = comm_.size() == 1
                             ? starpu_task_insert(&codelet_, STARPU_DATA_MODE_ARRAY, data.data(), count,
                                                  STARPU_CL_ARGS_NFREE, &a, sizeof(Argument), 0)
                             : starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet_, STARPU_DATA_MODE_ARRAY, data.data(),
                                                      count, STARPU_CL_ARGS_NFREE, &a, sizeof(Argument), 0);
      if (failed != 0) throw std::runtime_error("StarPU refuses a task");
    }
    starpu_task_wait_for_all();
    if (comm_.size() > 1) starpu_mpi_wait_for_all(MPI_COMM_WORLD);
  }

  starpu_codelet codelet_{};
  std::vector<Data> data_;
  std::vector<Argument> arguments_;
  std::int64_t steps_ = 0;
  starpu_mpi_tag_t tags_ = 1;
};

}  // namespace

std::unique_ptr<BackEnd> starpu_back_end(const Work& work, const Comm& comm) {
  return std::make_unique<StarpuBackEnd>(work, comm);
}

}  // namespace cambium::task_bench
