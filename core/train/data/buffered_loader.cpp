#include "core/train/data/buffered_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/key_error.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/emulated_network.hpp"
#include "core/parallel/memory.hpp"

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
  d("shared_memory", &Params::shared,
    "one buffer for all ranks of a node, instead of 'remap': each sample is read by one of them and computed by the "
    "rank that its order gives, so results are bitwise those of loader shuffle")
      .def(false);
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

[[noreturn]] void refuse_shared_memory() {
  throw KeyError("buffered.shared_memory.room", "shared_memory",
                 "loader.shared_memory: true needs memory that the ranks of a node share (/dev/shm), and there is none "
                 "or too little; make it larger, lower batch, or remove shared_memory");
}

/// Bytes of one sample: from the shapes or, if they vary, of the largest one or, if that is not known, of the largest
/// of some samples that are read.
std::int64_t sample_bytes(Dataset& data) {
  if (const std::int64_t most = data.most_packed_bytes(); most > 0) return most;
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

/// Bytes of the values of a sample, without the padding of its memory.
std::int64_t value_bytes(const Sample& sample) {
  std::int64_t bytes = 0;
  for (const auto& [name, values] : sample.fields) bytes += values.elements() * size_of(values.dtype);
  return bytes;
}

}  // namespace

/// A plan of reads saves none where nothing is read.
void BufferedLoader::require_something_to_plan(Context& context) const {
  const auto origin = data_->origin();
  if (origin == Dataset::Origin::memory)
    context.log.warn(
        "loader buffered: the data set is in memory once it is open, so there are no reads to plan; loader: shuffle "
        "takes the same samples in less memory");
  if (origin == Dataset::Origin::computed)
    context.log.warn(
        "loader buffered: the samples of the data set are computed, not read from files, so there are no reads to "
        "plan; loader: shuffle computes them when they are needed");
  if (plan_.permutation == BatchPlan::Permutation::stored && plan_.samples > std::numeric_limits<std::uint32_t>::max())
    throw KeyError("buffered.permutation", "",
                   fmt::format("loader buffered stores the order of at most 4294967295 samples, but the data set has "
                               "{}; set permutation: computed",
                               plan_.samples));
}

void BufferedLoader::open(Dataset& data, const BatchPlan& plan, Context& context) {
  stop();
  data_ = &data;
  plan_ = plan;
  if (plan.turns > 1)
    throw InputError(
        "loader buffered gives each rank one contiguous part of a batch, but with reduce.mode ordered and sharded "
        "gradients ranks alternate by micro-batch; use loader: shuffle");
  require_something_to_plan(context);
  // The same on every rank, as the plan must be.
  const double bytes = context.comm.max(static_cast<double>(sample_bytes(data)));
  capacity_ = static_cast<std::int64_t>(params_.memory * 1048576.0 / bytes);
  find_node(context);
  const auto planned = node_ ? node_->size() : remaps() ? plan.ranks : 1;
  require_memory(static_cast<double>(AccessPlan::most_bytes(plan, capacity_, planned)),
                 fmt::format("the plan of {} samples on {} ranks", plan.samples, plan.ranks),
                 "set permutation: computed, or loader.remap: false", context);
  read_before_ = data.bytes_read();
  counts_ = {};
  next_ = -1;
}

/// The ranks of this node, if they share their buffers.
void BufferedLoader::find_node(Context& context) {
  node_.reset();
  node_ranks_.clear();
  // On an emulated network a rank is a node of its own.
  if (!params_.shared || plan_.ranks == 1 || emulated_network()) return;
  if (!data_->plain() && data_->most_packed_bytes() == 0)
    throw KeyError("buffered.shared_memory", "shared_memory",
                   "loader.shared_memory: true copies samples between ranks, and those of this data set are more than "
                   "arrays; remove shared_memory");
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(context.comm.handle(), MPI_COMM_TYPE_SHARED, context.comm.rank(), MPI_INFO_NULL, &node);
  auto found = std::make_unique<Comm>(node);
  MPI_Comm_free(&node);
  const bool room = make_exchange(*found) != nullptr;
  if (context.comm.min(room ? 1.0 : 0.0) == 0.0) refuse_shared_memory();
  for (const auto rank : found->all_gather(plan_.rank)) node_ranks_.push_back(static_cast<int>(rank));
  node_ = std::move(found);
}

std::unique_ptr<NodeExchange> BufferedLoader::make_exchange(const Comm& node) const {
  return NodeExchange::make(node, data_->fields(), lent_by_a_rank(), data_->plain() ? 0 : data_->most_packed_bytes());
}

/// Places in the shared memory of a rank: its mean part of a batch, and at least one.
std::int64_t BufferedLoader::lent_by_a_rank() const {
  return std::max<std::int64_t>(1, (plan_.batch + plan_.ranks - 1) / plan_.ranks);
}

BufferedLoader::~BufferedLoader() { stop(); }

void BufferedLoader::stop() {
  abandoned_ = true;
  if (exchange_) exchange_->fail("another rank of this node has left the training");
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
  abandoned_ = false;
}

/// Starts at any step: the plan is replayed from the beginning of the run without reading, so a resumed run delivers
/// the same batches as an uninterrupted one; samples that the plan has in the buffer are read on demand.
void BufferedLoader::start(std::int64_t step) {
  stop();
  held_.clear();
  // Rounds of the exchange are counted from its start, which all ranks reach at the same step.
  if (node_) exchange_ = make_exchange(*node_);
  if (node_ && !exchange_) refuse_shared_memory();
  const AccessPlan::Options options{capacity_, remaps(), params_.keep, params_.even, node_ranks_};
  AccessPlan::Copies copies;
  if (data_->repeats())
    copies = {[data = data_](std::int64_t id) { return data->first_copy(id); },
              [data = data_](std::int64_t id) { return data->next_copy(id); }};
  access_ = std::make_unique<AccessPlan>(
      plan_, options, [data = data_](std::int64_t id) { return data->chunk_of(id); }, std::move(copies));
  for (next_ = 0; next_ < step; ++next_) access_->advance();
  if (params_.ahead > 0) thread_ = std::thread([this] { read_ahead(); });
}

/// Reads what this rank reads in a step and, after a resumed start, what the plan has in its buffer already.
void BufferedLoader::read(const AccessPlan::Step& step, std::int64_t& bytes_needed) {
  std::vector<std::int64_t> ids;
  auto need = [&](std::int64_t first) {
    if (!held_.contains(first)) ids.push_back(first);
  };
  const int own = node_ ? node_->rank() : 0;
  for (std::size_t k = 0; k < step.compute.size(); ++k)
    if (!node_ || step.holder[k] == own) need(data_->first_copy(step.compute[k]));
  for (const auto id : step.lend) need(id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto needed = ids;
  ids.insert(ids.end(), step.bring.begin(), step.bring.end());
  std::sort(ids.begin(), ids.end());
  // By requested index: samples of a subset keep their ids of the parent set.
  const auto fresh = data_->read(ids);
  for (std::size_t k = 0; k < fresh.size(); ++k) held_[ids[k]] = fresh[k];
  for (const auto id : needed) bytes_needed += value_bytes(*held_.at(id));
}

/// Samples of this rank that are in other buffers of the node, in order, after lending those that others compute.
std::vector<SamplePtr> BufferedLoader::from_node(const AccessPlan::Step& step) {
  std::vector<NodeExchange::Loan> lent;
  for (const auto id : step.lend) lent.push_back({id, held_.at(id)});
  std::vector<NodeExchange::Wanted> wanted;
  for (std::size_t k = 0; k < step.compute.size(); ++k)
    if (step.holder[k] != node_->rank()) wanted.push_back({data_->first_copy(step.compute[k]), step.holder[k]});
  return exchange_->exchange(lent, wanted, step.most_lent, [this] { return abandoned_.load(); });
}

/// Samples of this rank in a step, in order; the buffer then matches the plan.
std::vector<SamplePtr> BufferedLoader::gather(const AccessPlan::Step& step, std::int64_t& bytes_needed) {
  read(step, bytes_needed);
  std::vector<SamplePtr> others, out;
  if (node_) others = from_node(step);
  std::size_t taken = 0;
  for (std::size_t k = 0; k < step.compute.size(); ++k) {
    const auto id = step.compute[k];
    const bool here = !node_ || step.holder[k] == node_->rank();
    out.push_back(data_->copy_of(here ? held_.at(data_->first_copy(id)) : others[taken++], id));
  }
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
    out.reads = step.reads[plan_.rank];
    const auto samples = gather(step, out.bytes_needed);
    out.batch.step = step.step;
    out.batch.epoch = plan_.epoch_of(step.step);
    out.batch.samples = step.batch;
    out.batch.slices = cut(samples, step.batch);
    out.samples = std::ssize(samples);
    out.found = step.found;
    out.bytes_read = data_->bytes_read() - read_before_;
    out.plan_bytes = access_->bytes();
  } catch (const std::exception& error) {
    out.error = std::current_exception();
    if (exchange_) exchange_->fail(error.what());
  } catch (...) {
    out.error = std::current_exception();
    if (exchange_) exchange_->fail("another rank of this node failed while it read samples");
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
  counts_.reads += ready.reads;
  counts_.bytes_needed += ready.bytes_needed;
  plan_bytes_ = std::max(plan_bytes_, ready.plan_bytes);
  counts_.bytes_read = ready.bytes_read;  // not of batches that were read ahead
  counts_.waited += wall_seconds() - begin;
  return std::move(ready.batch);
}

std::vector<Result> BufferedLoader::results(Context& context) const {
  const auto& comm = context.comm;
  const auto samples = static_cast<double>(comm.sum(counts_.samples));
  const auto found = static_cast<double>(comm.sum(counts_.from_buffer));
  const auto read = static_cast<double>(counts_.bytes_read);
  const double all = comm.sum(read), most = comm.max(read), waited = comm.max(counts_.waited);
  const auto needed = static_cast<double>(comm.sum(counts_.bytes_needed));
  const auto reads = static_cast<double>(comm.sum(counts_.reads));
  const double plan_bytes = comm.max(static_cast<double>(plan_bytes_));
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
           .remark = all > 0 ? "" : "the data set reads nothing once it is open, so there is nothing to plan",
           .digits = 4},
          {.key = "reads_from_storage",
           .label = "read from storage: chunks or samples",
           .value = reads,
           .unit = "",
           .digits = 10},
          {.key = "read_over_needed",
           .label = "read from storage: over the samples that were needed",
           .value = needed > 0 ? all / needed : 1.0,
           .digits = 3},
          {.key = "read_by_the_busiest",
           .label = "read from storage: by the busiest over the mean",
           .value = all > 0 ? most * comm.size() / all : 1.0,
           .digits = 3},
          {.key = "waited_for_data",
           .label = "read from storage: waited for data",
           .value = waited,
           .unit = "s",
           .digits = 3},
          {.key = "memory_of_the_plan",
           .label = "plan of reads: memory of a rank",
           .value = plan_bytes / 1048576.0,
           .unit = "MiB",
           .digits = 3}};
}

}  // namespace cambium::train
