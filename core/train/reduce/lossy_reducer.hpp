#pragma once
#include <optional>

#include "core/codec/codec.hpp"
#include "core/train/reduce/reducer.hpp"

namespace cambium::train {

/// All-reduce of gradients by error-bounded messages (core/codec), with the scheme of CodecReducer: chunks to their
/// owners, sums back to all, which decode the same message. A chunk is encoded tensor by tensor, so a relative bound
/// refers to each tensor's own range; incompressible pieces are sent unencoded. On N ranks the errors of N - 1 messages
/// and of their sum add up at most. Lengths of messages depend on the data and are exchanged first.
class LossyReducer : public Reducer {
 public:
  LossyReducer(const Mesh& mesh, const FlatLayout& layout, lowp::LossyBound bound);
  void begin(FlatBuffer& gradients, int slices) override;
  void finish() override;

 private:
  struct Piece {
    std::int64_t begin, end;
  };  ///< of one tensor, in one chunk
  template <class T>
  void exchange(std::span<T> values);
  template <class T>
  void scatter(std::span<T> values, std::vector<T>& own);
  template <class T>
  void gather(std::span<T> values);
  template <class T>
  std::vector<std::byte> encode(std::span<const T> values, std::size_t rank) const;
  template <class T>
  void decode(std::span<const std::byte> message, std::size_t rank, std::span<T> values) const;

  const Mesh& mesh_;
  lowp::LossyBound bound_;
  std::vector<std::vector<Piece>> shares_;  ///< by rank
};

}  // namespace cambium::train
