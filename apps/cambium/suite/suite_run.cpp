#include "apps/cambium/suite/suite_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "apps/cambium/check/run_hooks.hpp"
#include "apps/cambium/suite/rules.hpp"
#include "apps/cambium/sweep/run_state.hpp"
#include "apps/cambium/sweep/sweep.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/timing.hpp"
#include "core/deck/differences.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/shipped.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run.hpp"
#include "core/run/run_directory.hpp"
#include "core/train/run/submission.hpp"

namespace cambium::train {

namespace fs = std::filesystem;

namespace {

/// The stage to be measured; none if no stage train has a submission.
std::optional<std::size_t> measured_stage(const deck::Node& root) {
  for (std::size_t k = 0; k < root["stages"].items().size(); ++k)
    if (root["stages"][k]["train"]["submission"].is_map()) return k;
  return {};
}

std::string benchmark_of(const deck::Node& root) {
  const auto stage = measured_stage(root);
  if (!stage) return "";
  const std::string name = root["stages"][*stage]["train"]["submission"]["benchmark"].text();
  return name.empty() ? Submission().benchmark : name;
}

/// Other names of a benchmark.
std::string rules_name(const std::string& name) { return name == "open_catalyst" ? "oc20" : name; }

deck::Node in_directory(const deck::Node& root, const std::string& directory) {
  const auto run = root["run"].is_map() ? root["run"] : deck::Node::map({});
  return root.with("run", run.with("directory", deck::Node::scalar(directory, true)));
}

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

/// InputError if a folder holds data of another deck than that of the training.
void require_same_data(const std::string& data, const std::string& resolved) {
  const auto plain = [](const deck::Node& root) {
    return root.with("run", root["run"].without([](const auto& key) { return key == "walltime"; }));
  };
  const auto stored = deck::parse(text_in(data, run_files::deck), run_files::deck);
  const auto all = deck::differences(plain(stored), plain(deck::parse(resolved, run_files::deck)));
  if (all.empty()) return;
  throw InputError(
      fmt::format("'{}' holds data of another deck: {} is {} there and {} here; give the deck and its keys as they "
                  "were, or make data and runs again with another --into",
                  data, all[0].path, all[0].from, all[0].to));
}

/// One benchmark: its deck, split into the stages before the training and the training.
class Measured {
 public:
  Measured(const std::string& path, const SuiteRun& asked, Registry& registry, Context& context)
      : path_(shipped_file(path, "inputs", context.comm)), asked_(asked), registry_(registry), context_(context) {
    deck::Problems problems;
    DeckOptions options = asked.deck;
    const auto loaded = load_deck(written_deck(path_, context.comm), options, registry, context, problems);
    problems.throw_if_any();
    root_ = loaded.root;
    named_ = loaded.named;
    const auto stage = measured_stage(root_);
    if (!stage)
      throw InputError(
          fmt::format("'{}' has no stage train with a submission: there is nothing to measure; give one "
                      "with mllog: true and submission",
                      path_));
    stage_ = *stage;
    folder_ = fs::absolute(fs::path(asked.into) / benchmark_of(root_)).lexically_normal();
    require_overrides();
  }

  ExitCode stage_data() {
    if (stage_ == 0) return ExitCode::done;
    const std::string data = (folder_ / "data").string();
    std::string state;  // as rank 0 finds it, before any rank writes there
    io::on_root(context_.comm, [&] { state = state_of(data).text(); });
    context_.comm.broadcast(state);
    std::vector<deck::Node> before(root_["stages"].items().begin(),
                                   root_["stages"].items().begin() + static_cast<std::ptrdiff_t>(stage_));
    auto root = root_.with("stages", deck::Node::list(std::move(before)));
    root = in_directory(root, data);
    deck::Problems problems;
    const auto deck = read_deck(root, path_, named_, registry_, context_, problems);
    problems.throw_if_any();
    if (state != "missing") io::on_root(context_.comm, [&] { require_same_data(data, deck.resolved); });
    if (state == "done") return ExitCode::done;
    Context own = context_;
    own.resume = state != "missing";
    own.seed = static_cast<std::uint64_t>(deck.deck.run.seed);
    own.resolved_deck = deck.resolved;
    StopRequest stop(own.comm, wall_seconds(), 0.0);
    own.stop = &stop;
    return run_stages(deck, program_run(path_), own);
  }

  /// Runs of `ranks` ranks each; 0: the ranks are divided by the number of runs.
  ExitCode train(int ranks, std::vector<std::string>& folders) {
    const std::string name = ranks > 0 ? fmt::format("train_{}", ranks) : "train";
    const std::string directory = (folder_ / name).string(), deck = directory + ".yaml";
    const std::string text = deck_of_training(directory);
    io::on_root(context_.comm, [&] {
      fs::create_directories(folder_);
      io::write_file_atomically(deck, text);
    });
    SweepOptions options;
    options.ranks_per_run = ranks;
    std::vector<int> seeds;
    for (int k = 1; k <= asked_.seeds; ++k) seeds.push_back(k);
    if (!asked_.batches.empty())
      options.overs.push_back(fmt::format("stages[0].train.batch=[{}]", fmt::join(asked_.batches, ", ")));
    options.overs.push_back(fmt::format("run.seed=[{}]", fmt::join(seeds, ", ")));
    const Sweep sweep = read_sweep(written_deck(deck, context_.comm), {}, options, registry_, context_);
    folders.push_back(sweep.directory);
    return run_sweep(sweep, options, registry_, context_);
  }

 private:
  /// Overrides of stages after the training would otherwise be ignored silently.
  void require_overrides() const {
    for (const auto& text : asked_.deck.overrides) {
      int stage = 0;
      if (std::sscanf(text.c_str(), " stages[%d]", &stage) == 1 && static_cast<std::size_t>(stage) > stage_)
        throw InputError(
            fmt::format("'{}' changes a stage after the training, stages[{}], which a suite does not run; remove it, "
                        "or run the deck",
                        text, stage_));
    }
  }

  /// Deck of the training only; output of earlier stages is referred to by its path.
  std::string deck_of_training(const std::string& directory) const {
    const auto train = deck::Node::list({root_["stages"][stage_]});
    auto root =
        root_.with("stages", train).without([](const std::string& key) { return key == "x-test" || key == "sweep"; });
    root = in_directory(root, directory);
    return replaced(replaced(deck::to_yaml(root), "{run}", (folder_ / "data").string()), "{deck}",
                    fs::absolute(path_).parent_path().lexically_normal().string()) +
           "\n";
  }

  std::string path_;
  const SuiteRun& asked_;
  Registry& registry_;
  Context& context_;
  deck::Node root_;
  std::vector<std::string> named_;
  std::size_t stage_ = 0;
  fs::path folder_;
};

}  // namespace

std::vector<std::string> benchmark_decks(const std::string& what, const Comm& comm) {
  std::vector<std::string> out;
  std::string found, names;
  io::on_root(comm, [&] {
    for (const auto& name : shipped_names("inputs")) {
      const std::string path = (fs::path(shared_folder("inputs")) / (name + ".yaml")).string();
      const auto benchmark = benchmark_of(deck_heading(written_deck(path, Comm(MPI_COMM_SELF)), {}));
      if (runs_of(benchmark) == 0) continue;
      names += (names.empty() ? "" : ", ") + benchmark;
      if (what == "mlperf_hpc" || rules_name(what) == benchmark) found += name + "\n";
    }
    if (found.empty() && (what == "mlperf_hpc" || (runs_of(rules_name(what)) > 0 && !fs::exists(what))))
      throw InputError(fmt::format("no deck that came with the program measures {}; there are decks for: {}", what,
                                   names.empty() ? "none" : names));
  });
  comm.broadcast(found);
  for (std::size_t from = 0, to; (to = found.find('\n', from)) != std::string::npos; from = to + 1)
    out.push_back(found.substr(from, to - from));
  if (out.empty()) out.push_back(what);
  return out;
}

ExitCode run_suite(const SuiteRun& asked, Registry& registry, Context& context, std::vector<std::string>& folders) {
  for (const int ranks : asked.ranks)
    if (ranks > context.comm.size())
      throw InputError(fmt::format("--ranks {}: this call has {} rank{}; start it with `mpirun -np {}`", ranks,
                                   context.comm.size(), context.comm.size() == 1 ? "" : "s", ranks));
  auto ranks = asked.ranks;
  if (ranks.empty()) ranks.push_back(0);
  for (const auto& path : benchmark_decks(asked.what, context.comm)) {
    Measured measured(path, asked, registry, context);
    if (const auto code = measured.stage_data(); code != ExitCode::done) return code;
    for (const int each : ranks)
      if (const auto code = measured.train(each, folders); code != ExitCode::done) return code;
  }
  return ExitCode::done;
}

}  // namespace cambium::train
