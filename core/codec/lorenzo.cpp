#include "core/codec/lorenzo.hpp"

#include "core/codec/huffman.hpp"
#include "core/codec/quantizer.hpp"

namespace cambium::lowp {
namespace {

using Whole = std::uint32_t;
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

void differences(const FieldShape& shape, const LorenzoCoding& coding, std::vector<Whole>& w) {
  for (int d = 0; d < FieldShape::dimensions; ++d)
    for (int order = 0; order < coding.order[d]; ++order)
      along(shape, d, true, [&](std::int64_t a, std::int64_t b, std::int64_t n) {
        for (std::int64_t k = 0; k < n; ++k) w[b + k] -= w[a + k];
      });
}

void sums(const FieldShape& shape, const LorenzoCoding& coding, std::vector<Whole>& w) {
  for (int d = FieldShape::dimensions - 1; d >= 0; --d)
    for (int order = 0; order < coding.order[d]; ++order)
      along(shape, d, false, [&](std::int64_t a, std::int64_t b, std::int64_t n) {
        for (std::int64_t k = 0; k < n; ++k) w[b + k] += w[a + k];
      });
}

template <class T>
T offset_of(int shift) {
  return static_cast<T>(shift) / static_cast<T>(LorenzoCoding::shifts);
}

}  // namespace

void LorenzoCoding::put(ByteWriter& out) const {
  out.put(order);
  out.put(shift);
}

LorenzoCoding LorenzoCoding::from(ByteReader& in) {
  LorenzoCoding c;
  c.order = in.get<std::array<std::uint8_t, FieldShape::dimensions>>();
  c.shift = in.get<std::uint8_t>();
  for (const auto order : c.order)
    if (order > most_order) throw DamagedStream{};
  if (c.shift >= shifts) throw DamagedStream{};
  return c;
}

template <class T>
Rounded<T> round_to_steps(const T* field, std::int64_t elements, double bound, int shift) {
  const Quantizer<T> quantizer(bound);
  const T offset = offset_of<T>(shift);
  const auto n = static_cast<std::size_t>(elements);
  Rounded<T> out;
  out.steps.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const T q = std::rint(field[k] * quantizer.inverse - offset);
    if ((std::abs(q) < T(1 << 30)) & (std::abs(field[k] - (q + offset) * quantizer.step) < quantizer.bound)) {
      out.steps[k] = static_cast<Whole>(static_cast<std::int32_t>(q));
    } else {
      out.steps[k] = k > 0 ? out.steps[k - 1] : 0;
      out.places.push_back(k);
      out.values.push_back(field[k]);
    }
  }
  for (std::size_t k = out.places.size(); k-- > 1;) out.places[k] -= out.places[k - 1];
  return out;
}

void lorenzo_codes(std::vector<Whole>& steps, const FieldShape& shape, const LorenzoCoding& coding,
                   std::vector<std::uint16_t>& codes, std::vector<Whole>& large) {
  differences(shape, coding, steps);
  const std::size_t first = codes.size();
  codes.resize(first + steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto code = steps[k] + static_cast<Whole>(radius);
    const bool fits = code - 1 < 65535u;
    codes[first + k] = fits ? static_cast<std::uint16_t>(code) : std::uint16_t(0);
    if (!fits) large.push_back(steps[k]);
  }
}

template <class T>
void lorenzo_encode(const T* field, const FieldShape& shape, double bound, const LorenzoCoding& coding,
                    ByteWriter& out) {
  auto rounded = round_to_steps(field, shape.elements, bound, coding.shift);
  std::vector<std::uint16_t> codes;
  std::vector<Whole> large;
  lorenzo_codes(rounded.steps, shape, coding, codes, large);
  out.put_list(rounded.places);
  out.put_list(rounded.values);
  out.put_list(large);
  huffman_encode(codes, out);
}

template <class T>
void lorenzo_decode(ByteReader& in, const FieldShape& shape, double bound, const LorenzoCoding& coding, T* field) {
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
  sums(shape, coding, w);
  const Quantizer<T> quantizer(bound);
  const T offset = offset_of<T>(coding.shift);
  for (std::size_t k = 0; k < n; ++k)
    field[k] = (static_cast<T>(static_cast<std::int32_t>(w[k])) + offset) * quantizer.step;
  std::uint64_t place = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    place += places[k];
    if (place >= n) throw DamagedStream{};
    field[place] = values[k];
  }
}

#define CAMBIUM_LORENZO_OF(T)                                                                              \
  template Rounded<T> round_to_steps<T>(const T*, std::int64_t, double, int);                              \
  template void lorenzo_encode<T>(const T*, const FieldShape&, double, const LorenzoCoding&, ByteWriter&); \
  template void lorenzo_decode<T>(ByteReader&, const FieldShape&, double, const LorenzoCoding&, T*);
CAMBIUM_LORENZO_OF(float)
CAMBIUM_LORENZO_OF(double)
#undef CAMBIUM_LORENZO_OF

}  // namespace cambium::lowp
