#pragma once
#include "core/lowp/message.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

/// Sum of gradients through short messages: every rank sends each other one its share of the numbers, encoded; the
/// owner of a share decodes and adds them in the order of ranks, encodes the sum and sends it to all, who decode the
/// same message, the owner too, so that weights stay the same on every rank. With int4 all of this happens after a
/// randomised Hadamard transform, undone once at the end. A rank sends 2 P (N - 1) / N numbers of P, with padding to
/// 128 N. Nothing overlaps.
class CodecReducer : public Reducer {
 public:
  CodecReducer(const Mesh& mesh, const FlatLayout& layout, lowp::WireCodec codec);
  void begin_step(std::uint64_t seed, std::int64_t step) override {
    address_.seed = seed;
    address_.step = static_cast<std::uint64_t>(step);
  }
  void begin(FlatBuffer& gradients, int slices) override;
  void finish() override;

 private:
  void exchange();

  const Mesh& mesh_;
  lowp::WireCodec codec_;
  lowp::RoundingAddress address_;
  std::int64_t share_ = 0;     ///< numbers of one rank
  std::vector<float> values_;  ///< all ranks' shares
  std::vector<std::byte> sent_, received_;
};

}  // namespace cambium::train
