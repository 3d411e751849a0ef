#include "core/codec/zfp_codec.hpp"

#include <cmath>
#include <vector>

#include "core/base/error.hpp"

#ifdef CAMBIUM_HAVE_ZFP
#include <zfp.h>

#include <memory>
#endif

namespace cambium::lowp {

#ifdef CAMBIUM_HAVE_ZFP

bool has_zfp() { return true; }

namespace {

/// ZFP's view of an array, and its stream with the tolerance set.
struct Zfp {
  std::unique_ptr<zfp_field, decltype(&zfp_field_free)> field{zfp_field_alloc(), zfp_field_free};
  std::unique_ptr<zfp_stream, decltype(&zfp_stream_close)> stream{zfp_stream_open(nullptr), zfp_stream_close};

  template <class T>
  Zfp(T* data, const FieldShape& shape, double tolerance) {
    std::vector<std::size_t> n;  // the fastest first
    for (int d = FieldShape::dimensions - 1; d >= 0; --d)
      if (shape.extent[d] > 1) n.push_back(static_cast<std::size_t>(shape.extent[d]));
    if (n.empty()) n.push_back(1);
    zfp_field_set_pointer(field.get(), data);
    zfp_field_set_type(field.get(), sizeof(T) == 4 ? zfp_type_float : zfp_type_double);
    if (n.size() == 1) zfp_field_set_size_1d(field.get(), n[0]);
    if (n.size() == 2) zfp_field_set_size_2d(field.get(), n[0], n[1]);
    if (n.size() == 3) zfp_field_set_size_3d(field.get(), n[0], n[1], n[2]);
    if (n.size() == 4) zfp_field_set_size_4d(field.get(), n[0], n[1], n[2], n[3]);
    zfp_stream_set_accuracy(stream.get(), tolerance);
  }
  std::size_t most_bytes() const { return zfp_stream_maximum_size(stream.get(), field.get()); }
  /// Runs `what` (zfp_compress, zfp_decompress) on a buffer; returns the number of bytes, 0 for a failure.
  std::size_t run(std::vector<std::uint8_t>& buffer, std::size_t (*what)(zfp_stream*, const zfp_field*)) const {
    const std::unique_ptr<bitstream, decltype(&stream_close)> bits(stream_open(buffer.data(), buffer.size()),
                                                                   stream_close);
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    return what(stream.get(), field.get());
  }
};

std::size_t decompress(zfp_stream* stream, const zfp_field* field) {
  return zfp_decompress(stream, const_cast<zfp_field*>(field));
}

template <class T>
struct Coded {
  double tolerance = 0.0;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint64_t> places;  ///< of exceptions, each from the one before
  std::vector<T> values;
  std::size_t size() const { return bytes.size() + places.size() * (2 + sizeof(T)); }
};

template <class T>
Coded<T> code(const T* field, std::vector<T>& finite, double bound, double tolerance, const FieldShape& shape) {
  Coded<T> out;
  out.tolerance = tolerance;
  const Zfp zfp(finite.data(), shape, tolerance);
  out.bytes.resize(zfp.most_bytes());
  const auto used = zfp.run(out.bytes, zfp_compress);
  std::vector<T> back(finite.size());
  const Zfp reader(back.data(), shape, tolerance);
  if (used == 0 || reader.run(out.bytes, decompress) == 0) throw InternalError("ZFP could not encode a field");
  out.bytes.resize(used);
  std::uint64_t last = 0;
  for (std::size_t k = 0; k < back.size(); ++k) {
    const T x = field[k];
    if (std::abs(static_cast<long double>(x) - static_cast<long double>(back[k])) <= static_cast<long double>(bound))
      continue;
    out.places.push_back(k - last);
    out.values.push_back(x);
    last = k;
  }
  return out;
}

}  // namespace

template <class T>
void zfp_encode(const T* field, const FieldShape& shape, double bound, ByteWriter& out) {
  std::vector<T> finite(field, field + shape.elements);
  T last = 0;
  for (T& x : finite) x = last = std::isfinite(x) ? x : last;
  Coded<T> best;
  for (const double factor : {1.0, 2.0, 4.0, 8.0}) {
    auto coded = code(field, finite, bound, factor * bound, shape);
    if (best.bytes.empty() || coded.size() < best.size()) best = std::move(coded);
  }
  out.put(best.tolerance);
  out.put_list(best.places);
  out.put_list(best.values);
  out.put_list(best.bytes);
}

template <class T>
void zfp_decode(ByteReader& in, const FieldShape& shape, T* field) {
  const auto tolerance = in.get<double>();
  const auto places = in.get_list<std::uint64_t>();
  const auto values = in.get_list<T>();
  auto bytes = in.get_list<std::uint8_t>();
  if (places.size() != values.size() || !(tolerance > 0) || !std::isfinite(tolerance)) throw DamagedStream{};
  const Zfp zfp(field, shape, tolerance);
  // ZFP does not check the end of its input: it may read up to the maximum size of a field.
  if (bytes.size() > zfp.most_bytes()) throw DamagedStream{};
  bytes.resize(zfp.most_bytes(), 0);
  if (zfp.run(bytes, decompress) == 0) throw DamagedStream{};
  std::uint64_t place = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    place += places[k];
    if (place >= static_cast<std::uint64_t>(shape.elements)) throw DamagedStream{};
    field[place] = values[k];
  }
}

#else

bool has_zfp() { return false; }

namespace {
[[noreturn]] void refuse() {
  throw InputError(
      "this build has no ZFP; install it (Debian: libzfp-dev), configure and build again, or remove the codec");
}
}  // namespace

template <class T>
void zfp_encode(const T*, const FieldShape&, double, ByteWriter&) {
  refuse();
}
template <class T>
void zfp_decode(ByteReader&, const FieldShape&, T*) {
  refuse();
}

#endif

template void zfp_encode<float>(const float*, const FieldShape&, double, ByteWriter&);
template void zfp_encode<double>(const double*, const FieldShape&, double, ByteWriter&);
template void zfp_decode<float>(ByteReader&, const FieldShape&, float*);
template void zfp_decode<double>(ByteReader&, const FieldShape&, double*);

}  // namespace cambium::lowp
