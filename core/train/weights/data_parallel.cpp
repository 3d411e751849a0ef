#include "core/train/weights/data_parallel.hpp"

namespace cambium::train {

DataParallel::DataParallel(const ReduceParams& reduce, const Comm& comm, const Network& network,
                           const Optimizer& optimizer)
    : mesh(comm), layout(layout_of(reduce, network.parameters(), network.dtype())),
      reducer(make_reducer(reduce, mesh, layout, network.dtype())),
      gradients(reducer->make_buffer(layout, network.dtype())), views(gradients.views()),
      states(make_states(optimizer, layout, network.dtype())) {}

std::vector<FlatBuffer> DataParallel::state_views() const {
  std::vector<FlatBuffer> out;
  for (const auto& state : states) out.push_back(state.view());
  return out;
}

}  // namespace cambium::train
