#pragma once
#include <cstddef>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/parallel/comm.hpp"

namespace cambium::train {

/// In-place all-reduce of an array over a few ranks, overlapped with computation: every rank receives all parts of its
/// chunk, adds them in rank order, and sends the sum to the others. A rank sends 2 n (N - 1) / N of n values, in 2 (N -
/// 1) messages; MPI_Iallreduce of Open MPI 4.1 takes twice as long for two ranks on one node.
class ShareExchange {
 public:
  static constexpr int most_ranks = 8;

  /// `values` must stay valid until advance() returns true. `tag` distinguishes simultaneous exchanges.
  void start(std::byte* values, std::int64_t n, DType dtype, const Comm& comm, int tag);
  /// Processes the messages that have arrived; with `wait`, until the end. Returns true once `values` contains the sum.
  bool advance(bool wait);

 private:
  struct Share {
    std::int64_t begin, end;
  };
  Share share(int rank) const { return {n_ * rank / comm_->size(), n_ * (rank + 1) / comm_->size()}; }
  std::byte* at(std::int64_t k) { return values_ + k * static_cast<std::int64_t>(size_of(dtype_)); }
  bool arrived(bool wait);
  void add_parts();
  void hand_out();

  enum class State { adding, handing_out, done };
  State state_ = State::done;
  const Comm* comm_ = nullptr;
  std::byte* values_ = nullptr;
  std::int64_t n_ = 0;
  DType dtype_ = DType::f64;
  int tag_ = 0;
  std::vector<std::vector<std::byte>> parts_;  ///< of this rank's chunk, by rank
  std::vector<MPI_Request> requests_;
};

}  // namespace cambium::train
