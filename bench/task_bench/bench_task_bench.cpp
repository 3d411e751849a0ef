#include "bench/task_bench/bench_task_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bench/task_bench/back_end.hpp"
#include "bench/task_bench/metg.hpp"
#include "bench/task_bench/sweep.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

namespace task_bench {

namespace {

using Json = nlohmann::json;

const std::vector<std::string> back_end_names{"messages", "bulk_synchronous", "tasks", "tasks_by_messages", "schedule"};

std::vector<std::string> pattern_names() {
  std::vector<std::string> out;
  for (const auto& name : dependence_names()) out.emplace_back(name.name);
  return out;
}

/// Words of an option between commas; "all" is all that there are.
std::vector<std::string> chosen(const std::string& option, const std::string& text,
                                const std::vector<std::string>& known) {
  if (text == "all") return known;
  std::vector<std::string> out;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    out.push_back(text.substr(first, last - first));
    if (std::find(known.begin(), known.end(), out.back()) == known.end())
      throw InputError(
          fmt::format("bench task_bench: {} names '{}'{}", option, out.back(), suggestion(out.back(), known)));
    first = last + 1;
  }
  return out;
}

struct Sizes {
  std::int64_t width, steps, graphs, largest;
  int repeats, threads;
  double efficiency;
  SweepSizes of_sweep(const Comm& comm) const { return {largest, repeats, static_cast<double>(comm.size()) * threads}; }
};

std::int64_t at_least(const BenchOptions& options, const char* name, std::int64_t least) {
  const std::int64_t value = options.integer(name);
  if (value < least) throw InputError(fmt::format("bench task_bench: {} is {}; give {} or more", name, value, least));
  return value;
}

Sizes sizes_of(const BenchOptions& options, const Comm& comm) {
  Sizes out{options.integer("width"),
            at_least(options, "steps", 2),
            at_least(options, "graphs", 1),
            at_least(options, "iterations", 1),
            static_cast<int>(at_least(options, "repeats", 1)),
            static_cast<int>(at_least(options, "threads", 1)),
            options.number("efficiency")};
  if (out.width == 0) out.width = static_cast<std::int64_t>(comm.size()) * out.threads;
  if (out.efficiency <= 0.0 || out.efficiency >= 1.0)
    throw InputError(fmt::format("bench task_bench: efficiency is {:g}; give a share between 0 and 1", out.efficiency));
  return out;
}

Work work_of(const std::string& pattern, const Sizes& sizes, const BenchOptions& options) {
  Work out;
  Pattern p;
  for (const auto& known : dependence_names())
    if (pattern == known.name) p.dependence = known.dependence;
  p.width = sizes.width;
  p.steps = sizes.steps;
  p.radix = std::min<std::int64_t>(options.integer("radix"), p.width);
  p.period = p.dependence == Dependence::spread
                 ? std::min<std::int64_t>(options.integer("period"),
                                          (p.width + p.radix - 1) / std::max<std::int64_t>(p.radix, 1))
                 : options.integer("period");
  if (const auto problem = p.problem(); !problem.empty()) throw InputError("bench task_bench: " + problem);
  for (std::int64_t g = 0; g < sizes.graphs; ++g) {
    p.graph = g;
    out.graphs.push_back(p);
  }
  for (const auto& known : kernel_names())
    if (options.text("kernel") == known.name) out.kernel.kind = known.kind;
  out.kernel.imbalance = options.number("imbalance");
  if (out.kernel.imbalance < 0.0 || out.kernel.imbalance > 2.0)
    throw InputError(fmt::format("bench task_bench: imbalance is {:g}; give 0 to 2", out.kernel.imbalance));
  out.kernel.scratch = options.integer("scratch");
  out.output_bytes = options.integer("output_bytes");
  if (out.output_bytes < 16 || out.output_bytes % 16 != 0)
    throw InputError(fmt::format("bench task_bench: output_bytes is {}; give a multiple of 16", out.output_bytes));
  return out;
}

void note(Json& out, const std::string& name, const std::vector<GrainPoint>& points, double efficiency, Log& log) {
  const auto grain = metg(points, efficiency);
  const std::string key = name + "_metg_us";
  if (grain)
    out[key] = 1e6 * *grain;
  else
    out[key] = nullptr;
  Json& curve = out["measured_curves"][name];
  for (const auto& p : points) {
    curve["iterations"].push_back(p.iterations);
    curve["granularity_us"].push_back(1e6 * p.granularity);
    curve["efficiency"].push_back(p.efficiency);
  }
  log.info(grain ? fmt::format("{:<44}{:10.3f} us at {:g} %", name, 1e6 * *grain, 100.0 * efficiency)
                 : fmt::format("{:<44}      none: {:.1f} % at most", name,
                               100.0 * std::max_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
                                         return a.efficiency < b.efficiency;
                                       })->efficiency));
}

/// Measures the cost of each back end on one pattern.
void measure_pattern(const std::string& pattern, const std::vector<std::string>& names, const Work& work,
                     const Sizes& sizes, double peak, Context& context, Json& out) {
  std::vector<std::unique_ptr<BackEnd>> back_ends;
  for (const auto& name : names) back_ends.push_back(make_back_end(name, work, context.comm, sizes.threads));
  SweepSizes how = sizes.of_sweep(context.comm);
  const bool has_speed = work.kernel.kind != KernelKind::empty;
  if (!has_speed) how.largest = 1;  // cost of an empty task
  const auto curves = sweep(back_ends, work, how, has_speed ? peak : 1.0);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string key = pattern + "_" + names[k];
    if (has_speed)
      note(out, key, curves[k], sizes.efficiency, context.log);
    else
      out[key + "_us_per_task"] = 1e6 * curves[k].front().granularity;
  }
  const auto grain = [&](const char* name) { return out.value(pattern + "_" + name + "_metg_us", Json()); };
  for (const char* name : {"tasks", "schedule"})
    if (grain(name).is_number() && grain("messages").is_number())
      out[pattern + "_" + name + "_over_messages_ratio"] = grain(name).get<double>() / grain("messages").get<double>();
}

/// Large values with and without as much work as their messages take time.
void measure_large(const std::vector<std::string>& names, const Sizes& sizes, const BenchOptions& options, double peak,
                   Context& context, Json& out) {
  const std::int64_t bytes = options.integer("hide_bytes");
  if (bytes < 16 || bytes % 16 != 0)
    throw InputError(fmt::format("bench task_bench: hide_bytes is {}; give a multiple of 16, or 0", bytes));
  Sizes several = sizes;
  several.graphs = std::max(sizes.graphs, at_least(options, "hide_graphs", 1));
  several.steps = std::min<std::int64_t>(sizes.steps, at_least(options, "hide_steps", 2));
  out["hide_graphs"] = several.graphs;
  for (const auto& name : names) {
    const Hiding h = measure_hiding(name, work_of("stencil_1d", several, options), sizes.of_sweep(context.comm), bytes,
                                    peak, sizes.threads, context.comm);
    out[name + "_hidden_share"] = h.share();
    out["measured_hiding"][name] = {{"messages_seconds", h.messages},
                                    {"values_seconds", h.values},
                                    {"work_seconds", h.work},
                                    {"together_seconds", h.together}};
    context.log.info(fmt::format("{:<44}{:9.1f} % of messages of {} bytes hidden", name, 100.0 * h.share(), bytes));
  }
}

Json measure(const BenchOptions& options, Context& context) {
  const Sizes sizes = sizes_of(options, context.comm);
  const auto patterns = chosen("patterns", options.text("patterns"), pattern_names());
  const auto back_ends = chosen("back_ends", options.text("back_ends"), back_end_names);
  Json out{{"ranks", context.comm.size()},
           {"threads", sizes.threads},
           {"width", sizes.width},
           {"steps", sizes.steps},
           {"graphs", sizes.graphs}};
  std::int64_t tasks = 0, checked = 0;
  double peak = 0.0;
  for (const auto& pattern : patterns) {
    const Work work = work_of(pattern, sizes, options);
    if (peak == 0.0 && work.kernel.kind != KernelKind::empty) {
      peak = peak_rate(work, sizes.of_sweep(context.comm), context.comm);
      out["kernel_peak_gflops"] = 1e-9 * peak * work.kernel.flops_of(1'000'000) / 1e6;
    }
    measure_pattern(pattern, back_ends, work, sizes, peak, context, out);
    for (const Pattern& p : work.graphs) {
      tasks += p.tasks();
      checked += p.dependencies();
    }
  }
  if (options.integer("hide_bytes") != 0 && peak > 0.0) measure_large(back_ends, sizes, options, peak, context, out);
  out["check"] =
      fmt::format("ok: in every turn each of {} inputs of {} tasks was of the step and the point that the patterns say",
                  checked, tasks);
  return out;
}

}  // namespace

}  // namespace task_bench

Bench bench_task_bench() {
  std::vector<std::string> kernels;
  for (const auto& kernel : task_bench::kernel_names()) kernels.emplace_back(kernel.name);
  return {"task_bench",
          "the smallest task that runs at half the speed of the machine (METG), over messages, tasks and a schedule",
          task_bench::measure,
          {{"patterns", "names between commas, or all", "stencil_1d,nearest,fft"},
           {"back_ends", "names between commas, or all", "messages,tasks,schedule"},
           {"kernel", "what a task does", "compute_bound", kernels},
           {"iterations", "of the largest tasks, halved down to one", 65536},
           {"steps", "of each graph", 1000},
           {"width", "points of a step; 0: one for each core", 0},
           {"graphs", "that run side by side", 1},
           {"radix", "of nearest, spread and random_nearest; at most the width", 5},
           {"period", "of spread and random_nearest", 3},
           {"imbalance", "of load_imbalance: iterations of a task lie within 1 -+ half of it", 0.0},
           {"scratch", "bytes of a point that memory_bound, dgemm and daxpy work on", 65536},
           {"output_bytes", "of every task", 16},
           {"hide_bytes", "of values that are to be hidden behind equal work; 0: not measured", 1048576},
           {"hide_graphs", "that run side by side while they are hidden: one alone has nothing to do meanwhile", 4},
           {"hide_steps", "of each of these, at most", 200},
           {"threads", "of each rank, in the back end tasks", 1},
           {"repeats", "runs of each size of which the median is taken", 5},
           {"efficiency", "share of the machine's speed that is asked for", 0.5}},
          {"patterns=stencil_1d", "steps=200", "iterations=4096", "repeats=3", "hide_bytes=0"}};
}

}  // namespace cambium
