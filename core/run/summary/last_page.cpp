#include "core/run/summary/last_page.hpp"

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/run/summary/citations.hpp"
#include "core/run/summary/timing_table.hpp"

namespace cambium {

void print_last_page(const LastPage& page, Context& context) {
  auto& log = context.log;
  log.info("");
  for (const auto& line : timing_table(context.timing, page.work, context.comm)) log.info(line);
  for (const auto& line : page.lines) log.info(line);
  if (!page.files.empty()) log.info(fmt::format("written in {}: {}", context.run_directory, join(page.files, ", ")));
  for (const auto& warning : log.warnings())
    log.info(fmt::format("warning ({} time{}): {}", warning.count, warning.count == 1 ? "" : "s", warning.text));
  write_citations(page.citations, context);
}

}  // namespace cambium
