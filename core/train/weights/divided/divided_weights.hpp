#pragma once
#include "core/train/weights/divided/divided_modules.hpp"
#include "core/train/weights/divided/divided_pieces.hpp"
#include "core/train/weights/divided/divided_step.hpp"
#include "core/train/weights/divided/gradient_sum.hpp"
#include "core/train/weights/divided/weight_windows.hpp"
#include "core/train/weights/divided/whole_copies.hpp"
#include "core/train/weights/flips.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Weights, gradients and states, each sharded over some levels of a mesh of ranks, in full precision or few bits.
/// Weights of a module are gathered before it is used and freed afterwards; its gradient is reduced over ranks as soon
/// as it is final; each rank updates the part whose states it stores and sends it to the others. Files contain
/// everything unsharded: they do not depend on the partition.
class DividedWeights : public Weights {
 public:
  /// Collective. The optimizer must outlive this. InputError as DividedParts.
  DividedWeights(const Partition& partition, const Comm& comm, Network& network, Optimizer& optimizer,
                 const DivideSettings& settings);

  const FlatLayout& layout() const override { return *parts_.layout; }
  std::vector<Optimizer::StateInfo> states() const override { return parts_.infos; }
  int turns() const override { return static_cast<int>(parts_of(parts_.mesh, parts_.partition.gradients)); }
  Communication& communication() override { return parts_.exchanges; }
  void start(const Use& fill) override;
  void start_on(std::span<const Grid> grids, const Use& fill) override;
  std::vector<Grid> grids() const override;
  void begin(int slices) override;
  Pass pass() override;
  void skip() override;
  void finish() override;
  std::vector<double> squared_gradients() override { return step_.squared_gradients(); }
  bool keeps_gradients() const override { return true; }
  double update(const StepNumbers& numbers) override;
  void whole(const Use& use) override;
  void keep_best() override { copies_.keep_best(); }
  void whole_best(const Use& use) override;
  Snapshot save(bool with_best) override;
  void load(const std::function<void(Snapshot&)>& read) override;
  InPieces* in_pieces() override { return &pieces_; }
  ByModule* by_module() override { return parts_.by_module ? &modules_ : nullptr; }
  std::vector<io::Column> columns() const override;
  std::vector<double> figures(std::int64_t steps) override;
  std::vector<std::string> report() override;

  const Mesh& mesh() const { return parts_.mesh; }
  const MemoryLedger& memory() const { return parts_.memory; }

 private:
  void next_slice();
  void go_on();
  ReadyCallback callback();
  double share(double count) const;

  DividedParts parts_;
  WeightWindows windows_;
  GradientSum gradients_;
  DividedStep step_;
  WholeCopies copies_;
  DividedPieces pieces_;
  DividedModules modules_;
  Flips flips_;
  int slice_ = -1;  ///< current slice
};

}  // namespace cambium::train
