#include <utility>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

SharedReducer::SharedReducer(const Mesh& mesh, const FlatLayout& layout, bool overlap,
                             std::unique_ptr<SharedSum> shared)
    : mesh_(mesh), layout_(layout), overlap_(overlap), shared_(std::move(shared)) {}

void SharedReducer::begin(FlatBuffer& gradients, int slices) {
  if (!shared_->holds(gradients)) throw InternalError("gradients of a shared reducer must come from its make_buffer()");
  Reducer::begin(gradients, slices);
  const double start = wall_seconds();
  shared_->begin();
  exposed_ += wall_seconds() - start;
  gradients.zero();
  tensor_done_.assign(layout_.tensors().size(), 0);
}

void SharedReducer::ready(int tensor) {
  if (!overlap_ || !last_slice() || std::exchange(tensor_done_[tensor], 1)) return;
  shared_->tensor_final(tensor);
  shared_->advance();
}

void SharedReducer::finish() {
  const double start = wall_seconds();
  for (std::size_t k = tensor_done_.size(); k-- > 0;)
    if (!std::exchange(tensor_done_[k], 1)) shared_->tensor_final(static_cast<int>(k));
  shared_->finish();
  for (const auto& group : layout_.groups())  // counted like messages
    traffic_.count("allreduce", mesh_.levels().size() == 1 ? mesh_.levels()[0].name : "all",
                   group.elements() * size_of(gradients_->dtype()));
  exposed_ += wall_seconds() - start;
}

}  // namespace cambium::train
