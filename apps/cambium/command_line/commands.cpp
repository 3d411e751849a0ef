#include "apps/cambium/command_line/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/cambium/bench/bench_all.hpp"
#include "apps/cambium/bench/bench_compare.hpp"
#include "apps/cambium/check/run_hooks.hpp"
#include "apps/cambium/command_line/new_plugin.hpp"
#include "apps/cambium/command_line/report.hpp"
#include "apps/cambium/sweep/results.hpp"
#include "apps/cambium/sweep/slurm.hpp"
#include "apps/cambium/sweep/stored_sweep.hpp"
#include "apps/cambium/sweep/sweep.hpp"
#include "core/base/platform.hpp"
#include "core/base/text.hpp"
#include "core/deck/reference.hpp"
#include "core/io/provenance.hpp"
#include "core/io/shipped.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/parallel/wall_time.hpp"
#include "core/plugin/loader.hpp"
#include "core/run/run.hpp"
#include "core/run/summary/banner.hpp"
#include "core/run/trajectory_writers.hpp"
#include "core/run/vtkhdf_writer.hpp"

namespace cambium {

namespace fs = std::filesystem;

Commands::Commands(Comm& comm, Registry& registry, std::string line)
    : registry_(registry), log_(stdout, comm.root()), context_{comm, log_, timing_} {
  context_.registry = &registry;
  context_.command_line = std::move(line);
}

ExitCode Commands::run_read_deck(const ReadDeck& deck, const DeckOptions& options, const std::string& path) {
  context_.seed = static_cast<std::uint64_t>(deck.deck.run.seed);
  context_.resolved_deck = deck.resolved;
  const double limit = deck.deck.run.walltime.empty() ? 0.0 : parse_wall_time(deck.deck.run.walltime);
  io::on_every_rank(context_.comm, take_blas_memory);
  StopRequest stop(context_.comm, wall_seconds(), limit);
  context_.stop = &stop;
  const ExitCode code = run_stages(deck, program_run(path, options.overwrite), context_);
  context_.stop = nullptr;
  return code;
}

ExitCode Commands::run(const std::string& path, const DeckOptions& options) {
  const WrittenDeck written = written_deck(path, context_.comm);
  if (deck_heading(written, options)["sweep"].is_map())
    throw InputError(
        fmt::format("'{}' is a table of runs (its key 'sweep'): `cambium sweep {}` runs them all, `cambium run "
                    "{} sweep=null` the deck alone",
                    path, path, path));
  return run_read_deck(read_deck(written, options, registry_, context_), options, path);
}

ExitCode Commands::check(const std::string& path, const DeckOptions& options) {
  const WrittenDeck written = written_deck(path, context_.comm);
  if (deck_heading(written, options)["sweep"].is_map())
    return check_sweep(read_sweep(written, options, {}, registry_, context_), registry_, context_);
  const auto deck = read_deck(written, options, registry_, context_);
  context_.seed = static_cast<std::uint64_t>(deck.deck.run.seed);
  return check_deck(deck, path, context_);
}

/// Command-line arguments without those that apply to this call only.
static std::vector<std::string> sweep_words(const std::string& path, const DeckOptions& options,
                                            const SweepOptions& sweep) {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string(), "sweep", path};
  words.insert(words.end(), options.overrides.begin(), options.overrides.end());
  for (const auto& over : sweep.overs) words.insert(words.end(), {"--over", over});
  if (sweep.zip) words.push_back("--zip");
  if (sweep.retry) words.push_back("--retry");
  if (options.test_size) words.push_back("--test-size");
  return words;
}

ExitCode Commands::sweep(const std::string& path, const DeckOptions& options, const SweepOptions& sweep) {
  const Sweep read = read_sweep(written_deck(path, context_.comm), options, sweep, registry_, context_);
  if (sweep.dry_run) {
    log_.info(table_text(read));
    return ExitCode::done;
  }
  if (!sweep.slurm.empty()) {
    io::on_root(context_.comm, [&] {
      fs::create_directories(read.directory);
      claim_directory(read, context_);
      const std::string limit = read.root["run"]["walltime"].text();
      write_slurm_script(read, sweep, sweep_words(path, options, sweep), limit.empty() ? 0.0 : parse_wall_time(limit));
    });
    log_.info(fmt::format("wrote {}: {} runs as a job array; its first lines explain how to submit it", sweep.slurm,
                          read.table.rows.size()));
    return ExitCode::done;
  }
  const ExitCode code = run_sweep(read, sweep, registry_, context_);
  if (sweep.row == 0) io::on_root(context_.comm, [&] { try_sweep_page(read.directory, log_); });
  return code;
}

ExitCode Commands::restart(const std::string& directory, const DeckOptions& options) {
  const auto deck = fs::path(directory) / "deck.resolved.yaml";
  if (!fs::exists(deck) && fs::exists(fs::path(directory) / sweep_file))
    throw InputError(fmt::format("'{}' holds a sweep, which its own command continues: {}", directory,
                                 stored_sweep(directory).command));
  if (!fs::exists(deck))
    throw InputError(fmt::format("'{}' holds no run: there is no {}; give the folder named run.directory in the deck",
                                 directory, deck.filename().string()));
  context_.resume = true;
  DeckOptions all = options;
  all.directory = directory;
  return run_read_deck(read_deck(deck.string(), all, registry_, context_), all, deck.string());
}

/// Warns on stderr: the output of list and doc is redirected to files.
static void warn_beside(const std::string& text, const Comm& comm) {
  if (comm.root()) std::fprintf(stderr, "warning: %s\n", text.c_str());
}

void Commands::load_plugins(const std::string& path) {
  if (!path.empty()) {
    std::vector<std::string> named;
    const deck::Node root = deck::load(path), list = root["plugins"];  // both must outlive the loop over their contents
    for (const auto& name : list.items()) named.push_back(name.text());
    for (const auto& plugin : cambium::load_plugins(named, registry_, context_.comm))
      if (const auto reason = reason_for_distrust(plugin.path); !reason.empty())
        warn_beside(fmt::format("plugin '{}': {}", plugin.name, reason), context_.comm);
  }
  for (const auto& reason : load_found_plugins(registry_, context_.comm)) warn_beside(reason, context_.comm);
}

ExitCode Commands::tool(const Command& command, std::vector<std::string> arguments) {
  return static_cast<ExitCode>(command.run(std::move(arguments), context_));
}

ExitCode Commands::doctor(const DoctorOptions& options) { return examine_installation(options, registry_, context_); }

ExitCode Commands::pictures(const std::string& verb, const PictureOptions& options) {
  ExitCode code = ExitCode::done;
  io::on_root(context_.comm, [&] {
    if (!draw_pictures(verb, options)) code = ExitCode::bad_input;
  });
  return code;
}

ExitCode Commands::watch(const WatchOptions& options) {
  ExitCode code = ExitCode::done;
  io::on_root(context_.comm, [&] {
    if (!watch_run(options)) code = ExitCode::bad_input;
  });
  return code;
}

ExitCode Commands::report(const std::vector<std::string>& directories, const std::string& page) {
  io::on_root(context_.comm, [&] {
    if (directories.size() > 1)
      write_comparison(directories, page.empty() ? "comparison.html" : page, registry_);
    else if (fs::exists(fs::path(directories[0]) / sweep_file)) {
      write_results(directories[0], context_);
      write_sweep_page(directories[0], page);
    } else
      write_report(directories[0], page);
  });
  return ExitCode::done;
}

ExitCode Commands::new_plugin(const std::string& name, const std::string& destination, const std::string& kind) {
  const std::string folder = destination.empty() ? name : destination;
  std::vector<std::string> files;
  io::on_root(context_.comm,
              [&] { files = cambium::new_plugin(name, folder, template_of(kind, shared_folder("template"))); });
  for (const auto& file : files) log_.info(fmt::format("  {}/{}", folder, file));
  log_.info(fmt::format("made the plugin '{}' ({}) in {}; its README.md explains how to build and run it", name, kind,
                        folder));
  return ExitCode::done;
}

/// Provenance of a figure: who measured it, where, with which libraries.
static nlohmann::json measured_where(const Context& context) {
  const auto p = io::provenance_of(context);
  const auto blas = blas_info();
  return {{"commit", p.git_hash},
          {"command", p.command_line},
          {"date", p.date},
          {"machine", processor_name()},
          {"instruction_set", p.instruction_set},
          {"compiler", p.compiler},
          {"kokkos", p.kokkos},
          {"mpi", p.mpi},
          {"ranks", p.ranks},
          {"threads_per_rank", p.threads_per_rank},
          {"blas", fmt::format("{}, {} kernels, {} thread(s)", blas.library, blas.core, blas.threads)}};
}

const Bench& bench_named(const Registry& registry, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& bench : registry.benches()) {
    if (bench.name == name) return bench;
    names.push_back(bench.name);
  }
  const bool built = names.size() > 1;  // that of the machine is always there
  throw InputError(fmt::format("there is no bench '{}'{}", name,
                               built ? suggestion(name, names)
                                     : ": this build has none of plugins (`./quickstart bench`, or "
                                       "-DCAMBIUM_BENCHES=ON)"));
}

ExitCode Commands::bench(const std::string& name, const std::vector<std::string>& words, bool json, bool help) {
  if (name.empty() && json) {
    nlohmann::json list{{"measured", measured_where(context_)}, {"turns", nlohmann::json::object()}};
    for (const auto& bench : registry_.benches()) {
      list["benches"][bench.name] = bench.doc;
      if (!bench.turn.empty()) list["turns"][bench.name] = bench.turn;
    }
    log_.info(list.dump());
    return ExitCode::done;
  }
  if (name.empty()) {
    for (const auto& bench : registry_.benches()) log_.info(fmt::format("{:<22}{}", bench.name, bench.doc));
    log_.info(fmt::format(
        "{:<22}{}", "all",
        "every one of them, each compared with its reference implementation where that is installed; some minutes"));
    log_.info(fmt::format("{:<22}{}", "compare OLD NEW",
                          "two builds of this program in alternating turns: what became slower beyond noise"));
    return ExitCode::done;
  }
  if (name == "all" && !words.empty())
    throw InputError(fmt::format("'{}': options belong to one bench; name it instead of all", words.front()));
  if (name == "compare" && !help) return bench_compare(registry_.benches(), ComparisonOptions::read(words), context_);
  BenchResults results;
  if (name == "all") {
    if (help) return doc("bench", "", false);
    print_banner(context_);
    results = bench_all(registry_.benches(), context_, json);
  } else {
    const Bench& bench = bench_named(registry_, name);
    if (help) return doc("bench", name, false);
    const BenchOptions options(name, bench.options, words);
    print_banner(context_);
    results.figures = bench.run(options, context_);
  }
  results.figures["measured"] = measured_where(context_);
  log_.info(json ? results.figures.dump() : results.figures.dump(2));
  return results.code;
}

void add_core_writers(Registry& registry) {
  registry.add<H5mdWriter>("h5md", "trajectory in H5MD, for MDAnalysis and h5py")
      .synonyms({"h5", "hdf5", "trajectory", "md", "dcd", "xtc", "netcdf"});
  registry
      .add<VtkhdfWriter>("vtkhdf",
                         "fields on a grid or particles over time in VTKHDF, for ParaView and VTK 9.3 or newer")
      .synonyms({"vtk", "vtu", "vti", "paraview", "xdmf"});
  registry.add<ExtxyzWriter>("extxyz", "trajectory in extended XYZ, for OVITO and ASE")
      .synonyms({"xyz", "exyz", "extended_xyz", "dump", "lammpstrj", "trajectory", "ase"});
}

}  // namespace cambium
