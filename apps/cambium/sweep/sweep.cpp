#include "apps/cambium/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/cambium/check/run_hooks.hpp"
#include "apps/cambium/sweep/results.hpp"
#include "apps/cambium/sweep/run_state.hpp"
#include "apps/cambium/sweep/stored_sweep.hpp"
#include "core/base/text.hpp"
#include "core/base/timing.hpp"
#include "core/io/run_lock.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/parallel/wall_time.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/failure.hpp"
#include "core/run/run.hpp"
#include "core/run/run_directory.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Assignment of ranks to groups: those of one colour work together; -1 for surplus ranks.
struct Division {
  int ranks_per_run = 1, groups = 1, mine = 0;
};

Division divide(const Comm& comm, std::size_t runs, int asked) {
  if (asked > comm.size())
    throw InputError(
        fmt::format("--ranks-per-run {} is more than the {} rank{} of this call; start it with mpirun -np {}", asked,
                    comm.size(), comm.size() == 1 ? "" : "s", asked));
  Division out;
  const int most = static_cast<int>(std::max<std::size_t>(1, runs));
  out.ranks_per_run = asked > 0 ? asked : std::max(1, comm.size() / most);
  out.groups = std::min(comm.size() / out.ranks_per_run, most);
  out.mine = comm.rank() / out.ranks_per_run;
  if (out.mine >= out.groups) out.mine = -1;
  return out;
}

/// An MPI communicator of a colour.
struct Split {
  MPI_Comm handle = MPI_COMM_NULL;
  Split(const Comm& comm, int colour) {
    MPI_Comm_split(comm.handle(), colour < 0 ? MPI_UNDEFINED : colour, comm.rank(), &handle);
  }
  ~Split() {
    if (handle != MPI_COMM_NULL) MPI_Comm_free(&handle);
  }
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;
};

/// Error message, the same on every rank of a group; ends the program if some rank of it did not fail.
Failure agreed_failure(std::exception_ptr error, const Comm& comm, const std::string& directory) {
  Failure failure = failure_of(error);
  if (comm.size() == 1) return failure;
  if (!every_rank_arrives(comm)) {
    store_state(directory, {RunState::Kind::failed, static_cast<int>(failure.code), failure.text, 0.0});
    std::fprintf(stderr, "cambium: %s: %s\n", directory.c_str(), failure.text.c_str());
    std::fflush(stderr);
    MPI_Abort(comm.handle(), static_cast<int>(failure.code));
  }
  int speaker = failure.elsewhere ? comm.size() : comm.rank();
  MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm.handle());
  comm.broadcast(failure.text, speaker == comm.size() ? 0 : speaker);
  failure.code = static_cast<ExitCode>(comm.max(static_cast<int>(failure.code)));
  return failure;
}

/// The part of a sweep that one group of ranks carries out.
class Group {
 public:
  Group(const Sweep& sweep, const SweepOptions& options, const std::string& claims, const Registry& registry,
        const Context& whole, StopRequest& stop, Comm& comm)
      : sweep_(sweep), options_(options), claims_(claims), registry_(registry), whole_(whole), comm_(comm), stop_(stop),
        say_(stdout, comm_.root()) {}

  /// True when it was stopped early.
  bool operator()() {
    for (std::size_t k = 0; k < sweep_.table.rows.size(); ++k) {
      if (options_.row > 0 && k + 1 != static_cast<std::size_t>(options_.row)) continue;
      if (!take(k)) continue;
      if (stop_.agreed_before_stage() || !run(k)) return true;
    }
    return false;
  }

 private:
  /// True if this group is to carry out run k: no other group has claimed it, and it is neither done nor given up.
  bool take(std::size_t k) {
    int mine = 0;
    if (comm_.root()) {
      const RunState state = state_of(sweep_.directory_of(sweep_.table.rows[k]));
      mine = state.kind != RunState::Kind::done && (state.kind != RunState::Kind::failed || options_.retry);
      if (mine && !claims_.empty()) {
        std::FILE* file = std::fopen((claims_ + "/" + std::to_string(k)).c_str(), "wx");  // one of all groups succeeds
        mine = file != nullptr;
        if (file) std::fclose(file);
      }
    }
    return comm_.max(mine) > 0;
  }

  /// False when it was stopped early.
  bool run(std::size_t k) {
    const auto& row = sweep_.table.rows[k];
    const std::string directory = sweep_.directory_of(row);
    const double started = wall_seconds();
    RunState state{RunState::Kind::done, 0, "", 0.0};
    try {
      if (run_row(row, directory) == ExitCode::stopped_early) state.kind = RunState::Kind::begun;
    } catch (...) {
      const Failure failure = agreed_failure(std::current_exception(), comm_, directory);
      state = {RunState::Kind::failed, static_cast<int>(failure.code), failure.text, 0.0};
    }
    state.seconds = wall_seconds() - started;
    if (comm_.root()) store_state(directory, state);
    const std::string name = fmt::format("run {} of {}", k + 1, sweep_.table.rows.size());
    const std::string values = sweep_.table.values_text(row);
    if (state.kind == RunState::Kind::done)
      say_.info(fmt::format("{} done in {:.1f} s: {}", name, state.seconds, values));
    else if (state.kind == RunState::Kind::failed)
      say_.info(fmt::format("{} failed (exit code {}): {}: {}", name, state.code, values, state.reason));
    else
      say_.info(fmt::format("{} stopped with a checkpoint: {}", name, values));
    return state.kind != RunState::Kind::begun;
  }

  ExitCode run_row(const SweepTable::Row& row, const std::string& directory) {
    Log log(nullptr, comm_.root());  // its own log.txt
    Timing timing;
    Context context{comm_, log, timing};
    context.registry = &registry_;
    context.command_line = whole_.command_line;
    context.stop = &stop_;
    deck::Problems problems;
    const ReadDeck read = read_deck(sweep_.deck_of(row), sweep_.path, sweep_.named, registry_, context, problems);
    problems.throw_if_any();
    context.seed = static_cast<std::uint64_t>(read.deck.run.seed);
    context.resolved_deck = read.resolved;
    int begun = comm_.root() && fs::exists(fs::path(directory) / run_files::deck);
    context.resume = comm_.max(begun) > 0;
    try {
      return run_stages(read, program_run(sweep_.path), context);
    } catch (...) {
      log.info("failed: " + failure_of(std::current_exception()).text);  // as printed by `cambium run` on a terminal
      throw;
    }
  }

  const Sweep& sweep_;
  const SweepOptions& options_;
  const std::string claims_;
  const Registry& registry_;
  const Context& whole_;
  Comm& comm_;
  StopRequest& stop_;
  Log say_;
};

/// Locks the folder of a sweep for this call, with a subfolder in which groups of ranks claim runs.
class Folder {
 public:
  Folder(const Sweep& sweep, Context& context, bool claims) : comm_(context.comm) {
    io::on_root(comm_, [&] {
      std::error_code error;
      fs::create_directories(sweep.directory, error);
      if (error)
        throw InputError(fmt::format("cannot make the folder '{}': {}; choose another with run.directory=PATH",
                                     sweep.directory, error.message()));
      lock_ = std::make_unique<io::RunLock>(sweep.directory, context.command_line, comm_.size() > 1,
                                            [&](const std::string& text) { context.log.info(text); });
      claim_directory(sweep, context);
      const fs::path taken = fs::path(sweep.directory) / ".taken";
      fs::remove_all(taken, error);  // of a call that was killed
      if (!claims) return;
      claims_ = taken.string();
      fs::create_directories(taken, error);
    });
    comm_.broadcast(claims_);
  }
  ~Folder() {
    std::error_code ignored;
    if (comm_.root() && !claims_.empty()) fs::remove_all(claims_, ignored);
  }
  const std::string& claims() const { return claims_; }

 private:
  const Comm& comm_;
  std::unique_ptr<io::RunLock> lock_;
  std::string claims_;
};

double wall_limit(const Sweep& sweep) {
  const std::string& text = sweep.root["run"]["walltime"].text();
  return text.empty() ? 0.0 : parse_wall_time(text);
}

/// Remaining and failed runs, in words; the exit code that follows.
ExitCode conclusion(const Sweep& sweep, const SweepOptions& options, bool stopped, const std::string& reason,
                    Context& context) {
  std::size_t done = 0, failed = 0;
  int worst = 0;
  for (std::size_t k = 0; k < sweep.table.rows.size(); ++k) {
    const auto& row = sweep.table.rows[k];
    const RunState state = state_of(sweep.directory_of(row));
    if (options.row > 0 && k + 1 != static_cast<std::size_t>(options.row)) continue;
    done += state.kind == RunState::Kind::done;
    if (state.kind != RunState::Kind::failed) continue;
    ++failed;
    worst = std::max(worst, state.code);
    context.log.info(fmt::format("run {} failed (exit code {}): {}: {}\n  its log: {}/log.txt", k + 1, state.code,
                                 sweep.table.values_text(row), state.reason, sweep.directory_of(row)));
  }
  const std::size_t all = options.row > 0 ? 1 : sweep.table.rows.size();
  context.log.info(fmt::format("{} of {} run{} done in {}", done, all, all == 1 ? "" : "s", sweep.directory));
  if (failed > 0) context.log.info("what failed is begun again with --retry, once its cause is fixed");
  if (stopped) context.log.info(fmt::format("stopped by {}; the same command continues with what is missing", reason));
  return stopped ? ExitCode::stopped_early : static_cast<ExitCode>(worst);
}

std::size_t missing_runs(const Sweep& sweep, const SweepOptions& options, const Comm& comm) {
  std::int64_t count = 0;
  if (comm.root())
    for (const auto& row : sweep.table.rows) {
      const auto kind = state_of(sweep.directory_of(row)).kind;
      count += kind != RunState::Kind::done && (kind != RunState::Kind::failed || options.retry);
    }
  return options.row > 0 ? 1 : static_cast<std::size_t>(comm.sum(count));
}

}  // namespace

std::string table_text(const Sweep& sweep) {
  std::vector<std::vector<std::string>> cells{{"run"}};
  for (const auto& key : sweep.table.keys)
    cells[0].push_back(key.unit.empty() ? key.name : fmt::format("{} [{}]", key.name, key.unit));
  cells[0].insert(cells[0].end(), {"state", "folder"});
  for (std::size_t k = 0; k < sweep.table.rows.size(); ++k) {
    const auto& row = sweep.table.rows[k];
    std::vector<std::string> line{std::to_string(k + 1)};
    for (std::size_t n = 0; n < sweep.table.keys.size(); ++n)
      line.push_back(deck::to_line(sweep.table.keys[n].values[row.values[n]]));
    const RunState state = state_of(sweep.directory_of(row));
    line.push_back(state.kind == RunState::Kind::failed ? fmt::format("failed ({})", state.code) : state.text());
    line.push_back(row.folder);
    cells.push_back(std::move(line));
  }
  std::vector<std::size_t> width(cells[0].size(), 0);
  for (const auto& line : cells)
    for (std::size_t n = 0; n < line.size(); ++n) width[n] = std::max(width[n], line[n].size());
  std::string out = fmt::format("{} run{} in {}\n", sweep.table.rows.size(), sweep.table.rows.size() == 1 ? "" : "s",
                                sweep.directory);
  for (const auto& line : cells) {
    for (std::size_t n = 0; n + 1 < line.size(); ++n) out += fmt::format("  {:>{}}", line[n], width[n]);
    out += "  " + line.back() + "\n";
  }
  out.pop_back();
  return out;
}

ExitCode run_sweep(const Sweep& sweep, const SweepOptions& options, Registry& registry, Context& context) {
  if (options.row == 0) context.log.info(table_text(sweep));
  const Division part = divide(context.comm, missing_runs(sweep, options, context.comm), options.ranks_per_run);
  std::optional<Folder> folder;
  // A single run of an array uses the folder together with the others.
  if (options.row == 0)
    folder.emplace(sweep, context, part.groups > 1);
  else
    io::on_root(context.comm, [&] {
      std::error_code ignored;
      fs::create_directories(sweep.directory, ignored);
      claim_directory(sweep, context);
    });
  if (const int idle = context.comm.size() - part.groups * part.ranks_per_run; idle > 0)
    context.log.info(fmt::format("{} of {} ranks have nothing to do: {} runs at a time on {} each; see --ranks-per-run",
                                 idle, context.comm.size(), part.groups, part.ranks_per_run));
  int stopped = 0;
  std::string reason;
  {
    const Split split(context.comm, part.mine);
    if (split.handle != MPI_COMM_NULL) {
      Comm comm(split.handle);
      StopRequest stop(comm, wall_seconds(), wall_limit(sweep));
      stopped = Group(sweep, options, folder ? folder->claims() : "", registry, context, stop, comm)();
      reason = stop.reason();
    }
  }
  context.comm.barrier();
  stopped = context.comm.max(stopped);
  io::on_root(context.comm, [&] {
    if (options.row == 0) write_results(sweep.directory, context);
  });
  int code = 0;
  if (context.comm.root())
    code = static_cast<int>(conclusion(sweep, options, stopped > 0, reason.empty() ? "a signal" : reason, context));
  return static_cast<ExitCode>(context.comm.max(code));
}

ExitCode check_sweep(const Sweep& sweep, Registry& registry, Context& context) {
  context.log.info(table_text(sweep));
  std::vector<std::string> refused;
  for (std::size_t k = 0; k < sweep.table.rows.size(); ++k) {
    const auto& row = sweep.table.rows[k];
    Log silent;
    Log& log = k == 0 ? context.log : silent;
    if (k == 0) log.info(fmt::format("\nthe first run: {}", sweep.table.values_text(row)));
    Timing timing;
    Context own{context.comm, log, timing};
    own.registry = &registry;
    own.command_line = context.command_line;
    try {
      deck::Problems problems;
      const ReadDeck read = read_deck(sweep.deck_of(row), sweep.path, sweep.named, registry, own, problems);
      problems.throw_if_any();
      own.seed = static_cast<std::uint64_t>(read.deck.run.seed);
      own.resolved_deck = read.resolved;
      check_deck(read, sweep.path, own);
    } catch (const InputError& error) {
      refused.push_back(fmt::format("run {} ({}): {}", k + 1, sweep.table.values_text(row), error.what()));
    }
    if (k > 0)
      for (const auto& warning : silent.warnings())
        context.log.warn(fmt::format("run {} ({}): {}", k + 1, sweep.table.values_text(row), warning.text));
  }
  if (!refused.empty()) throw InputError(join(refused, "\n"));
  context.log.info(fmt::format("\nthe decks of all {} runs are sound; nothing was run", sweep.table.rows.size()));
  return ExitCode::done;
}

}  // namespace cambium
