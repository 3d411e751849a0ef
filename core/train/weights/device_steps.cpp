#include "core/train/weights/device_steps.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::train {

struct DeviceSteps::Sums {
  View<double*> numbers;
  std::vector<double> host;
};

DeviceSteps::DeviceSteps(Network& network, Weights& weights, const Comm& comm, Timing& timing)
    : network_(*network.traits().device), weights_(weights), comm_(comm), timing_(timing),
      terms_(network.terms().size()), sums_(std::make_unique<Sums>()) {}

DeviceSteps::~DeviceSteps() = default;

void DeviceSteps::bring_samples(Dataset& data, double most_bytes) {
  constexpr std::int64_t most_rows = 0x7fffffff;
  resident_ = data.size() <= most_rows && network_.bring_samples(data, most_bytes);
}

std::vector<DeviceSlice> DeviceSteps::slices(const BatchNumbers& batch) {
  if (batch.epoch != epoch_) {
    const std::vector<std::int32_t> order(batch.order.begin(), batch.order.end());
    order_.bring(order);
    epoch_ = batch.epoch;
  }
  std::vector<DeviceSlice> out;
  for (const auto& [first, last] : batch.slices) out.push_back({order_.data() + first, last - first, {}});
  return out;
}

void DeviceSteps::start(const DeviceShare& share, std::vector<double> term_weights, std::int64_t step) {
  if (full()) throw InternalError("a step was started before the losses of those before it were requested");
  const std::size_t numbers = share.slices.size() * terms_, room = static_cast<std::size_t>(most_past) * numbers;
  if (sums_->numbers.extent(0) != room) sums_->numbers = View<double*>("losses", room);
  Past past{step, std::move(term_weights), share.numbers, std::vector<double>(numbers, 0.0)};
  double* const sums = sums_->numbers.data() + past_.size() * numbers;
  bool any = false;
  weights_.begin(static_cast<int>(share.slices.size()));
  for (std::size_t k = 0; k < share.slices.size(); ++k) {
    if (share.slices[k].count == 0) {
      weights_.skip();
      continue;
    }
    const Pass pass = weights_.pass();
    const auto timer = timing_.scope("gradient");
    network_.gradient_on_device(share.slices[k], pass.weights, past.term_weights, pass.gradients, any,
                                sums + k * terms_, std::span(past.counts).subspan(k * terms_, terms_));
    any = true;
  }
  weights_.finish();
  past_.push_back(std::move(past));
}

std::vector<DeviceSteps::StepLoss> DeviceSteps::losses() {
  if (past_.empty()) return {};
  const std::size_t slices = past_[0].numbers.size(), numbers = slices * terms_, read = past_.size() * numbers;
  sums_->host.resize(read);
  Kokkos::deep_copy(ExecSpace(),
                    Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(sums_->host.data(), read),
                    Kokkos::subview(sums_->numbers, std::make_pair(std::size_t{0}, read)));
  ExecSpace().fence();
  // Like TrainingStep::gradient() for one step: a row for each slice of all ranks, filled by one of them.
  const std::size_t rows = slices * static_cast<std::size_t>(comm_.size()) * terms_;
  std::vector<TermSum> table(past_.size() * rows);
  for (std::size_t p = 0; p < past_.size(); ++p)
    for (std::size_t k = 0; k < numbers; ++k)
      if (past_[p].counts[k] > 0.0)
        table[p * rows + static_cast<std::size_t>(past_[p].numbers[k / terms_]) * terms_ + k % terms_] = {
            sums_->host[p * numbers + k], past_[p].counts[k]};
  weights_.communication().sum_small(numbers_of(table), comm_);
  std::vector<StepLoss> out;
  for (std::size_t p = 0; p < past_.size(); ++p) {
    auto sums = add_rows(std::span<const TermSum>(table).subspan(p * rows, rows), terms_);
    const double value = weighted_loss(past_[p].term_weights, sums);
    out.push_back({past_[p].step, {value, std::move(sums)}});
  }
  past_.clear();
  return out;
}

}  // namespace cambium::train
