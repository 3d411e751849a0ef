#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::relate {

/// One side of pairs: compounds or targets.
struct Side {
  std::vector<std::string> id;
  std::vector<std::string> text;   ///< SMILES or sequence; empty where unknown
  std::vector<double> similarity;  ///< (n, n) as the source has it; empty where it has none
  std::int64_t size() const { return std::ssize(id); }
};

/// Measured values of pairs of two things: a compound and a target, a solvent and a solute.
struct PairTable {
  std::string source;        ///< for messages
  std::string answer, unit;  ///< of the values: name, unit
  Side compounds, targets;
  struct Entry {
    std::int32_t compound = 0, target = 0;
    double value = 0.0;
    int fold = -1;  ///< as the source has it; -1 where it names none
    std::int64_t place = 0;
  };
  std::vector<Entry> entries;
  std::vector<std::string> notes, warnings;  ///< how the source was understood, for the log
};

/// HDF5: affinity (compounds, targets), NaN where unknown; drug_smiles, target_sequence, and where they are there
/// drug_id, target_id, drug_similarity, target_similarity, fold (compounds, targets). InputError names file and array.
PairTable read_pair_h5(const std::string& path);

/// Keys of a table in text.
struct PairTextKeys {
  enum class Incomplete { leave_out, refuse };
  std::string value;                              ///< column of the values; empty: the one that is left over
  Incomplete incomplete = Incomplete::leave_out;  ///< pairs without a value or with a bound (">10000") in place of it
};

/// Text with a line of names (pair_columns()) and a line for each pair, cells between commas, semicolons or tabs; a
/// compound or a target has one SMILES or sequence. InputError with file:line.
PairTable read_pair_csv(const std::string& path, const PairTextKeys& keys = {});

struct MadePairs {
  std::int64_t compounds = 60, targets = 40, families = 5;
  double known = 0.6, noise = 0.3;
  std::int64_t seed = 1;
};
/// Compounds made of fragments and targets of families with mutants, whose values follow from both. A function of the
/// keys alone.
PairTable make_pairs(const MadePairs& keys);

}  // namespace cambium::relate
