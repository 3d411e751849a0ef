#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium {

/// A communicator. Owns a duplicate of the given one, so that our messages never match another library's.
class Comm {
 public:
  explicit Comm(MPI_Comm parent = MPI_COMM_WORLD);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool root() const { return rank_ == 0; }
  MPI_Comm handle() const { return comm_; }

  /// Element-wise sum (max, min) over ranks, in place; every rank gets the result, which is NaN if any rank's value is.
  void sum(std::span<double> values) const;
  double sum(double value) const;
  std::int64_t sum(std::int64_t value) const;
  double max(double value) const;
  double min(double value) const;
  int max(int value) const;
  void max(std::span<double> values) const;
  void min(std::span<double> values) const;

  void broadcast(std::string& text, int root = 0) const;
  void broadcast(std::span<double> values, int root = 0) const;
  /// All ranks' values in rank order, on every rank.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;
  /// Sum of the values of all lower ranks.
  std::int64_t exclusive_sum(std::int64_t value) const;
  void barrier() const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace cambium
