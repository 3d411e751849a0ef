#pragma once
#include "core/driver/bench/task_bench/back_end.hpp"

namespace cambium::task_bench {

/// StarPU and its MPI library with so many workers on each rank, from construction on: one at a time.
class Starpu {
 public:
  explicit Starpu(int workers);
  ~Starpu();
  Starpu(const Starpu&) = delete;
  Starpu& operator=(const Starpu&) = delete;
};

/// Points are data of two turns, each written by every second step; StarPU finds from the order of insertion who waits
/// for whom, and sends what other ranks read. Every rank inserts all tasks, as its manual shows.
std::unique_ptr<BackEnd> starpu_back_end(const Work& work, const Comm& comm);

}  // namespace cambium::task_bench
