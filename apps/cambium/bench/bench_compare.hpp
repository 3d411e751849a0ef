#pragma once
#include <span>
#include <string>
#include <vector>

#include "apps/cambium/bench/figures.hpp"
#include "core/base/error.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/bench.hpp"

namespace cambium {

/// Two builds of the program and the benches to run with both.
struct ComparisonOptions {
  std::string old_program, new_program;
  std::vector<std::string> names;  ///< of benches; all that declare a turn where empty
  int turns = 5;
  int ranks = 1;        ///< more: each turn runs under mpirun
  double limit = 0.03;  ///< figures slower by more than this fraction are reported

  /// Reads `OLD NEW [names=a,b] [turns=N] [ranks=N] [limit=SHARE]`. InputError for anything else.
  static ComparisonOptions read(std::span<const std::string> words);
};

enum class Verdict { same, faster, slower, unclear };

/// One figure in every turn of both builds.
struct PairedFigure {
  std::string name;
  std::vector<double> before, after;

  /// Time of the new build over that of the old one (for rates the other way round): above 1 is slower.
  double paired_ratio() const;  ///< median over the turns; both of a turn see the same load
  double best_ratio() const;    ///< of the best turns of each
  /// Slower (or faster) only if both ratios agree: noise changes either one.
  Verdict verdict(double limit) const;
};

/// The figures of turns that have a better side, each paired by turn; those missing in some turn are left out.
std::vector<PairedFigure> paired(const std::vector<nlohmann::json>& before, const std::vector<nlohmann::json>& after);

/// Runs every bench in alternating turns (old new, new old, ...), logs a table per bench and names what became slower.
/// Returns ExitCode::numerical_failure if something did, or if a bench or its check fails in the new build.
ExitCode bench_compare(std::span<const Bench> benches, const ComparisonOptions& options, Context& context);

}  // namespace cambium
