#include "core/run/summary/stage_summary.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/run/summary/citations.hpp"
#include "core/run/summary/stage_results.hpp"
#include "core/run/summary/timing_table.hpp"

namespace cambium {

/// Lines of the summary from the timing table up to the warnings.
static std::vector<std::string> lines_of(const StageSummary& page, Context& context) {
  std::vector<std::string> out = timing_table(context.timing, page.work, context.comm);
  for (const auto& line : result_lines(page.results)) out.push_back(line);
  out.insert(out.end(), page.lines.begin(), page.lines.end());
  return out;
}

/// Existing files for the names given by a task, such as "distribution.<step>.h5" or "best.yaml (a deck that trains it
/// again)", with * for the part in brackets. An average without a sample has left none.
static std::vector<std::string> names_of(const std::vector<std::string>& files, const std::string& folder,
                                         std::vector<std::string>& said) {
  std::vector<std::string> out;
  for (const auto& file : files) {
    std::string name = file.substr(0, file.find(" ("));
    const auto open = name.find('<'), close = name.find('>', open);
    if (close != std::string::npos)
      name.replace(open, close + 1 - open, "*");
    else if (!std::filesystem::exists(std::filesystem::path(folder) / name))
      continue;
    out.push_back(name);
    said.push_back(file);
  }
  return out;
}

void print_stage_summary(const StageSummary& page, Context& context) {
  auto& log = context.log;
  StageResults all{with_own_keys(page.results),
                   page.work.seconds.value_or(0.0),
                   context.comm.size(),
                   page.work.steps,
                   page.work.items,
                   page.work.name,
                   peak_memory(),
                   lines_of(page, context),
                   {},
                   log.warnings()};
  std::vector<std::string> said;
  io::on_root(context.comm, [&] { all.files = names_of(page.files, context.run_directory, said); });
  all.memory = context.comm.max(all.memory);
  const auto path = (std::filesystem::path(context.run_directory) / StageResults::file).string();
  io::on_root(context.comm, [&] { io::write_file_atomically(path, json_of(all)); });
  log.info("");
  for (const auto& line : all.summary) log.info(line);
  if (!said.empty()) log.info(fmt::format("written in {}: {}", context.run_directory, join(said, ", ")));
  for (const auto& warning : all.warnings)
    log.info(fmt::format("warning ({} time{}): {}", warning.count, warning.count == 1 ? "" : "s", warning.text));
  write_citations(page.citations, context);
}

}  // namespace cambium
