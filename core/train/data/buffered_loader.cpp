#include "core/train/data/buffered_loader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::train {

void BufferedLoader::Params::describe(deck::Describe<Params>& d) {
  d("buffer_size", &Params::memory, "size of the sample buffer of one rank, in MiB")
      .formerly("memory")
      .non_negative()
      .def(1024.0);
  d("prefetch", &Params::ahead, "number of batches to prefetch during computation; 0 reads on demand")
      .formerly("ahead")
      .range(0, 64)
      .def(2);
  d("remap", &Params::remap, "compute a sample on the rank that holds it, where the order of sums may differ")
      .def(true);
  d("even", &Params::even, "balance criterion when samples are assigned to the ranks that hold them")
      .options({{"reads", AccessPlan::Even::reads}, {"samples", AccessPlan::Even::samples}})
      .def(AccessPlan::Even::reads);
  d("keep", &Params::keep,
    "eviction policy of a full buffer: keep the samples used soonest (the order is known in advance) or, for "
    "comparison, the newest, the most recently used, or the first")
      .options({{"soonest", AccessPlan::Keep::soonest},
                {"newest", AccessPlan::Keep::newest},
                {"recent", AccessPlan::Keep::recent},
                {"first", AccessPlan::Keep::first}})
      .def(AccessPlan::Keep::soonest);
}

namespace {

/// Bytes of one sample: from the shapes or, if they vary, the largest of some samples that are read.
std::int64_t sample_bytes(Dataset& data) {
  std::int64_t bytes = 0;
  bool known = true;
  for (const auto& field : data.fields()) {
    std::int64_t n = size_of(field.dtype);
    for (const auto extent : field.shape) {
      known = known && extent >= 0;
      n *= extent;
    }
    bytes += (n + 63) / 64 * 64;
  }
  if (known) return std::max<std::int64_t>(bytes, 1);
  std::int64_t most = 1;
  const std::int64_t probes = std::min<std::int64_t>(16, data.size());
  for (std::int64_t k = 0; k < probes; ++k) {
    const std::int64_t id = k * (data.size() - 1) / std::max<std::int64_t>(probes - 1, 1);
    most = std::max(most, data.read(std::span(&id, 1)).front()->bytes);
  }
  return most;
}

}  // namespace

void BufferedLoader::open(Dataset& data, const BatchPlan& plan, Context& context) {
  stop();
  data_ = &data;
  plan_ = plan;
  if (plan.turns > 1)
    throw InputError(
        "loader buffered gives each rank one contiguous part of a batch, but with reduce.mode ordered and sharded "
        "gradients ranks alternate by micro-batch; use loader: shuffle");
  // The same on every rank, as the plan must be.
  const double bytes = context.comm.max(static_cast<double>(sample_bytes(data)));
  capacity_ = static_cast<std::int64_t>(params_.memory * 1048576.0 / bytes);
  read_before_ = data.bytes_read();
  counts_ = {};
  next_ = -1;
}

BufferedLoader::~BufferedLoader() { stop(); }

void BufferedLoader::stop() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ready_.clear();
  stopping_ = false;
}

/// Starts at any step: the plan is replayed from the beginning of the run without reading, so a resumed run delivers
/// the same batches as an uninterrupted one; samples that the plan has in the buffer are read on demand.
void BufferedLoader::start(std::int64_t step) {
  stop();
  held_.clear();
  const AccessPlan::Options options{capacity_, params_.remap, params_.keep, params_.even};
  access_ =
      std::make_unique<AccessPlan>(plan_, options, [data = data_](std::int64_t id) { return data->chunk_of(id); });
  for (next_ = 0; next_ < step; ++next_) access_->advance();
  if (params_.ahead > 0) thread_ = std::thread([this] { read_ahead(); });
}

/// Samples of this rank in a step, in order; the buffer then matches the plan.
std::vector<SamplePtr> BufferedLoader::gather(const AccessPlan::Step& step) {
  std::vector<std::int64_t> ids = step.bring;
  for (const auto id : step.compute)
    if (!held_.contains(id)) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  // By requested index: samples of a subset keep their ids of the parent set.
  const auto fresh = data_->read(ids);
  for (std::size_t k = 0; k < fresh.size(); ++k) held_[ids[k]] = fresh[k];
  std::vector<SamplePtr> out;
  for (const auto id : step.compute) out.push_back(held_.at(id));
  // Items that are dropped and read again in one step stay in the buffer.
  for (const auto id : step.drop)
    if (!std::binary_search(step.bring.begin(), step.bring.end(), id)) held_.erase(id);
  return out;
}

std::vector<std::vector<SamplePtr>> BufferedLoader::cut(const std::vector<SamplePtr>& samples,
                                                        std::int64_t batch) const {
  std::vector<std::vector<SamplePtr>> out;
  if (!access_->remaps()) {
    const auto slices = slices_of(plan_, batch);
    for (const auto& [from, to] : slices)
      out.emplace_back(samples.begin() + (from - slices.front().first), samples.begin() + (to - slices.front().first));
    return out;
  }
  const auto n = std::ssize(samples);
  for (int k = 0; k < plan_.slices; ++k)
    out.emplace_back(samples.begin() + n * k / plan_.slices, samples.begin() + n * (k + 1) / plan_.slices);
  return out;
}

BufferedLoader::Ready BufferedLoader::next() {
  Ready out;
  try {
    const auto& step = access_->advance();
    const auto samples = gather(step);
    out.batch.step = step.step;
    out.batch.epoch = plan_.epoch_of(step.step);
    out.batch.samples = step.batch;
    out.batch.slices = cut(samples, step.batch);
    out.samples = std::ssize(samples);
    out.found = step.found;
  } catch (...) {
    out.error = std::current_exception();
  }
  return out;
}

void BufferedLoader::read_ahead() {
  for (std::int64_t step = next_; plan_.steps == 0 || step < plan_.steps; ++step) {
    Ready ready = next();
    const bool failed = ready.error != nullptr;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || std::ssize(ready_) < params_.ahead; });
    if (stopping_) return;
    ready_.push_back(std::move(ready));
    lock.unlock();
    changed_.notify_all();
    if (failed) return;
  }
}

Batch BufferedLoader::batch(std::int64_t step) {
  const double begin = wall_seconds();
  if (plan_.steps > 0 && step >= plan_.steps) throw InternalError("a batch was requested beyond the end of the plan");
  if (step != next_) start(step);
  Ready ready;
  if (params_.ahead == 0) {
    ready = next();
  } else {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    ready = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
  }
  if (ready.error) {
    next_ = -1;
    std::rethrow_exception(ready.error);
  }
  ++next_;
  counts_.samples += ready.samples;
  counts_.from_buffer += ready.found;
  counts_.bytes_read = data_->bytes_read() - read_before_;
  counts_.waited += wall_seconds() - begin;
  return std::move(ready.batch);
}

std::vector<Result> BufferedLoader::results(Context& context) const {
  const auto& comm = context.comm;
  const auto samples = static_cast<double>(comm.sum(counts_.samples));
  const auto found = static_cast<double>(comm.sum(counts_.from_buffer));
  const auto read = static_cast<double>(counts_.bytes_read);
  const double all = comm.sum(read), most = comm.max(read), waited = comm.max(counts_.waited);
  if (samples == 0) return {};
  return {{.key = "samples_found_in_memory",
           .label = "samples found in memory",
           .value = 100.0 * found / samples,
           .unit = "%",
           .remark = fmt::format("of {:.0f}; a rank keeps up to {} samples", samples, capacity_),
           .digits = 3},
          {.key = "read_from_storage",
           .label = "read from storage: on all ranks",
           .value = all / 1e6,
           .unit = "MB",
           .digits = 4},
          {.key = "read_by_the_busiest",
           .label = "read from storage: by the busiest over the mean",
           .value = all > 0 ? most * comm.size() / all : 1.0,
           .digits = 3},
          {.key = "waited_for_data",
           .label = "read from storage: waited for data",
           .value = waited,
           .unit = "s",
           .digits = 3}};
}

}  // namespace cambium::train
