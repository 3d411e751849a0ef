#include "core/driver/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/driver/banner.hpp"
#include "core/io/atomic_file.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Names of finished stages, one per line, so that a restart knows where to go on.
constexpr const char* finished_file = "stages_done.txt";

std::size_t stages_finished(const std::string& directory) {
  std::ifstream in(fs::path(directory) / finished_file);
  std::size_t n = 0;
  for (std::string line; std::getline(in, line);) ++n;
  return n;
}

void write_finished(const std::string& directory, const std::vector<std::string>& folders, std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += folders[k] + "\n";
  io::write_file_atomically((fs::path(directory) / finished_file).string(), text);
}

void write_resolved(const ReadDeck& read) {
  io::write_file_atomically((fs::path(read.deck.run.directory) / "deck.resolved.yaml").string(), read.resolved);
}

void make_directory(const std::string& path, const Comm& comm) {
  std::string problem;
  if (comm.root()) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) problem = error.message();
  }
  comm.broadcast(problem);
  if (!problem.empty())
    throw InputError(fmt::format("cannot make the folder '{}': {}; choose another with run.directory=PATH", path, problem));
}

void say_how_to_resume(const std::string& directory, const std::string& reason, Context& context) {
  context.log.info(fmt::format("stopped by {}; a checkpoint is written. Resume with:\n  cambium restart {}", reason,
                               directory));
}

}  // namespace

ExitCode run_stages(const ReadDeck& read, Context& context) {
  const std::string top = read.deck.run.directory;
  const auto folders = read.deck.stage_folders();
  make_directory(top, context.comm);
  std::size_t done = context.resume ? std::min(stages_finished(top), folders.size()) : 0;
  const bool changed = context.resume && read.first_overridden;  // that stage is taken up again, and what follows from it is done anew
  if (changed) done = std::min<std::size_t>(done, *read.first_overridden);
  context.comm.barrier();
  if (context.comm.root() && !context.resume) {
    fs::remove(fs::path(top) / finished_file);
    write_resolved(read);
  }
  context.log.tee((fs::path(top) / "log.txt").string());
  print_banner(context);
  write_provenance(top, context);
  if (context.resume && done == folders.size())
    context.log.info(fmt::format("every stage of {} is done; a stage of which a key is changed is taken up again:\n  cambium restart {} "
                                 "stages[{}].{}.KEY=VALUE", top, top, done - 1, read.deck.stages.back().type));
  for (std::size_t k = 0; k < read.deck.stages.size(); ++k) {
    if (k >= done) {
      context.run_directory = (fs::path(top) / folders[k]).string();
      make_directory(context.run_directory, context.comm);
      context.log.info(fmt::format("\n--- stage {} of {}: {} -> {}", k + 1, read.deck.stages.size(),
                                   read.deck.stages[k].type, context.run_directory));
      auto task = context.registry->make<Task>(read.deck.stages[k], context);
      const auto outcome = task->run(context);
      if (changed && context.comm.root()) write_resolved(read);  // not before a stage has accepted the change
      if (outcome == Task::Outcome::stopped_early) {
        if (changed && context.comm.root()) write_finished(top, folders, k);
        say_how_to_resume(top, context.stop ? context.stop->reason() : "request", context);
        return ExitCode::stopped_early;
      }
      context.resume = false;  // later stages begin afresh
      if (context.comm.root()) write_finished(top, folders, k + 1);
    }
  }
  return ExitCode::done;
}

ExitCode check_stages(const ReadDeck& read, Context& context) {
  context.dry_run = true;
  const auto folders = read.deck.stage_folders();
  for (std::size_t k = 0; k < read.deck.stages.size(); ++k) {
    context.run_directory = (fs::path(read.deck.run.directory) / folders[k]).string();
    context.log.info(fmt::format("\n--- stage {} of {}: {}", k + 1, read.deck.stages.size(), read.deck.stages[k].type));
    context.registry->make<Task>(read.deck.stages[k], context)->check(context);
  }
  context.log.info("\nthe deck is sound; nothing was run");
  return ExitCode::done;
}

}  // namespace cambium
