#pragma once
#include "bench/task_bench/back_end.hpp"

namespace cambium::task_bench {

/// StarPU with `workers` workers on each rank, on several ranks with its MPI library, initialised on construction: one
/// object at a time.
class Starpu {
 public:
  Starpu(int workers, bool with_messages);
  ~Starpu();
  Starpu(const Starpu&) = delete;
  Starpu& operator=(const Starpu&) = delete;

 private:
  bool with_messages_;
};

/// Points are data of two turns, each written by every second step; StarPU infers dependencies from the order of
/// insertion, and sends data read by other ranks. Every rank inserts all tasks, as shown in its manual.
std::unique_ptr<BackEnd> starpu_back_end(const Work& work, const Comm& comm);

}  // namespace cambium::task_bench
