#pragma once
#include <functional>

#include "core/train/kinds/whole_copy.hpp"
#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// Temporary complete copies of a sharded model on every rank: for validation, files and export. Stores the best
/// weights, sharded like the states.
class WholeCopies {
 public:
  /// The parts must outlive this.
  explicit WholeCopies(DividedParts& parts) : parts_(parts) {}

  WholeCopy empty(DType dtype) { return WholeCopy::of(*parts_.layout, dtype, parts_.memory); }
  WholeCopy empty() { return empty(parts_.form.real); }
  /// Collective, on every rank. Split weights are in their upper halves.
  WholeCopy weights();
  WholeCopy state(std::size_t k);
  WholeCopy average();
  /// The weights that are validated and exported.
  WholeCopy served();
  WholeCopy best();
  /// The same for one group, counted as a window.
  Block served(const DividedGroup& g);
  Block best(const DividedGroup& g);
  /// Copies this rank's parts of these values.
  void take_weights(const FlatBuffer& whole);
  /// Copies this rank's part of a group's weights, which begin at `whole` in the network's precision.
  void take_weights(const DividedGroup& g, const std::byte* whole);
  void take_state(std::size_t k, const FlatBuffer& whole);
  void take_average(const FlatBuffer& whole);
  void take_best(const FlatBuffer& whole);
  /// Stores the current result of served().
  void keep_best();
  /// Allocates memory for the best weights.
  void make_best();
  /// This rank's part of the best weights, in the storage format; exact if they are not the trained ones.
  std::byte* best_of(const DividedGroup& g) {
    return best_.data() + (parts_.served() ? g.states_at * size_of(parts_.form.real) : g.best_at);
  }

 private:
  WholeCopy whole_of(DType dtype, const std::function<void(const DividedGroup&, std::byte* into)>& gather);
  WholeCopy whole_of_states(const Block& states, DType dtype);
  void gather_states(const DividedGroup& g, const Block& states, DType dtype, std::byte* into);
  void take_states(Block& states, const FlatBuffer& whole);
  void gather_kept(const DividedGroup& g, const std::byte* mine, int depth, std::byte* into);

  DividedParts& parts_;
  Block best_;  ///< in the order of the states, in the storage format; exact if they are not the trained ones
};

}  // namespace cambium::train
