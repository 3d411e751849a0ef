#include "core/train/weights/data_parallel.hpp"

#include <limits>

#include "core/train/optimizers/bounded_gradient.hpp"

namespace cambium::train {

DataParallel::DataParallel(const ReduceParams& reduce, const Comm& comm, const Network& network,
                           const Optimizer& optimizer)
    : mesh(comm), layout(layout_of(reduce, network.parameters(), network.dtype())),
      reducer(make_reducer(reduce, mesh, layout, network.dtype())),
      gradients(reducer->make_buffer(layout, network.dtype())),
      states(make_states(optimizer, layout, network.dtype())) {}

std::vector<FlatBuffer> DataParallel::state_views() const {
  std::vector<FlatBuffer> out;
  for (const auto& state : states) out.push_back(state.view());
  return out;
}

double DataParallel::bound(const StepNumbers& numbers) {
  BoundedGradient bounded(numbers.factor, numbers.clip, layout.parameters());
  double norm = std::numeric_limits<double>::quiet_NaN();
  with_real(gradients.dtype(), [&]<class T>() {
    const auto values = gradients.values<T>();
    if (bounded.bounds_norm()) {
      bounded.look(values.data(), std::ssize(values));
      bounded.add(values.data(), std::ssize(values));
      norm = bounded.norm();
    }
    bounded.take(values.data(), values.data(), std::ssize(values));
  });
  return norm;
}

}  // namespace cambium::train
