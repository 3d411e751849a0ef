#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/kinds/memory.hpp"
#include "core/train/kinds/network.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/weights/grid.hpp"

namespace cambium::train {

/// Keys of direct quantised training.
struct DirectParams {
  enum class Weights { int8, ternary };
  enum class Rounding { stochastic, nearest };
  Weights weights = Weights::int8;
  Rounding rounding = Rounding::stochastic;
  double range = 8.0;
  static void describe(deck::Describe<DirectParams>& d);
  Grid grid() const { return {weights == Weights::ternary ? 1 : 127, 0.0f}; }
};

/// InputError if the network has no linear layers, no modules or is not float32, or if the optimizer needs complete
/// tensors.
void require_direct(const Network& network, const Optimizer& optimizer);

/// Direct quantised training (Zhao et al., arXiv 2412.04787): matrices of linear layers (ParameterInfo::linear) are
/// stored only in 8 or 2 bits. Each step converts one matrix at a time to float32, updates it and rounds it back
/// stochastically, so small changes are preserved on average. Before a module is used, its matrices are unpacked into a
/// window that is freed afterwards. The step of a matrix's grid follows from the mean magnitude of its initial weights
/// and is fixed: that magnitude for ternary weights (as in BitNet b1.58), `range` times it / 127 for 8 bits. Rounding
/// is addressed by (seed, tensor, step, element): ranks with the same gradients keep the same weights. Other tensors
/// stay in float32.
class DirectTensors {
 public:
  /// InputError as require_direct().
  DirectTensors(const DirectParams& params, const Network& network, const Optimizer& optimizer,
                const FlatLayout& layout, std::uint64_t seed);

  /// Sets the initial weights, which determine the grids.
  void start(const FlatBuffer& whole);
  /// Sets weights that are on grids with these steps, in tensor order (linear ones only), as returned by steps().
  void take(const FlatBuffer& whole, std::span<const double> steps);
  void take_best(const FlatBuffer& whole);
  std::vector<double> steps() const;
  std::vector<Grid> grids() const;  ///< of linear tensors, in order
  int limit() const { return params_.grid().limit; }

  /// Views of the weights; those of linear layers have memory while their module is open.
  std::span<const TensorRef> views() const { return views_; }
  void open(int module);
  void close(int module);

  /// One optimizer step on all weights. Returns the fraction of values in linear layers that changed.
  double step(Optimizer& optimizer, FlatBuffer& gradients, std::span<FlatBuffer> states, double rate,
              std::int64_t step);

  /// Number of values in linear layers that the last step changed.
  std::int64_t changed() const { return changed_; }

  /// Copies everything to float32, for validation, checkpoints and export.
  void copy_to(FlatBuffer& whole) const;
  void keep_best();
  void copy_best_to(FlatBuffer& whole) const;

  MemoryLedger& memory() { return memory_; }
  /// Table of allocated memory, compared with bits x parameters.
  std::vector<std::string> memory_report() const;
  std::int64_t linear_numbers() const { return linear_numbers_; }

 private:
  struct Tensor {
    bool linear = false;
    int module = 0;
    Grid grid;
    Block kept, best, window;            ///< packed, or float32
    std::unique_ptr<FlatLayout> layout;  ///< only of this tensor
  };
  std::int64_t elements(std::size_t k) const { return layout_.tensors()[k].elements; }
  std::span<std::byte> bytes(Block& block) const { return {block.data(), static_cast<std::size_t>(block.bytes())}; }
  void fill(FlatBuffer& whole, const Block Tensor::*which) const;
  void put(const FlatBuffer& whole, Block Tensor::*which);
  lowp::RoundingAddress address(std::size_t k, std::int64_t step) const {
    return {seed_, k, static_cast<std::uint64_t>(step), 0};
  }

  DirectParams params_;
  const FlatLayout& layout_;
  std::uint64_t seed_;
  MemoryLedger memory_;
  std::vector<Tensor> tensors_;
  std::vector<TensorRef> views_;
  std::int64_t linear_numbers_ = 0, changed_ = 0;
};

}  // namespace cambium::train
