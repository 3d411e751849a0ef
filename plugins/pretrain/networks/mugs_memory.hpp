#pragma once
#include <torch/torch.h>

#include <string>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "plugins/pretrain/contrastive/gathered.hpp"

namespace cambium::pretrain {

/// Ring buffer of the last rows, at most `room`, the same on every rank.
class RowQueue {
 public:
  RowQueue(std::int64_t room, std::int64_t width, torch::Dtype real)
      : rows_(torch::zeros({room, width}, torch::TensorOptions().dtype(real))) {}
  /// A copy of the rows, in no order: an autograd graph with it remains valid after the next put().
  torch::Tensor rows() const { return rows_.narrow(0, 0, filled_).clone(); }
  /// Wraps around at the end: the oldest row is replaced.
  void put(const torch::Tensor& rows);
  std::vector<double> kept() const;  ///< next index, number of rows, all values
  void take(const std::vector<double>& kept);

 private:
  torch::Tensor rows_;
  std::int64_t next_ = 0, filled_ = 0;
};

/// Collective: all-gathers rows (own samples, width) in the order of their sample indices, independent of the number of
/// ranks. Data sent by this rank are counted as `name`.
torch::Tensor gathered_by_sample(const torch::Tensor& own, const std::vector<std::int64_t>& ids, const char* name,
                                 const Comm& comm, train::Traffic& traffic);

}  // namespace cambium::pretrain
