#include "core/train/weights/divided/coded_exchange.hpp"

#include <algorithm>

#include "core/base/counts.hpp"
#include "core/base/key_error.hpp"
#include "core/lowp/hadamard.hpp"

namespace cambium::train {

using lowp::WireCodec;

bool Codecs::reduces() const {
  return std::any_of(gradients.begin(), gradients.end(), [](WireCodec codec) { return codec != WireCodec::none; });
}

void to_floats(const std::byte* from, DType dtype, std::span<float> to) {
  with_kept(dtype, [&]<class T>() {
    const T* values = reinterpret_cast<const T*>(from);
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<float>(values[k]);
  });
}

void from_floats(std::span<const float> from, DType dtype, std::byte* to) {
  with_kept(dtype, [&]<class T>() {
    T* values = reinterpret_cast<T*>(to);
    for (std::size_t k = 0; k < from.size(); ++k) values[k] = static_cast<T>(from[k]);
  });
}

std::int64_t message_bytes(WeightCodec codec, std::int64_t n) {
  switch (codec) {
    case WeightCodec::none:
      return 4 * n;
    case WeightCodec::bf16:
      return 2 * n;
    case WeightCodec::int8:
      return lowp::int8_groups.bytes(n);
    default:
      return lowp::int4_differences.bytes(n);
  }
}

void require_codecs(const Codecs& codecs, bool splits, bool direct, bool ordered) {
  const bool weights = codecs.update != WeightCodec::none || codecs.gather != WeightCodec::none;
  if (weights && splits)
    throw KeyError("train.parallel.update", "parallel.update_codec",
                   "parallel.update_codec and parallel.weight_codec encode unsplit weights, but this optimizer splits "
                   "them; use adam, adamw or sgd, or remove both");
  if (weights && direct)
    throw KeyError("train.direct.coded", "quantized_training",
                   "weights of quantized_training are sent at the bit width at which they are stored; remove "
                   "parallel.update_codec and parallel.weight_codec");
  if (codecs.any() && ordered)
    throw KeyError("train.parallel.ordered", "parallel",
                   "codecs round the sums of each number of ranks in another way, and reduce.mode 'ordered' guarantees "
                   "bitwise identical sums; use mode: fast");
}

static std::span<float> wide_floats(Block& block) {
  return {reinterpret_cast<float*>(block.data()), static_cast<std::size_t>(block.bytes() / 4)};
}
/// One level: every rank receives all parts of its chunk of `mine`, and returns their sum in place.
static std::span<float> reduce_level(std::span<float> mine, std::size_t level, WireCodec codec,
                                     const lowp::RoundingAddress& address, const Wires& wires) {
  const auto& here = wires.mesh.levels()[level];
  const Comm& comm = wires.mesh.along(level);
  const std::int64_t part = std::ssize(mine) / here.ranks, bytes = lowp::message_bytes(codec, part);
  Block sent(wires.memory, Held::messages, bytes * here.ranks),
      received(wires.memory, Held::messages, bytes * here.ranks);
  const auto numbers = [&](int rank) { return mine.subspan(at(rank * part), at(part)); };
  const auto message = [&](Block& of, int rank) { return std::span(of.data() + rank * bytes, at(bytes)); };
  const int me = comm.rank();
  for (int rank = 0; rank < here.ranks; ++rank) {
    auto there = address;
    there.first += rank * part;
    if (rank != me) lowp::encode_message(codec, numbers(rank), there, message(sent, rank));
  }
  MPI_Alltoall(sent.data(), static_cast<int>(bytes), MPI_BYTE, received.data(), static_cast<int>(bytes), MPI_BYTE,
               comm.handle());
  wires.traffic.count("reduce-scatter", here.name, bytes * (here.ranks - 1));
  std::vector<float> sum(at(part), 0.0f);
  for (int rank = 0; rank < here.ranks; ++rank) {
    if (rank != me)
      lowp::add_message(codec, message(received, rank), sum);
    else
      std::transform(sum.begin(), sum.end(), numbers(me).begin(), sum.begin(), std::plus<>());
  }
  std::copy(sum.begin(), sum.end(), numbers(me).begin());
  return numbers(me);
}

void reduce_coded(std::byte* values, Interval whole, int from, int to, DType dtype, std::span<const WireCodec> codecs,
                  lowp::RoundingAddress address, const Wires& wires) {
  if (from == to || parts_of(wires.mesh, from) == parts_of(wires.mesh, to)) return;
  const Interval outer = share_of(wires.mesh, whole, from);
  Block wide(wires.memory, Held::windows, outer.size() * 4);
  to_floats(values, dtype, wide_floats(wide));
  const auto levels = codecs.subspan(at(from), at(to - from));
  const bool spread = std::find(levels.begin(), levels.end(), WireCodec::int4) != levels.end();
  if (spread) lowp::randomised_hadamard(wide_floats(wide));
  // Errors of different ranks must be independent, or they would add up instead of cancelling.
  address.seed += 0x9E3779B97F4A7C15ull * static_cast<std::uint64_t>(wires.mesh.world().rank() + 1);
  auto mine = wide_floats(wide);
  for (int level = from; level < to; ++level) {
    if (wires.mesh.levels()[at(level)].ranks == 1) continue;
    auto here = address;
    here.tensor = address.tensor * 8 + static_cast<std::uint64_t>(level);
    here.first = share_of(wires.mesh, whole, level).begin - whole.begin;
    mine = reduce_level(mine, at(level), codecs[at(level)], here, wires);
  }
  if (spread) lowp::inverse_randomised_hadamard(mine);
  from_floats(mine, dtype, values + (share_of(wires.mesh, whole, to).begin - outer.begin) * size_of(dtype));
}

namespace {

void encode(WeightCodec codec, std::span<const float> from, const lowp::RoundingAddress& address,
            std::span<std::byte> out) {
  switch (codec) {
    case WeightCodec::none:
      return lowp::encode_message(WireCodec::none, from, address, out);
    case WeightCodec::bf16:
      return lowp::encode_message(WireCodec::bf16, from, address, out);
    case WeightCodec::int8:
      return lowp::encode_groups(lowp::int8_groups, from, address, out);
    default:
      return lowp::encode_groups(lowp::int4_differences, from, address, out);
  }
}

void decode(WeightCodec codec, std::span<const std::byte> in, std::span<float> to) {
  switch (codec) {
    case WeightCodec::none:
      return lowp::decode_message(WireCodec::none, in, to);
    case WeightCodec::bf16:
      return lowp::decode_message(WireCodec::bf16, in, to);
    case WeightCodec::int8:
      return lowp::decode_groups(lowp::int8_groups, in, to);
    default:
      return lowp::decode_groups(lowp::int4_differences, in, to);
  }
}

}  // namespace

void gather_coded(std::span<const float> own, Interval whole, int from, int to, WeightCodec codec,
                  lowp::RoundingAddress address, const Wires& wires, std::string_view what, const TakePart& take) {
  const Interval outer = share_of(wires.mesh, whole, to), mine = share_of(wires.mesh, whole, from);
  if (std::ssize(own) != mine.size()) throw InternalError("gather_coded: the own part has another size");
  const std::int64_t part = mine.size(), bytes = message_bytes(codec, part), parts = outer.size() / part;
  // Messages have the layout of the parts they represent: sharded over the same levels.
  const Interval all{0, parts_of(wires.mesh, from) * bytes};
  Block messages(wires.memory, Held::messages, parts * bytes);
  address.first = mine.begin - whole.begin;
  encode(codec, own, address,
         {messages.data() + share_of(wires.mesh, all, from).begin - share_of(wires.mesh, all, to).begin, at(bytes)});
  gather_levels(messages.data(), all, from, to, DType::u8, wires, what);
  std::vector<float> numbers(at(part));
  for (std::int64_t k = 0; k < parts; ++k) {
    decode(codec, {messages.data() + k * bytes, at(bytes)}, numbers);
    take({outer.begin + k * part, outer.begin + (k + 1) * part}, numbers);
  }
}

}  // namespace cambium::train
