#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "core/parallel/agree.hpp"
#include "core/parallel/comm.hpp"

namespace cambium::submatrix {

/// The ranks that read a file together, each a part of it; without a communicator one rank that reads all of it.
class FileRanks {
 public:
  FileRanks() = default;
  explicit FileRanks(const Comm& comm) : comm_(&comm) {}

  int rank() const { return comm_ ? comm_->rank() : 0; }
  int size() const { return comm_ ? comm_->size() : 1; }
  const Comm* comm() const { return comm_; }
  /// Start of a rank's part of `items` rows, records or bytes; it ends at the start of the next rank's.
  std::int64_t first(std::int64_t items, int rank) const {
    return items / size() * rank + items % size() * rank / size();
  }

  /// Collective: an InputError of one rank is thrown on all; the action does not communicate.
  void agree(const std::function<void()>& action) const { comm_ ? io::on_every_rank(*comm_, action) : action(); }
  std::int64_t before(std::int64_t value) const { return comm_ ? comm_->exclusive_sum(value) : 0; }
  std::int64_t sum(std::int64_t value) const { return comm_ ? comm_->sum(value) : value; }
  int max(int value) const { return comm_ ? comm_->max(value) : value; }
  double max(double value) const { return comm_ ? comm_->max(value) : value; }
  void max(std::span<double> values) const {
    if (comm_) comm_->max(values);
  }
  void sum(std::span<double> values) const {
    if (comm_) comm_->sum(values);
  }

 private:
  const Comm* comm_ = nullptr;
};

}  // namespace cambium::submatrix
