#include "core/codec/fields/field_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/codec/fields/at_once.hpp"
#include "core/codec/packed.hpp"

namespace cambium::lowp {
namespace {

// Stream of pieces: magic, version, bytes per value, rank (one byte each after the magic), extents, number of pieces;
// of each its rows along the first dimension that is longer than one, and its bytes; checksum of all this; the pieces.
constexpr std::array<char, 4> field_magic{'C', 'L', 'S', 'P'};
constexpr std::uint8_t field_version = 1;

struct Piece {
  std::uint64_t rows = 0, bytes = 0;
};

struct Pieces {
  std::vector<std::int64_t> shape;
  int bytes_per_value = 4;
  std::vector<Piece> list;
  std::span<const std::byte> streams;

  /// The dimension that is split.
  std::size_t cut() const {
    std::size_t d = 0;
    while (d + 1 < shape.size() && shape[d] == 1) ++d;
    return d;
  }
  std::int64_t row_size() const {
    std::int64_t n = 1;
    for (std::size_t d = cut() + 1; d < shape.size(); ++d) n *= shape[d];
    return n;
  }
  std::vector<std::int64_t> shape_of(const Piece& piece) const {
    auto out = shape;
    out[cut()] = static_cast<std::int64_t>(piece.rows);
    return out;
  }
};

bool is_pieces(std::span<const std::byte> bytes) {
  return bytes.size() >= field_magic.size() && std::memcmp(bytes.data(), field_magic.data(), field_magic.size()) == 0;
}

std::vector<std::byte> head_of(const Pieces& p) {
  ByteWriter out;
  out.put(field_magic);
  for (std::size_t byte : {std::size_t{field_version}, static_cast<std::size_t>(p.bytes_per_value), p.shape.size()})
    out.put(static_cast<std::uint8_t>(byte));
  out.put(std::span<const std::int64_t>(p.shape));
  out.put_list(p.list);
  out.put(checksum(out.bytes()));
  return out.take();
}

Pieces pieces_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Pieces p;
  if (in.get<std::array<char, 4>>() != field_magic || in.get<std::uint8_t>() != field_version) throw DamagedStream{};
  p.bytes_per_value = in.get<std::uint8_t>();
  const int rank = in.get<std::uint8_t>();
  std::int64_t n = 1;
  for (int k = 0; k < rank; ++k) {
    const auto extent = in.get<std::int64_t>();
    if (extent < 1 || n > (std::int64_t{1} << 40) / extent) throw DamagedStream{};
    n *= extent;
    p.shape.push_back(extent);
  }
  p.list = in.get_list<Piece>();
  const auto before = bytes.first(bytes.size() - in.rest().size());
  if (in.get<std::uint64_t>() != checksum(before) || p.shape.empty() || p.list.empty()) throw DamagedStream{};
  std::uint64_t rows = 0, total = 0;
  for (const auto& piece : p.list) {
    // Each sum is bounded before the next is added, so that none wraps around.
    if (piece.rows > (std::uint64_t{1} << 40) || piece.bytes > in.rest().size()) throw DamagedStream{};
    rows += piece.rows;
    total += piece.bytes;
  }
  if (rows != static_cast<std::uint64_t>(p.shape[p.cut()]) || total != in.rest().size()) throw DamagedStream{};
  p.streams = in.rest();
  return p;
}

template <class T>
std::vector<std::byte> encode_piece(std::span<const T> values, std::span<const std::int64_t> shape,
                                    const FieldCoding& coding, std::span<const HelpingField<T>> helping,
                                    FieldReport& report) {
  if (!coding.learned) return lossy_encode(values, shape, coding.bound, coding.predictor);
  auto out = enhanced_encode<T>(values, shape, coding.bound, coding.predictor, *coding.learned, helping, report.last);
  report.enhanced = report.last.kept;
  return out;
}

template <class T>
void decode_piece(std::span<const std::byte> bytes, std::span<T> values, const Enhancer* weights,
                  std::span<const HelpingField<T>> helping) {
  if (is_enhanced(bytes)) return enhanced_decode<T>(bytes, values, weights, helping);
  lossy_decode<T>(bytes, values);
}

template <class T>
std::vector<HelpingField<T>> part_of(std::span<const HelpingField<T>> helping, std::size_t from, std::size_t n) {
  std::vector<HelpingField<T>> out;
  for (const auto& h : helping) out.push_back({h.values.subspan(from, n), h.bound});
  return out;
}

Pieces cut_in_pieces(std::span<const std::int64_t> shape, int bytes_per_value, std::int64_t wanted) {
  Pieces p;
  p.shape.assign(shape.begin(), shape.end());
  p.bytes_per_value = bytes_per_value;
  const std::int64_t rows = p.shape[p.cut()];
  const std::int64_t count = std::clamp<std::int64_t>(rows * p.row_size() / std::max<std::int64_t>(wanted, 1), 1, rows);
  for (std::int64_t k = 0; k < count; ++k)
    p.list.push_back({static_cast<std::uint64_t>(rows * (k + 1) / count - rows * k / count), 0});
  return p;
}

}  // namespace

template <class T>
std::vector<std::byte> encode_field(std::span<const T> values, std::span<const std::int64_t> shape,
                                    const FieldCoding& coding, FieldReport& report,
                                    std::span<const HelpingField<T>> helping) {
  report = {};
  if (std::ssize(values) < 2 * coding.piece || shape.empty()) {
    auto out = encode_piece(values, shape, coding, helping, report);
    report.bytes = out.size();
    return out;
  }
  FieldCoding same = coding;
  same.bound = {LossyBound::Kind::absolute, absolute_bound(values, shape, coding.bound, coding.predictor),
                coding.bound.kind == LossyBound::Kind::psnr};
  // Exact storage was requested: with this bound no code describes a value, unless it equals the prediction.
  if (same.bound.value == 0.0) {
    same.bound.value = 1e-300;
    same.learned.reset();
  }
  Pieces pieces = cut_in_pieces(shape, sizeof(T), coding.piece);
  std::vector<std::vector<std::byte>> streams(pieces.list.size());
  std::vector<FieldReport> reports(pieces.list.size());
  std::vector<std::size_t> from(pieces.list.size(), 0);
  const auto row = static_cast<std::size_t>(pieces.row_size());
  for (std::size_t k = 1; k < from.size(); ++k) from[k] = from[k - 1] + pieces.list[k - 1].rows * row;
  at_once(coding.threads, pieces.list.size(), [&](std::size_t k) {
    const auto n = static_cast<std::size_t>(pieces.list[k].rows) * row;
    streams[k] = encode_piece<T>(values.subspan(from[k], n), pieces.shape_of(pieces.list[k]), same,
                                 part_of(helping, from[k], n), reports[k]);
  });
  for (std::size_t k = 0; k < streams.size(); ++k) {
    pieces.list[k].bytes = streams[k].size();
    report.enhanced += reports[k].enhanced;
    report.last = reports[k].last;
  }
  auto out = head_of(pieces);
  for (const auto& stream : streams) out.insert(out.end(), stream.begin(), stream.end());
  report.pieces = std::ssize(streams);
  report.bytes = out.size();
  return out;
}

FieldInfo field_info(std::span<const std::byte> bytes) try {
  FieldInfo out;
  if (is_pieces(bytes)) {
    const auto p = pieces_of(bytes);
    const auto first = p.streams.first(p.list[0].bytes);
    if (is_pieces(first)) throw DamagedStream{};
    out = field_info(first);
    if (out.plain.bytes_per_value != p.bytes_per_value) throw DamagedStream{};
    out.plain.shape = p.shape;
    out.pieces = std::ssize(p.list);
    return out;
  }
  if (!is_enhanced(bytes)) {
    out.plain = lossy_info(bytes);
    return out;
  }
  const auto info = enhanced_info(bytes);
  out.plain = info.plain;
  out.enhanced = true;
  out.strict = info.strict;
  return out;
} catch (const DamagedStream&) {
  throw InputError("this is not an array compressed by Cambium, or only a part of one; copy it again from its source");
}

template <class T>
void decode_field(std::span<const std::byte> bytes, std::span<T> values, const Enhancer* weights, int threads,
                  std::span<const HelpingField<T>> helping) try {
  if (!is_pieces(bytes)) return decode_piece(bytes, values, weights, helping);
  const auto p = pieces_of(bytes);
  const auto row = static_cast<std::size_t>(p.row_size());
  if (static_cast<std::size_t>(p.shape[p.cut()]) * row != values.size())
    throw InputError(fmt::format("the compressed array has {} values, expected {}",
                                 static_cast<std::size_t>(p.shape[p.cut()]) * row, values.size()));
  std::vector<std::size_t> from(p.list.size(), 0), at(p.list.size(), 0);
  for (std::size_t k = 1; k < from.size(); ++k) {
    from[k] = from[k - 1] + p.list[k - 1].rows * row;
    at[k] = at[k - 1] + p.list[k - 1].bytes;
  }
  at_once(threads, p.list.size(), [&](std::size_t k) {
    const auto n = static_cast<std::size_t>(p.list[k].rows) * row;
    decode_piece<T>(p.streams.subspan(at[k], p.list[k].bytes), values.subspan(from[k], n), weights,
                    part_of(helping, from[k], n));
  });
} catch (const DamagedStream&) {
  throw InputError("a compressed array is damaged; copy it again from its source");
}

#define CAMBIUM_FIELD_OF(T)                                                                                            \
  template std::vector<std::byte> encode_field<T>(std::span<const T>, std::span<const std::int64_t>,                   \
                                                  const FieldCoding&, FieldReport&, std::span<const HelpingField<T>>); \
  template void decode_field<T>(std::span<const std::byte>, std::span<T>, const Enhancer*, int,                        \
                                std::span<const HelpingField<T>>);
CAMBIUM_FIELD_OF(float)
CAMBIUM_FIELD_OF(double)
#undef CAMBIUM_FIELD_OF

}  // namespace cambium::lowp
