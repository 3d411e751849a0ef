#include <bit>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/length.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

OrderedReducer::OrderedReducer(const Mesh& mesh, const FlatLayout& layout, DType dtype)
    : mesh_(mesh), layout_(layout), dtype_(dtype), received_(layout, dtype) {}

template <class T>
static void add(std::span<T> into, std::span<const T> other) {
  for (std::size_t k = 0; k < into.size(); ++k) into[k] += other[k];
}

void OrderedReducer::begin(FlatBuffer& gradients, int slices) {
  if (!std::has_single_bit(static_cast<unsigned>(slices)))
    throw InternalError("the micro-batches of a rank are not a power of two");
  Reducer::begin(gradients, slices);
  const auto places = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(slices)));
  while (levels_.size() < places) levels_.emplace_back(layout_, dtype_);
  full_.assign(places, 0);
}

void OrderedReducer::next_slice() {
  if (slice_ >= 0) carry();
  Reducer::next_slice();
  gradients_->zero();
}

/// Adds a slice like incrementing a binary counter: two sums of equal size carry to the next level.
void OrderedReducer::carry() {
  FlatBuffer& gradients = *gradients_;
  const std::size_t places = full_.size();
  std::size_t place = 0;
  for (; place < places && full_[place]; ++place) {
    with_real(dtype_, [&]<class T>() { add<T>(gradients.values<T>(), std::as_const(levels_[place]).values<T>()); });
    full_[place] = 0;
  }
  if (place < places) {
    levels_[place].copy_from(gradients);
    full_[place] = 1;
  }
}

void OrderedReducer::finish() {
  carry();
  const double start = wall_seconds();
  exchange();
  exposed_ += wall_seconds() - start;
}

void OrderedReducer::exchange() {
  const Comm& comm = mesh_.world();
  const std::string level = mesh_.levels().size() == 1 ? mesh_.levels()[0].name : "all";
  with_real(dtype_, [&]<class T>() {
    const MPI_Datatype type = std::is_same_v<T, double> ? MPI_DOUBLE : MPI_FLOAT;
    T* values = gradients_->values<T>().data();
    T* received = received_.values<T>().data();
    std::int64_t begin = 0, end = layout_.size();
    std::vector<std::pair<std::int64_t, std::int64_t>> outer;  // range before each halving
    for (int distance = 1; distance < comm.size(); distance *= 2) {
      const int partner = comm.rank() ^ distance;
      const std::int64_t middle = begin + (end - begin) / 2;
      const bool lower = (comm.rank() & distance) == 0;
      const std::int64_t keep_from = lower ? begin : middle, keep_to = lower ? middle : end;
      const std::int64_t give_from = lower ? middle : begin, give_to = lower ? end : middle;
      const MessageLength give(give_to - give_from, type), keep(keep_to - keep_from, type);
      MPI_Sendrecv(values + give_from, give.count(), give.type(), partner, 71, received + keep_from, keep.count(),
                   keep.type(), partner, 71, comm.handle(), MPI_STATUS_IGNORE);
      traffic_.count("halving", level, (give_to - give_from) * static_cast<std::int64_t>(sizeof(T)));
      // Floating-point addition is commutative, so both ranks get the same result from "mine + theirs".
      for (std::int64_t k = keep_from; k < keep_to; ++k) values[k] += received[k];
      outer.emplace_back(begin, end);
      begin = keep_from;
      end = keep_to;
    }
    for (int distance = comm.size() / 2; distance >= 1; distance /= 2) {
      const int partner = comm.rank() ^ distance;
      const auto [from, to] = outer.back();
      outer.pop_back();
      const std::int64_t other_from = begin == from ? end : from, other_to = begin == from ? to : begin;
      const MessageLength mine(end - begin, type), other(other_to - other_from, type);
      MPI_Sendrecv(values + begin, mine.count(), mine.type(), partner, 72, values + other_from, other.count(),
                   other.type(), partner, 72, comm.handle(), MPI_STATUS_IGNORE);
      traffic_.count("doubling", level, (end - begin) * static_cast<std::int64_t>(sizeof(T)));
      begin = from;
      end = to;
    }
  });
}

}  // namespace cambium::train
