#include "core/sparse/messages.hpp"

#include <algorithm>

namespace cambium::sparse {

/// f(begin, size) for pieces that MPI can count.
template <class F>
static void in_pieces(std::int64_t bytes, F&& f) {
  constexpr std::int64_t piece = std::int64_t(1) << 30;
  for (std::int64_t begin = 0; begin < bytes; begin += piece)
    f(begin, static_cast<int>(std::min(piece, bytes - begin)));
}

void Messages::count(std::int64_t bytes, std::int64_t dense, std::int64_t entries) {
  if (bytes == 0) return;
  words_.dense += dense, words_.entries += entries, words_.bytes += bytes, ++words_.messages;
}

void Messages::send(const std::byte* from, std::int64_t bytes, int rank) {
  in_pieces(bytes, [&](std::int64_t begin, int size) {
    MPI_Isend(from + begin, size, MPI_BYTE, rank, tag, comm_.handle(), &requests_.emplace_back());
  });
}

void Messages::receive(std::byte* to, std::int64_t bytes, int rank, std::int64_t dense, std::int64_t entries) {
  in_pieces(bytes, [&](std::int64_t begin, int size) {
    MPI_Irecv(to + begin, size, MPI_BYTE, rank, tag, comm_.handle(), &requests_.emplace_back());
  });
  count(bytes, dense, entries);
}

void Messages::broadcast(std::byte* data, std::int64_t bytes, int root, std::int64_t dense, std::int64_t entries) {
  if (comm_.size() == 1) return;
  in_pieces(bytes, [&](std::int64_t begin, int size) {
    MPI_Ibcast(data + begin, size, MPI_BYTE, root, comm_.handle(), &requests_.emplace_back());
  });
  if (comm_.rank() != root) count(bytes, dense, entries);
}

void Messages::wait() {
  if (requests_.empty()) return;
  const double begin = MPI_Wtime();
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
  words_.waited += MPI_Wtime() - begin;
}

namespace {

/// Elements of one rank's part.
Range share_of(std::int64_t n, const Comm& comm, int rank) {
  return {n * rank / comm.size(), n * (rank + 1) / comm.size()};
}

/// f(rank) for the other ranks, each beginning with its neighbour.
template <class F>
void each_other(const Comm& comm, F&& f) {
  for (int step = 1; step < comm.size(); ++step) f((comm.rank() + step) % comm.size());
}

template <class T>
std::byte* bytes_at(std::span<T> values, std::int64_t k) {
  return reinterpret_cast<std::byte*>(values.data() + k);
}

template <class T, class F>
void reduce_over(std::span<T> values, const Comm& comm, Words& words, F&& combine) {
  if (comm.size() == 1) return;
  const std::int64_t n = std::ssize(values), size = sizeof(T);
  const Range own = share_of(n, comm, comm.rank());
  std::vector<T> parts(own.size() * comm.size());
  const std::span<T> all(parts);
  Messages messages(comm, words);
  each_other(comm, [&](int rank) {
    messages.receive(bytes_at(all, own.size() * rank), own.size() * size, rank, own.size());
    const Range theirs = share_of(n, comm, rank);
    messages.send(bytes_at(values, theirs.begin), theirs.size() * size, rank);
  });
  std::copy_n(values.begin() + own.begin, own.size(), all.begin() + own.size() * comm.rank());
  messages.wait();
  std::copy_n(all.begin(), own.size(), values.begin() + own.begin);
  for (int rank = 1; rank < comm.size(); ++rank)
    for (std::int64_t k = 0; k < own.size(); ++k) {
      T& to = values[own.begin + k];
      to = combine(to, all[own.size() * rank + k]);
    }
  each_other(comm, [&](int rank) {
    const Range theirs = share_of(n, comm, rank);
    messages.receive(bytes_at(values, theirs.begin), theirs.size() * size, rank, theirs.size());
    messages.send(bytes_at(values, own.begin), own.size() * size, rank);
  });
  messages.wait();
}

}  // namespace

template <class T>
void sum_over(std::span<T> values, const Comm& comm, Words& words) {
  reduce_over(values, comm, words, [](T a, T b) { return a + b; });
}

template <class T>
void max_over(std::span<T> values, const Comm& comm, Words& words) {
  reduce_over(values, comm, words, [](T a, T b) { return a < b ? b : a; });
}

template void sum_over(std::span<double>, const Comm&, Words&);
template void sum_over(std::span<float>, const Comm&, Words&);
template void max_over(std::span<double>, const Comm&, Words&);
template void max_over(std::span<float>, const Comm&, Words&);

}  // namespace cambium::sparse
