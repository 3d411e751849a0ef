#pragma once
#include <memory>
#include <vector>

#include "plugins/relate/datasets/pair_table.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/datasets/roles.hpp"

namespace cambium::relate {

/// Inputs of networks about compounds and targets in addition to which ones they are.
struct DescriptorKeys {
  std::int64_t radius = 2;     ///< bonds around an atom that its pieces reach
  std::int64_t pieces = 4096;  ///< rows of the table of pieces of compounds
  std::int64_t letters = 3;    ///< of a sequence's words
};

/// Records of those pairs whose role is `role`: the columns compound, target (one row each), compound_pieces (circular
/// fragments of the SMILES) and target_words (words of so many letters of the sequence). InputError names thing and
/// place of a SMILES or a sequence that cannot be read.
RecordSet pair_records(const std::shared_ptr<const PairTable>& table, const std::vector<Role>& roles, Role role,
                       const DescriptorKeys& keys);

}  // namespace cambium::relate
