#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/deck/describe.hpp"
#include "core/train/data/access_plan.hpp"
#include "core/train/data/node_exchange.hpp"
#include "core/train/kinds/loader.hpp"

namespace cambium::train {

/// Executes an AccessPlan: keeps samples in memory up to a limit, prefetches in a separate thread, and delivers the
/// batches. The thread makes no MPI calls.
class BufferedLoader : public Loader {
 public:
  struct Params {
    double memory = 1024.0;  ///< MiB per rank
    int ahead = 2;           ///< batches
    bool remap = true;
    bool shared = false;
    AccessPlan::Even even = AccessPlan::Even::reads;
    AccessPlan::Keep keep = AccessPlan::Keep::soonest;
    static void describe(deck::Describe<Params>& d);
  };
  BufferedLoader(const Params& params, Context&) : params_(params) {}
  ~BufferedLoader() override;

  void open(Dataset& data, const BatchPlan& plan, Context&) override;
  Batch batch(std::int64_t step) override;
  LoaderCounts counts() const override { return counts_; }
  std::vector<Result> results(Context&) const override;

 private:
  struct Ready {
    Batch batch;
    std::int64_t samples = 0, found = 0, reads = 0, bytes_read = 0, bytes_needed = 0, plan_bytes = 0;
    std::exception_ptr error;
  };
  void start(std::int64_t step);
  void stop();
  void read_ahead();
  Ready next();
  void require_something_to_plan(Context& context) const;
  void find_node(Context& context);
  std::int64_t lent_by_a_rank() const;
  std::unique_ptr<NodeExchange> make_exchange(const Comm& node) const;
  bool remaps() const { return params_.remap && !params_.shared; }
  void read(const AccessPlan::Step& step, std::int64_t& bytes_needed);
  std::vector<SamplePtr> from_node(const AccessPlan::Step& step);
  std::vector<SamplePtr> gather(const AccessPlan::Step& step, std::int64_t& bytes_needed);
  std::vector<std::vector<SamplePtr>> cut(const std::vector<SamplePtr>& samples, std::int64_t batch) const;

  Params params_;
  Dataset* data_ = nullptr;
  BatchPlan plan_;
  std::int64_t capacity_ = 0, read_before_ = 0, plan_bytes_ = 0;
  std::unique_ptr<AccessPlan> access_;
  std::unordered_map<std::int64_t, SamplePtr> held_;
  std::unique_ptr<Comm> node_;  ///< ranks of this node that share their buffers; null: none do
  std::vector<int> node_ranks_;
  std::unique_ptr<NodeExchange> exchange_;
  std::atomic<bool> abandoned_ = false;  ///< by stop(): ends the wait for other ranks
  std::int64_t next_ = -1;               ///< step of the next Ready; -1 before the first batch()
  LoaderCounts counts_;

  std::thread thread_;
  std::mutex mutex_;  ///< guards ready_ and stopping_
  std::condition_variable changed_;
  std::deque<Ready> ready_;
  bool stopping_ = false;
};

}  // namespace cambium::train
