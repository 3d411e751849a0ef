#pragma once
#include <torch/torch.h>

#include <string>

#include "core/parallel/comm.hpp"
#include "core/train/kinds/keeps_numbers.hpp"
#include "plugins/pretrain/contrastive/gathered.hpp"

namespace cambium::pretrain {

/// The last rows that were put in, at most `room`, the same on every rank.
class RowQueue {
 public:
  RowQueue(std::int64_t room, std::int64_t width, torch::Dtype real)
      : rows_(torch::zeros({room, width}, torch::TensorOptions().dtype(real))) {}
  /// A copy of those that are there, in no order: a graph that reads it outlives the next put().
  torch::Tensor rows() const { return rows_.narrow(0, 0, filled_).clone(); }
  /// A row beyond the end goes to the front: the oldest is replaced.
  void put(const torch::Tensor& rows);
  std::vector<double> kept() const;  ///< next place, rows there, all numbers
  void take(const std::vector<double>& kept);

 private:
  torch::Tensor rows_;
  std::int64_t next_ = 0, filled_ = 0;
};

/// Collective: rows (own samples, width) of all ranks in the order of their samples' numbers, so that it does not
/// depend on the number of ranks. What this rank hands over is counted as `name`.
torch::Tensor gathered_by_sample(const torch::Tensor& own, const std::vector<std::int64_t>& ids, const char* name,
                                 const Comm& comm, train::Traffic& traffic);

}  // namespace cambium::pretrain
