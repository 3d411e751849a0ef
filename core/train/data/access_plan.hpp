#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "core/train/kinds/batch_plan.hpp"

namespace cambium::train {

/// Who reads, keeps and computes which sample, step by step: a simulation of every rank's buffer without any data, so
/// that all ranks know it without asking each other. Every epoch's order follows from the seed, hence the future is
/// known.
///
/// With `remap`, a sample of a global batch that some rank holds is computed there, and the samples that nobody holds
/// are dealt so that all ranks read equally often (the global batch stays the same set; Sun et al., "SOLAR", PVLDB 16
/// (2022) 35). A buffer keeps what is used soonest (Belady 1966). At the end of an epoch no buffers can hold more than
/// a share f of the samples, so no policy finds more than f of them later; this one finds f, a buffer that a sample
/// meets by chance f / ranks.
class AccessPlan {
 public:
  /// What leaves a full buffer: what is used last; what came first; what was used longest ago; what has just come.
  enum class Keep { soonest, newest, recent, first };
  /// Even distribution: reads, or the samples that are computed (then a rank may give away what it holds).
  enum class Even { reads, samples };
  struct Options {
    std::int64_t capacity = 0;  ///< samples that one rank can keep
    bool remap = true;          ///< ignored for ordered plans, whose slices belong to ranks
    Keep keep = Keep::soonest;
    Even even = Even::reads;
  };
  /// Samples that one read brings along, as Dataset::chunk_of.
  using ChunkOf = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t)>;

  /// One step as this rank sees it.
  struct Step {
    std::int64_t step = 0;
    std::int64_t batch = 0;             ///< samples of the global batch
    std::vector<std::int64_t> compute;  ///< this rank's share, in the order of the global batch
    std::vector<std::int64_t> read;     ///< of these, what it must read, ascending; now in its buffer
    std::vector<std::int64_t> drop;     ///< what then leaves its buffer
    std::vector<std::int64_t> bring;    ///< neighbours that come with what is read and stay in its buffer, ascending
    std::int64_t found = 0;             ///< of `compute`, in the buffer
    std::vector<std::int64_t> reads;    ///< storage reads by rank; this rank's only, unless remapped
  };

  AccessPlan(const BatchPlan& plan, const Options& options, ChunkOf chunk_of);
  bool remaps() const { return remap_; }
  /// The next step, from 0 on.
  const Step& advance();

 private:
  using Position = std::uint64_t;                              ///< epoch * samples + place in the epoch's order
  using Buffer = std::set<std::pair<Position, std::int64_t>>;  ///< keys and samples; the last one leaves first
  struct Share {
    std::vector<std::int64_t> compute;  ///< places in the batch, ascending
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
