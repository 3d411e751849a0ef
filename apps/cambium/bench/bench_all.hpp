#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "core/plugin/bench.hpp"
#include "core/run/failure.hpp"

namespace cambium {

/// Results of a row of benches: an object per bench, by its name. One that failed has the single key `failed` with its
/// message, and `code` is the exit code of the first such.
struct BenchResults {
  nlohmann::json figures = nlohmann::json::object();
  ExitCode code = ExitCode::done;
};

/// Runs the benches one after the other with their defaults. A bench that fails on every rank loses only its own
/// figures; one that fails on some ranks leaves the others waiting, and ends the run as any such failure does. With
/// `json`, each result is logged as one line as soon as it is available, so a killed run has reported what it had.
BenchResults bench_all(std::span<const Bench> benches, Context& context, bool json);

}  // namespace cambium
