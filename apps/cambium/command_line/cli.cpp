#include "apps/cambium/command_line/cli.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>

#include "apps/cambium/command_line/command_tree.hpp"
#include "apps/cambium/command_line/commands.hpp"
#include "apps/cambium/command_line/compress_commands.hpp"
#include "apps/cambium/command_line/keep_going.hpp"
#include "apps/cambium/profile/bench_peaks.hpp"
#include "core/base/build_info.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/parallel/comm.hpp"
#include "core/parallel/emulated_network.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/run/failure.hpp"
#include "core/run/rounds.hpp"
#include "core/run/simulate.hpp"
#ifdef CAMBIUM_WITH_TRAINING
#include "apps/cambium/command_line/predict_command.hpp"
#include "apps/cambium/plan/plan_command.hpp"
#include "apps/cambium/suite/suite_command.hpp"
#endif
#ifdef CAMBIUM_WITH_BENCHES
#include "bench/register.hpp"
#endif

namespace cambium {

namespace {

std::string joined(int argc, char** argv) {
  std::string text = "cambium";
  for (int k = 1; k < argc; ++k) text += std::string(" ") + argv[k];
  return text;
}

/// Argument of `report_failure`; searched in argv, since a command line may be refused before it is parsed.
constexpr const char* verbose_flag = "--verbose";

bool has_word(int argc, char** argv, std::string_view word) {
  return std::any_of(argv, argv + argc, [&](const char* given) { return word == given; });
}

/// `cambium PLUGIN VERB ...`, or `cambium VERB ...` for a tool of core: everything after the verb belongs to the tool.
void add_plugin_tools(CLI::App& app, const Registry& registry,
                      const std::function<void(const Command&, CLI::App*)>& add) {
  std::map<std::string, CLI::App*> plugins;
  for (const auto& tool : registry.commands()) {
    CLI::App* above = &app;
    if (tool.plugin != "core") {
      CLI::App*& plugin = plugins[tool.plugin];
      if (!plugin) plugin = app.add_subcommand(tool.plugin, fmt::format("tools of the plugin {}", tool.plugin));
      plugin->require_subcommand(1);
      above = plugin;
    }
    CLI::App* verb = above->add_subcommand(tool.verb, tool.doc);
    verb->prefix_command();
    verb->set_help_flag();
    add(tool, verb);
  }
}

void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2)
    throw InputError(
        "a command is missing: `cambium run DECK`, for example `cambium run inputs/md/copper_melting.yaml`; "
        "`cambium --help` lists the others");
  if (argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const auto* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), argv[1]) == known.end())
    throw InputError(fmt::format("there is no command '{}'{}", argv[1], suggestion(argv[1], known)));
}

/// Reads the command line and carries it out. The exit code when nothing was to be done (help, wrong options), -1
/// otherwise.
int parse(CLI::App& app, int argc, char** argv, bool root) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    throw InputError(
        fmt::format("{}; a key of a deck is changed by key.path=value, for example stages[0].simulate.steps=100, and "
                    "`cambium {} --help` lists the options",
                    error.what(), argv[1]));
  } catch (const CLI::RequiredError& error) {
    throw InputError(fmt::format("{}; `cambium {} --help` lists what it takes", error.what(), argv[1]));
  } catch (const CLI::ParseError& error) {
    if (!root) return error.get_exit_code() == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::bad_input);
  }
  return -1;
}

/// Options that the command line fills and the verbs read.
struct Given {
  DeckOptions deck_options;
  SweepOptions sweep_options;
  std::string deck, directory, kind, name, destination;
  std::vector<std::string> options, directories;
  DoctorOptions doctor;
  bool schema = false, json = false, help = false;
  PictureOptions pictures;
  WatchOptions watch;
};

/// For commands that read decks.
void add_verbose(CLI::App& command) {
  const std::string about = "print the identifier of each message, which docs/errors.md explains";
  command.add_flag(verbose_flag, about);
}

void add_deck_verbs(CLI::App& app, Commands& commands, Given& given, ExitCode& code) {
  auto deck_command = [&](const char* verb, const char* doc) {
    auto* sub = app.add_subcommand(verb, doc);
    sub->add_option("deck", given.deck, "YAML deck")->required();
    sub->add_option("overrides", given.deck_options.overrides, "key.path=value");
    sub->add_flag("--test-size", given.deck_options.test_size, "apply the deck's x-test notes");
    add_verbose(*sub);
    return sub;
  };
  auto* run = deck_command("run", "run every stage of a deck, in a directory that holds no other run");
  run->add_flag("--overwrite", given.deck_options.overwrite,
                "begin again where run.directory holds a run, which is moved to run.directory/previous");
  // Carried out before MPI starts (command_line/keep_going.hpp); here for --help.
  const std::string about = "start the ranks, and start them again when one of them dies";
  run->add_flag(keep_going_flag, about);
  run->add_option("--ranks", given.name,
                  "with --keep-going: ranks of the first start and of those after a loss, 4,4,2");
  run->add_option(
      "--copy-every", given.destination,
      "with --keep-going: steps of a training between two copies in memory, from which it continues (none)");
  run->add_option("--launcher", given.kind, "with --keep-going: what starts ranks, before -n NUMBER (mpirun)");
  run->callback([&commands, &given, &code] { code = commands.run(given.deck, given.deck_options); });
  auto* profile = deck_command("profile", "run a deck and report where the time of each stage goes (run.profile)");
  profile->add_flag("--overwrite", given.deck_options.overwrite,
                    "begin again where run.directory holds a run, which is moved to run.directory/previous");
  profile->callback([&commands, &given, &code] {
    given.deck_options.overrides.push_back("run.profile=true");
    code = commands.run(given.deck, given.deck_options);
  });
  deck_command("check", "construct everything, print the schedule, run nothing")->callback([&commands, &given, &code] {
    code = commands.check(given.deck, given.deck_options);
  });
  auto* restart = app.add_subcommand(
      "restart", "continue a run from its newest checkpoint; steps, epochs, walltime, output and ranks may change");
  restart->add_option("directory", given.directory, "run directory")->required();
  restart->add_option("overrides", given.deck_options.overrides,
                      "key.path=value, for example stages[0].simulate.steps=20000");
  add_verbose(*restart);
  restart->callback([&commands, &given, &code] { code = commands.restart(given.directory, given.deck_options); });
}

void add_sweep(CLI::App& app, Commands& commands, Given& given, ExitCode& code) {
  auto& options = given.sweep_options;
  auto* sweep = app.add_subcommand(
      "sweep", "a table of runs of one deck: missing ones are run, ranks are distributed, results are collected");
  sweep->add_option("deck", given.deck, "YAML deck")->required();
  sweep->add_option("overrides", given.deck_options.overrides, "key.path=value, for all runs");
  sweep
      ->add_option("--over", options.overs,
                   "key.path=[a, b, c], =range(first, last, count) or =log(first, last, count); once for each key, "
                   "instead of the deck's sweep.over")
      ->allow_extra_args(false);
  sweep->add_flag("--zip", options.zip, "pair the first values of all keys, then the second ones");
  sweep->add_option("--ranks-per-run", options.ranks_per_run, "ranks of one run; all ranks are distributed when absent")
      ->check(CLI::PositiveNumber);
  sweep->add_flag("--dry-run", options.dry_run, "read every deck, print the table, run nothing");
  sweep->add_flag("--retry", options.retry, "begin runs that failed again");
  sweep->add_option("--row", options.row, "this run of the table alone, counted from 1, as a job array does");
  sweep->add_option("--slurm", options.slurm, "write a script for a job array of Slurm to this file, run nothing");
  sweep->add_flag("--test-size", given.deck_options.test_size, "apply the deck's x-test notes");
  add_verbose(*sweep);
  sweep->callback(
      [&commands, &given, &code] { code = commands.sweep(given.deck, given.deck_options, given.sweep_options); });
}

void add_lookups(CLI::App& app, Commands& commands, Given& given, ExitCode& code) {
  auto* list =
      app.add_subcommand("list", "registered types by kind, those of the plugins in CAMBIUM_PLUGIN_PATH among them");
  list->add_option("kind", given.kind,
                   "only this kind, for example stage, potential or function (of formulas); deck or machine: those "
                   "that came with the "
                   "program");
  list->add_option("--deck", given.deck, "a deck whose plugins are listed, too");
  list->callback([&commands, &given, &code] {
    commands.load_plugins(given.deck);
    code = commands.list(given.kind);
  });
  auto* doc = app.add_subcommand("doc", "reference of all keys, or of one type");
  doc->add_option("kind", given.kind,
                  "kind, for example stage, potential, function or bench; or the name of a type of any kind");
  doc->add_option("name", given.name, "name of the type, for example lennard_jones");
  doc->add_flag("--schema", given.schema, "JSON schema of a deck, for editors");
  doc->add_option("--deck", given.deck, "a deck whose plugins are documented, too");
  doc->callback([&commands, &given, &code] {
    commands.load_plugins(given.deck);
    code = commands.doc(given.kind, given.name, given.schema);
  });
}

void add_doctor(CLI::App& app, Commands& commands, DoctorOptions& given, ExitCode& code) {
  auto* doctor = app.add_subcommand("doctor",
                                    "what this build can do, where ranks, memory and files are, and a self-check; exit "
                                    "code 4 when a result is wrong");
  doctor->add_option("directory", given.directory, "directory in which runs will write; default: the current one");
  doctor->add_flag("--quick", given.quick, "without the simulations, which take some seconds");
  doctor->callback([&commands, &given, &code] { code = commands.doctor(given); });
}

void add_bench(CLI::App& app, Commands& commands, Given& given, ExitCode& code) {
  auto* bench = app.add_subcommand("bench", "measure; the last line is one JSON object with --json");
  bench->add_option("name", given.name, "name of the bench, or all; default: a list of them");
  bench->add_option("options", given.options, "key=value; `cambium bench NAME --help` lists them");
  bench->add_flag(
      "--json", given.json,
      "print one JSON object as the last line; without a name the list of benches and what is measured with");
  bench->set_help_flag();
  bench->add_flag("-h,--help", given.help, "this page, or the options of the bench that is named");
  bench->callback([&commands, &given, &code, bench] {
    if (given.help && given.name.empty()) commands.say(bench->help());
    code = commands.bench(given.name, given.options, given.json, given.help);
  });
}

/// `cambium plot` and `cambium movie`.
void add_pictures(CLI::App& app, Commands& commands, PictureOptions& given, ExitCode& code) {
  auto add = [&](const std::string& verb, const char* doc, const char* output) {
    auto* sub = app.add_subcommand(verb, doc);
    sub->add_option("source", given.source,
                    "a file that a stage wrote (fields, distributions, trajectories, curves, tables), the folder of a "
                    "stage or a run directory")
        ->required();
    sub->add_option("-o,--output", given.output, output);
    sub->add_option("--show", given.show, "only these quantities, by the names that the picture of all shows")
        ->delimiter(',')
        ->allow_extra_args(false);
    sub->callback([&commands, &given, &code, verb, sub] {
      given.frame_given = verb == "plot" && sub->count("--frame") > 0;
      code = commands.pictures(verb, given);
    });
    return sub;
  };
  auto* plot = add("plot", "a picture of every file of a run, or of one file, with names and units",
                   "picture to write, its format by the name (.png, .pdf, .svg); FILE.png when absent. Of a run: the "
                   "folder for the pictures");
  plot->add_option("--frame", given.frame, "index of the snapshot, from 0; negative ones count from the end");
  auto* movie = add("movie", "a movie of every file of a run with several snapshots, or of one file",
                    "movie to write (.mp4, .gif), or NAME.png for a picture of every snapshot; FILE.mp4 when absent, "
                    "FILE.gif where there is no ffmpeg. Of a run: the folder for the movies");
  movie->add_option("--fps", given.fps, "frames per second (10)");
  movie->add_option("--every", given.every, "stride in snapshots (1)");
}

void add_watch(CLI::App& app, Commands& commands, WatchOptions& given, ExitCode& code) {
  auto* watch = app.add_subcommand("watch", "curves of a run in the terminal while it runs: loss, validation, thermo");
  watch->add_option("run", given.run, "run directory, or the folder of a stage")->required();
  watch->add_option("--stage", given.stage, "folder of the stage; default: the one that wrote last");
  watch->add_option("--show", given.show, "only these columns")->delimiter(',')->allow_extra_args(false);
  watch->add_option("--interval", given.interval, "seconds between updates (2)");
  watch->add_option("--page", given.page, "also write an HTML page that reloads itself");
  watch->add_flag("--once", given.once, "look once");
  watch->callback([&commands, &given, &code] { code = commands.watch(given); });
}

void add_pages(CLI::App& app, Commands& commands, Given& given, ExitCode& code) {
  auto* report = app.add_subcommand(
      "report",
      "one HTML page about a run (pictures, timing, provenance, citations), a sweep, or several runs compared");
  report->add_option("directory", given.directories, "run directories, or the folder of a sweep")->required();
  report->add_option("-o,--output", given.destination,
                     "page to write; RUN/report.html when absent, comparison.html for several runs");
  report->callback([&commands, &given, &code] { code = commands.report(given.directories, given.destination); });
  auto* fresh = app.add_subcommand("new-plugin", "a plugin of your own from the template");
  fresh->add_option("name", given.name, "its name, in lower case")->required();
  fresh->add_option("destination", given.destination, "destination folder, which is created; default: the name");
  fresh->add_option("--kind", given.kind, "potential (when absent), physics, network, dataset, writer or task");
  fresh->callback([&commands, &given, &code] {
    code = commands.new_plugin(given.name, given.destination, given.kind.empty() ? "potential" : given.kind);
  });
}

/// The command line's own help pages, generated from `app` on request.
void add_help_pages(CLI::App& app, Commands& commands, Given& given, const Registry& registry) {
  auto* shells = app.add_subcommand("completion", "a script that completes commands, options, decks and types");
  shells->add_option("shell", given.name, "bash, zsh or fish")->required();
  shells->callback([&app, &commands, &given, &registry] {
    commands.say(completion(command_tree(app), known_names(registry), given.name));
  });
  auto* man = app.add_subcommand("man", "the manual page, for man -l or a folder of MANPATH");
  man->callback([&app, &commands] { commands.say(man_page(command_tree(app))); });
}

}  // namespace

static int dispatch(int argc, char** argv, Commands& commands, const Registry& registry) {
  CLI::App app{
      "Machine learning inside scientific simulation: one deck simulates, trains, evaluates and simulates again."};
  app.set_version_flag("--version", fmt::format("cambium {} (commit {})", build_info().version, build_info().git_hash));
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 2 bad input, 3 stopped early with a restart, 4 numerical failure, 70 our bug.");
  ExitCode code = ExitCode::done;
  Given given;
  add_deck_verbs(app, commands, given, code);
  add_sweep(app, commands, given, code);
  add_lookups(app, commands, given, code);
  add_doctor(app, commands, given.doctor, code);
  add_bench(app, commands, given, code);
  add_pages(app, commands, given, code);
  add_pictures(app, commands, given.pictures, code);
  add_watch(app, commands, given.watch, code);
  add_help_pages(app, commands, given, registry);
  add_plugin_tools(app, registry, [&](const Command& tool, CLI::App* verb) {
    verb->callback([&, verb] { code = commands.tool(tool, verb->remaining()); });
  });
  require_known_command(app, argc, argv);
  const int refused = parse(app, argc, argv, commands.root());
  return refused < 0 ? static_cast<int>(code) : refused;
}

/// Part of the output was lost, as on a full device. Runs have done their work all the same; of other commands the text
/// is the result.
static int after_output(int code, int argc, char** argv) {
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout;
  if (!lost) return code;
  const int number = ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;  // the first refusal's number is gone
  std::fprintf(
      stderr,
      "cambium: the standard output did not take all that this command prints%s%s; send it to a device with room\n",
      number ? ": " : "", number ? std::strerror(number) : "");
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool runs = verb == "run" || verb == "restart" || verb == "sweep" || verb == "profile";
  return code == 0 && !runs ? static_cast<int>(ExitCode::bad_input) : code;
}

void listen_early(int argc, char** argv) {
  if (argc > 1 && (argv[1] == std::string("run") || argv[1] == std::string("profile") ||
                   argv[1] == std::string("restart") || argv[1] == std::string("sweep")))
    StopRequest::listen();
}

int command_line(int argc, char** argv, const std::function<void(Registry&)>& register_plugins) {
  Comm comm;
  try {
    require_readable_network();
    Registry registry;
    registry.set_plugin("core");
    registry.add<Simulate>("simulate", "advance a physics in time")
        .synonyms({"md", "dynamics", "simulation", "evolve", "integrate"});
    registry.add<Rounds>("loop", "stages repeated in rounds until a result reaches its target")
        .synonyms({"repeat", "rounds", "iterate", "active_learning", "dpgen", "distil"});
    add_core_writers(registry);
    for (auto& command : compress_commands()) registry.add_command(std::move(command));
    register_plugins(registry);
#ifdef CAMBIUM_WITH_TRAINING
    registry.set_plugin("core");
    registry.add_command(train::plan_command(registry));
    registry.add_command(train::predict_command(registry));
    registry.add_command(train::suite_command(registry));
#endif
    registry.add_bench(bench_peaks());
#ifdef CAMBIUM_WITH_BENCHES
    register_benches(registry);
#endif
    Commands commands(comm, registry, joined(argc, argv));
    const int code = dispatch(argc, argv, commands, registry);
    return comm.root() ? after_output(code, argc, argv) : code;
  } catch (...) {
    return report_failure(std::current_exception(), comm, has_word(argc, argv, verbose_flag));
  }
}

}  // namespace cambium
