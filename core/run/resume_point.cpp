#include "core/run/resume_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/deck/differences.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/sound_checkpoint.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Index of the stage whose folder this is.
std::optional<std::size_t> stage_of_folder(const deck::Node& stages, const std::string& folder) {
  const auto folders = stage_folders_of(stages);
  const auto at = std::find(folders.begin(), folders.end(), folder);
  if (at == folders.end()) return {};
  return static_cast<std::size_t>(at - folders.begin());
}

/// Differences between the checkpoint's deck and this run's that are not allowed.
std::vector<deck::Difference> refused(const deck::Node& there, const deck::Node& here, std::size_t stage,
                                      std::span<const std::string_view> free) {
  std::vector<deck::Difference> out;
  if (there["run"]["seed"].text() != here["run"]["seed"].text())
    out.push_back({"run.seed", there["run"]["seed"].text(), here["run"]["seed"].text(), true});
  const auto& type = here["stages"][stage].entries().front().key;
  const auto before = there["stages"][stage][type];
  for (auto& d : deck::differences(before, here["stages"][stage][type])) {
    if (std::any_of(free.begin(), free.end(), [&](auto key) { return deck::covers(key, d.path); })) continue;
    d.path = fmt::format("stages[{}].{}{}{}", stage, type, d.path.empty() ? "" : ".", d.path);
    out.push_back(d);
  }
  return out;
}

std::string listed(const std::vector<deck::Difference>& all) {
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(all.size(), 4); ++k)
    text += fmt::format("{}{} is {} there and {} here", k ? ", " : "", all[k].path, all[k].from, all[k].to);
  return text + (all.size() > 4 ? fmt::format(", and {} more", all.size() - 4) : "");
}

/// The text of the deck in a file; empty if there is none or the file cannot be read, which its reader reports better.
std::string deck_in(const std::string& path) {
  try {
    const auto file = io::File::open(path);
    return file.group("/cambium").attribute<std::string>("deck");
  } catch (const InputError&) {
    return {};
  }
}

void require_same_run(const std::string& path, const Context& context, std::span<const std::string_view> free,
                      std::string_view instead) {
  const std::string text = deck_in(path);
  if (text.empty() || context.resolved_deck.empty()) return;
  const std::string theirs = run_id_in(text), ours = run_id_in(context.resolved_deck);
  if (!theirs.empty() && !ours.empty() && theirs != ours)
    throw InputError(
        fmt::format("'{}' was written by another run (its id is {}, that of this directory {}): move it away, or "
                    "continue in the directory that it came from",
                    path, theirs, ours));
  const deck::Node here = deck::parse(context.resolved_deck, "deck.resolved.yaml");
  const fs::path inside = fs::path(context.run_directory).lexically_relative(here["run"]["directory"].text());
  const auto stage = stage_of_folder(here["stages"], inside.empty() ? "" : inside.begin()->string());
  if (!stage || !context.registry) return;
  const auto wrong = refused(stored_deck(text, *context.registry), here, *stage, free);
  if (!wrong.empty())
    throw InputError(
        fmt::format("'{}' cannot continue with this deck: {}; leave what determines the result as it was, or begin a "
                    "new run with run.directory=PATH{}",
                    path, listed(wrong), instead));
}

}  // namespace

std::optional<std::string> resume_point(const Context& context, std::span<const std::string_view> free,
                                        std::string_view instead) {
  if (!context.resume) return {};
  const auto path = newest_sound_checkpoint(context.run_directory, context);
  if (path) io::on_root(context.comm, [&] { require_same_run(*path, context, free, instead); });
  return path;
}

}  // namespace cambium
