// Two builds beside each other: which figures have a better side, and when a difference is more than noise.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cambium/bench/bench_compare.hpp"
#include "core/base/child.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;

namespace {

PairedFigure times(std::vector<double> before, std::vector<double> after) {
  return {"seconds", std::move(before), std::move(after)};
}

/// A program that answers every bench with these figures.
std::string program(const std::string& path, const std::string& figures) {
  std::ofstream(path) << "#!/bin/sh\necho a banner\necho '" << figures << "'\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

}  // namespace

TEST_CASE("the better side of a figure is read off its name") {
  for (const char* name : {"cpu_ms_float32", "seconds_to_t10", "scaling.0.phases.columns_seconds", "mixed_us_1536",
                           "own_mib_per_rank", "ms_per_molecule"})
    CHECK(better_when(name) == Better::lower);
  for (const char* name : {"lj_atom_steps_per_s", "m_cell_steps_1x1v_p1", "gflops_krylov_iter1_1e-05",
                           "bf16_encode_gbs", "evaluations_per_hour", "m_cell_steps_per_s"})
    CHECK(better_when(name) == Better::higher);
  for (const char* name :
       {"lj_lammps_atom_steps_per_s", "pytorch_cpu_ms_float32", "ratio_pytorch", "gflops_limit", "error_mev_krylov",
        "ranks", "steps_to_t10", "arithmetic_share_1x1v_p1", "step_seconds_nested", "gemm_gflops_float32"})
    CHECK(better_when(name) == Better::neither);
}

TEST_CASE("numbers of a bench are found at every depth, without what was measured with") {
  const auto numbers = numbers_of({{"a", 1.5},
                                   {"text", "no"},
                                   {"rows", {{{"s", 2}}, {{"s", 3}}}},
                                   {"measured", {{"ranks", 4}}},
                                   {"measured_two_ranks", {{"ranks", 2}}}});
  CHECK(numbers == std::map<std::string, double>{{"a", 1.5}, {"rows.0.s", 2.0}, {"rows.1.s", 3.0}});
}

TEST_CASE("slower is what both the paired turns and the best turns say") {
  CHECK(times({1.0, 1.1, 1.0}, {1.5, 1.7, 1.6}).verdict(0.03) == Verdict::slower);
  CHECK(times({1.5, 1.7, 1.6}, {1.0, 1.1, 1.0}).verdict(0.03) == Verdict::faster);
  CHECK(times({1.0, 1.1, 1.0}, {1.02, 1.1, 1.01}).verdict(0.03) == Verdict::same);
  CHECK(times({1.0, 2.0, 1.0}, {1.0, 2.1, 1.9}).verdict(0.03) == Verdict::same);  // a disturbed turn
  CHECK(times({1.0, 2.0, 2.0}, {1.2, 1.8, 1.8}).verdict(0.03) ==
        Verdict::unclear);  // medians and best turns contradict
  const PairedFigure rate{"steps_per_s", {2.0, 2.0}, {1.0, 1.0}};
  CHECK(rate.paired_ratio() == 2.0);
  CHECK(rate.verdict(0.03) == Verdict::slower);
}

TEST_CASE("figures that not every turn gave are left out") {
  const auto figures = paired({{{"seconds", 1.0}, {"old_seconds", 2.0}, {"ratio", 3.0}}},
                              {{{"seconds", 1.25}, {"new_seconds", 2.0}, {"ratio", 1.0}}});
  REQUIRE(figures.size() == 1);
  CHECK(figures[0].name == "seconds");
  CHECK(figures[0].best_ratio() == 1.25);
}

TEST_CASE("two programs are compared by what they print") {
  World w;
  const SharedScratch scratch(w.comm);
  const std::string& folder = scratch.folder;
  const std::string slow = program(folder + "/slow", R"({"seconds": 2.0, "check": "ok"})"),
                    fast = program(folder + "/fast", R"({"seconds": 1.0, "check": "ok"})");
  const std::string wrong = program(folder + "/wrong", R"({"seconds": 1.0, "check": "WRONG: E"})");
  const std::vector<Bench> benches{{"one", "", {}, {}, {"steps=1"}}, {"long", "", {}}};
  const auto compare = [&](const std::string& before, const std::string& after) {
    const std::vector<std::string> words{before, after, "turns=3"};
    return bench_compare(benches, ComparisonOptions::read(words), w.context);
  };
  CHECK(compare(fast, fast) == ExitCode::done);
  CHECK(compare(slow, fast) == ExitCode::done);
  CHECK(compare(fast, slow) == ExitCode::numerical_failure);
  CHECK(compare(fast, wrong) == ExitCode::numerical_failure);
  CHECK(compare(fast, folder + "/missing") == ExitCode::numerical_failure);
}

TEST_CASE("words of a comparison that make no sense are refused") {
  const auto refused = [](std::vector<std::string> words) {
    try {
      ComparisonOptions::read(words);
      return std::string();
    } catch (const InputError& e) {
      return std::string(e.what());
    }
  };
  CHECK(refused({"old"}) ==
        "bench compare takes two programs: `cambium bench compare OLD NEW`, for example bench compare old/bin/cambium "
        "build/bin/cambium");
  CHECK(refused({"old", "new", "turn=3"}) ==
        "bench compare has no option 'turn'; did you mean 'turns'? It takes names=a,b turns=5 ranks=1 limit=0.03");
  CHECK(refused({"old", "new", "turns=many"}) == "bench compare: turns is 'many'; give a number from 1 to 1000");
  CHECK(ComparisonOptions::read(std::vector<std::string>{"old", "new", "names=md,train", "limit=0.05"}).names.size() ==
        2);
}

TEST_CASE("a child's output and end are told, and it does not take itself for a rank") {
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  CHECK(output_of({"sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK"}).text == "rank\n");
  unsetenv("OMPI_COMM_WORLD_RANK");
  CHECK(output_of({"sh", "-c", "exit 3"}).status == 3);
  CHECK(output_of({"sh", "-c", "kill -9 $$"}).status == 137);
  CHECK(output_of({"/no/such/program"}).status == 127);
}
