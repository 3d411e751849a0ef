#include "plugins/pretrain/tasks/made_runs.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"

namespace cambium::pretrain {

namespace fs = std::filesystem;

deck::Choice<Task> with_parameters(const deck::Choice<Task>& stage, const std::map<std::string, double>& values) {
  deck::Choice<Task> out = stage;
  for (const auto& [name, value] : values) out.node = out.node.with(name, deck::Node::scalar(number_text(value)));
  return out;
}

static Context context_in(const std::string& folder, Timing& timing, const Context& context) {
  return {context.comm,          context.log,          timing,       context.registry, context.seed, folder,
          context.resolved_deck, context.command_line, context.stop, context.dry_run,  false};
}

void check_runs(const deck::Choice<Task>& stage, const std::map<std::string, double>& first, Context& context) {
  Timing timing;
  Context inner = context_in((fs::path(context.run_directory) / "run_1").string(), timing, context);
  examine_stage(with_parameters(stage, first), inner);
}

Task::Outcome make_runs(const deck::Choice<Task>& stage, const std::vector<std::map<std::string, double>>& runs,
                        Context& context) {
  const auto table = (fs::path(context.run_directory) / "made.csv").string();
  RunTable made;
  int there = 0;
  io::on_root(context.comm, [&] { there = context.resume && fs::exists(table); });
  if (context.comm.max(there) > 0) io::on_every_rank(context.comm, [&] { made = read_runs(table); });
  for (std::size_t k = made.files.size(); k < runs.size(); ++k) {
    const auto folder = fs::path(context.run_directory) / fmt::format("run_{}", k + 1);
    std::string words;
    for (const auto& [name, value] : runs[k]) words += fmt::format(" {} = {:g}", name, value);
    context.log.info(fmt::format("\nrun {} of {}:{} -> {}", k + 1, runs.size(), words, folder.string()));
    io::on_root(context.comm, [&] { fs::create_directories(folder); });
    Timing timing;
    Context inner = context_in(folder.string(), timing, context);
    const auto task = context.registry->make<Task>(with_parameters(stage, runs[k]), inner);
    if (task->run(inner) == Task::Outcome::stopped_early) return Task::Outcome::stopped_early;
    made.files.push_back((folder / "fields.h5").string());
    for (const auto& [name, value] : runs[k]) made.parameters[name].push_back(value);
    io::on_root(context.comm, [&] {
      if (!fs::exists(made.files.back()))
        throw InputError(fmt::format("run {} wrote no fields.h5; give 'run' an output of type fields", k + 1));
      io::write_file_atomically(table, text_of(made));
    });
  }
  return Task::Outcome::done;
}

}  // namespace cambium::pretrain
