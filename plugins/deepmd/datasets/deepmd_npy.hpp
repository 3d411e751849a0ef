#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "core/deck/describe.hpp"
#include "plugins/deepmd/data/system_frames.hpp"
#include "plugins/deepmd/datasets/held_samples.hpp"

namespace cambium::deepmd {

/// Systems in DeePMD-kit's formats deepmd/npy and deepmd/hdf5, one sample per frame, in the order of the deck and of
/// the sets. A set of at most `cache` MiB is held in memory; of a larger one only the requested frames are read, with
/// the same bits.
class DeepmdNpy : public train::Dataset {
 public:
  struct Params {
    std::vector<std::string> systems;
    double cache = 256;  ///< MiB
    static void describe(deck::Describe<Params>& d);
  };
  DeepmdNpy(const Params& params, Context&) : params_(params), reading_(std::make_unique<Reading>()) {}

  /// Values of a set that is held are read here, those of a larger one by read(), which names an invalid one then.
  void open(Context&) override;
  std::int64_t size() const override { return size_; }
  std::vector<train::FieldInfo> fields() const override { return sample_fields(); }
  /// One read per run of neighbours; frames of one storage chunk are read together, including others between them.
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::pair<std::int64_t, std::int64_t> chunk_of(std::int64_t id) const override;
  Origin origin() const override { return held_.size() > 0 ? Origin::memory : Origin::files; }
  std::int64_t most_packed_bytes() const override { return most_packed_; }
  /// Of arrays in chunks, the stored size of the chunks that were touched.
  std::int64_t bytes_read() const override { return reading_->bytes; }

 private:
  struct System {
    SystemFrames frames;
    std::int64_t first;      ///< id of its first frame
    std::string key;         ///< of the deck, for messages
    std::vector<int> types;  ///< by atom, as indices of the first of equal symbols; of mixed systems by frame
  };
  /// Held by read().
  struct Reading {
    std::mutex mutex;
    std::atomic<std::int64_t> bytes = 0;
  };
  void add(const std::string& path, const std::string& key);
  void hold_all();
  std::size_t system_of(std::int64_t id) const;
  void read_run(std::span<const std::int64_t> ids, std::vector<train::SamplePtr>& out);
  void close_some(std::size_t kept);

  Params params_;
  std::vector<System> systems_;  ///< without empty ones
  std::int64_t size_ = 0, most_packed_ = 0;
  double bytes_ = 0.0;  ///< of all samples, at most
  HeldSamples held_;    ///< all samples, or none
  std::unique_ptr<Reading> reading_;
};

}  // namespace cambium::deepmd
