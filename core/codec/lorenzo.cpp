#include "core/codec/lorenzo.hpp"

#include "core/codec/huffman.hpp"
#include "core/codec/quantizer.hpp"

namespace cambium::lowp {
namespace {

using Whole = std::uint32_t;  // wraps around, so that sums undo differences whatever the values are
constexpr int radius = 32768;

/// f(first element, second element, number of elements) of every pair of neighbours along dimension d, the last pairs
/// first when `backwards`.
template <class F>
void along(const FieldShape& shape, int d, bool backwards, F&& f) {
  const auto inner = shape.stride[d], block = inner * shape.extent[d];
  for (std::int64_t outer = 0; outer < shape.elements; outer += block)
    for (std::int64_t k = 1; k < shape.extent[d]; ++k) {
      const auto i = backwards ? shape.extent[d] - k : k;
      f(outer + (i - 1) * inner, outer + i * inner, inner);
    }
}

void differences(const FieldShape& shape, std::vector<Whole>& w) {
  for (int d = 0; d < FieldShape::dimensions; ++d)
    along(shape, d, true, [&](std::int64_t a, std::int64_t b, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) w[b + k] -= w[a + k];
    });
}

void sums(const FieldShape& shape, std::vector<Whole>& w) {
  for (int d = FieldShape::dimensions - 1; d >= 0; --d)
    along(shape, d, false, [&](std::int64_t a, std::int64_t b, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) w[b + k] += w[a + k];
    });
}

}  // namespace

template <class T>
void lorenzo_encode(const T* field, const FieldShape& shape, double bound, ByteWriter& out) {
  const Quantizer<T> quantizer(bound);
  const auto n = static_cast<std::size_t>(shape.elements);
  std::vector<Whole> w(n);
  std::vector<std::uint64_t> places;
  std::vector<T> values;
  for (std::size_t k = 0; k < n; ++k) {
    const T q = std::rint(field[k] * quantizer.inverse);
    if ((std::abs(q) < T(1 << 30)) & (std::abs(field[k] - q * quantizer.step) < quantizer.bound)) {
      w[k] = static_cast<Whole>(static_cast<std::int32_t>(q));
    } else {
      w[k] = k > 0 ? w[k - 1] : 0;
      places.push_back(k);
      values.push_back(field[k]);
    }
  }
  for (std::size_t k = places.size(); k-- > 1;) places[k] -= places[k - 1];
  differences(shape, w);
  std::vector<std::uint16_t> codes(n);
  std::vector<std::uint32_t> large;
  for (std::size_t k = 0; k < n; ++k) {
    const auto code = w[k] + static_cast<Whole>(radius);
    const bool fits = code - 1 < 65535u;
    codes[k] = fits ? static_cast<std::uint16_t>(code) : std::uint16_t(0);
    if (!fits) large.push_back(w[k]);
  }
  out.put_list(places);
  out.put_list(values);
  out.put_list(large);
  huffman_encode(codes, out);
}

template <class T>
void lorenzo_decode(ByteReader& in, const FieldShape& shape, double bound, T* field) {
  const auto n = static_cast<std::size_t>(shape.elements);
  const auto places = in.get_list<std::uint64_t>();
  const auto values = in.get_list<T>();
  const auto large = in.get_list<std::uint32_t>();
  if (places.size() != values.size()) throw DamagedStream{};
  std::vector<std::uint16_t> codes(n);
  huffman_decode(in, codes);
  std::vector<Whole> w(n);
  std::size_t taken = 0;
  for (std::size_t k = 0; k < n; ++k) {
    w[k] = codes[k] - static_cast<Whole>(radius);
    if (codes[k] != 0) continue;
    if (taken == large.size()) throw DamagedStream{};
    w[k] = large[taken++];
  }
  sums(shape, w);
  const Quantizer<T> quantizer(bound);
  for (std::size_t k = 0; k < n; ++k) field[k] = static_cast<T>(static_cast<std::int32_t>(w[k])) * quantizer.step;
  std::uint64_t place = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    place += places[k];
    if (place >= n) throw DamagedStream{};
    field[place] = values[k];
  }
}

template void lorenzo_encode<float>(const float*, const FieldShape&, double, ByteWriter&);
template void lorenzo_encode<double>(const double*, const FieldShape&, double, ByteWriter&);
template void lorenzo_decode<float>(ByteReader&, const FieldShape&, double, float*);
template void lorenzo_decode<double>(ByteReader&, const FieldShape&, double, double*);

}  // namespace cambium::lowp
