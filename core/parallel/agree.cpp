#include "core/parallel/agree.hpp"

#include <optional>

#include "core/base/key_error.hpp"

namespace cambium::io {

static void run_and_agree(const Comm& comm, bool run, const std::function<void()>& action) {
  std::string problem, id, key;
  int failed = 0, column = 0;  // failed: 2 with a key
  if (run) {
    try {
      action();
    } catch (const KeyError& error) {
      problem = error.what();
      id = error.id();
      key = error.key();
      column = static_cast<int>(error.column());
      failed = 2;
    } catch (const InputError& error) {
      problem = error.what();
      failed = 1;
    }
  }
  const int lowest = comm.size() - comm.max(failed > 0 ? comm.size() - comm.rank() : 0);
  if (lowest == comm.size()) return;
  comm.broadcast(problem, lowest);
  failed = comm.max(comm.rank() == lowest ? failed : 0);
  if (failed == 1) throw InputError(problem);
  comm.broadcast(id, lowest);
  comm.broadcast(key, lowest);
  column = comm.max(comm.rank() == lowest ? column : 0);
  throw KeyError(id, key, problem, static_cast<std::size_t>(column));
}

void on_root(const Comm& comm, const std::function<void()>& action) { run_and_agree(comm, comm.root(), action); }

void on_every_rank(const Comm& comm, const std::function<void()>& action) { run_and_agree(comm, true, action); }

}  // namespace cambium::io
