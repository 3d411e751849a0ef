#pragma once
#include <memory>
#include <vector>

#include "plugins/relate/datasets/pair_table.hpp"
#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/datasets/roles.hpp"

namespace cambium::relate {

/// Inputs of affinity networks in addition to the identity of compounds and targets.
struct DescriptorKeys {
  std::int64_t radius = 2;     ///< of fragments around an atom, in bonds
  std::int64_t pieces = 4096;  ///< rows of the table of fragments of compounds
  std::int64_t letters = 3;    ///< length of a sequence's words (k-mers)
};

/// Records of the pairs with role `role`: the columns compound, target (one row each), compound_pieces (circular
/// fragments of the SMILES) and target_words (k-mers of the sequence). InputError names the compound or target and the
/// position of a SMILES or a sequence that cannot be parsed.
RecordSet pair_records(const std::shared_ptr<const PairTable>& table, const std::vector<Role>& roles, Role role,
                       const DescriptorKeys& keys);

}  // namespace cambium::relate
