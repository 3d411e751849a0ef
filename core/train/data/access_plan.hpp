#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/train/data/planned_buffers.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/kinds/epoch_order.hpp"

namespace cambium::train {

/// Schedule of reading, buffering and computing samples, step by step: simulates the buffers of all ranks without data,
/// so all ranks agree on it without communication. The order of every epoch follows from the seed, hence the future is
/// known.
///
/// With `remap`, a sample of a global batch is computed on the rank that has it buffered, and unbuffered samples are
/// assigned such that all ranks read equally often (the global batch stays the same set; Sun et al., "SOLAR", PVLDB 16
/// (2022) 35). A buffer keeps the samples that are used soonest (Belady 1966). At the end of an epoch all buffers hold
/// at most a fraction f of the samples, so no policy can find more than f of them later. This one reaches f; buffers
/// without `remap` reach f / ranks on average.
///
/// With `node`, without `remap`, every rank computes its own slices, and the buffers of the node's ranks act as one: a
/// sample is read by one rank of the node, and the others take it from that rank's buffer.
///
/// A sample that recurs under several indices (Copies) is read and buffered once, under its first one.
///
/// Memory is that of the state of one step: places in this epoch and the next (12 bytes per sample; none for computed
/// permutations), and what all planned buffers hold (PlannedBuffers). It does not grow with the steps.
class AccessPlan {
 public:
  /// Sample evicted from a full buffer: last used in the future; oldest; least recently used; most recently added.
  enum class Keep { soonest, newest, recent, first };
  /// Balanced quantity: reads, or computed samples (then a rank may give up samples that it holds).
  enum class Even { reads, samples };
  struct Options {
    std::int64_t capacity = 0;  ///< samples in the buffer of one rank
    bool remap = true;          ///< ignored for ordered plans, whose slices belong to ranks
    Keep keep = Keep::soonest;
    Even even = Even::reads;
    std::vector<int> node =
        {};  ///< ranks that share their buffers, ascending, with this rank; then nothing is remapped
  };
  /// Samples returned by the same read, as Dataset::chunk_of.
  using ChunkOf = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t)>;
  /// Samples with several indices, as Dataset::first_copy and next_copy. Empty functions: there are none.
  struct Copies {
    std::function<std::int64_t(std::int64_t)> first, next;
  };

  /// One step from the view of this rank. Samples that are read or buffered are named by their first index.
  struct Step {
    std::int64_t step = 0;
    std::int64_t batch = 0;             ///< samples of the global batch
    std::vector<std::int64_t> compute;  ///< samples of this rank, in the order of the global batch
    std::vector<std::int64_t> read;     ///< to be read because a batch needs them, ascending; now in its buffer
    std::vector<std::int64_t> drop;     ///< samples evicted from its buffer afterwards
    std::vector<std::int64_t> bring;    ///< neighbours that are read along and stay in its buffer, ascending
    std::vector<int> holder;            ///< with `node`: for each of `compute`, its buffer, as an index of `node`
    std::vector<std::int64_t> lend;     ///< with `node`: samples of its buffer that others compute, ascending
    std::int64_t most_lent = 0;         ///< with `node`: by one of its ranks
    std::int64_t found = 0;             ///< of `compute`, hits in a buffer
    std::vector<std::int64_t> reads;    ///< reads from storage by rank; only of planned ranks
  };

  AccessPlan(const BatchPlan& plan, const Options& options, ChunkOf chunk_of, Copies copies = {});
  bool remaps() const { return remap_; }
  /// The next step, from 0 on.
  const Step& advance();
  /// Memory of the plan between two steps, of all arrays whose size depends on samples, ranks or buffers.
  std::int64_t bytes() const;
  /// An upper bound of it: for this number of samples in the planned buffers, `ranks` of them.
  static std::int64_t most_bytes(const BatchPlan& plan, std::int64_t capacity, std::int64_t ranks);

 private:
  using Position = PlannedBuffers::Key;  ///< epoch * samples + position in the epoch's order
  struct Share {
    std::vector<std::int64_t> compute;  ///< positions in the batch, ascending
    std::vector<std::int64_t> missing;  ///< samples to read
    std::int64_t reads = 0;
  };
  using Shares = std::vector<Share>;  ///< by planned rank

  void begin_epoch(std::int64_t epoch);
  std::int64_t first_copy(std::int64_t id) const { return copies_.first ? copies_.first(id) : id; }
  void deal(std::span<const std::int64_t> ids, Shares& shares);
  void deal_missing(std::span<const std::int64_t> ids, const std::vector<std::int64_t>& places, Shares& shares);
  void own_slices(std::span<const std::int64_t> ids, Shares& shares);
  void buffer_used(std::span<const std::int64_t> ids, const Shares& shares);
  void finish(int buffer, Share& share);
  void describe_own(std::span<const std::int64_t> ids, const Shares& shares);
  Position next_use(std::int64_t id) const;
  Position next_position(std::int64_t id) const;
  Position key_of(std::int64_t id) const;
  bool planned_here(std::int64_t place) const;

  BatchPlan plan_;
  Options options_;
  ChunkOf chunk_of_;
  Copies copies_;
  bool remap_;
  std::vector<int> ranks_;  ///< planned ones: all, those of this node, or this one
  int own_ = 0;             ///< this rank among them
  /// Positions of a full and of an epoch's last batch that planned ranks compute, as [first, last) by rank.
  std::vector<std::pair<std::int64_t, std::int64_t>> slices_, last_slices_;
  std::int64_t next_step_ = 0;
  Position now_ = 0;         ///< end of the current batch
  EpochOrder order_, then_;  ///< of this epoch and the next
  PlannedBuffers buffers_;   ///< by planned rank
  Step step_;
};

}  // namespace cambium::train
