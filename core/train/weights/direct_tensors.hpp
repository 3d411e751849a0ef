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

/// Direct quantized training, as a deck says it.
struct DirectParams {
  enum class Weights { int8, ternary };
  enum class Rounding { stochastic, nearest };
  Weights weights = Weights::int8;
  Rounding rounding = Rounding::stochastic;
  double range = 8.0;
  static void describe(deck::Describe<DirectParams>& d);
  Grid grid() const { return {weights == Weights::ternary ? 1 : 127, 0.0f}; }
};

/// InputError when the network has no linear layers, names no modules, is not float32, or the optimizer needs whole
/// tensors.
void require_direct(const Network& network, const Optimizer& optimizer);

/// Weights of a network of which the matrices of linear layers (ParameterInfo::linear) are kept in 8 or 2 bits and
/// nowhere else: each step brings one matrix at a time to float32, changes it and rounds it back at random, so that
/// small changes are kept in the mean (direct quantized training, Zhao et al., arXiv 2412.04787). Before a module is
/// used its matrices are unpacked into a window that is freed after it. The step of a matrix's grid follows from the
/// mean magnitude of its first weights and stays: that magnitude itself for ternary weights (as in BitNet b1.58),
/// `range` times it / 127 for 8 bits. Rounding is addressed by (seed, tensor, step, element): ranks that step with the
/// same gradients keep the same weights. Other tensors stay in float32.
class DirectTensors {
 public:
  /// InputError as require_direct() says.
  DirectTensors(const DirectParams& params, const Network& network, const Optimizer& optimizer,
                const FlatLayout& layout, std::uint64_t seed);

  /// First weights, which set the grids.
  void start(const FlatBuffer& whole);
  /// Weights that lie on these grids, by tensor in order (linear ones alone), as steps() gave them.
  void take(const FlatBuffer& whole, std::span<const double> steps);
  void take_best(const FlatBuffer& whole);
  std::vector<double> steps() const;
  std::vector<Grid> grids() const;  ///< of linear tensors, in order
  int limit() const { return params_.grid().limit; }

  /// Views of the weights; those of linear layers have memory while their module is open.
  std::span<const TensorRef> views() const { return views_; }
  void open(int module);
  void close(int module);

  /// One optimizer step on all weights. Returns the share of numbers in linear layers that changed.
  double step(Optimizer& optimizer, FlatBuffer& gradients, std::span<FlatBuffer> states, double rate,
              std::int64_t step);

  /// How many numbers in linear layers the last step changed.
  std::int64_t changed() const { return changed_; }

  /// Everything in float32 for a short time: validation, checkpoints, export.
  void copy_to(FlatBuffer& whole) const;
  void keep_best();
  void copy_best_to(FlatBuffer& whole) const;

  MemoryLedger& memory() { return memory_; }
  /// Table of what is held, by allocation, beside bits x parameters.
  std::vector<std::string> memory_report() const;
  std::int64_t linear_numbers() const { return linear_numbers_; }

 private:
  struct Tensor {
    bool linear = false;
    int module = 0;
    Grid grid;
    Block kept, best, window;            ///< packed, or float32
    std::unique_ptr<FlatLayout> layout;  ///< of this tensor alone
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
