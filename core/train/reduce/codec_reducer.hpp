#pragma once
#include "core/lowp/message.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

/// Compressed all-reduce of gradients: every rank sends each other rank its chunk, encoded; the owner of a chunk
/// decodes and adds all in rank order, encodes the sum and sends it to all. All ranks, including the owner, decode the
/// same message, so weights stay identical. With int4 this happens after a randomised Hadamard transform, undone once
/// at the end. A rank sends 2 P (N - 1) / N of P values, with padding to 128 N. Nothing overlaps.
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
  std::int64_t share_ = 0;     ///< values per rank
  std::vector<float> values_;  ///< chunks of all ranks
  std::vector<std::byte> sent_, received_;
};

}  // namespace cambium::train
