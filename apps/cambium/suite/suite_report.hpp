#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cambium/suite/score.hpp"

namespace cambium::train {

/// Runs of one benchmark with one batch on one number of ranks: the basis of a score.
struct RunSet {
  std::string benchmark;
  std::int64_t batch = 0, ranks = 0;  ///< 0: not in the logs
  std::vector<MlLogFile> logs;
};

/// Logs in such sets, by benchmark, ranks and batch in rising order.
std::vector<RunSet> sets_of(std::vector<MlLogFile> logs);

/// Counts of a phase in profiles (`run: {profile: true}`) on rank 0, over the runs of a set.
struct PhaseRoof {
  double seconds = 0.0, counted = 0.0;  ///< s of all its rows, and of those whose operations or bytes are known
  std::map<std::string, double> roofs;  ///< s that these would take at the peaks, by what binds them: matrix, vector,
                                        ///< memory, messages, files
  /// Fraction of its roofline that the counted part reaches; above 1 if data stay in caches.
  double share() const;
  /// Kind that accounts for most of its roofline time. Empty if nothing is counted.
  std::string binding() const;
};
/// By phase; time of a profile outside of sections is "staging". Adds the profile.json of the training stage in the
/// folder of `log`, if there is one.
void add_phase_roofs(const MlLogFile& log, std::map<std::string, PhaseRoof>& out);

/// Cost of a set.
struct SetSummary {
  RunSet set;
  Score score;
  int against_rules = 0;                     ///< logs that break a rule
  int resumed = 0;                           ///< runs that were stopped and went on
  double epochs_mean = 0.0, epochs_sd = 0.0; /**< to the target, of runs that reached it; the mean without extremes */
  double all_instances_seconds = 0.0;        ///< from the first run_start to the last run_stop of the set
  double wall = 0.0;                         ///< mean of run_start to run_stop
  /// Means over the runs, in seconds: of phases that the logs name (data, gradient, reduce, validate, ...), and before
  /// run_start (init_start to init_stop) as "staging".
  std::vector<std::pair<std::string, double>> phases;
  std::map<std::string, PhaseRoof> roofs;  ///< of those with a profile
  /// Fraction of the wall time covered by the phases after run_start; 0 if the logs name none.
  double explained() const;
  /// The same in four parts, staging included: "staging" (before the run, and waits for data), "communication",
  /// "evaluation" and "computing", which is the rest.
  std::vector<std::pair<std::string, double>> split() const;
};
SetSummary summary_of(RunSet set, int asked = 0);

nlohmann::json to_json(const std::vector<SetSummary>& summaries);
/// The same as a page (Markdown).
std::string page_of(const std::vector<SetSummary>& summaries);

}  // namespace cambium::train
