#include "plugins/pretrain/contrastive/sample_rows.hpp"

#include <algorithm>
#include <numeric>

namespace cambium::train {

namespace {

std::vector<int> starts(std::span<const int> counts) {
  std::vector<int> out(counts.size(), 0);
  std::exclusive_scan(counts.begin(), counts.end(), out.begin(), 0);
  return out;
}

std::vector<int> times(std::span<const int> counts, int factor) {
  std::vector<int> out(counts.begin(), counts.end());
  for (int& count : out) count *= factor;
  return out;
}

/// Bytes sent by this rank.
std::int64_t leaving(std::span<const int> counts, int rank, std::size_t size) {
  const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  return (all - counts[rank]) * static_cast<std::int64_t>(size);
}

}  // namespace

/// Allocates its row if necessary.
std::size_t SampleRows::place(std::int64_t id) {
  const auto row = static_cast<std::size_t>(id / comm_.size()) * static_cast<std::size_t>(columns_);
  if (own_.size() < row + static_cast<std::size_t>(columns_))
    own_.resize(row + static_cast<std::size_t>(columns_), 0.0);
  return row;
}

std::vector<double> SampleRows::swapped(std::span<const double> rows, std::span<const int> sent,
                                        std::span<const int> received, Traffic& traffic) const {
  const auto out_counts = times(sent, columns_), in_counts = times(received, columns_);
  const auto out_starts = starts(out_counts), in_starts = starts(in_counts);
  std::vector<double> in(in_starts.back() + in_counts.back());
  traffic.count("estimates", "world", leaving(out_counts, comm_.rank(), sizeof(double)));
  MPI_Alltoallv(rows.data(), out_counts.data(), out_starts.data(), MPI_DOUBLE, in.data(), in_counts.data(),
                in_starts.data(), MPI_DOUBLE, comm_.handle());
  return in;
}

std::vector<double> SampleRows::fetch(std::span<const std::int64_t> ids, Traffic& traffic) {
  const auto ranks = static_cast<std::size_t>(comm_.size());
  order_.resize(ids.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto home = [&](std::size_t k) { return ids[k] % comm_.size(); };
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return home(a) < home(b); });
  asked_.assign(ranks, 0);
  served_.assign(ranks, 0);
  std::vector<std::int64_t> sorted;
  for (const std::size_t k : order_) sorted.push_back(ids[k]), ++asked_[home(k)];
  if (ranks == 1) {
    served_ = asked_;
    served_ids_ = sorted;
  } else {
    MPI_Alltoall(asked_.data(), 1, MPI_INT, served_.data(), 1, MPI_INT, comm_.handle());
    const auto from = starts(asked_), to = starts(served_);
    served_ids_.resize(to.back() + served_.back());
    traffic.count("estimates", "world", leaving(asked_, comm_.rank(), sizeof(std::int64_t)));
    MPI_Alltoallv(sorted.data(), asked_.data(), from.data(), MPI_INT64_T, served_ids_.data(), served_.data(), to.data(),
                  MPI_INT64_T, comm_.handle());
  }
  const auto width = static_cast<std::size_t>(columns_);
  std::vector<double> rows(served_ids_.size() * width);
  for (std::size_t k = 0; k < served_ids_.size(); ++k) {
    const std::size_t from = place(served_ids_[k]);
    std::copy_n(own_.data() + from, width, rows.data() + k * width);
  }
  if (ranks > 1) rows = swapped(rows, served_, asked_, traffic);
  std::vector<double> out(rows.size());
  for (std::size_t k = 0; k < order_.size(); ++k)
    std::copy_n(rows.data() + k * width, width, out.data() + order_[k] * width);
  return out;
}

void SampleRows::store(std::span<const double> rows, Traffic& traffic) {
  const auto width = static_cast<std::size_t>(columns_);
  std::vector<double> sorted(rows.size());
  for (std::size_t k = 0; k < order_.size(); ++k)
    std::copy_n(rows.data() + order_[k] * width, width, sorted.data() + k * width);
  if (comm_.size() > 1) sorted = swapped(sorted, asked_, served_, traffic);
  for (std::size_t k = 0; k < served_ids_.size(); ++k) {
    const std::size_t to = place(served_ids_[k]);
    std::copy_n(sorted.data() + k * width, width, own_.data() + to);
  }
}

std::vector<double> SampleRows::whole() const {
  const auto width = static_cast<std::size_t>(columns_);
  const auto mine = static_cast<std::int64_t>(own_.size() / width);
  const auto last = mine > 0 ? (mine - 1) * comm_.size() + comm_.rank() + 1 : 0;
  const auto count = static_cast<std::int64_t>(comm_.max(static_cast<double>(last)));
  std::vector<double> out(static_cast<std::size_t>(count) * width, 0.0);
  for (std::int64_t row = 0; row < mine; ++row)
    std::copy_n(own_.data() + static_cast<std::size_t>(row) * width, width,
                out.data() + static_cast<std::size_t>(row * comm_.size() + comm_.rank()) * width);
  if (!out.empty()) comm_.sum(out);
  return out;
}

void SampleRows::set_whole(std::span<const double> rows) {
  const auto width = static_cast<std::size_t>(columns_);
  own_.clear();
  const auto count = static_cast<std::int64_t>(rows.size() / width);
  for (std::int64_t id = comm_.rank(); id < count; id += comm_.size()) {
    const std::size_t to = place(id);
    std::copy_n(rows.data() + static_cast<std::size_t>(id) * width, width, own_.data() + to);
  }
}

}  // namespace cambium::train
