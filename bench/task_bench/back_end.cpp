#include "bench/task_bench/back_end.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::task_bench {

double BackEnd::seconds(std::int64_t iterations) {
  work_.kernel.iterations = iterations;
  comm_.barrier();
  const double start = wall_seconds();
  run();
  comm_.barrier();
  return comm_.max(wall_seconds() - start);
}

Traffic::Traffic(const Pattern& pattern, std::int64_t set, const Comm& comm)
    : out(static_cast<std::size_t>(comm.size())), in(out.size()) {
  for (std::int64_t to = 0; to < pattern.width; ++to) {
    const int reader = rank_of(to, pattern.width, comm.size());
    for (const std::int64_t from : pattern.of_set(set, to)) {
      const int maker = rank_of(from, pattern.width, comm.size());
      if (maker == reader) continue;
      if (maker == comm.rank()) out[reader].push_back({from, to});
      if (reader == comm.rank()) in[maker].push_back({from, to});
    }
  }
  const auto by_maker = [](const Edge& a, const Edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; };
  for (auto* lists : {&out, &in})
    for (auto& edges : *lists) std::sort(edges.begin(), edges.end(), by_maker);
}

std::unique_ptr<BackEnd> make_back_end(const std::string& name, const Work& work, const Comm& comm, int threads) {
  if (name == "messages") return message_back_end(work, comm, false);
  if (name == "bulk_synchronous") return message_back_end(work, comm, true);
  if (name == "tasks") return task_back_end(work, comm, threads, true);
  if (name == "tasks_by_messages") return task_back_end(work, comm, threads, false);
  if (name == "schedule") return schedule_back_end(work, comm);
  throw InternalError("there is no back end " + name);
}

}  // namespace cambium::task_bench
