#include <utility>

#include "core/base/timing.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

FastReducer::FastReducer(const Mesh& mesh, const FlatLayout& layout, bool overlap)
    : mesh_(mesh), layout_(layout), overlap_(overlap), requests_(layout.groups().size(), MPI_REQUEST_NULL) {
  if (mesh.world().size() <= ShareExchange::most_ranks) exchanges_.resize(layout.groups().size());
}

void FastReducer::begin(FlatBuffer& gradients, int slices) {
  Reducer::begin(gradients, slices);
  gradients.zero();
  next_ = 0;
  missing_.clear();
  for (const auto& group : layout_.groups()) missing_.push_back(group.last - group.first);
  tensor_done_.assign(layout_.tensors().size(), 0);
}

void FastReducer::send_next() {
  const auto& group = layout_.groups()[next_];
  const auto k = static_cast<std::size_t>(next_);
  with_real(gradients_->dtype(), [&]<class T>() {
    T* values = gradients_->values<T>().data() + group.begin;
    if (!exchanges_.empty())
      exchanges_[k].start(reinterpret_cast<std::byte*>(values), group.elements(), gradients_->dtype(), mesh_.world(),
                          next_);
    else
      MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(group.elements()),
                     std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, mesh_.world().handle(),
                     &requests_[k]);
  });
  traffic_.count("allreduce", mesh_.levels().size() == 1 ? mesh_.levels()[0].name : "all",
                 group.elements() * size_of(gradients_->dtype()));
  ++next_;
}

void FastReducer::ready(int tensor) {
  if (!overlap_ || alone() || !last_slice() || std::exchange(tensor_done_[tensor], 1)) return;
  --missing_[layout_.tensors()[tensor].group];
  const int before = next_;
  while (next_ < std::ssize(missing_) && missing_[next_] == 0) send_next();
  // MPI libraries without a progress thread make progress only inside MPI calls.
  if (next_ == before && next_ > 0) go_on(false);
}

/// Makes progress on all groups in flight; with `wait`, completes them.
void FastReducer::go_on(bool wait) {
  int done = 0;
  if (exchanges_.empty() && wait)
    MPI_Waitall(next_, requests_.data(), MPI_STATUSES_IGNORE);
  else if (exchanges_.empty())
    MPI_Testall(next_, requests_.data(), &done, MPI_STATUSES_IGNORE);
  for (int k = 0; !exchanges_.empty() && k < next_; ++k) exchanges_[k].advance(wait);
}

void FastReducer::finish() {
  if (alone()) return;
  const double start = wall_seconds();
  while (next_ < std::ssize(layout_.groups())) send_next();
  go_on(true);
  exposed_ += wall_seconds() - start;
}

}  // namespace cambium::train
