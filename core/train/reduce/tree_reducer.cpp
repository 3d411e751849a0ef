#include "core/base/timing.hpp"
#include "core/parallel/length.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

TreeReducer::TreeReducer(const Mesh& mesh, const FlatLayout& layout, DType dtype, std::int64_t all)
    : mesh_(mesh), layout_(layout), dtype_(dtype), all_(all) {}

void TreeReducer::begin(FlatBuffer& gradients, int slices) {
  Reducer::begin(gradients, slices);
  while (!tree_.waiting().empty()) give_back();  // of an abandoned sum
}

void TreeReducer::next_slice() {
  if (slice_ >= 0) keep();
  Reducer::next_slice();
  gradients_->zero();
}

void TreeReducer::give_back() {
  spare_.push_back(std::move(tree_.waiting().back().sum));
  tree_.waiting().pop_back();
}

/// Adds the slice in the gradients; indices beyond the last slice of the batch are skipped.
void TreeReducer::keep() {
  const std::int64_t number = std::int64_t{mesh_.world().rank()} * slices_ + slice_;
  if (number >= all_) return;
  with_real(dtype_, [&]<class T>() {
    const auto add = [](FlatBuffer& into, const FlatBuffer& other) {
      const auto x = into.values<T>();
      const auto y = other.values<T>();
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += y[k];
    };
    const auto copy = [&] {
      if (spare_.empty()) spare_.emplace_back(layout_, dtype_);
      FlatBuffer sum = std::move(spare_.back());
      spare_.pop_back();
      sum.copy_from(*gradients_);
      return sum;
    };
    const auto add_and_free = [&](FlatBuffer& into, FlatBuffer& other) {
      add(into, other);
      spare_.push_back(std::move(other));
    };
    tree_.take(
        {0, number}, [&](FlatBuffer& into) { add(into, *gradients_); }, copy, add_and_free);
  });
}

void TreeReducer::finish() {
  keep();
  const double start = wall_seconds();
  exchange();
  exposed_ += wall_seconds() - start;
}

NodeRanks TreeReducer::ranks() const {
  const Comm& comm = mesh_.world();
  const std::int64_t n = layout_.size(), size = comm.size();
  NodeRanks out{comm.handle(),
                {},
                static_cast<std::size_t>(comm.rank()),
                dtype_ == DType::f64 ? MPI_DOUBLE : MPI_FLOAT,
                size_of(dtype_)};
  for (std::int64_t rank = 0; rank < size; ++rank)
    out.peers.push_back({static_cast<int>(rank),
                         nodes_of(std::min(all_, rank * slices_), std::min(all_, (rank + 1) * slices_)),
                         n * rank / size, n * (rank + 1) / size - n * rank / size});
  return out;
}

/// Each rank adds its chunk of all nodes and sends it to the others.
void TreeReducer::exchange() {
  const NodeRanks all = ranks();
  const auto& mine = all.peers[all.me];
  const std::string level = mesh_.levels().size() == 1 ? mesh_.levels()[0].name : "all";
  auto* values = reinterpret_cast<std::byte*>(gradients_->values<std::uint8_t>().data());
  with_real(dtype_, [&]<class T>() {
    std::vector<std::byte*> own;
    for (auto& waiting : tree_.waiting()) own.push_back(reinterpret_cast<std::byte*>(waiting.sum.values<T>().data()));
    SumTree<T*> sums;
    const auto add = [&](T* into, const T* other) {
      for (std::int64_t k = 0; k < mine.count; ++k) into[k] += other[k];
    };
    MemoryLedger uncounted;
    const std::int64_t sent = exchange_nodes(all, own, uncounted, [&](const SliceNode& node, std::byte* part) {
      T* numbers = reinterpret_cast<T*>(part);
      sums.take(
          node, [&](T* into) { add(into, numbers); }, [&] { return numbers; }, add);
      if (node.number + 1 == all_ >> node.place)  // the last one, while it is available
        std::copy_n(sums.waiting().front().sum, mine.count, gradients_->values<T>().data() + mine.begin);
    });
    traffic_.count("reduce-scatter", level, sent);
  });
  while (!tree_.waiting().empty()) give_back();
  std::vector<MPI_Request> requests;
  for (std::size_t p = 0; p < all.peers.size(); ++p) {
    if (p == all.me) continue;
    const auto& peer = all.peers[p];
    const MessageLength in(peer.count, all.type), out(mine.count, all.type);
    MPI_Irecv(values + peer.begin * all.size, in.count(), in.type(), peer.rank, 74, all.comm, &requests.emplace_back());
    MPI_Isend(values + mine.begin * all.size, out.count(), out.type(), peer.rank, 74, all.comm,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  traffic_.count("all-gather", level, mine.count * all.size * (std::ssize(all.peers) - 1));
}

}  // namespace cambium::train
