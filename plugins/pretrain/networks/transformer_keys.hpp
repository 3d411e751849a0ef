#pragma once
#include <cstdint>
#include <vector>

#include "core/base/citation.hpp"
#include "core/deck/describe.hpp"
#include "core/train/networks/attention/attention.hpp"
#include "plugins/pretrain/archive/augment.hpp"

namespace cambium::pretrain {

/// The block `transformer` of an encoder: attention between patches of a field.
struct TransformerKeys {
  std::vector<std::int64_t> patch;  ///< cells along each axis
  std::int64_t width = 64, heads = 4, blocks = 3;
  train::AttentionParams::Type attention = train::AttentionParams::Type::softmax;
  static void describe(deck::Describe<TransformerKeys>& d);
  /// Publications on patches and their position embeddings.
  static std::vector<Citation> citations();
};

/// InputError if patches do not divide these fields, or heads are too narrow for their axes.
void require_fitting(const TransformerKeys& keys, const FieldShape& shape);

}  // namespace cambium::pretrain
