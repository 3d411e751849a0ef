#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium::relate {

/// One side of pairs: compounds or targets.
struct Side {
  std::vector<std::string> id;
  std::vector<std::string> text;   ///< SMILES or sequence; empty if unknown
  std::vector<double> similarity;  ///< (n, n) from the source; empty if it has none
  std::int64_t size() const { return std::ssize(id); }
};

/// Measured values of pairs: a compound and a target, a solvent and a solute.
struct PairTable {
  std::string source;        ///< for messages
  std::string answer, unit;  ///< of the values: name, unit
  Side compounds, targets;
  struct Entry {
    std::int32_t compound = 0, target = 0;
    double value = 0.0;
    int fold = -1;  ///< from the source; -1 if it has none
    std::int64_t place = 0;
  };
  std::vector<Entry> entries;
  std::vector<std::string> notes, warnings;  ///< how the source was interpreted, for the log
};

/// Reads HDF5: affinity (compounds, targets), NaN if unknown; drug_smiles, target_sequence, and, optionally, drug_id,
/// target_id, drug_similarity, target_similarity, fold (compounds, targets). InputError names file and array.
PairTable read_pair_h5(const std::string& path);

/// Keys of a table in text form.
struct PairTextKeys {
  enum class Incomplete { leave_out, refuse };
  std::string value;                              ///< column of the values; empty: the remaining one
  Incomplete incomplete = Incomplete::leave_out;  ///< pairs without a value or with a bound (">10000") instead
};

/// Reads text with a header line (pair_columns()) and a line for each pair, cells separated by commas, semicolons or
/// tabs; a compound or a target has one SMILES or sequence. InputError with file:line.
PairTable read_pair_csv(const std::string& path, const PairTextKeys& keys = {});

struct MadePairs {
  std::int64_t compounds = 60, targets = 40, families = 5;
  double known = 0.6, noise = 0.3;
  std::int64_t seed = 1;
};
/// Compounds built from fragments and targets from families with mutants, with values that follow from both. Depends on
/// the keys only.
PairTable make_pairs(const MadePairs& keys);

}  // namespace cambium::relate
