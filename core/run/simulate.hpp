#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/checkpoint_keys.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "core/plugin/task.hpp"
#include "core/plugin/writer.hpp"

namespace cambium {

class Loop;

/// The stage `simulate`: a physics advanced by its schedule, with thermo lines, writers, checkpoints and an orderly
/// end on signals and wall time.
class Simulate : public Task {
 public:
  struct Thermo {
    std::int64_t every = 100;
    static void describe(deck::Describe<Thermo>& d);
  };
  struct Checkpoint : io::CheckpointKeys {
    io::Transfer transfer = io::Transfer::gather;
    bool asynchronous = false;
    bool at_end = true;
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Checkpoint>& d);
  };
  struct Params {
    deck::Choice<Physics> physics;
    std::optional<std::int64_t> steps;
    Thermo thermo;
    Checkpoint checkpoint;
    std::vector<deck::Choice<Writer>> output;
    static void describe(deck::Describe<Params>& d);
  };

  Simulate(const Params& params, Context&);
  ~Simulate() override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override;
  std::vector<Result> results() const override;
  std::vector<std::string> lines() const override;
  std::vector<std::string> files() const override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  std::unique_ptr<Loop> loop_;  ///< once it runs or is checked
};

}  // namespace cambium
