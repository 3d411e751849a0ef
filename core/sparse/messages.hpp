#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/sparse/share.hpp"

namespace cambium::sparse {

/// Messages in flight, of any length (MPI counts to 2^31: longer ones are split). Received data are counted in `words`.
class Messages {
 public:
  static constexpr int tag = 31;
  Messages(const Comm& comm, Words& words) : comm_(comm), words_(words) {}

  /// `bytes` of 0 send nothing. The memory must stay until wait().
  void send(const std::byte* from, std::int64_t bytes, int rank);
  /// `dense`, `entries`: contents of the message, for the count.
  void receive(std::byte* to, std::int64_t bytes, int rank, std::int64_t dense, std::int64_t entries = 0);
  /// One message from `root` to all ranks, each of which calls it in the same order.
  void broadcast(std::byte* data, std::int64_t bytes, int root, std::int64_t dense, std::int64_t entries = 0);
  void wait();

 private:
  void count(std::int64_t bytes, std::int64_t dense, std::int64_t entries);

  const Comm& comm_;
  Words& words_;
  std::vector<MPI_Request> requests_;
};

/// In place: values become their sum over the ranks of `comm` (2 to a few), added in rank order, bitwise identical on
/// every rank. Each rank reduces its part, n k / p to n (k + 1) / p, and sends the result to all: it receives (p - 1)
/// part + n - part values.
template <class T>
void sum_over(std::span<T> values, const Comm& comm, Words& words);
template <class T>
void max_over(std::span<T> values, const Comm& comm, Words& words);

}  // namespace cambium::sparse
