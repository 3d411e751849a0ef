#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "core/train/kinds/batch_plan.hpp"

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
  };
  /// Samples returned by the same read, as Dataset::chunk_of.
  using ChunkOf = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t)>;

  /// One step from the view of this rank.
  struct Step {
    std::int64_t step = 0;
    std::int64_t batch = 0;             ///< samples of the global batch
    std::vector<std::int64_t> compute;  ///< samples of this rank, in the order of the global batch
    std::vector<std::int64_t> read;     ///< of these, those to be read, ascending; now in its buffer
    std::vector<std::int64_t> drop;     ///< samples evicted from its buffer afterwards
    std::vector<std::int64_t> bring;    ///< neighbours that are read along and stay in its buffer, ascending
    std::int64_t found = 0;             ///< of `compute`, hits in the buffer
    std::vector<std::int64_t> reads;    ///< reads from storage by rank; only this rank's unless remapped
  };

  AccessPlan(const BatchPlan& plan, const Options& options, ChunkOf chunk_of);
  bool remaps() const { return remap_; }
  /// The next step, from 0 on.
  const Step& advance();

 private:
  using Position = std::uint64_t;                              ///< epoch * samples + position in the epoch's order
  using Buffer = std::set<std::pair<Position, std::int64_t>>;  ///< keys and samples; the last one is evicted first
  struct Share {
    std::vector<std::int64_t> compute;  ///< positions in the batch, ascending
    std::vector<std::int64_t> missing;  ///< samples, in the order of the batch
    std::int64_t reads = 0;
  };

  void begin_epoch(std::int64_t epoch);
  void deal(std::span<const std::int64_t> ids, std::vector<Share>& shares);
  void deal_missing(std::span<const std::int64_t> ids, const std::vector<std::int64_t>& places,
                    std::vector<Share>& shares);
  void own_share(std::span<const std::int64_t> ids, Share& share);
  void put(int rank, std::int64_t id);
  void finish(int rank, const Share& share);
  Position next_use(std::int64_t id) const;
  Position key_of(std::int64_t id) const;
  bool mine(std::uint32_t place) const;

  BatchPlan plan_;
  Options options_;
  ChunkOf chunk_of_;
  bool remap_;
  std::int64_t epoch_ = -1, next_step_ = 0;
  Position now_ = 0;                         ///< end of the current batch
  std::vector<std::int64_t> order_;          ///< of this epoch
  std::vector<std::uint32_t> place_, then_;  ///< of each sample, in this epoch and the next
  std::vector<int> holder_;                  ///< rank that holds a sample, or -1
  std::vector<Position> key_;                ///< of held samples
  std::vector<Buffer> buffers_;              ///< by rank; only this rank's unless remapped
  Step step_;
};

}  // namespace cambium::train
