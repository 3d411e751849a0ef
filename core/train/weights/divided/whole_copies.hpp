#pragma once
#include <functional>

#include "core/train/kinds/whole_copy.hpp"
#include "core/train/weights/divided/parts.hpp"

namespace cambium::train {

/// Copies of what is divided, whole on every rank for a short time: for validation, files and export. The best weights
/// are kept here, divided like the states.
class WholeCopies {
 public:
  /// The parts outlive this.
  explicit WholeCopies(DividedParts& parts) : parts_(parts) {}

  WholeCopy empty(DType dtype) { return WholeCopy::of(*parts_.layout, dtype, parts_.memory); }
  WholeCopy empty() { return empty(parts_.form.real); }
  /// Collective, on every rank. Split weights stand in their upper halves.
  WholeCopy weights();
  WholeCopy state(std::size_t k);
  WholeCopy average();
  /// What is validated and exported.
  WholeCopy served();
  WholeCopy best();
  /// The same of one group, counted as a window.
  Block served(const DividedGroup& g);
  Block best(const DividedGroup& g);
  /// This rank's parts of these numbers.
  void take_weights(const FlatBuffer& whole);
  /// This rank's part of a group's weights, which begin at `whole` in the network's precision.
  void take_weights(const DividedGroup& g, const std::byte* whole);
  void take_state(std::size_t k, const FlatBuffer& whole);
  void take_average(const FlatBuffer& whole);
  void take_best(const FlatBuffer& whole);
  /// Keeps what served() shows, as it is now.
  void keep_best();
  /// Makes room for them.
  void make_best();
  /// This rank's part of the best weights, kept like weights; exact where they are not the trained ones.
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
  Block best_;  ///< in the order of the states, kept like weights; exact where they are not the trained ones
};

}  // namespace cambium::train
