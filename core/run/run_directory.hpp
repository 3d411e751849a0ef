#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/run/deck_file.hpp"

namespace cambium {

/// Files that a run keeps at the top of its directory.
namespace run_files {
inline constexpr const char* deck = "deck.resolved.yaml";
inline constexpr const char* finished = "stages_done.txt";  ///< folders of finished stages, one per line
inline constexpr const char* previous = "previous";         ///< where --overwrite moves the older run
}  // namespace run_files

/// A directory name as it must be typed in a shell.
std::string shell_word(const std::string& text);

/// The identity of a run as a note at the end of its resolved deck, which is stored in every file that it writes:
///   x-run: {id: 0f3c..., began: 2026-11-23T02:10:00Z, build: 0.9.0 (1234abc)}
std::string with_identity(const std::string& resolved, const std::string& id);
std::string new_run_id();
/// The id in a resolved deck; empty for one without.
std::string run_id_in(const std::string& resolved);
/// The id and the build ("0.9.0 (1234abc)") of the note.
struct RunNote {
  std::string id, began, build;
};
RunNote run_note_in(const std::string& resolved);

/// A stored deck with the defaults of this version, so that it can be compared; unchanged if this version cannot read
/// it.
deck::Node stored_deck(const std::string& text, const Registry& registry);

/// Text of a file in a run directory; empty if there is none.
std::string text_in(const std::string& directory, const std::string& name);

/// A result that an earlier run left: a file in the folder of a stage of its deck or of this one, relative to the
/// directory. Empty if no run has written one there: such a directory may be used again.
std::string result_in(const std::string& directory, const ReadDeck& read);

/// InputError: the directory holds a run. Lists the options; `deck`: the path that was typed.
[[noreturn]] void refuse_used(const ReadDeck& read, const std::string& deck, const std::string& result,
                              const Registry& registry);

/// Moves the files of the older run to DIRECTORY/previous, replacing an earlier backup. Safe against being killed: the
/// next call completes it.
void move_aside(const std::string& directory, const ReadDeck& read);

/// Restores the older run, after the new one ended before it wrote a result.
void move_back(const std::string& directory, const ReadDeck& read);

/// InputError if the folder of a stage is a symbolic link: files that the stage removes and replaces there may be
/// another run's. The run directory itself may be reached by links.
void refuse_link(const std::string& folder);

/// Removes the checkpoints of a stage that starts over: pruning by step would keep them instead of new ones.
void remove_checkpoints(const std::string& folder);

}  // namespace cambium
