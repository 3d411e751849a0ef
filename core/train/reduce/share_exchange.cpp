#include "core/train/reduce/share_exchange.hpp"

#include "core/parallel/length.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/reduce/add_in_order.hpp"

namespace cambium::train {

static MPI_Datatype type_of(DType dtype) { return dtype == DType::f64 ? MPI_DOUBLE : MPI_FLOAT; }

void ShareExchange::start(std::byte* values, std::int64_t n, DType dtype, const Comm& comm, int tag) {
  values_ = values;
  n_ = n;
  dtype_ = dtype;
  comm_ = &comm;
  tag_ = 2 * tag;
  state_ = State::adding;
  const int ranks = comm.size(), me = comm.rank();
  const auto [begin, end] = share(me);
  parts_.resize(ranks);
  requests_.assign(2 * ranks, MPI_REQUEST_NULL);
  for (int step = 1; step < ranks; ++step) {
    const int from = (me + step) % ranks, to = (me + ranks - step) % ranks;
    auto& part = parts_[from];
    part.resize((end - begin) * static_cast<std::int64_t>(size_of(dtype)));
    const MessageLength in(end - begin, type_of(dtype));
    MPI_Irecv(part.data(), in.count(), in.type(), from, tag_, comm.handle(), &requests_[2 * step]);
    const auto [first, last] = share(to);
    const MessageLength out(last - first, type_of(dtype));
    MPI_Isend(at(first), out.count(), out.type(), to, tag_, comm.handle(), &requests_[2 * step + 1]);
  }
}

bool ShareExchange::arrived(bool wait) {
  int done = 1;
  const int n = static_cast<int>(requests_.size());
  if (wait)
    MPI_Waitall(n, requests_.data(), MPI_STATUSES_IGNORE);
  else
    MPI_Testall(n, requests_.data(), &done, MPI_STATUSES_IGNORE);
  return done != 0;
}

/// Adds this rank's chunk in rank order, whatever the order of arrival: the sum does not depend on timing.
void ShareExchange::add_parts() {
  const auto [begin, end] = share(comm_->rank());
  with_real(dtype_, [&]<class T>() {
    T* own = reinterpret_cast<T*>(at(begin));
    const auto part = [&](int rank) {
      return rank == comm_->rank() ? own : reinterpret_cast<const T*>(parts_[rank].data());
    };
    add_in_order<T>(comm_->size(), end - begin, part, own);
  });
}

void ShareExchange::hand_out() {
  const int ranks = comm_->size(), me = comm_->rank();
  const auto [begin, end] = share(me);
  for (int step = 1; step < ranks; ++step) {
    const int from = (me + step) % ranks, to = (me + ranks - step) % ranks;
    const auto [first, last] = share(from);
    const MessageLength in(last - first, type_of(dtype_)), out(end - begin, type_of(dtype_));
    MPI_Irecv(at(first), in.count(), in.type(), from, tag_ + 1, comm_->handle(), &requests_[2 * step]);
    MPI_Isend(at(begin), out.count(), out.type(), to, tag_ + 1, comm_->handle(), &requests_[2 * step + 1]);
  }
}

bool ShareExchange::advance(bool wait) {
  if (state_ == State::adding && arrived(wait)) {
    add_parts();
    hand_out();
    state_ = State::handing_out;
  }
  if (state_ == State::handing_out && arrived(wait)) state_ = State::done;
  return state_ == State::done;
}

}  // namespace cambium::train
