#include "core/run/summary/citations.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"

namespace cambium {

void write_citations(const std::vector<Citation>& citations, Context& context) {
  std::set<std::string_view> seen;
  std::string text;
  for (const auto& citation : citations)
    if (seen.insert(citation.key).second) text += std::string(citation.bibtex) + "\n\n";
  const auto path = (std::filesystem::path(context.run_directory) / "cite.bib").string();
  io::on_root(context.comm, [&] {
    if (!seen.empty()) io::write_file_atomically(path, text);
  });
  if (!seen.empty())
    context.log.info(fmt::format("cite: {} ({} work{})", path, seen.size(), seen.size() == 1 ? "" : "s"));
}

}  // namespace cambium
