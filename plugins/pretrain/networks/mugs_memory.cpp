#include "plugins/pretrain/networks/mugs_memory.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::pretrain {

using torch::Tensor;

void RowQueue::put(const Tensor& rows) {
  const std::int64_t room = rows_.size(0);
  for (std::int64_t k = std::max<std::int64_t>(0, rows.size(0) - room); k < rows.size(0); ++k) {
    rows_[next_].copy_(rows[k]);
    next_ = (next_ + 1) % room;
    filled_ = std::min(filled_ + 1, room);
  }
}

std::vector<double> RowQueue::kept() const {
  const Tensor all = rows_.to(torch::kFloat64).contiguous();
  std::vector<double> out{static_cast<double>(next_), static_cast<double>(filled_)};
  out.insert(out.end(), all.data_ptr<double>(), all.data_ptr<double>() + all.numel());
  return out;
}

void RowQueue::take(const std::vector<double>& kept) {
  if (std::ssize(kept) != 2 + rows_.numel())
    throw InputError("the checkpoint's queues have another size; resume with the same queue and widths");
  next_ = static_cast<std::int64_t>(kept[0]);
  filled_ = static_cast<std::int64_t>(kept[1]);
  rows_.copy_(torch::tensor(std::vector<double>(kept.begin() + 2, kept.end()), torch::kFloat64).reshape(rows_.sizes()));
}

Tensor gathered_by_sample(const Tensor& own, const std::vector<std::int64_t>& ids, const char* name, const Comm& comm,
                          train::Traffic& traffic) {
  const auto rows = train::rank_rows(std::ssize(ids), comm);
  const Tensor mine = own.to(torch::kFloat64).contiguous();
  const std::vector<double> numbers(ids.begin(), ids.end());
  const auto all_ids = train::gathered<double>(numbers, 1, rows, name, comm, traffic);
  const auto all =
      train::gathered<double>(std::span<const double>(mine.data_ptr<double>(), static_cast<std::size_t>(mine.numel())),
                              mine.size(1), rows, name, comm, traffic);
  std::vector<std::int64_t> order(all_ids.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(k);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return all_ids[a] < all_ids[b]; });
  const Tensor gathered = torch::tensor(all, torch::kFloat64).reshape({rows.all, mine.size(1)});
  return gathered.index_select(0, torch::tensor(order, torch::kInt64)).to(own.scalar_type());
}

}  // namespace cambium::pretrain
