#pragma once
#include <functional>
#include <nlohmann/json.hpp>

#include "core/plugin/bench.hpp"

namespace cambium {

/// `cambium bench lowp`: the low-precision kernels, each compared with its reference implementation in the same run,
/// one core.
Bench bench_lowp();

namespace bench {
/// Adds keys to `out`; returns "" or the problem.
std::string lossy(const std::string& file, nlohmann::json& out);
std::string infer(int size, nlohmann::json& out);
std::string wire(nlohmann::json& out);

/// Least core seconds of `repeats` calls.
double least_seconds(int repeats, const std::function<void()>& call);
/// The same for two that alternate, so that other load on the machine affects both.
std::pair<double, double> least_seconds(int repeats, const std::function<void()>& one,
                                        const std::function<void()>& other);
}  // namespace bench

}  // namespace cambium
