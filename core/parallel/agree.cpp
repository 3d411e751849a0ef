#include "core/parallel/agree.hpp"

#include "core/base/error.hpp"

namespace cambium::io {

static void run_and_agree(const Comm& comm, bool run, const std::function<void()>& action) {
  std::string problem;
  bool failed = false;
  if (run) {
    try {
      action();
    } catch (const InputError& error) {
      problem = error.what();
      failed = true;
    }
  }
  const int lowest = comm.size() - comm.max(failed ? comm.size() - comm.rank() : 0);
  if (lowest == comm.size()) return;
  comm.broadcast(problem, lowest);
  throw InputError(problem);
}

void on_root(const Comm& comm, const std::function<void()>& action) { run_and_agree(comm, comm.root(), action); }

void on_every_rank(const Comm& comm, const std::function<void()>& action) { run_and_agree(comm, true, action); }

}  // namespace cambium::io
