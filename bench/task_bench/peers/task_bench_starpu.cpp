// task_bench_starpu [patterns=NAME,NAME] [steps=N] [iterations=N] [repeats=N] [workers=N] [efficiency=X]
// Prints one object as `cambium bench task_bench --json` does.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/task_bench/peers/starpu_back_end.hpp"
#include "bench/task_bench/sweep.hpp"
#include "core/plugin/bench.hpp"

using namespace cambium;
using namespace cambium::task_bench;

namespace {

Pattern pattern_of(const std::string& name, const BenchOptions& options, std::int64_t width) {
  Pattern out{.width = width, .steps = options.integer("steps"), .radix = std::min<std::int64_t>(5, width)};
  for (const auto& known : dependence_names())
    if (name == known.name) out.dependence = known.dependence;
  return out;
}

nlohmann::json measure(const BenchOptions& options, const Comm& comm) {
  const int workers = options.integer("workers");
  const SweepSizes sizes{options.integer("iterations"), options.integer("repeats"),
                         static_cast<double>(comm.size()) * workers};
  Work work;
  const double peak = peak_rate(work, sizes, comm);  // before StarPU's threads poll for work on these cores
  const Starpu starpu(workers, comm.size() > 1);
  nlohmann::json out{{"ranks", comm.size()}, {"workers", workers}};
  std::istringstream names(options.text("patterns"));
  for (std::string name; std::getline(names, name, ',');) {
    work.graphs = {pattern_of(name, options, static_cast<std::int64_t>(comm.size()) * workers)};
    std::vector<std::unique_ptr<BackEnd>> back_ends;
    back_ends.push_back(starpu_back_end(work, comm));
    const auto points = sweep(back_ends, work, sizes, peak).front();
    const auto grain = metg(points, options.number("efficiency"));
    out[name + "_starpu_metg_us"] = grain ? nlohmann::json(1e6 * *grain) : nlohmann::json();
    auto& curve = out["measured_curves"][name + "_starpu"];
    for (const GrainPoint& p : points) {
      curve["iterations"].push_back(p.iterations);
      curve["granularity_us"].push_back(1e6 * p.granularity);
      curve["efficiency"].push_back(p.efficiency);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  {
    const Comm comm;
    const std::vector<BenchOption> known{{"patterns", "names between commas", std::string("stencil_1d,nearest,fft")},
                                         {"steps", "of each graph", std::int64_t{1000}},
                                         {"iterations", "of the largest tasks", std::int64_t{524288}},
                                         {"repeats", "runs of each size", std::int64_t{5}},
                                         {"workers", "threads of each rank", std::int64_t{1}},
                                         {"efficiency", "share of the machine's speed", 0.5}};
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto out = measure(BenchOptions("task_bench_starpu", known, words), comm);
    if (comm.root()) std::puts(out.dump().c_str());
  }
  MPI_Finalize();
  return 0;
}
