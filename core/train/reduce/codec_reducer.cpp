#include "core/train/reduce/codec_reducer.hpp"

#include <algorithm>

#include "core/base/timing.hpp"
#include "core/lowp/groups.hpp"
#include "core/lowp/hadamard.hpp"

namespace cambium::train {

using lowp::wire_piece;

CodecReducer::CodecReducer(const Mesh& mesh, const FlatLayout& layout, lowp::WireCodec codec)
    : mesh_(mesh), codec_(codec) {
  const std::int64_t ranks = mesh.world().size(), pieces = (layout.size() + wire_piece - 1) / wire_piece;
  share_ = (pieces + ranks - 1) / ranks * wire_piece;
  values_.assign(ranks * share_, 0.0f);
  sent_.resize(ranks * lowp::message_bytes(codec, share_));
  received_.resize(sent_.size());
}

void CodecReducer::exchange() {
  const Comm& world = mesh_.world();
  const std::int64_t ranks = world.size(), me = world.rank(), bytes = lowp::message_bytes(codec_, share_);
  const auto share = [&](std::int64_t r) {
    return std::span<float>(values_).subspan(r * share_, static_cast<std::size_t>(share_));
  };
  const auto message = [&](std::vector<std::byte>& of, std::int64_t r) {
    return std::span<std::byte>(of).subspan(r * bytes, static_cast<std::size_t>(bytes));
  };
  // Rounding differs between ranks and between both directions, so errors do not accumulate.
  for (std::int64_t r = 0; r < ranks; ++r) {
    address_.tensor = static_cast<std::uint64_t>(me);
    address_.first = r * share_;
    if (r != me) lowp::encode_message(codec_, share(r), address_, message(sent_, r));
  }
  MPI_Alltoall(sent_.data(), static_cast<int>(bytes), MPI_BYTE, received_.data(), static_cast<int>(bytes), MPI_BYTE,
               world.handle());
  traffic_.count("reduce-scatter", "world", bytes * (ranks - 1));
  std::vector<float> sum(share_, 0.0f);
  for (std::int64_t r = 0; r < ranks; ++r) {
    if (r != me)
      lowp::add_message(codec_, message(received_, r), sum);
    else
      std::transform(sum.begin(), sum.end(), share(me).begin(), sum.begin(), std::plus<>());
  }
  address_.tensor = static_cast<std::uint64_t>(ranks);
  address_.first = me * share_;
  lowp::encode_message(codec_, sum, address_, message(sent_, me));
  MPI_Allgather(message(sent_, me).data(), static_cast<int>(bytes), MPI_BYTE, received_.data(), static_cast<int>(bytes),
                MPI_BYTE, world.handle());
  traffic_.count("all-gather", "world", bytes * (ranks - 1));
  for (std::int64_t r = 0; r < ranks; ++r) lowp::decode_message(codec_, message(received_, r), share(r));
}

void CodecReducer::begin(FlatBuffer& gradients, int slices) {
  Reducer::begin(gradients, slices);
  gradients.zero();
}

void CodecReducer::finish() {
  if (mesh_.world().size() == 1) return;
  FlatBuffer& gradients = *gradients_;
  const double start = wall_seconds();
  with_real(gradients.dtype(), [&]<class T>() {
    const auto from = gradients.values<T>();
    std::transform(from.begin(), from.end(), values_.begin(), [](T x) { return static_cast<float>(x); });
  });
  std::fill(values_.begin() + gradients.layout().size(), values_.end(), 0.0f);
  if (codec_ == lowp::WireCodec::int4) lowp::randomised_hadamard(values_);
  exchange();
  if (codec_ == lowp::WireCodec::int4) lowp::inverse_randomised_hadamard(values_);
  with_real(gradients.dtype(), [&]<class T>() {
    const auto to = gradients.values<T>();
    std::transform(values_.begin(), values_.begin() + std::ssize(to), to.begin(),
                   [](float x) { return static_cast<T>(x); });
  });
  exposed_ += wall_seconds() - start;
}

}  // namespace cambium::train
