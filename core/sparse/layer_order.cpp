#include "core/sparse/layer_order.hpp"

namespace cambium::sparse {

std::int64_t exchanged_columns(const LayerWidths& layer, LayerOrder order) {
  if (order == LayerOrder::weights_first) return 2 * layer.f_out;
  return (layer.constant_input ? 0 : layer.f_in) + (layer.input_gradient ? layer.f_in : 0);
}

LayerOrder cheaper_order(const LayerWidths& layer) {
  const auto graph = exchanged_columns(layer, LayerOrder::graph_first);
  return graph < exchanged_columns(layer, LayerOrder::weights_first) ? LayerOrder::graph_first
                                                                     : LayerOrder::weights_first;
}

}  // namespace cambium::sparse
