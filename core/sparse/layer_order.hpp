#pragma once
#include <cstdint>

namespace cambium::sparse {

/// Two ways to compute the same layer A H W.
enum class LayerOrder {
  weights_first,  ///< A (H W): both products with A have f_out columns
  graph_first,    ///< (A H) W: forward f_in columns; backward f_in, if the gradient of H is requested at all
};

/// A layer as its messages see it.
struct LayerWidths {
  std::int64_t f_in = 1, f_out = 1;
  bool input_gradient = true;   ///< false for the first layer
  bool constant_input = false;  ///< A H of graph_first is formed once and kept: features without dropout
};

/// Columns that are multiplied by A (forward) and A^T (backward) in one training step; words are this times
/// words per column of the layout. weights_first: 2 f_out. graph_first: f_in or none, plus f_in or none.
std::int64_t exchanged_columns(const LayerWidths& layer, LayerOrder order);

/// The order with fewer; weights_first where both are alike. For an inner layer: the narrower side, min(f_in, f_out).
LayerOrder cheaper_order(const LayerWidths& layer);

}  // namespace cambium::sparse
