#include <utility>

#include "core/base/timing.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

FastReducer::FastReducer(const Mesh& mesh, const FlatLayout& layout, bool overlap)
    : mesh_(mesh), layout_(layout), overlap_(overlap), requests_(layout.groups().size(), MPI_REQUEST_NULL) {
  if (mesh.world().size() <= ShareExchange::most_ranks) exchanges_.resize(layout.groups().size());
}

void FastReducer::send_next(FlatBuffer& gradients) {
  const auto& group = layout_.groups()[next_];
  const auto k = static_cast<std::size_t>(next_);
  with_real(gradients.dtype(), [&]<class T>() {
    T* values = gradients.values<T>().data() + group.begin;
    if (!exchanges_.empty())
      exchanges_[k].start(reinterpret_cast<std::byte*>(values), group.elements(), gradients.dtype(), mesh_.world(),
                          next_);
    else
      MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(group.elements()),
                     std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, mesh_.world().handle(),
                     &requests_[k]);
  });
  traffic_.count("allreduce", mesh_.levels().size() == 1 ? mesh_.levels()[0].name : "all",
                 group.elements() * size_of(gradients.dtype()));
  ++next_;
}

void FastReducer::tensor_ready(int tensor, FlatBuffer& gradients) {
  if (std::exchange(tensor_done_[tensor], 1)) return;
  --missing_[layout_.tensors()[tensor].group];
  const int before = next_;
  while (next_ < std::ssize(missing_) && missing_[next_] == 0) send_next(gradients);
  // MPI libraries without a progress thread move on only inside their own calls.
  if (next_ == before && next_ > 0) go_on(false);
}

/// Moves all groups that are under way on; with `wait`, to their end.
void FastReducer::go_on(bool wait) {
  int done = 0;
  if (exchanges_.empty() && wait)
    MPI_Waitall(next_, requests_.data(), MPI_STATUSES_IGNORE);
  else if (exchanges_.empty())
    MPI_Testall(next_, requests_.data(), &done, MPI_STATUSES_IGNORE);
  for (int k = 0; !exchanges_.empty() && k < next_; ++k) exchanges_[k].advance(wait);
}

void FastReducer::finish(FlatBuffer& gradients) {
  const double start = wall_seconds();
  while (next_ < std::ssize(layout_.groups())) send_next(gradients);
  go_on(true);
  exposed_ += wall_seconds() - start;
}

void FastReducer::sum(FlatBuffer& gradients, int slices, const SliceGradient& compute) {
  gradients.zero();
  const bool alone = mesh_.world().size() == 1;
  next_ = alone ? static_cast<int>(layout_.groups().size()) : 0;
  missing_.clear();
  for (const auto& group : layout_.groups()) missing_.push_back(group.last - group.first);
  tensor_done_.assign(layout_.tensors().size(), 0);
  const ReadyCallback wait = [](int) {};
  const ReadyCallback send = [&](int tensor) { tensor_ready(tensor, gradients); };
  for (int k = 0; k < slices; ++k) compute(k, gradients, overlap_ && !alone && k == slices - 1 ? send : wait);
  if (!alone) finish(gradients);
}

}  // namespace cambium::train
