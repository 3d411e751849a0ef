#pragma once
#include <string>
#include <vector>

#include "apps/cambium/command_line/pictures.hpp"
#include "apps/cambium/doctor/doctor.hpp"
#include "apps/cambium/sweep/table.hpp"
#include "core/base/error.hpp"
#include "core/plugin/command.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"

namespace cambium {

/// The commands of the program, one function each.
class Commands {
 public:
  Commands(Comm& comm, Registry& registry, std::string line);

  ExitCode run(const std::string& deck, const DeckOptions& options);
  ExitCode check(const std::string& deck, const DeckOptions& options);
  ExitCode sweep(const std::string& deck, const DeckOptions& options, const SweepOptions& sweep);
  ExitCode restart(const std::string& directory, const DeckOptions& options);
  /// Loads the plugins that are found, and those that a deck names (empty: no deck), for list and doc.
  void load_plugins(const std::string& deck);
  /// Types of one kind (empty: of all), decks, machines or functions of formulas.
  ExitCode list(const std::string& word);
  /// Reference of one type, of all types of a kind, or of the types of this name or synonym in any kind.
  ExitCode doc(const std::string& kind, const std::string& name, bool schema);
  /// `help`: prints the description of the bench and its options.
  ExitCode bench(const std::string& name, const std::vector<std::string>& options, bool json, bool help);
  /// Abilities of this build and this machine, and a self-check.
  ExitCode doctor(const DoctorOptions& options);
  ExitCode new_plugin(const std::string& name, const std::string& destination, const std::string& kind);
  /// Report of one run, of a sweep, or of several runs compared.
  ExitCode report(const std::vector<std::string>& directories, const std::string& page);
  /// `verb`: plot or movie.
  ExitCode pictures(const std::string& verb, const PictureOptions& options);
  /// Live curves of a run.
  ExitCode watch(const WatchOptions& options);
  ExitCode tool(const Command& command, std::vector<std::string> arguments);
  void say(const std::string& text) { log_.info(text); }
  bool root() const { return context_.comm.root(); }

 private:
  ExitCode run_read_deck(const ReadDeck& deck, const DeckOptions& options, const std::string& path);

  Registry& registry_;
  Log log_;
  Timing timing_;
  Context context_;
};

/// InputError if there is none of this name.
const Bench& bench_named(const Registry& registry, const std::string& name);

/// Writers that need no plugin: h5md, extxyz.
void add_core_writers(Registry& registry);

}  // namespace cambium
