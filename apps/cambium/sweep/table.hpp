#pragma once
#include <string>
#include <vector>

#include "apps/cambium/sweep/swept_key.hpp"
#include "core/run/deck_file.hpp"

namespace cambium {

/// Which runs there are: every combination of the keys' values, the last key changing fastest, or with `zip` the first
/// values of all keys, then the second ones.
struct SweepTable {
  struct Row {
    std::vector<std::size_t> values;  ///< of each key, which of its values
    std::string folder;               ///< name inside the folder of the sweep: "003_rayleigh=1e5,seed=2"
  };
  std::vector<SweptKey> keys;
  bool zip = false;
  std::vector<Row> rows;

  /// "rayleigh=1e5, seed=2"
  std::string values_text(const Row& row) const;
  /// The length of each dimension of a result: one per key, a single one with zip.
  std::vector<std::size_t> extents() const;
};

/// Fills `rows` from keys and `zip`. InputError where lengths do not fit or there are too many runs.
void add_rows(SweepTable& table);

/// Settings from the command line in addition to the deck.
struct SweepOptions {
  std::vector<std::string> overs;  ///< key=values; with them the deck's `sweep.over` is not used
  bool zip = false;
  int ranks_per_run = 0;  ///< 0: as many as go into the number of runs
  int row = 0;            ///< this run only, counted from 1; 0: all
  bool dry_run = false;   ///< print the table
  bool retry = false;     ///< runs that failed are started again
  std::string slurm;      ///< file to which a script for a job array is written
};

/// Expected value of a result in one run: a formula of the numeric keys, by their names, or an item of a list that has
/// one for each value of the first key (else one for each run).
double expected_value(const deck::Node& theory, const SweepTable& table, std::size_t run);

/// A deck with its table of runs.
struct Sweep {
  deck::Node root;        ///< the deck with overrides, under present names, without `sweep`
  std::string path;       ///< of the deck
  std::string directory;  ///< of the sweep
  std::string resolved;   ///< the first run's deck with all defaults
  SweepTable table;
  deck::Node theory;  ///< names of results with formulas of the keys or lists of values; may be none
  DeckOptions options;
  std::vector<std::string> named;  ///< as LoadedDeck::named

  /// The deck of one run, its directory among its keys.
  deck::Node deck_of(const SweepTable::Row& row) const;
  std::string directory_of(const SweepTable::Row& row) const;
};

/// Reads the table of a deck, and the deck of every run as far as it can be checked without constructing anything: all
/// problems are reported at once, those of a swept value with a caret under it. Collective. InputError.
Sweep read_sweep(const WrittenDeck& written, const DeckOptions& deck_options, const SweepOptions& options,
                 Registry& registry, Context& context);

}  // namespace cambium
