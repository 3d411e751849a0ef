#include "apps/cambium/bench/bench_all.hpp"

#include <fmt/format.h>

namespace cambium {

BenchResults bench_all(std::span<const Bench> benches, Context& context, bool json) {
  BenchResults results;
  for (const auto& bench : benches) {
    context.log.info(fmt::format("--- {}: {}", bench.name, bench.doc));
    nlohmann::json& figures = results.figures[bench.name];
    try {
      figures = bench.run(BenchOptions(bench.name, bench.options), context);
    } catch (...) {
      if (!every_rank_arrives(context.comm)) throw;
      const auto failure = failure_of(std::current_exception());
      figures = {{"failed", failure.text}};
      if (results.code == ExitCode::done) results.code = failure.code;
      context.log.info(fmt::format("{} failed: {}", bench.name, failure.text));
    }
    if (json) context.log.info(nlohmann::json{{bench.name, figures}}.dump());
  }
  return results;
}

}  // namespace cambium
